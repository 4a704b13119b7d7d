"""Run as Markdown, for a comment on a pull request or the summary of a CI step: the verdict first.

GitHub takes 65,536 characters in a comment and 1 MiB in a step summary. A longer report is shortened, its details
first, and a line states it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...results.case import INCONCLUSIVE
from ...results.record import About, about_of, tally_of
from ...results.scoreboard import order_models
from ...results.tables import FEW, Table, cross_family_tables, family_tables
from ...results.tally import ANSWERED, Row, Tally
from ...trial import Trial
from ..columns import graded_note
from ..gate_lines import gate_reason, gate_state, sorted_gates
from ..headline import provenance_facts, verdict
from ..repetition_lines import repetitions
from ..spending_line import spending_line
from ..wording import count, fact_name, interval, model_name, number, plural
from .changes_since import baseline_name, change_lines, verdict_line
from .elements import cell, code, pipe_table, words
from .table_lines import markdown_table, scoreboard_lines
from .trial_lines import missing_replies, wrong_answers

if TYPE_CHECKING:
    from ...results.comparison import RunComparison


REASON = 300  # columns of a gate's reason
LONGEST_FACT = 1_000  # columns, such as of the command line
SIGNS = {"failed": "❌", "passed": "✅", "skipped": "⏭️", INCONCLUSIVE: "❔"}


def head(
    record: Mapping[str, Any], tally: Tally, about: About, comparison: RunComparison | None, most: int
) -> Iterator[str]:
    """Yield the heading with the verdict, and a list: `most` gates, the comparison, totals of each model, notes."""
    whole = verdict(record, tally, about, comparison)
    yield f"## {SIGNS.get(whole.state, '📋')} taskgraph: {words(whole.headline)}"
    yield ""
    gates = sorted_gates(record)
    yield from (_gate_line(gate, len(about.models) > 1) for gate in gates[:most])
    if len(gates) > most:
        yield f"- and {count(len(gates) - most, 'gate')} more"
    if comparison is not None and not baseline_name(record, comparison):
        yield f"- {verdict_line(comparison)}"
    yield from (f"- {_counts_line(tally.total(model))}" for model in order_models(tally.models)[:most])
    yield from (f"- {words(note)}" for note in whole.notes[:most])


def _gate_line(gate: Mapping[str, Any], several: bool) -> str:
    """Return the outcome of a gate and its reason, with the model if there are several and its name lacks it."""
    outcome, why = gate_state(gate), gate_reason(gate)
    name, model = str(gate.get("name")), str(gate.get("model") or "")
    text = f"{SIGNS.get(outcome, SIGNS['failed'])} {words(outcome)}: {code(name, REASON)}"
    text += f" {code(model_name(model))}" if several and model and not name.endswith(f"[{model}]") else ""
    return f"- {text}" + (f": {words(why, REASON)}" if why else "")


def _counts_line(row: Row) -> str:
    """Return the counts and scores of one model in a line."""
    facts = [f"{row.right:,} of {row.n:,} right", f"pass rate {number(row.rate)}"]
    facts += [f"mean {number(row.mean)}"] if number(row.mean) != number(row.rate) else []
    facts = facts if row.questions or not row.graded else []
    others = {
        "graded, apart": row.graded,
        "errors": row.errors,
        "unparseable": row.unparseable,
        "refused": row.refused,
        "skipped": row.skipped,
    }
    facts += [f"{of:,} {name}" for name, of in others.items() if of]
    return f"{code(model_name(row.model))}: {', '.join(facts)}"


LIMIT = 65_000  # characters; of a comment GitHub takes 65,536


@dataclass(frozen=True, slots=True)
class _Room:
    """How many entries of each kind are shown."""

    rows: int
    wrong: int
    flips: int


_ROOMS = (_Room(300, 10, 50), _Room(100, 10, 20), _Room(50, 5, 10), _Room(30, 2, 5), _Room(15, 0, 0))


def markdown(record: Mapping[str, Any], comparison: RunComparison | None = None, limit: int = LIMIT) -> str:
    """Return the report, which ends in a line feed, in at most `limit` characters.

    It holds the verdict, the tables of each family, the comparison with the run before, wrong answers, questions
    without a reply, what the run took, and its settings.

    Args:
        record: The record of the run.
        comparison: The comparison with another run, if there is one.
        limit: The number of characters, at least 20,000.

    Raises:
        UsageError: if the record is damaged.
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
    yield from scoreboard_lines(tally, room.rows)
    yield from _result_lines(tally, room.rows)
    if comparison is not None:
        name = comparison.names[0] or baseline_name(record, comparison)
        yield from change_lines(comparison, room.flips, name)
    yield from wrong_answers(tally, room.wrong)
    yield from missing_replies(tally, about.lost, room.rows)
    yield from _run_lines(tally, about)


def _result_lines(tally: Tally, most: int) -> Iterator[str]:
    parts = [tally.of_family(family) for family in tally.families]
    tables = [family_tables(part) for part in parts]
    if not any(tables):
        return
    yield from ("", "### Results")
    for part, tables_of_family in zip(parts, tables, strict=True):
        if len(parts) > 1:
            yield from ("", f"#### {code(part.families[0])}")
        yield from _family_lines(part, tables_of_family, most)
    for table in cross_family_tables(tally):
        yield from markdown_table(table, most)


def _family_lines(tally: Tally, tables: Sequence[Table], most: int) -> Iterator[str]:
    """Yield the tables of one family, its variations and its repetitions."""
    for table in tables:
        yield from markdown_table(table, most)
    if note := graded_note(tally):
        yield from ("", words(note))
    yield from _relation_table(tally, most)
    if any(entry.few for table in tables for entry in table.entries):
        yield from ("", rf"\* fewer than {FEW} questions answered: such a rate says little")
    yield from _repetition_lines(tally, most)


def _repetition_lines(tally: Tally, most: int) -> Iterator[str]:
    """Yield the table of repeated questions, and the notes that explain it."""
    repeated = repetitions(tally)
    if repeated is None:
        return
    strong = {"section": "**", "total": "**"}
    rows = [
        [f"{strong.get(line.kind, '')}{cell(line.name)}{strong.get(line.kind, '')}", *line.cells]
        for line in repeated.lines
    ]
    yield from pipe_table([f"{repeated.most} repetitions", *repeated.titles], rows[:most])
    yield from ("", *(f"- {words(note)}" for note in repeated.notes))


def _relation_table(tally: Tally, most: int) -> list[str]:
    rows = [
        [
            cell(relation.name),
            cell(model_name(relation.model)),
            str(relation.pairs),
            number(relation.share),
            interval(relation.interval),
        ]
        for relation in tally.relations()
    ]
    return pipe_table(["asked varied", "model", "pairs", "same verdict", "95% interval"], rows[:most], 2)


def _run_lines(tally: Tally, about: About) -> Iterator[str]:
    """Yield the settings of the run and what it took."""
    yield from ("", "### The run", "")
    models = [code(model_name(model)) for model in order_models(about.models)]
    more = f" and {len(models) - 20} more" if len(models) > 20 else ""
    facts = {
        "models": ", ".join(models[:20]) + more,
        fact_name("seed", about.seeds): code(about.seeds),
        **{fact_name(name, value): ", ".join(map(code, value.split(", ")[:20])) for name, value in about.facts.items()},
        plural("prompt", len(about.prompts)): ", ".join(map(code, about.prompts[:20])),
        "parsing": about.parsing and code(about.parsing),
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)
    yield from (f"- {words(name)}: {code(value, LONGEST_FACT)}" for name, value in provenance_facts(about))
    yield f"- {_answered_line(list(tally))}"
    if line := spending_line(tally, about.usage):
        yield f"- {line}"


def _answered_line(trials: Sequence[Trial]) -> str:
    answered = sum(trial.outcome in ANSWERED for trial in trials)
    return f"answered: {answered:,} of {len(trials):,} trials"
