"""The verdicts over the whole run, in words: for the terminal and for JUnit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..trial import Json
from .escape import one_line, wrap

COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def gate_lines(gates: Iterable[Mapping[str, Json]], width: int) -> list[tuple[str, dict[str, bool]]]:
    """A line for each verdict: how it ended, its name, and why; wrapped to `width` columns."""
    return [
        (line, {COLOURS.get(str(one["outcome"]), "yellow"): True})
        for one in gates
        for line in wrap(one_line(f"{one['outcome']} {one['name']}: {one['reason']}"), width, 3)
    ]


def gate_properties(gates: Iterable[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """Name and text of a property for each verdict: `taskgraph.gates.structure`, `failed: pass rate …`."""
    return [
        (
            f"taskgraph.{one_line(str(one['name']).replace('::', '.', 1), 200)}",
            one_line(f"{one['outcome']}: {one['reason']}"),
        )
        for one in gates
    ]
