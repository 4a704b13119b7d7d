"""Finding the workflow in a prompt, whatever its template is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ...catalog import catalog_cache
from ...errors import TaskgraphError
from ...notations import NOTATIONS, Notation
from ...workflow.model import Workflow
from .interpretations import leaves_unnamed

_FENCED = re.compile(r"^(`{3,})[^\n`]*\n(.*?)\n\1`*\s*$", re.MULTILINE | re.DOTALL)
LINES = 2_000  # at which of a prompt's lines a workflow may begin
AHEAD = 50  # lines that are read first: most lines are no beginning, which the line itself tells
CUTS = 3  # how often a text is cut where reading stops


class Excerpt(NamedTuple):
    """A workflow, and where in the prompt it stands."""

    workflow: Workflow
    start: int
    end: int
    text: str


def find_workflow(prompt: str) -> Workflow | None:
    """The project that is asked about: the last that stands in the prompt; None if no notation reads one.

    What stands before it are solved examples. Fenced text is tried first; else runs of lines that some notation reads
    as a whole, of which the longest tells the notation.
    """
    found = _last(prompt)
    return found.workflow if found else None


def is_unnamed(prompt: str) -> bool:
    """Return True if the text of the workflow in the prompt does not name it."""
    found = _last(prompt)
    return found is not None and leaves_unnamed(found.text)


def question_parts(prompt: str) -> Iterator[str]:
    """Where the question is to be looked for, in this order: after the workflow; after the example before; anywhere."""
    asked = _last(prompt)
    if asked:
        yield prompt[asked.end :]
        example = _last(prompt[: asked.start])
        yield prompt[example.end if example else 0 :]
    yield prompt


@catalog_cache
@lru_cache(maxsize=64)
def _last(prompt: str) -> Excerpt | None:
    for fenced in reversed(list(_FENCED.finditer(prompt))):
        workflow = _read(fenced[2])
        if workflow is not None:
            return Excerpt(workflow, fenced.start(), fenced.end(), fenced[2])
    return _unfenced(prompt)


@catalog_cache
@lru_cache(maxsize=64)
def _read(text: str) -> Workflow | None:
    """Return the workflow of a whole text in any notation; kept, as many questions show the same one."""
    for notation in NOTATIONS.values():
        try:
            return notation.read(text)
        except TaskgraphError:
            continue
    return None


def without_fenced(prompt: str) -> str:
    """The prompt without what stands in code fences."""
    return _FENCED.sub("", prompt)


def _unfenced(prompt: str) -> Excerpt | None:
    """The last workflow at least half as long as the longest, in its notation: so no word that is one by chance."""
    lines = prompt.split("\n")
    runs = [list(_runs(lines, notation)) for notation in NOTATIONS.values()]
    longest = [max((taken for _, taken, _ in found), default=0) for found in runs]
    most = max(longest)
    if not most:
        return None
    first, taken, workflow = [run for run in runs[longest.index(most)] if 2 * run[1] >= most][-1]
    start = sum(len(line) + 1 for line in lines[:first])
    text = "\n".join(lines[first : first + taken])
    return Excerpt(workflow, start, start + len(text), text)


def _runs(lines: list[str], notation: Notation) -> Iterator[tuple[int, int, Workflow]]:
    """The first line, the number of lines, and the workflow, of each run of lines that the notation reads."""
    first = 0
    while first < min(len(lines), LINES):
        taken, found = _beginning(lines[first : first + AHEAD], notation)
        if taken:
            taken, found = _beginning(lines[first:], notation)
        if found:
            yield first, taken, found
        # What was understood up to a mistake holds no other beginning: so no line is read again and again.
        first += max(taken, 1)


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
