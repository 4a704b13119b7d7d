"""The verdicts over the whole run, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..results.case import INCONCLUSIVE
from ..trial import Json
from .escape import one_line, wrap

COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow", INCONCLUSIVE: "yellow"}
LONGEST = 2000  # columns of a verdict
_RANKS = {INCONCLUSIVE: 1, "passed": 2, "skipped": 3}  # whatever else stands first: it failed


def gates_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The verdicts that a record holds: those that failed, are inconclusive, passed, were left out."""
    found = [one for one in record.get("gates") or () if isinstance(one, dict)]
    return sorted(found, key=lambda one: _RANKS.get(state(one), 0))


def state(gate: Mapping[str, Json]) -> str:
    """How it ended: passed, failed or skipped; "inconclusive" where a comparison passed without a decision."""
    told = str(gate.get("reason")).partition(": ")[0]
    return INCONCLUSIVE if gate.get("outcome") == "passed" and told == INCONCLUSIVE else str(gate.get("outcome"))


def reason(gate: Mapping[str, Json]) -> str:
    """Why it ended so, in the words that stand beside its `state`, which they do not repeat; "" where none is told."""
    told = str(gate.get("reason") or "")
    return told.partition(": ")[2] if state(gate) == INCONCLUSIVE else told


def gate_lines(
    gates: Iterable[Mapping[str, Json]], width: int, brief: bool = False
) -> list[tuple[str, dict[str, bool]]]:
    """A line for each verdict: how it ended, its name, and why; wrapped to `width` columns.

    `brief`: only of those that did not plainly pass, and of comparisons.
    """
    return [
        (line, {COLOURS.get(state(one), "yellow"): True})
        for one in gates
        if not brief or state(one) != "passed" or str(one["name"]).startswith("compare::")
        for line in wrap(f"{one['outcome']} {one['name']}: {one['reason']}", width, -(-LONGEST // width))
    ]


def gate_properties(gates: Iterable[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """Name and text of a property for each verdict: `taskgraph.gates.NAME`, `failed: pass rate …`."""
    return [
        (
            f"taskgraph.{one_line(str(one['name']).replace('::', '.', 1), 200)}",
            one_line(f"{one['outcome']}: {one['reason']}"),
        )
        for one in gates
    ]
