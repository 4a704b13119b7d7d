"""A run in Markdown, for a comment on a pull request or the summary of a CI step: the verdict first.

GitHub takes 65,536 characters in a comment and 1 MiB in a step summary. A report that would be longer is shortened,
its details first, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...results.case import INCONCLUSIVE
from ...results.record import About, about_of, tally_of
from ...results.tables import FEW, Table, cross_family_tables, family_tables
from ...results.tally import ANSWERED, Row, Tally
from ...trial import Trial
from ..columns import graded_note
from ..gate_lines import gates_of, reason, state
from ..headline import verdict
from ..html.table_view import repetitions
from ..spending_line import took
from ..wording import count, fact_name, interval, number, plural
from .changes_since import baseline, change, verdict_line
from .elements import cell, code, table, words
from .table_lines import markdown_table
from .trial_lines import missing_replies, wrong_answers

if TYPE_CHECKING:
    from ...results.comparison import RunComparison


REASON = 300  # columns of a gate's reason
SIGNS = {"failed": "❌", "passed": "✅", "skipped": "⏭️", INCONCLUSIVE: "❔"}


def head(
    record: Mapping[str, Any], tally: Tally, about: About, comparison: RunComparison | None, most: int
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
        yield f"- {verdict_line(comparison)}"
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


LIMIT = 65_000  # characters; of a comment GitHub takes 65,536
LEAST = 20_000  # into which any run fits


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of each kind is shown."""

    rows: int
    wrong: int
    flips: int


_ROOMS = (_Room(300, 10, 50), _Room(100, 10, 20), _Room(50, 5, 10), _Room(30, 2, 5), _Room(15, 0, 0))


def markdown(record: Mapping[str, Any], comparison: RunComparison | None = None, limit: int = LIMIT) -> str:
    """The report, in at most `limit` characters (limit >= 20,000), with a line feed at its end.

    Verdict, the tables of each family, what changed since the run before, wrong answers, missing replies, what the
    run took and what it was. Raises UsageError for a record that is damaged.
    """
    tally, about = tally_of(record), about_of(record)
    text = ""
    for room in _ROOMS:
        text = "\n".join(_lines(record, tally, about, comparison, room)) + "\n"
        if len(text) <= limit:
            break
    return text


def _lines(
    record: Mapping[str, Any], tally: Tally, about: About, comparison: RunComparison | None, room: _Room
) -> Iterator[str]:
    yield from head(record, tally, about, comparison, room.rows)
    if room != _ROOMS[0]:
        yield from ("", "_Shortened to fit; the record has everything._")
    yield from _results(tally, room.rows)
    if comparison is not None:
        yield from change(comparison, room.flips, baseline(record, comparison))
    yield from wrong_answers(tally, room.wrong)
    yield from missing_replies(tally, about.lost, room.rows)
    yield from _run(tally, about)


def _results(tally: Tally, most: int) -> Iterator[str]:
    parts = [tally.of_family(family) for family in tally.families]
    tables = [family_tables(part) for part in parts]
    if not any(tables):
        return
    yield from ("", "### Results")
    for part, shown in zip(parts, tables, strict=True):
        if len(parts) > 1:
            yield from ("", f"#### {code(part.families[0])}")
        yield from _of_family(part, shown, most)
    for one in cross_family_tables(tally):
        yield from markdown_table(one, most)


def _of_family(tally: Tally, tables: Sequence[Table], most: int) -> Iterator[str]:
    """The tables of one family, what was asked in another way, and repetitions."""
    for one in tables:
        yield from markdown_table(one, most)
    if note := graded_note(tally):
        yield from ("", words(note))
    yield from _relations(tally, most)
    if any(entry.few for one in tables for entry in one.entries):
        yield from ("", rf"\* fewer than {FEW} questions answered: such a rate says little")
    yield from _repetitions(tally, most)


def _repetitions(tally: Tally, most: int) -> Iterator[str]:
    """What questions that were asked more than once came to, and what must be known to read it."""
    found = repetitions(tally)
    if found is None:
        return
    strong = {"section": "**", "total": "**"}
    rows = [
        [f"{strong.get(one.kind, '')}{cell(one.name)}{strong.get(one.kind, '')}", *one.cells] for one in found.lines
    ]
    yield from table([f"{found.most} repetitions", *found.titles], rows[:most])
    yield from ("", *(f"- {words(note)}" for note in found.notes))


def _relations(tally: Tally, most: int) -> list[str]:
    rows = [
        [cell(one.name), cell(one.model), str(one.pairs), number(one.share), interval(one.interval)]
        for one in tally.relations()
    ]
    return table(["asked varied", "model", "pairs", "same verdict", "95% interval"], rows[:most], 2)


def _run(tally: Tally, about: About) -> Iterator[str]:
    """What the run was and what it took."""
    yield from ("", "### The run", "")
    models = [code(model) for model in about.models]
    more = f" and {len(models) - 20} more" if len(models) > 20 else ""
    facts = {
        "models": ", ".join(models[:20]) + more,
        "seed": code(str(about.seed)),
        **{fact_name(name, value): ", ".join(map(code, value.split(", ")[:20])) for name, value in about.facts.items()},
        plural("prompt", len(about.prompts)): ", ".join(map(code, about.prompts[:20])),
        "parsing": about.parsing and code(about.parsing),
        "pytest-taskgraph-bench": code(about.version),
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)
    yield f"- {_asked(list(tally))}"
    if line := took(tally, about.usage):
        yield f"- {line}"


def _asked(trials: Sequence[Trial]) -> str:
    answered = sum(one.outcome in ANSWERED for one in trials)
    return f"answered: {answered:,} of {len(trials):,} trials"
