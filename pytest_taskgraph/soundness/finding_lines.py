"""What a finding says: the property, what was found, how it was asked, what it is about, and the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .properties import PROPERTIES

if TYPE_CHECKING:
    from ..trial import Question
    from .fuzzing import Finding

MOST_LINES: Final = 200
"""Lines of a drawing or a question that are shown: shrinking ends early where the search is broken off."""


def finding_lines(finding: Finding, own: Mapping[str, str]) -> list[str]:
    """Return a finding in lines, the first of which says what is wrong.

    Args:
        finding: The finding.
        own: The properties of the family, each with what it says.
    """
    sentence = {**PROPERTIES, **own}.get(finding.property, "")
    question = finding.instance.question
    asked = question.text or question.prompt
    return [
        f"{finding.property}: {finding.message}",
        *([f"expected of every question: {sentence}"] if sentence else []),
        *([f"asked as: {question.id}{_prompt_of(question)}"] if question.id else []),
        *indented_block("about", finding.instance.drawing),
        *indented_block("question", asked.split("\n") if asked else ()),
    ]


def _prompt_of(question: Question) -> str:
    """Return the prompt template of a question in words; empty where it has none."""
    name = question.labels.get("prompt", "")
    return f", prompt {name}" if name else ""


def indented_block(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines under a title, indented; none if there is nothing."""
    if not lines:
        return []
    more = [f"    ... {len(lines) - MOST_LINES:,} more lines"] if len(lines) > MOST_LINES else []
    return ["", f"{title}:", *(f"    {line}".rstrip() for line in lines[:MOST_LINES]), *more]
