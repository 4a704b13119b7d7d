"""Result of rescoring, as lines and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...reports.escape import one_line
from ...reports.table import table
from ...reports.wording import count, number
from ...results.descriptions import Descriptions
from ...results.tally import Row, Tally
from ...trial import Trial

MOST: Final = 20  # changes that are shown


@dataclass(frozen=True, slots=True)
class RescoredTrial:
    """A trial before and after it was scored again.

    Attributes:
        before: The trial as recorded.
        after: The trial with its new score.
        skip_reason: Why the trial was not scored again; empty if it was.
        from_store: True if it was scored by the whole reply, which the record does not hold.
    """

    before: Trial
    after: Trial
    skip_reason: str = ""
    from_store: bool = False


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Outcome, failure and score of one answer, before and after."""

    id: str
    model: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def as_text(
    results: Sequence[RescoredTrial],
    changed: Sequence[ScoreChange],
    descriptions: Descriptions,
    advice: Sequence[str] = (),
) -> list[str]:
    """Return the lines: how many were scored, what was skipped and why, the groups before and after, and the changes.

    The lines of `advice` follow what was skipped.
    """
    skipped, stored = _count_skipped(results), _count_from_store(results)
    whole = f", {stored} of them by the whole reply in the store" if stored else ""
    lines = [f"{count(len(results) - skipped.total(), 'answer')} scored again{whole}"]
    lines += [f"{count(many, 'question')} {why}: kept as they are" for why, many in sorted(skipped.items())]
    lines += advice
    lines += ["", *_group_table(results, descriptions), "", _summary_line(results, changed)]
    lines += [f"  {one_line(_change_line(change), 240)}" for change in changed[:MOST]]
    return [*lines, *([f"… and {len(changed) - MOST} more (--json lists all)"] if len(changed) > MOST else [])]


def _summary_line(results: Sequence[RescoredTrial], changed: Sequence[ScoreChange]) -> str:
    gained = sum(result.after.passed and not result.before.passed for result in results)
    lost = sum(result.before.passed and not result.after.passed for result in results)
    changes = f"{count(len(changed), 'score')} changed" if changed else "nothing changed"
    return f"{changes}: {gained} now right, {lost} no longer right" if changed else changes


def _change_line(change: ScoreChange) -> str:
    return (
        f"{change.id} ({change.model}): {_score(change.before)} -> {_score(change.after)}{_other_differences(change)}"
    )


def _other_differences(change: ScoreChange) -> str:
    """Return the names of the other metrics and parts that differ."""
    text = ""
    for kind in ("metrics", "parts"):
        was, now = ((state["score"] or {kind: {}})[kind] for state in (change.before, change.after))
        names = [name for name in dict.fromkeys([*was, *now]) if was.get(name, "") != now.get(name, "")]
        text += f"; other {kind}: {', '.join(names)}" if names else ""
    return text


def _score(state: Mapping[str, Any]) -> str:
    score = state["score"]
    if score is None:
        failure = f"{state['failure']['kind']}: {state['failure']['message']}" if state["failure"] else "no reply"
        return f"{state['outcome']} ({failure:.60})"
    given = one_line(json.dumps(score["given"], ensure_ascii=False), 60) if score["status"] == "read" else "nothing"
    return f"{state['outcome']} {score['value']:.3f}, read as {given}"


def _count_skipped(results: Iterable[RescoredTrial]) -> Counter[str]:
    return Counter(result.skip_reason for result in results if result.skip_reason)


def _count_from_store(results: Iterable[RescoredTrial]) -> int:
    return sum(result.from_store for result in results)


def _group_totals(trials: Iterable[Trial], descriptions: Descriptions) -> list[Row]:
    """Return a row for each model and group, then graded groups, then the total."""
    tally = Tally(descriptions)
    for trial in trials:
        tally.add(trial)
    return [*tally.rows(), *tally.rows(graded=True), tally.total()]


def _paired_rows(results: Sequence[RescoredTrial], descriptions: Descriptions) -> list[tuple[Row, Row]]:
    before, after = (result.before for result in results), (result.after for result in results)
    return [*zip(_group_totals(before, descriptions), _group_totals(after, descriptions), strict=True)]


def _group_table(results: Sequence[RescoredTrial], descriptions: Descriptions) -> list[str]:
    word = descriptions.word("group", {result.before.question.family for result in results})
    header = [word, "model", "n", "right", "now", "mean", "now"]
    cells = [
        [was.name, was.model, str(now.n), _right(was), _right(now), number(was.mean), number(now.mean)]
        for was, now in _paired_rows(results, descriptions)
    ]
    return table(header, cells, "llrrrrr")


def _right(row: Row) -> str:
    """Return how many answers are right; a dash for graded questions and if no question was answered."""
    return "-" if row.rate is None else str(row.right)


def as_json(
    results: Sequence[RescoredTrial], changed: Sequence[ScoreChange], descriptions: Descriptions
) -> dict[str, Any]:
    """Return the same as plain JSON values, with every change."""
    return {
        "rescored": sum(not result.skip_reason for result in results),
        "from_store": _count_from_store(results),
        "kept": [
            {"id": result.before.question.id, "model": result.before.model, "why": result.skip_reason}
            for result in results
            if result.skip_reason
        ],
        "groups": [
            {"name": was.name, "model": was.model, "before": _counts(was), "after": _counts(now)}
            for was, now in _paired_rows(results, descriptions)
        ],
        "changed": [
            {"id": change.id, "model": change.model, "before": change.before, "after": change.after}
            for change in changed
        ],
    }


def _counts(row: Row) -> dict[str, Any]:
    return {"n": row.n, "right": None if row.rate is None else row.right, "mean": row.mean}
