"""Two runs side by side: what a comparison says, as the page shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...results.case import base_verdict
from ...scoring.forms import show_answer
from ...trial import Json
from ..comparison_lines import aggregate_rows, aggregate_titles, interrupted, rates
from ..escape import one_line
from ..wording import count, number

if TYPE_CHECKING:
    from ...results.comparison import Difference, Flip, GroupChange, RunComparison

SHORT = 200  # columns of an answer
LEAST_P = 0.001
MOST = 200  # rows of a list; the filter of the questions shows the rest
_APART = ("settings", "gates", "lost")  # settings are flattened; what a run came to is not how it was asked
_STATES = {"worse": "failed", "better": "passed", "not worse": "passed"}


@dataclass(frozen=True, slots=True)
class FlipView:
    """A question whose outcome is another than before."""

    id: str
    group: str
    model: str
    change: str  # "worse" or "better"
    before: tuple[str, str, str]  # outcome, score, answer
    after: tuple[str, str, str]

    @property
    def told_before(self) -> str:
        """The former outcome and answer in a line."""
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
        """What became of a question's answer, None where its outcome is the same."""
        return self.by_key.get((question, model)) or self.by_key.get((question, ""))


def changes(comparison: RunComparison) -> Changes:
    """What the comparison says, lists cut after MOST entries with a note of how many are left out."""
    flips = [_flip(one) for one in comparison.flips]
    totals = [comparison.total] if comparison.total else []
    rows = aggregate_rows(comparison.aggregates)
    return Changes(
        state=_STATES.get(base_verdict(comparison.verdict), "neutral"),
        verdict=comparison.verdict,
        reason=comparison.reason,
        notes=[*_notes(comparison), *interrupted(comparison), *comparison.notes],
        runs=_runs(comparison.before, comparison.after),
        words=(comparison.group_word, comparison.section_word),
        groups=[_change(one) for one in comparison.groups],
        sections=[_change(one) for one in (*comparison.sections, *totals)],
        aggregates=[aggregate_titles(comparison.aggregates), *rows] if rows else [],
        flips=flips[:MOST],
        differences=[(_headed(one), list(one.lines)) for one in comparison.differences],
        changed=_by_change(comparison),
        only=_only(comparison),
        by_key={(one.id, one.model): one for one in flips},
    )


def _notes(comparison: RunComparison) -> Iterator[str]:
    flips = comparison.flips
    lost = sum(one.lost for one in flips)
    yield f"{count(comparison.paired, 'question')} paired: {lost:,} worse than before, {len(flips) - lost:,} better."
    if comparison.needed:
        yield f"About {count(comparison.needed, 'paired question')} would decide."
    if len(flips) > MOST:
        yield f"The first {MOST} of {len(flips):,} that flipped are listed."


def _flip(one: Flip) -> FlipView:
    before = (one.before_outcome, number(one.before_score), _answer(one.form, one.before_answer))
    after = (one.after_outcome, number(one.after_score), _answer(one.form, one.after_answer))
    return FlipView(one.id, one.group, one.model, "worse" if one.lost else "better", before, after)


def _answer(form: str, answer: Json) -> str:
    return "no answer" if answer is None else one_line(show_answer(form, answer), SHORT)


def _headed(one: Difference) -> str:
    paired = "paired all the same" if one.paired else "not paired"
    return f"{one.what} changed: {count(one.questions, 'question')}, {paired}; for example {one.id}"


def _change(one: GroupChange) -> list[str]:
    """Name, n, rates and means before and after, p values, verdict."""
    return [
        f"{one.title}, {one.model}" if one.model else one.title,
        f"{one.n:,}",
        rates(one),
        f"{number(one.mean_before)} → {number(one.mean_after)}",
        _p(one.p),
        _p(one.adjusted_p),
        one.verdict or "-",
    ]


def _p(value: float | None) -> str:
    return "<0.001" if value is not None and value < LEAST_P else number(value)


def _runs(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[str]]:
    """In what the two runs differ, settings by their own names."""
    one, other = _flat(before), _flat(after)
    rows = [[name, one.get(name, "-"), other.get(name, "-")] for name in dict.fromkeys((*one, *other))]
    return [row for row in rows if row[1] != row[2]]


def _flat(about: Mapping[str, Any]) -> dict[str, str]:
    settings = about.get("settings") or {}
    return {name: _fact(value) for name, value in {**about, **settings}.items() if name not in _APART}


def _fact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _by_change(comparison: RunComparison) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for one in comparison.changed:
        found.setdefault(" and ".join(one.what), []).append(one.id)
    return [(f"{what} changed: {count(len(ids), 'question')}", _ids(ids)) for what, ids in sorted(found.items())]


def _only(comparison: RunComparison) -> list[tuple[str, str]]:
    sides = (
        ("asked before alone", comparison.only_before),
        ("asked after alone", comparison.only_after),
        ("without an answer in one of the runs", [one.id for one in comparison.missing]),
    )
    return [(f"{side}: {count(len(ids), 'question')}", _ids(ids)) for side, ids in sides if ids]


def _ids(ids: Iterable[str]) -> str:
    found = list(ids)
    more = f" and {len(found) - MOST:,} more" if len(found) > MOST else ""
    return ", ".join(found[:MOST]) + more
