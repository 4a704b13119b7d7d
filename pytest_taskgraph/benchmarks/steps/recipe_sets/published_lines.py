"""The lines of the published STEPS files: three columns, of which the first holds the previous steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from ...data_sets.data_problems import DataProblems, clean_text, excerpt
from ...data_sets.json_lines import decode_line, numbered_lines
from ..step_query import STEP_JOINT

SampleKind = Literal["classification", "choice"]

MOST_STEPS: Final = 1_000  # before a question
LONGEST_STEP: Final = 10_000  # characters
_LABELS: Final = {"yes": True, "no": False}
_GLUE: Final = re.compile(r"""\\?['"]\s*,\s*\\?['"]""")
"""What stands between two texts of a list in the spelling of Python, where it was not split: `\\', "`."""


@dataclass(frozen=True, slots=True)
class SampleLine:
    """A line of a published file.

    Args:
        before: The previous steps as they stand, without the end mark.
        prefix: The previous steps one by one.
        candidate: The step of the second column: in the multiple choice, the next step.
        label: True if it is the next step.
        wrong: The step of the third column; empty in the classification.
        ended: True if the previous steps have an end mark.
        glued: True if a step of the line is several ones, badly split.
    """

    before: str
    prefix: tuple[str, ...]
    candidate: str
    label: bool
    wrong: str
    ended: bool
    glued: bool

    @property
    def right(self) -> str | None:
        """The next step; None if the line does not say it."""
        return self.candidate if self.label else None


def kind_of_name(name: str) -> SampleKind | None:
    """Return what a file holds by its name or else the innermost of its folders that states it."""
    for part in reversed(PurePosixPath(name).parts):
        words = "".join(re.findall(r"[a-z]+", part.lower()))
        if "nextstep" in words or words.startswith("cls"):
            return "classification"
        if "multichoice" in words or "multiplechoice" in words:
            return "choice"
    return None


def kind_of_content(content: bytes) -> SampleKind | None:
    """Return what a file holds by its first line of three columns."""
    for line in content[:1_000_000].splitlines()[:100]:
        columns = line.strip(b"\r\n").split(b"\t")
        if len(columns) == 3:
            return "classification" if columns[2].strip().lower() in (b"yes", b"no") else "choice"
    return None


def read_sample_lines(
    content: bytes, file: str, kind: SampleKind, problems: DataProblems
) -> tuple[list[SampleLine], int]:
    """Return the lines of a file that can be used, and the number of the others.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        kind: What it holds.
        problems: Lines that cannot be used are added here, with the number of the line.
    """
    lines_read: list[SampleLine] = []
    broken = 0
    for place, raw in numbered_lines(content, file, problems):
        if not raw.strip():
            continue

        def note(kind: str, what: str, place: str = place) -> None:
            problems.add(kind, f"{place}: {what}")

        text = decode_line(raw.removesuffix(b"\r"), note)
        line = None if text is None else _sample_line(text, kind)
        if isinstance(line, SampleLine):
            lines_read.append(line)
            continue
        broken += 1
        if isinstance(line, str):
            note("broken lines", f"{line}; the line is left out")
    return lines_read, broken


def _sample_line(text: str, kind: SampleKind) -> SampleLine | str:
    """Return what a line holds, or why it cannot be used."""
    columns = [clean_text(column) for column in text.split("\t", 4)]
    if len(columns) != 3:
        number = "more than 4" if len(columns) > 4 else str(len(columns))
        return f"found {number} columns separated by tabs, expected 3"
    ended = f" {columns[0]}".endswith(" .")
    before = columns[0].removesuffix(".").rstrip() if ended else columns[0]
    prefix = tuple(before.split(STEP_JOINT, MOST_STEPS)) if before else ()
    empty = [name for name, column in zip(("previous steps", "step"), (before, columns[1]), strict=True) if not column]
    if empty or not all(prefix):
        return f"the {empty[0]} column is empty" if empty else "one of the previous steps is empty"
    if len(prefix) > MOST_STEPS:
        return f"more than {MOST_STEPS} previous steps"
    if max(map(len, (*prefix, *columns[1:]))) > LONGEST_STEP:
        return f"a step of more than {LONGEST_STEP} characters"
    glued = any(_GLUE.search(column) for column in columns)
    candidate, wrong = columns[1:]
    label = True
    if kind == "classification":
        if wrong.lower() not in _LABELS:
            return f"found the label {excerpt(wrong, 20)!r}, expected Yes or No"
        label, wrong = _LABELS[wrong.lower()], ""
    elif not wrong:
        return "the second option is empty"
    elif wrong.lower() in _LABELS:
        return f"found the label {wrong!r} of a classification, expected the second option"
    elif candidate == wrong:
        return "the two options are the same"
    return SampleLine(before, prefix, candidate, label, wrong, ended, glued)
