"""Comparison with another run, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...results.case import IDENTICAL, INCONCLUSIVE, base_verdict, is_worse
from ...scoring.forms import show_answer
from ...trial import Json
from ..comparison_lines import (
    OF_P,
    OF_P_OF_AGGREGATES,
    aggregate_rows,
    aggregate_titles,
    group_p_value,
    interruption_notes,
    rates,
    summary_groups,
)
from ..escape import one_line
from ..wording import count, model_name, number
from .elements import NONE, cell, code, fenced_block, fold_lines, pipe_table, words

if TYPE_CHECKING:
    from ...results.comparison import Difference, Flip, GroupChange, RunComparison

SIGNS = {"worse": "❌", INCONCLUSIVE: "❔", IDENTICAL: "❔"}
ANSWER = 80  # columns
LINE = 160  # columns of a line of a text that changed
REASON = 300
MOST_IDS = 20  # ids of the questions that only one of the runs asked


def verdict_line(comparison: RunComparison) -> str:
    """Return the verdict of the comparison and its reason, in a line."""
    sign = SIGNS.get(base_verdict(comparison.verdict), "✅")
    return f"{sign} compared with the run before: **{comparison.verdict}**: {words(comparison.reason, REASON)}"


def baseline_name(record: Mapping[str, Any], comparison: RunComparison) -> str:
    """Return the name of the baseline, from the gate `compare::NAME` with the same verdict; empty if there is none."""
    prefix = f"{comparison.verdict}: {comparison.reason}"
    for gate in record["gates"]:
        kind, _, name = str(gate.get("name")).partition("::") if isinstance(gate, dict) else ("", "", "")
        if kind == "compare" and str(gate.get("reason")).startswith(prefix):
            return name
    return ""


def change_lines(comparison: RunComparison, most: int, name: str = "") -> Iterator[str]:
    """Yield the groups that changed, the variations, and the flipped questions, folded.

    Args:
        comparison: The comparison.
        most: How many questions are shown, and how many groups, but at least 15 groups.
        name: The name of the baseline; empty if it has none.
    """
    yield from ("", f"### Compared with {code(name) if name else 'the run before'}", "")
    yield f"- {count(comparison.paired, 'question')} paired"
    yield from (f"- {words(note, REASON)}" for note in (*interruption_notes(comparison), *comparison.notes[:MOST_IDS]))
    yield from _changes(comparison, max(most, 15))
    yield from _aggregates(comparison, max(most, 15))
    for difference in comparison.differences if most else ():
        yield from _difference_lines(difference)
    yield from _flips(comparison.flips, most)
    for title, ids in (("before", comparison.only_before), ("now", comparison.only_after)):
        some = min(most, MOST_IDS)
        if ids and some:
            more = [f"and {len(ids) - some} more"] if len(ids) > some else []
            yield from fold_lines(
                f"Asked only {title} ({len(ids):,})", ["- " + text for text in [*map(code, ids[:some]), *more]]
            )


def _changes(comparison: RunComparison, most: int) -> Iterator[str]:
    """Yield the groups with changed questions, the worse ones first, then the sections and all questions."""
    moved = [group for group in comparison.groups if group.lost or group.won]
    moved.sort(key=lambda group: (not is_worse(group.verdict), group.won - group.lost))
    several = any(group.model for group in comparison.groups) and len({group.model for group in comparison.groups}) > 1
    summary = summary_groups(comparison)
    rows = [_group_row(group, several) for group in moved[:most]] + [
        _group_row(group, several, "**") for group in summary[:most]
    ]
    titles = [
        comparison.group_word,
        *(["model"] if several else []),
        "verdict",
        "n",
        "pass rate",
        "mean",
        "lost",
        "won",
        "p",
    ]
    yield from pipe_table(titles, rows, 3 if several else 2)
    yield from ("", OF_P.format(comparison.group_word)) if rows else ()
    if len(moved) > most:
        yield from ("", f"And {len(moved) - most} more {comparison.group_word}s that moved.")


def _aggregates(comparison: RunComparison, most: int) -> Iterator[str]:
    """Yield at most `most` aggregates of the families."""
    changes = comparison.aggregates
    titles = aggregate_titles(changes)
    names = titles.index("n")
    rows = [[*map(cell, row[:names]), *row[names:]] for row in aggregate_rows(changes[:most])]
    yield from pipe_table(titles, rows, names)
    yield from ("", OF_P_OF_AGGREGATES) if rows else ()
    if len(changes) > most:
        yield from ("", f"And {len(changes) - most} more aggregates.")


def _group_row(group: GroupChange, several: bool, strong: str = "") -> list[str]:
    return [
        f"{strong}{cell(group.title)}{strong}",
        *([cell(model_name(group.model))] if several else []),
        group.verdict or NONE,
        str(group.n),
        rates(group),
        f"{number(group.mean_before)} → {number(group.mean_after)}",
        str(group.lost),
        str(group.won),
        group_p_value(group) or NONE,
    ]


def _difference_lines(difference: Difference) -> Iterator[str]:
    """Yield what changed about questions, with the lines of an example."""
    compared = "still compared" if difference.paired else "not compared"
    yield from (
        "",
        f"The {difference.what} changed for {count(difference.questions, 'question')}, {compared}; "
        f"in {code(difference.id)}:",
        "",
    )
    yield from fenced_block([one_line(line, LINE) for line in difference.lines], "diff")


def _flips(flips: Sequence[Flip], most: int) -> list[str]:
    some = flips[:most]
    several = any(flip.model for flip in some)
    titles = ["question", *(["model"] if several else []), "expected", "before", "now"]
    rows = [
        [
            cell(flip.id, 100),
            *([cell(model_name(flip.model))] if several else []),
            cell(show_answer(flip.form, flip.expected), ANSWER),
            _outcome_cell(flip.before_outcome, flip.form, flip.before_answer),
            _outcome_cell(flip.after_outcome, flip.form, flip.after_answer),
        ]
        for flip in some
    ]
    shown_count = f"{len(some)} of {len(flips):,}" if len(some) < len(flips) else f"{len(flips):,}"
    return fold_lines(f"Questions that flipped ({shown_count})", pipe_table(titles, rows, len(titles))[1:])


def _outcome_cell(outcome: str, form: str, answer: Json) -> str:
    return outcome if answer is None else f"{outcome}: {cell(show_answer(form, answer), ANSWER)}"
