"""The head of the report in Markdown: what the run came to, in one line, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..results.case import INCONCLUSIVE
from ..results.record import About
from ..results.tally import Row, Tally
from .gates import gates_of, reason, state
from .markdown_blocks import code, words
from .markdown_comparison import baseline, judged
from .verdict import verdict
from .wording import count, number

if TYPE_CHECKING:
    from ..results.comparison import Comparison

REASON = 300  # columns of a gate's reason
SIGNS = {"failed": "❌", "passed": "✅", "skipped": "⏭️", INCONCLUSIVE: "❔"}


def head(
    record: Mapping[str, Any], tally: Tally, about: About, comparison: Comparison | None, most: int
) -> Iterator[str]:
    """A heading with the verdict, and a list: gates, failed ones first and at most `most`, the comparison, the totals
    of each model, and what must be known to read them.
    """
    whole = verdict(record, tally, about, comparison)
    yield f"## {SIGNS.get(whole.state, '📋')} taskgraph: {words(whole.headline)}"
    yield ""
    gates = gates_of(record)
    yield from (_gate(one, len(about.models) > 1) for one in gates[:most])
    if len(gates) > most:
        yield f"- and {count(len(gates) - most, 'gate')} more"
    if comparison is not None and not baseline(record, comparison):
        yield f"- {judged(comparison)}"
    yield from (f"- {_counts(tally.total(model))}" for model in tally.models[:most])
    yield from (f"- {words(note)}" for note in whole.notes[:most])


def _gate(gate: Mapping[str, Any], several: bool) -> str:
    """How one gate ended and why; of which model, where there are several and its name does not tell."""
    outcome, why = state(gate), reason(gate)
    name, model = str(gate.get("name")), str(gate.get("model") or "")
    told = f"{SIGNS.get(outcome, SIGNS['failed'])} {words(outcome)}: {code(name, REASON)}"
    told += f" {code(model)}" if several and model and not name.endswith(f"[{model}]") else ""
    return f"- {told}" + (f": {words(why, REASON)}" if why else "")


def _counts(row: Row) -> str:
    """What one model came to, in a line."""
    facts = [f"{row.right:,} of {row.n:,} right", f"pass rate {number(row.rate)}", f"mean {number(row.mean)}"]
    facts = facts if row.questions or not row.graded else []
    others = {
        "graded, apart": row.graded,
        "errors": row.errors,
        "unparseable": row.unparseable,
        "refused": row.refused,
        "skipped": row.skipped,
    }
    return f"{code(row.model)}: {', '.join([*facts, *(f'{of:,} {name}' for name, of in others.items() if of)])}"
