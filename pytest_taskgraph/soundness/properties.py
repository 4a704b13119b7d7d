"""The properties that hold for the questions of every family, and the violations of these and of a family's own."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import ceil
from pathlib import Path
from typing import Final

from ..benchmarks.episodes import EPISODES
from ..benchmarks.instances import RENDERS, Check, Instance
from ..errors import OrderTooWideError, ProviderError, TaskgraphError
from ..scoring.forms import form
from ..scoring.grade import grade
from ..trial import Question, Reply

MOST_TOKENS: Final = 32_000
PROPERTIES: Final[Mapping[str, str]] = {
    RENDERS: "The question and its prompt can be built, and neither is empty.",
    "reference-scores-one": "The reference answer, written in its form where the prompt wants it, scores 1.0.",
    "replies-are-safe": "Any reply gets scores from 0.0 to 1.0, or none; no reply makes the parser fail.",
    "prompt-size": "The prompt stays within the limit of tokens, four characters taken for one.",
    "deterministic": "The question comes out the same when it is built once more.",
}
"""The properties of every question, each with its sentence. Families add properties of their own."""
_REPLIES: Final = {
    "whole": "{}",
    "marker": "First the links are followed.\n\nFinal answer: {}",
    "first-line": "{}\n\nThis follows from the links.",
}
_CHARACTERS_OF_TOKEN: Final = 4
_CHARACTERS_SHOWN: Final = 200  # characters of a reply in a message


class PropertyViolationError(AssertionError):
    """A property that does not hold for an instance.

    Each property has a subclass of its own, so that Hypothesis distinguishes violations of several properties.

    Args:
        property_name: The name of the property.
        message: The actual and the expected result, in one line.
        instance: The instance that shows it.
    """

    def __init__(self, property_name: str, message: str, instance: Instance) -> None:
        super().__init__(f"{property_name}: {message}")
        self.property, self.message, self.instance = property_name, message, instance


@cache
def violation_class(property_name: str) -> type[PropertyViolationError]:
    """Return the class of the violations of a property."""
    return type(f"ViolationOf[{property_name}]", (PropertyViolationError,), {})


@dataclass(frozen=True, slots=True)
class Alteration:
    """A change of the ideal reply: a part of it is replaced by other text.

    Args:
        begin: Where the part begins, in thousandths of the length of the ideal reply.
        end: Where it ends.
        text: The text that replaces it.
    """

    begin: int
    end: int
    text: str

    def apply(self, ideal: str) -> str:
        """Return the altered reply."""
        begin, end = (len(ideal) * part // 1000 for part in sorted((self.begin, self.end)))
        return ideal[:begin] + self.text + ideal[end:]


def check_instance(
    instance: Instance, alterations: Collection[Alteration], most_tokens: int, excluded_properties: Collection[str] = ()
) -> None:
    """Check the properties of every family and the family's own.

    Args:
        instance: The question.
        alterations: Replies to try.
        most_tokens: The limit of tokens of a prompt.
        excluded_properties: The names of properties that are not checked.

    Raises:
        PropertyViolationError: for the first property that does not hold.
    """
    for check in _checks(instance, alterations, most_tokens):
        message = _message_of(check)
        if message and check.property not in excluded_properties:
            raise violation_class(check.property)(check.property, message, instance)
        if message and check.property == RENDERS:
            return


def _checks(instance: Instance, alterations: Collection[Alteration], most_tokens: int) -> Iterator[Check]:
    """Yield the checks, that of rendering first: without a prompt there is nothing to check."""
    question, own = instance.question, instance.checks
    yield from (check for check in own if check.property == RENDERS)
    yield Check(RENDERS, partial(_empty_parts, question))
    yield Check("reference-scores-one", partial(_reference_scores, question))
    yield from (Check("replies-are-safe", partial(_reply_fails, question, alteration)) for alteration in alterations)
    yield Check("prompt-size", partial(_too_long, question, most_tokens))
    yield from (check for check in own if check.property != RENDERS)


def _message_of(check: Check) -> str:
    """Return the message of a failed check, or the exception that it raised: no check of a sound question raises."""
    try:
        return check.run()
    except Exception as error:  # any error in the code of a family is a finding
        return describe_exception(error)


def describe_exception(error: BaseException) -> str:
    """Return the exception and the line that raised it; for errors of this package only the message."""
    if isinstance(error, TaskgraphError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({Path(last[0].filename).name}:{last[0].lineno})" if last else ""
    return f"raised {type(error).__name__}: {error}{where}"


def _empty_parts(question: Question) -> str:
    empty = [name for name in ("text", "prompt") if not getattr(question, name).strip()]
    return f"found an empty {' and an empty '.join(empty)}; expected words" if empty else ""


def ideal_reply(question: Question) -> str:
    """Return a reply that gives the reference answer where the prompt wants it."""
    return _REPLIES[question.place].format(form(question.form).write(question.reference, question.names))


def _reference_scores(question: Question) -> str:
    """Return how the reference answer fails to score 1.0; empty if it does not fail.

    Also empty if a model measures the score, or if an episode of the family derives the answer from its replies: the
    score is then not known here.
    """
    if question.metric in question.judged or question.episode not in EPISODES:
        return ""
    reply = ideal_reply(question)
    if _cannot_stand(question, reply):
        return ""
    score = grade(question, Reply(reply), dict.fromkeys(question.judged))
    if score.status == "read" and score.value == 1.0:
        return ""
    outcome = f"{question.metric} {score.value:.3g}" if score.status == "read" else f"{score.status} ({score.remark})"
    return f"the reference answer {_quoted(reply)} scores {outcome}; expected 1.0"


def _cannot_stand(question: Question, reply: str) -> bool:
    """Return True if an answer of several lines is wanted on one: strict parsing reads only the first line."""
    lines = reply.count("\n") - _REPLIES["first-line"].count("\n")
    return question.place == "first-line" and question.parsing == "strict" and lines > 0


def _reply_fails(question: Question, alteration: Alteration) -> str:
    reply = alteration.apply(ideal_reply(question))
    try:
        score = grade(question, Reply(reply), dict.fromkeys(question.judged))
    except (ProviderError, OrderTooWideError):  # a reply without a score, as a trial has it
        return ""
    except Exception as error:  # the finding itself
        return f"the reply {_quoted(reply)}: {describe_exception(error)}; expected a score, or none"
    values = {question.metric: score.value, **score.metrics}
    invalid_scores = {name: value for name, value in values.items() if value is not None and not 0.0 <= value <= 1.0}
    # A family may name values that are no shares, such as counts; the main metric always is one.
    invalid_scores = {
        name: value for name, value in invalid_scores.items() if name in (question.metric, *question.further)
    }
    return f"the reply {_quoted(reply)} has the scores {invalid_scores}; expected 0.0 to 1.0" if invalid_scores else ""


def _too_long(question: Question, most_tokens: int) -> str:
    tokens = ceil((len(question.system) + len(question.prompt)) / _CHARACTERS_OF_TOKEN)
    return f"found a prompt of about {tokens} tokens; expected at most {most_tokens}" if tokens > most_tokens else ""


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _CHARACTERS_SHOWN else f"{text[:_CHARACTERS_SHOWN]}…")
