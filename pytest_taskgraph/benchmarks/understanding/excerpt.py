"""Finding the workflow in a prompt, whatever frame stands around it."""

from __future__ import annotations

import re
from functools import lru_cache

from ...errors import TaskgraphError
from ...notations import NOTATIONS
from ...workflow.model import Workflow

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)\n\1`*\s*$", re.MULTILINE | re.DOTALL)
LINES = 2_000  # at which of a prompt's lines a workflow may begin


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


def _unfenced(prompt: str) -> Workflow | None:
    lines = prompt.splitlines()
    best: tuple[int, Workflow] | None = None
    for name in NOTATIONS:
        for first in range(min(len(lines), LINES)):
            found = _longest(lines[first:], name)
            if found and (best is None or found[0] > best[0]):
                best = found
            if found:
                break
    return best[1] if best else None


def _longest(lines: list[str], name: str) -> tuple[int, Workflow] | None:
    """The workflow that the first lines are, and how many lines it takes: where reading stops, the text is cut."""
    notation = NOTATIONS[name]
    for _ in range(3):
        try:
            return len(lines), notation.read("\n".join(lines))
        except TaskgraphError as error:
            stopped = getattr(error, "line", 1) - 1
            while stopped > 0 and not lines[stopped - 1].strip():
                stopped -= 1
            if not 0 < stopped < len(lines):
                return None
            lines = lines[:stopped]
    return None
