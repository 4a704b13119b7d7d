"""Names of the steps of a job: texts that stand in the file, each once in its job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ...workflow.model import END, START
from .workflow_file import Step

LONGEST: Final = 100  # characters of a name that is taken from `run`


def name_steps(steps: Sequence[Step]) -> list[str]:
    """Return a name for each step: the first of its labels that no other step has, else its id, else a number.

    The labels are `name`, the lines of `run`, and `uses`. Of steps that share all of them, those after the first have
    a number in brackets behind the first label.
    """
    labels = [tuple(dict.fromkeys(_shortened(label) for label in step.labels)) for step in steps]
    sharing = Counter(label for row in labels for label in row)
    names: list[str] = []
    taken = {START, END}
    for step, row in zip(steps, labels, strict=True):
        own = [label for label in row if sharing[label] == 1]
        first = row[:1] or ((step.id,) if step.id else ("step",))
        candidates = [*([first[0]] if first[0] in own else []), *filter(None, [step.id]), *own, first[0]]
        names.append(next((each for each in candidates if each not in taken), "") or _numbered(first[0], taken))
        taken.add(names[-1])
    return names


def _shortened(label: str) -> str:
    """Return the beginning of a long label, at a space where there is one."""
    if len(label) <= LONGEST:
        return label
    cut = label[:LONGEST]
    return cut.rpartition(" ")[0].rstrip() or cut


def _numbered(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"
