"""A run in Markdown, for a comment on a pull request or the summary of a CI step: the verdict first.

GitHub takes 65,536 characters in a comment and 1 MiB in a step summary. A report that would be longer is shortened,
its details first, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..results.record import About, about_of, tally_of
from ..results.tally import ANSWERED, Group, Tally
from ..trial import Trial
from .columns import FEW, graded_note
from .html_repetitions import repetitions
from .markdown_blocks import cell, code, folded, table, words
from .markdown_comparison import baseline, change
from .markdown_trials import missing_replies, wrong_answers
from .markdown_verdict import head
from .spending import took
from .wording import interval, number

if TYPE_CHECKING:
    from ..results.comparison import Comparison

LIMIT = 65_000  # characters; of a comment GitHub takes 65,536
LEAST = 20_000  # into which any run fits
LONG = 30  # rows of a table that stands open


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of each kind is shown."""

    rows: int
    wrong: int
    flips: int


_ROOMS = (_Room(300, 10, 50), _Room(100, 10, 20), _Room(50, 5, 10), _Room(30, 2, 5), _Room(15, 0, 0))


def markdown(record: Mapping[str, Any], comparison: Comparison | None = None, limit: int = LIMIT) -> str:
    """The report, in at most `limit` characters (limit >= 20,000), with a line feed at its end.

    Verdict, table by pattern and model, what changed since the run before, wrong answers, missing replies, what the
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
    record: Mapping[str, Any], tally: Tally, about: About, comparison: Comparison | None, room: _Room
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
    groups, graded = list(_groups(tally)), tally.groups(graded=True)
    if not groups and not graded:
        return
    yield from ("", "### Results")
    shown = groups if len(groups) <= LONG else [one for one in groups if one.heads or _flawed(one.group)]
    yield from _table(tally, shown[:most])
    if len(shown) > most:
        yield from ("", f"And {len(shown) - most} more rows.")
    if len(shown) < len(groups):
        yield from folded(f"All {len(groups)} rows", list(_table(tally, groups[:most]))[1:])
    yield from _graded(tally, most)
    yield from _relations(tally, most)
    if any(0 < one.questions < FEW for one in [*(row.group for row in groups), *graded]):
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


@dataclass(frozen=True, slots=True)
class _Row:
    title: str  # Markdown
    group: Group
    heads: bool  # whether it is a category or the total


def _groups(tally: Tally) -> Iterator[_Row]:
    """Each category with its patterns below it, those of all models together; the total of each model last."""
    sections, groups = _by_name(tally.groups("section")), _by_name(tally.groups("group"))
    of_section: dict[str, list[str]] = {}
    for one in tally.groups("group", pooled=True):
        of_section.setdefault(one.section, []).append(one.name)
    for section in tally.groups("section", pooled=True):
        yield from (_Row(f"**{cell(section.name)}**", one, True) for one in sections[section.name])
        for name in of_section.get(section.name, ()):
            yield from (_Row(cell(name), one, False) for one in groups[name] if one.section == section.name)
    totals = [_Row("**total**", tally.whole(model), True) for model in tally.models]
    yield from (one for one in totals if of_section or not one.group.apart)


def _by_name(groups: Iterable[Group]) -> dict[str, list[Group]]:
    found: dict[str, list[Group]] = {}
    for one in groups:
        found.setdefault(one.name, []).append(one)
    return found


def _flawed(group: Group) -> bool:
    return not all(trial.accepted for trial in group.trials)


def _table(tally: Tally, rows: Sequence[_Row]) -> list[str]:
    several = len(tally.models) > 1
    counts = [name for name in ("unreadable", "refused", "skipped") if getattr(tally.total(), name)]
    titles = ["pattern", *(["model"] if several else []), "n", "pass rate", "95% interval", "mean", "errors", *counts]
    cells = []
    for one in rows:
        row = tally.row(one.group)
        mark = r"\*" if 0 < one.group.questions < FEW else ""
        numbers = [f"{row.n}{mark}", number(row.rate), interval(one.group.interval), number(row.mean), str(row.errors)]
        model = [cell(one.group.model)] if several else []
        cells.append([one.title, *model, *numbers, *(str(getattr(row, name)) for name in counts)])
    return table(titles, cells, 2 if several else 1)


def _graded(tally: Tally, most: int) -> Iterator[str]:
    """Yield the table of the patterns whose questions are graded, and what to know about it."""
    rows = []
    for group in tally.groups(graded=True):
        row, mark = tally.row(group), r"\*" if 0 < group.questions < FEW else ""
        means = [number(row.mean), interval(group.interval), number(row.chance), number(row.above_chance)]
        counts = [f"{row.n}{mark}", *means, *map(str, (row.errors, row.unreadable, row.refused, row.skipped))]
        rows.append([cell(group.name), cell(group.model), *counts])
    titles = ["graded", "model", "n", "mean", "95% interval", "chance", "above chance"]
    yield from table([*titles, "errors", "unreadable", "refused", "skipped"], rows[:most], 2)
    if rows:
        yield from ("", words(graded_note(tally)))


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
        **{f"{name}s": ", ".join(map(code, value.split(", ")[:20])) for name, value in about.facts.items()},
        "frame": about.frame and code(about.frame),
        "reading": about.reading and code(about.reading),
        "pytest-taskgraph": code(about.version),
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)
    yield f"- {_asked(list(tally))}"
    if line := took(tally, about.usage):
        yield f"- {line}"


def _asked(trials: Sequence[Trial]) -> str:
    answered = sum(one.outcome in ANSWERED for one in trials)
    return f"answered: {answered:,} of {len(trials):,} trials"
