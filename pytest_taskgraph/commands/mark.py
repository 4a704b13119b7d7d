"""`mark FILE`: recorded answers marked again, and set beside the scores they were recorded with.

The file has one JSON object a line: `id`, `kind` (yesno, task, set, groups, or open), `reference`, `reply`, and, where
known, `paper_score`, `run`, `pattern`, `category`, `model`, `style`, `names` (the known names) and `finish_reason`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ProviderError, UsageError
from ..reports.escape import one_line
from ..reports.table import table
from ..scoring.forms import form
from ..scoring.grade import grade
from ..trial import Json, Question, Reading, Reply, Score

SUMMARY = "mark recorded answers again and compare with the scores they were recorded with"
_FORMS = {"yesno": "yes-no", "task": "task", "set": "task-set", "groups": "groups"}
_NOT_MARKED = ("open",)
_GROUPINGS = ("pattern", "run", "category", "model", "style", "kind")
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Row:
    """One recorded answer. `recorded` is the score it was recorded with, None if there is none."""

    id: str
    kind: str
    reference: Json
    reply: str
    recorded: float | None
    names: list[str] = field(default_factory=list)
    finish_reason: str = "stop"
    labels: dict[str, str] = field(default_factory=dict)  # the fields one can group by


@dataclass(frozen=True, slots=True)
class Marked:
    """A row with its new score; None where the reply was cut off before an answer could be read."""

    row: Row
    score: Score | None

    @property
    def differs(self) -> bool:
        """Whether the recorded score, if there is one, is not reproduced."""
        recorded = self.row.recorded
        return recorded is not None and (self.score is None or abs(self.score.value - recorded) > _SAME)


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The mean score of a group of rows, and its standard deviation (n-1) over the means of the runs."""

    name: str
    rows: int
    runs: int
    mean: float
    deviation: float | None  # None for a single run


def arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; the parser then knows the command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="recorded answers, one JSON object a line")
    parser.add_argument("--reading", choices=("lenient", "strict"), default="lenient", help="default: %(default)s")
    parser.add_argument("--by", choices=_GROUPINGS, default="pattern", help="rows of the table, default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--expect-same", action="store_true", help="exit 1 if a recorded score is not reproduced")


def run(options: argparse.Namespace) -> int:
    """The exit code: 0, or 1 under --expect-same if a recorded score is not reproduced. Raises UsageError."""
    rows = read_rows(options.file)
    marked = [mark(row, options.reading) for row in rows if row.kind in _FORMS]
    groups = group_means(marked, options.by)
    if options.json:
        json.dump(_as_json(rows, marked, groups, options.reading), sys.stdout, indent=2)
        print()
    else:
        print("\n".join(_as_text(rows, marked, groups, options)))
    return 1 if options.expect_same and any(one.differs for one in marked) else 0


def read_rows(path: Path) -> list[Row]:
    """The rows of the file, empty lines passed over. Raises UsageError that tells file, line and what is wrong."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UsageError(f"{path}: holds no rows, expected one JSON object a line")
    return rows


def mark(row: Row, reading: Reading) -> Marked:
    """The row with its new score."""
    shape = form(_FORMS[row.kind])
    question = Question(
        id=row.id, family="recorded", pattern=row.labels.get("pattern", ""), category="", text="", prompt="",
        form=shape.name, reference=row.reference, metric=shape.metric, names=row.names, reading=reading,
    )  # fmt: skip
    try:
        return Marked(row, grade(question, Reply(row.reply, finish_reason=row.finish_reason)))
    except ProviderError:
        return Marked(row, None)


def group_means(marked: Sequence[Marked], by: str) -> list[GroupMean]:
    """A mean for each value of the label `by`, in order of appearance, and one for all rows together."""
    groups: dict[str, list[Marked]] = {}
    for one in marked:
        if one.score is not None:
            groups.setdefault(one.row.labels.get(by, "-"), []).append(one)
    together = [one for group in groups.values() for one in group]
    means = [_mean(name, group) for name, group in groups.items()]
    return [*means, _mean("all", together)] if together else []


def _mean(name: str, group: Sequence[Marked]) -> GroupMean:
    runs: dict[str, list[float]] = {}
    for one in group:
        if one.score is not None:
            runs.setdefault(one.row.labels.get("run", "-"), []).append(one.score.value)
    means = [statistics.fmean(values) for values in runs.values()]
    deviation = statistics.stdev(means) if len(means) > 1 else None
    mean = statistics.fmean(value for values in runs.values() for value in values)
    return GroupMean(name, len(group), len(runs), mean, deviation)


def _row(line: bytes, where: str) -> Row:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not a line of JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{where}: found {type(data).__name__}, expected a JSON object")
    kind = _text(data, "kind", where)
    if kind not in _FORMS and kind not in _NOT_MARKED:
        known = ", ".join([*_FORMS, *_NOT_MARKED])
        raise UsageError(f"{where}: unknown kind {kind!r}, expected one of {known}")
    reference = _reference(data, kind, where)
    labels = {name: _text(data, name, where) for name in _GROUPINGS if name in data}
    finish_reason = _text(data, "finish_reason", where) if "finish_reason" in data else "stop"
    known_names = _names(data, reference, where)
    recorded = _recorded(data, where)
    return Row(
        _text(data, "id", where),
        kind,
        reference,
        _text(data, "reply", where),
        recorded,
        known_names,
        finish_reason,
        labels,
    )


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in data else "nothing"
        raise UsageError(f"{where}: field {name!r}: found {found}, expected a text")
    return value


def _reference(data: Mapping[str, Any], kind: str, where: str) -> Json:
    value: Json = data.get("reference")
    fits = {
        "yesno": value in ("yes", "no"),
        "set": _is_names(value),
        "groups": isinstance(value, list) and all(map(_is_names, value)),
    }.get(kind, isinstance(value, str))
    if not fits:
        expected = {"yesno": '"yes" or "no"', "set": "a list of names", "groups": "a list of lists of names"}
        raise UsageError(
            f"{where}: field 'reference': does not fit kind {kind!r}, expected {expected.get(kind, 'a text')}"
        )
    return value


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _names(data: Mapping[str, Any], reference: Json, where: str) -> list[str]:
    """The known names; where the row tells none, those of the reference, so that its qualified names stay whole."""
    if "names" not in data:
        items = reference if isinstance(reference, list) else [reference]
        return [str(name) for item in items for name in (item if isinstance(item, list) else [item])]
    if not _is_names(data["names"]):
        raise UsageError(f"{where}: field 'names': expected a list of texts")
    return list(data["names"])


def _recorded(data: Mapping[str, Any], where: str) -> float | None:
    value = data.get("paper_score")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{where}: field 'paper_score': found {value!r:.40}, expected a number from 0 to 1")
    return float(value)


def _as_text(
    rows: Sequence[Row], marked: Sequence[Marked], groups: Sequence[GroupMean], options: argparse.Namespace
) -> list[str]:
    scored = [one for one in marked if one.row.recorded is not None]
    differing = [one for one in scored if one.differs]
    lines = [
        f"{len(marked)} of {len(rows)} rows marked, reading {options.reading}{_left_out(rows, marked)}",
        f"{len(scored) - len(differing)} of {len(scored)} recorded scores reproduced",
        *(f"  {_difference(one)}" for one in differing),
    ]
    cells = [[one.name, str(one.rows), str(one.runs), f"{one.mean:.3f}", _deviation(one)] for one in groups]
    return [*lines, "", *table([options.by, "n", "runs", "mean", "sd"], cells, "lrrrr")]


def _left_out(rows: Sequence[Row], marked: Sequence[Marked]) -> str:
    kinds = Counter(row.kind for row in rows if row.kind not in _FORMS)
    cut_off = sum(one.score is None for one in marked)
    told = [f"; not marked: {count} of kind {kind}" for kind, count in sorted(kinds.items())]
    return "".join([*told, f"; cut off, in no mean: {cut_off}" if cut_off else ""])


def _difference(one: Marked) -> str:
    now = "cut off" if one.score is None else f"{one.score.value:.3f} ({one.score.status}: {one.score.given!r})"
    return one_line(f"{one.row.id}: recorded {one.row.recorded:.3f}, now {now}", 160)


def _deviation(one: GroupMean) -> str:
    return "-" if one.deviation is None else f"{one.deviation:.3f}"


def _as_json(
    rows: Sequence[Row], marked: Sequence[Marked], groups: Sequence[GroupMean], reading: Reading
) -> dict[str, Any]:
    return {
        "reading": reading,
        "rows": len(rows),
        "not_marked": dict(sorted(Counter(row.kind for row in rows if row.kind not in _FORMS).items())),
        "compared": sum(one.row.recorded is not None for one in marked),
        "differing": [one.row.id for one in marked if one.differs],
        "groups": [asdict(one) for one in groups],
        "marks": [{"id": one.row.id, "score": one.score and asdict(one.score)} for one in marked],
    }
