"""Finding the workflow in a prompt, whatever frame stands around it."""

from __future__ import annotations

import re
from functools import lru_cache

from ...errors import TaskgraphError
from ...notations import NOTATIONS, Notation
from ...workflow.model import Workflow

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)\n\1`*\s*$", re.MULTILINE | re.DOTALL)
LINES = 2_000  # at which of a prompt's lines a workflow may begin
AHEAD = 50  # lines that are read first: most lines are no beginning, which the line itself tells
CUTS = 3  # how often a text is cut where reading stops


@lru_cache(maxsize=64)
def find_workflow(prompt: str) -> Workflow | None:
    """The project that stands in the prompt, read in the first notation that understands it; None if none does.

    Fenced text is tried first; else the longest run of lines that some notation reads as a whole.
    """
    for fenced in _FENCED.finditer(prompt):
        for notation in NOTATIONS.values():
            try:
                return notation.read(fenced[2])
            except TaskgraphError:
                continue
    return _unfenced(prompt)


def without_fenced(prompt: str) -> str:
    """The prompt without what stands in code fences."""
    return _FENCED.sub("", prompt)


def _unfenced(prompt: str) -> Workflow | None:
    lines = prompt.split("\n")
    most, best = 0, None
    for notation in NOTATIONS.values():
        first = 0
        while first < min(len(lines), LINES):
            taken, found = _beginning(lines[first : first + AHEAD], notation)
            if taken:
                taken, found = _beginning(lines[first:], notation)
            if found and taken > most:
                most, best = taken, found
            # What was understood up to a mistake holds no other beginning: so no line is read again and again.
            first += max(taken, 1)
    return best


def _beginning(lines: list[str], notation: Notation) -> tuple[int, Workflow | None]:
    """How many of the first lines are a workflow, and this; or how many the notation understands, and None.

    Where reading stops, the text is cut, and read again.
    """
    understood = 0
    for _ in range(CUTS):
        try:
            return len(lines), notation.read("\n".join(lines))
        except TaskgraphError as error:
            stopped = getattr(error, "line", 1) - 1
        understood = max(understood, stopped)
        while stopped > 0 and not lines[stopped - 1].strip():
            stopped -= 1
        if not 0 < stopped < len(lines):
            break
        lines = lines[:stopped]
    return understood, None
