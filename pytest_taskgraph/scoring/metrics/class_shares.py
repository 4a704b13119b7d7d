"""Accuracy of answers between two classes: yes and no, and the letters of options.

The parts are counts for ratios over questions (docs/reference/metrics.md): sensitivity and specificity as STEPS
reports them (Wang et al. 2023, section 3.4), and how often the first option is right and is chosen. A reply without
an answer is wrong for the class of its question.
"""

from __future__ import annotations

from typing import Final

from ...trial import Json
from ..measurement import Measurement, declares

FIRST: Final = "A"
TIE: Final = "tie"
"""The answer where no option is better than the other."""


def _class_of_no_answer(reference: Json) -> Measurement:
    return _class_accuracy(False, reference)


@declares(unparseable=_class_of_no_answer)
def class_accuracy(given: Json, reference: Json) -> Measurement:
    """Return 1.0 if the answer is the reference, yes or no, else 0.0.

    The part `sensitivity` counts the questions whose answer is yes, `specificity` the others, each with 1 in the
    numerator where the answer is right.
    """
    return _class_accuracy(given == reference, reference)


def _class_accuracy(right: bool, reference: Json) -> Measurement:
    part = "sensitivity" if reference == "yes" else "specificity"
    return Measurement(float(right), parts={part: (float(right), 1.0)})


def _choice_of_no_answer(reference: Json) -> Measurement:
    return _choice_accuracy(None, reference)


@declares(unparseable=_choice_of_no_answer)
def choice_accuracy(given: Json, reference: Json) -> Measurement:
    """Return 1.0 if the answer is the letter of the right option, else 0.0.

    All parts are shares of questions: `ties` of those that the answer leaves undecided ("tie"); `chosen_a` of the
    decided ones whose answer is A, to be compared with `right_a`, those where A is right; `accuracy_a` the right
    answers where A is right, `accuracy_b` where it is not.
    """
    return _choice_accuracy(given, reference)


def _choice_accuracy(given: Json, reference: Json) -> Measurement:
    right = float(given is not None and given == reference)
    parts = {"ties": (float(given == TIE), 1.0), "right_a": (float(reference == FIRST), 1.0)}
    if given is not None and given != TIE:
        parts["chosen_a"] = (float(given == FIRST), 1.0)
    parts["accuracy_a" if reference == FIRST else "accuracy_b"] = (right, 1.0)
    return Measurement(right, parts=parts)
