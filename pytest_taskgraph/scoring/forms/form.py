"""The form of an answer: its instruction, parser and writer, its presentation in reports, and its metric."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...trial import Json, Parsing


def collapse_spaces(text: object) -> str:
    """Return a text in one line, with single spaces for runs of white space."""
    return " ".join(str(text).split())


def show_value(answer: Json) -> str:
    """Return an answer of any form in words: lists with commas, nested lists in brackets, all else as JSON."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):
        items = (f"[{show_value(item)}]" if isinstance(item, list) else _item(item) for item in answer)
        return ", ".join(items) or "none"
    return "nothing" if answer is None else json.dumps(answer)


def _item(item: Json) -> str:
    """Return an item of a list, in quotes if it could be taken for two items."""
    return item if isinstance(item, str) and item and "," not in item else json.dumps(item, ensure_ascii=False)


def _takes_one_line(names: Sequence[str]) -> bool:
    return False


def _explains_nothing(reference: Json, given: Json) -> list[str]:
    return []


def _itself(answer: Json) -> Json:
    return answer


def _keep_statement(statement: str, question: str, names: Sequence[str]) -> str:
    return statement


@dataclass(frozen=True, slots=True)
class Form:
    """The instruction for an answer and the parser of it, in one place so that they agree.

    `read` takes the answer's text (already extracted from the reply), the known names and the kind of parsing, and
    returns the answer as plain JSON, or raises UnparseableError. `write` returns the text of an ideal answer:
    `read(write(x)) == x` for every answer x of the form. If the reference is not an answer but describes all right
    answers (such as a partial order), `write` and `show` accept it too, and `write` writes one right answer.
    """

    name: str
    instruct: Callable[[Sequence[str]], str]  # known names -> one sentence that describes the answer's format
    read: Callable[[str, Sequence[str], Parsing], Json]
    write: Callable[[Json, Sequence[str]], str]
    metric: str
    further: tuple[str, ...] = ()
    pass_threshold: float = 1.0  # the smallest score that passes; 0: answers are graded
    wrong: Callable[[Json, Sequence[str]], Json] | None = None
    """Reference and known names -> an answer of the form that scores 0, which the simulated model gives. Without it,
    its wrong reply is empty."""
    show: Callable[[Json], str] = show_value  # the answer as a person writes it
    takes_lines: Callable[[Sequence[str]], bool] = _takes_one_line
    """Known names -> True if the ideal answer over them may take more than one line."""
    reduce: Callable[[str, str, Sequence[str]], str] = _keep_statement
    """Statement of a reply, question and known names -> the answer within it, for `read`, in lenient parsing; raises
    UnparseableError if it certainly states none."""
    # True: `read` finds the answer within other text, so that no marker is needed before it
    self_delimiting: bool = False
    names_all: bool = False  # True: the known names of a question are all that an answer may hold, plain words too
    open: bool = False  # True: the answer is in the model's own words, so that a person may want to score it
    classes: tuple[str, ...] = ()  # all answers, if they are few and fixed: reports cross-tabulate them
    classify: Callable[[Json], Json] = _itself  # the class of an answer
    explain: Callable[[Json, Json], list[str]] = _explains_nothing
    """Reference and a wrong answer -> sentences that name each violated constraint, the most important first. What is
    only missing or extra by name is left out: the score's lists of names say it."""
