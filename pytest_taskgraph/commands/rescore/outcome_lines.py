"""The result of rescoring, in lines and as JSON."""

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
class Rescored:
    """A trial as it stood and as it is scored today; `kept` says why it was not scored again, if so.

    `from_store`: it was scored by the whole reply, which the record does not hold.
    """

    before: Trial
    after: Trial
    kept: str = ""
    from_store: bool = False


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """What a record says of one answer, before and after: outcome, failure and score."""

    id: str
    model: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def as_text(
    results: Sequence[Rescored], found: Sequence[ScoreChange], known: Descriptions, advice: Sequence[str] = ()
) -> list[str]:
    """The lines: how many were scored, what was kept and why, the groups before and after, and what changed.

    The lines of `advice` stand below what was kept.
    """
    kept, stored = _kept(results), _from_store(results)
    whole = f", {stored} of them by the whole reply in the store" if stored else ""
    lines = [f"{count(len(results) - kept.total(), 'answer')} scored again{whole}"]
    lines += [f"{count(many, 'question')} {why}: kept as they are" for why, many in sorted(kept.items())]
    lines += advice
    lines += ["", *_group_rows(results, known), "", _told_changes(results, found)]
    lines += [f"  {one_line(_told(one), 240)}" for one in found[:MOST]]
    return [*lines, *([f"… and {len(found) - MOST} more (--json tells them all)"] if len(found) > MOST else [])]


def _told_changes(results: Sequence[Rescored], found: Sequence[ScoreChange]) -> str:
    gained = sum(one.after.passed and not one.before.passed for one in results)
    lost = sum(one.before.passed and not one.after.passed for one in results)
    told = f"{count(len(found), 'score')} changed" if found else "nothing changed"
    return f"{told}: {gained} now right, {lost} no longer right" if found else told


def _told(one: ScoreChange) -> str:
    return f"{one.id} ({one.model}): {_score(one.before)} -> {_score(one.after)}{_beside(one)}"


def _beside(one: ScoreChange) -> str:
    """The further metrics and the parts that are not what they were."""
    told = ""
    for kind in ("metrics", "parts"):
        was, now = ((said["score"] or {kind: {}})[kind] for said in (one.before, one.after))
        names = [name for name in dict.fromkeys([*was, *now]) if was.get(name, "") != now.get(name, "")]
        told += f"; other {kind}: {', '.join(names)}" if names else ""
    return told


def _score(said: Mapping[str, Any]) -> str:
    score = said["score"]
    if score is None:
        failure = f"{said['failure']['kind']}: {said['failure']['message']}" if said["failure"] else "no reply"
        return f"{said['outcome']} ({failure:.60})"
    given = one_line(json.dumps(score["given"], ensure_ascii=False), 60) if score["status"] == "read" else "nothing"
    return f"{said['outcome']} {score['value']:.3f}, read as {given}"


def _kept(results: Iterable[Rescored]) -> Counter[str]:
    return Counter(one.kept for one in results if one.kept)


def _from_store(results: Iterable[Rescored]) -> int:
    return sum(one.from_store for one in results)


def _rows(trials: Iterable[Trial], known: Descriptions) -> list[Row]:
    """A row for each model and group, those whose questions are graded last but for the one of all others."""
    tally = Tally(known)
    for one in trials:
        tally.add(one)
    return [*tally.rows(), *tally.rows(graded=True), tally.total()]


def _pairs(results: Sequence[Rescored], known: Descriptions) -> list[tuple[Row, Row]]:
    before, after = (one.before for one in results), (one.after for one in results)
    return [*zip(_rows(before, known), _rows(after, known), strict=True)]


def _group_rows(results: Sequence[Rescored], known: Descriptions) -> list[str]:
    word = known.word("group", {one.before.question.family for one in results})
    header = [word, "model", "n", "right", "now", "mean", "now"]
    cells = [
        [was.name, was.model, str(now.n), _right(was), _right(now), number(was.mean), number(now.mean)]
        for was, now in _pairs(results, known)
    ]
    return table(header, cells, "llrrrrr")


def _right(row: Row) -> str:
    """Return how many answers are right, a dash for graded questions and for no answer."""
    return "-" if row.rate is None else str(row.right)


def as_json(results: Sequence[Rescored], found: Sequence[ScoreChange], known: Descriptions) -> dict[str, Any]:
    """The same as plain JSON values, with every change."""
    return {
        "rescored": sum(not one.kept for one in results),
        "from_store": _from_store(results),
        "kept": [
            {"id": one.before.question.id, "model": one.before.model, "why": one.kept} for one in results if one.kept
        ],
        "groups": [
            {"name": was.name, "model": was.model, "before": _counts(was), "after": _counts(now)}
            for was, now in _pairs(results, known)
        ],
        "changed": [{"id": c.id, "model": c.model, "before": c.before, "after": c.after} for c in found],
    }


def _counts(row: Row) -> dict[str, Any]:
    return {"n": row.n, "right": None if row.rate is None else row.right, "mean": row.mean}
