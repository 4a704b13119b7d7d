"""Comparison of two runs as the page shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...results.case import base_verdict
from ...scoring.forms import show_answer
from ...trial import Json
from ..comparison_lines import aggregate_rows, aggregate_titles, interruption_notes, rates
from ..escape import one_line
from ..wording import count, number

if TYPE_CHECKING:
    from ...results.comparison import Difference, Flip, GroupChange, RunComparison

SHORT = 200  # columns of an answer
LEAST_P = 0.001
MOST = 200  # rows of a list; the filter of the questions shows the rest
_APART = ("settings", "gates", "lost")  # settings are flattened; the others are results, not settings
_STATES = {"worse": "failed", "better": "passed", "not worse": "passed"}


@dataclass(frozen=True, slots=True)
class FlipView:
    """A question with another outcome than before."""

    id: str
    group: str
    model: str
    change: str  # "worse" or "better"
    before: tuple[str, str, str]  # outcome, score, answer
    after: tuple[str, str, str]

    @property
    def before_text(self) -> str:
        """Return the former outcome and answer in a line."""
        outcome, score, answer = self.before
        return f"{outcome}, score {score}: {answer}"


@dataclass(frozen=True, slots=True)
class Changes:
    """A comparison, all its values as texts."""

    state: str
    verdict: str
    reason: str
    notes: list[str]
    runs: list[list[str]]  # name of a fact, before, after
    words: tuple[str, str]  # what a group and a section are called
    groups: list[list[str]]
    sections: list[list[str]]  # the total as its last row
    aggregates: list[list[str]]  # titles first; empty where no family has any
    flips: list[FlipView]
    differences: list[tuple[str, list[str]]]  # what changed at the example of one question, lines of a diff
    changed: list[tuple[str, str]]  # what changed, the questions' ids
    only: list[tuple[str, str]]  # in which run alone, or without an answer, ids
    by_key: dict[tuple[str, str], FlipView]

    def flip(self, question: str, model: str) -> FlipView | None:
        """Return the change of a question's outcome; None if it is the same."""
        return self.by_key.get((question, model)) or self.by_key.get((question, ""))


def changes(comparison: RunComparison) -> Changes:
    """Return the comparison; lists are cut after MOST entries, with a note of how many are left out."""
    flips = [_flip_view(flip) for flip in comparison.flips]
    totals = [comparison.total] if comparison.total else []
    rows = aggregate_rows(comparison.aggregates)
    return Changes(
        state=_STATES.get(base_verdict(comparison.verdict), "neutral"),
        verdict=comparison.verdict,
        reason=comparison.reason,
        notes=[*_notes(comparison), *interruption_notes(comparison), *comparison.notes],
        runs=_run_differences(comparison.before, comparison.after),
        words=(comparison.group_word, comparison.section_word),
        groups=[_group_row(group) for group in comparison.groups],
        sections=[_group_row(group) for group in (*comparison.sections, *totals)],
        aggregates=[aggregate_titles(comparison.aggregates), *rows] if rows else [],
        flips=flips[:MOST],
        differences=[(_difference_title(difference), list(difference.lines)) for difference in comparison.differences],
        changed=_ids_by_change(comparison),
        only=_ids_of_one_run(comparison),
        by_key={(flip.id, flip.model): flip for flip in flips},
    )


def _notes(comparison: RunComparison) -> Iterator[str]:
    flips = comparison.flips
    lost = sum(flip.lost for flip in flips)
    yield f"{count(comparison.paired, 'question')} paired: {lost:,} worse than before, {len(flips) - lost:,} better."
    if comparison.needed:
        yield f"About {count(comparison.needed, 'paired question')} needed for a decision."
    if len(flips) > MOST:
        yield f"The first {MOST} of {len(flips):,} that flipped are listed."


def _flip_view(flip: Flip) -> FlipView:
    before = (flip.before_outcome, number(flip.before_score), _answer(flip.form, flip.before_answer))
    after = (flip.after_outcome, number(flip.after_score), _answer(flip.form, flip.after_answer))
    return FlipView(flip.id, flip.group, flip.model, "worse" if flip.lost else "better", before, after)


def _answer(form: str, answer: Json) -> str:
    return "no answer" if answer is None else one_line(show_answer(form, answer), SHORT)


def _difference_title(difference: Difference) -> str:
    paired = "still paired" if difference.paired else "not paired"
    return (
        f"{difference.what} changed: {count(difference.questions, 'question')}, {paired}; for example {difference.id}"
    )


def _group_row(group: GroupChange) -> list[str]:
    """Return name, n, rates and means before and after, p-values and verdict."""
    return [
        f"{group.title}, {group.model}" if group.model else group.title,
        f"{group.n:,}",
        rates(group),
        f"{number(group.mean_before)} → {number(group.mean_after)}",
        _p(group.p),
        _p(group.adjusted_p),
        group.verdict or "-",
    ]


def _p(value: float | None) -> str:
    return "<0.001" if value is not None and value < LEAST_P else number(value)


def _run_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[str]]:
    """Return the facts in which the two runs differ, settings by their own names."""
    first, second = _flat_facts(before), _flat_facts(after)
    rows = [[name, first.get(name, "-"), second.get(name, "-")] for name in dict.fromkeys((*first, *second))]
    return [row for row in rows if row[1] != row[2]]


def _flat_facts(about: Mapping[str, Any]) -> dict[str, str]:
    settings = about.get("settings") or {}
    return {name: _fact(value) for name, value in {**about, **settings}.items() if name not in _APART}


def _fact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _ids_by_change(comparison: RunComparison) -> list[tuple[str, str]]:
    ids_by_change: dict[str, list[str]] = {}
    for question in comparison.changed:
        ids_by_change.setdefault(" and ".join(question.what), []).append(question.id)
    return [
        (f"{what} changed: {count(len(ids), 'question')}", _id_list(ids)) for what, ids in sorted(ids_by_change.items())
    ]


def _ids_of_one_run(comparison: RunComparison) -> list[tuple[str, str]]:
    sides = (
        ("asked before alone", comparison.only_before),
        ("asked after alone", comparison.only_after),
        ("without an answer in one of the runs", [trial.id for trial in comparison.missing]),
    )
    return [(f"{side}: {count(len(ids), 'question')}", _id_list(ids)) for side, ids in sides if ids]


def _id_list(ids: Iterable[str]) -> str:
    listed_ids = list(ids)
    more = f" and {len(listed_ids) - MOST:,} more" if len(listed_ids) > MOST else ""
    return ", ".join(listed_ids[:MOST]) + more
