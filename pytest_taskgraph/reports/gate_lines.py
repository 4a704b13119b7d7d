"""Verdicts of the gates as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..results.case import INCONCLUSIVE, state_of
from ..trial import Json
from .escape import one_line, wrap

COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow", INCONCLUSIVE: "yellow"}
LONGEST = 2000  # columns of a verdict
_RANKS = {INCONCLUSIVE: 1, "passed": 2, "skipped": 3}  # any other state is a failure, and comes first


def sorted_gates(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the gates of a record: failed, inconclusive, passed, then skipped ones."""
    gates = [gate for gate in record["gates"] if isinstance(gate, dict)]
    return sorted(gates, key=lambda gate: _RANKS.get(gate_state(gate), 0))


def gate_state(gate: Mapping[str, Json]) -> str:
    """Return "passed", "failed" or "skipped"; "inconclusive" for a comparison without a decision that fails nothing."""
    return state_of(str(gate.get("outcome")), str(gate.get("reason")))


def gate_reason(gate: Mapping[str, Json]) -> str:
    """Return the reason for the outcome without the words of `gate_state`; empty if none was recorded."""
    text = str(gate.get("reason") or "")
    return text.partition(": ")[2] if gate_state(gate) == INCONCLUSIVE else text


def gate_lines(
    gates: Iterable[Mapping[str, Json]], width: int, brief: bool = False
) -> list[tuple[str, dict[str, bool]]]:
    """Return a line for each gate: its state, its name and the reason, wrapped to `width` columns.

    Args:
        gates: The gates.
        width: The width of the terminal in columns.
        brief: True to leave out gates that passed, except comparisons.
    """
    return [
        (line, {COLOURS.get(gate_state(gate), "yellow"): True})
        for gate in gates
        if not brief or gate_state(gate) != "passed" or str(gate["name"]).startswith("compare::")
        for line in wrap(f"{gate_state(gate)} {gate['name']}: {gate_reason(gate)}", width, -(-LONGEST // width))
    ]


def gate_properties(gates: Iterable[Mapping[str, Json]]) -> list[tuple[str, str]]:
    """Return name and text of a property for each gate: `taskgraph.gates.NAME`, `failed: pass rate …`."""
    return [
        (
            f"taskgraph.{one_line(str(gate['name']).replace('::', '.', 1), 200)}",
            one_line(f"{gate_state(gate)}: {gate_reason(gate)}"),
        )
        for gate in gates
    ]
