"""The head of the report in Markdown: what the run came to, in one line, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..results.record import About
from ..results.tally import Row, Tally
from .markdown_blocks import code, words
from .markdown_comparison import judged
from .verdict import verdict
from .wording import count, number

if TYPE_CHECKING:
    from ..results.comparison import Comparison

REASON = 300  # columns of a gate's reason
SIGNS = {"failed": "❌", "passed": "✅", "skipped": "⏭️"}
RANKS = {"passed": 1, "skipped": 2}  # whatever else stands first: it failed


def head(
    record: Mapping[str, Any], tally: Tally, about: About, comparison: Comparison | None, most: int
) -> Iterator[str]:
    """A heading with the verdict, and a list: gates, failed ones first and at most `most`, the comparison, the totals
    of each model, and what must be known to read them.
    """
    whole = verdict(record, tally, about, comparison)
    yield f"## {SIGNS.get(whole.state, '📋')} taskgraph: {words(whole.headline)}"
    yield ""
    gates = [one for one in record.get("gates") or () if isinstance(one, dict)]
    gates.sort(key=lambda one: RANKS.get(str(one.get("outcome")), 0))
    yield from map(_gate, gates[:most])
    if len(gates) > most:
        yield f"- and {count(len(gates) - most, 'gate')} more"
    if comparison is not None:
        yield f"- {judged(comparison)}"
    yield from (f"- {_counts(tally.total(model))}" for model in tally.models[:most])
    yield from (f"- {words(note)}" for note in whole.notes[:most])


def _gate(gate: Mapping[str, Any]) -> str:
    outcome, reason = str(gate.get("outcome")), str(gate.get("reason") or "")
    told = f"{SIGNS.get(outcome, SIGNS['failed'])} {words(outcome)}: {code(str(gate.get('name')), REASON)}"
    told += f" {code(str(gate['model']))}" if gate.get("model") else ""
    return f"- {told}" + (f": {words(reason, REASON)}" if reason else "")


def _counts(row: Row) -> str:
    """What one model came to, in a line."""
    facts = [f"{row.right:,} of {row.n:,} right", f"pass rate {number(row.rate)}", f"mean {number(row.mean)}"]
    others = {"errors": row.errors, "unreadable": row.unreadable, "refused": row.refused, "skipped": row.skipped}
    return f"{code(row.model)}: {', '.join([*facts, *(f'{of:,} {name}' for name, of in others.items() if of)])}"
