"""The text of a reduction: how small the question became, its subject, and the test to paste."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..reports.wording import count
from ..scoring.forms import show_answer
from .finding_lines import indented_block

if TYPE_CHECKING:
    from .reduction import Reduction, ReductionLimits

_ENDS: Final = {
    "smallest": "",
    "calls": "; the calls are used up, so something smaller may fail too",
    "not-asked": "; it ended early: {reason}",
}


def outcome_line(reduction: Reduction[Any], limits: ReductionLimits, missing: int) -> str:
    """Return the result of a reduction in one line.

    Args:
        reduction: The reduction.
        limits: The limits of the reduction.
        missing: The number of calls without an answer to score.
    """
    spent = f"{count(reduction.calls, 'call')} in {count(reduction.rounds, 'round')}"
    spent += f", {missing} without an answer" if missing else ""
    if reduction.end == "not-confirmed":
        answers = f"{reduction.errors} of {reduction.answers} answers"
        return f"not shrunk: asked again, the model errs in {answers}; expected {limits.needed} ({spent})"
    if reduction.errors < limits.needed:
        return f"not shrunk: {reduction.reason or 'the calls are used up'} ({spent})"
    sizes = " > ".join(map(str, reduction.sizes))
    end = _ENDS[reduction.end].format(reason=reduction.reason)
    return f"size {sizes}: errs in {reduction.errors} of {reduction.answers} answers; {spent}{end}"


def reduction_lines(reduction: Reduction[Any], answered: str, test: Mapping[str, str]) -> list[str]:
    """Return the smallest question, with its drawing, its answers and its regression test.

    Args:
        reduction: The reduction.
        answered: A reply of the model that errs; empty if none is known.
        test: The regression test and its files, by name.
    """
    question = reduction.smallest.question
    expected = show_answer(question.form, question.reference)
    return [
        *indented_block("about", reduction.smallest.drawing),
        *indented_block("question", question.text.split("\n")),
        *indented_block("expected", [expected]),
        *(indented_block("answered", answered.strip().split("\n")) if answered.strip() else ()),
        *(line for name, text in test.items() for line in indented_block(name, text.rstrip("\n").split("\n"))),
    ]
