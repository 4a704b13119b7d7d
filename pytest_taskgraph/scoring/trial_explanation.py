"""What is wrong with the answer of a trial, in words."""

from __future__ import annotations

from ..trial import Question, Trial
from .explanations.value_differences import quote
from .forms import explain_answer
from .forms.letter_form import LETTER


def explain_trial(trial: Trial) -> list[str]:
    """Return the sentences that say what is wrong with the answer of a trial, the most important first.

    A trial without an answer, and a right one, has none. Where the question states the texts of its options, the
    sentence about a letter quotes them.
    """
    question, score = trial.question, trial.score
    if score is None or score.status != "read" or trial.passed:
        return []
    if question.form == LETTER.name:
        return _explain_letter(question, score.given)
    return explain_answer(question.form, question.reference, score.given)


def _explain_letter(question: Question, given: object) -> list[str]:
    texts = {letter: text for text, letter in question.spellings.items()}
    if given == question.reference or not isinstance(question.reference, str) or not isinstance(given, str):
        return []
    right, other = texts.get(question.reference), texts.get(given)
    if right is None or other is None:
        return []
    return [f"the right option is {quote(right)}, the given one {quote(other)}"]
