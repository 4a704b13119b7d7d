"""The text of a finding: the property, the message, how it was asked, its subject, and the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .properties import PROPERTIES

if TYPE_CHECKING:
    from ..trial import Question
    from .fuzzing import Finding

MOST_LINES: Final = 200
"""Most lines of a drawing or a question that are shown: they may be long if shrinking ends early."""


def finding_lines(finding: Finding, own: Mapping[str, str]) -> list[str]:
    """Return a finding in lines, the first of which states the violation.

    Args:
        finding: The finding.
        own: The properties of the family, each with its sentence.
    """
    sentence = {**PROPERTIES, **own}.get(finding.property, "")
    question = finding.instance.question
    text = question.text or question.prompt
    return [
        f"{finding.property}: {finding.message}",
        *([f"expected of every question: {sentence}"] if sentence else []),
        *([f"asked as: {question.id}{_prompt_of(question)}"] if question.id else []),
        *indented_block("about", finding.instance.drawing),
        *indented_block("question", text.split("\n") if text else ()),
    ]


def _prompt_of(question: Question) -> str:
    """Return the prompt template of a question in words; empty without one."""
    name = question.labels.get("prompt", "")
    return f", prompt {name}" if name else ""


def indented_block(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines under a title, indented; an empty list without lines."""
    if not lines:
        return []
    more = [f"    ... {len(lines) - MOST_LINES:,} more lines"] if len(lines) > MOST_LINES else []
    return ["", f"{title}:", *(f"    {line}".rstrip() for line in lines[:MOST_LINES]), *more]
