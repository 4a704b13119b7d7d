"""What a run has spent: calls, US dollars, and US dollars that are reserved for what is in flight."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...errors import BudgetSpentError
from .operations import Settle, Spend

_ROUNDING = 1e-9  # ten times 0.1 is not more than 1.0


def enter(
    connection: sqlite3.Connection, run: str, settles: Sequence[Settle], spends: Sequence[Spend]
) -> list[tuple[Spend, BudgetSpentError | None]]:
    """To each spending None, or why it is too much; all others are reserved. To be called within a transaction."""
    row = connection.execute("SELECT calls, cost, reserved FROM ledger WHERE run = ?", (run,)).fetchone()
    calls, cost, reserved = row or (0, 0.0, 0.0)
    for settle in settles:
        reserved, cost = max(0.0, reserved - settle.reserved), cost + settle.cost
    results: list[tuple[Spend, BudgetSpentError | None]] = []
    for spend in spends:
        refused = _refusal(spend, calls, cost, reserved)
        if refused is None:
            calls, reserved = calls + spend.calls, reserved + spend.cost
        results.append((spend, refused))
    connection.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", (run, calls, cost, reserved))
    return results


def _refusal(spend: Spend, calls: int, cost: float, reserved: float) -> BudgetSpentError | None:
    if spend.max_calls is not None and calls + spend.calls > spend.max_calls:
        return BudgetSpentError("calls", f"--taskgraph-max-calls={spend.max_calls} is spent")
    if spend.max_cost is not None and cost + reserved + spend.cost > spend.max_cost * (1 + _ROUNDING):
        held = f" and {reserved:.4g} reserved for requests in flight" if reserved else ""
        return BudgetSpentError(
            "cost",
            f"--taskgraph-max-cost={spend.max_cost:g} allows no request of up to {spend.cost:.4g} US$ more: "
            f"{cost:.4g} US$ are spent{held}",
        )
    return None
