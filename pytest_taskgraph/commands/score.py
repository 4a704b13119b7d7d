"""Command `score FILE`: recorded answers scored again, and compared with their recorded scores.

The format of the file: `docs/how-to/replies.md`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import ProviderError
from ..reports.escape import one_line
from ..reports.table import table
from ..scoring.forms import form
from ..scoring.grade import grade
from ..scoring.recorded_answers import FORMAT, KINDS, LABELS, RecordedAnswer, read_recorded_answers
from ..trial import Parsing, Question, Reply, Score

SUMMARY = "score recorded answers again and compare with the scores they were recorded with"
_SAME = 1e-9
_DECIMALS = 3  # the least number of decimals of a recorded score


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """A row with its new score; None if the reply was cut off before an answer could be parsed."""

    row: RecordedAnswer
    score: Score | None

    @property
    def differs(self) -> bool:
        """Return True if there is a recorded score and the new score does not reproduce it."""
        recorded = self.row.recorded
        if recorded is None or self.score is None:
            return recorded is not None
        return abs(self.score.value - recorded) > 0.5 * 10.0 ** -_decimals(recorded) + _SAME


def _decimals(score: float) -> int:
    """Return the number of decimals of the score, at least three."""
    return max(_DECIMALS, -int(Decimal(repr(score)).as_tuple().exponent))


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The mean score of a group of rows, and its standard deviation (n-1) over the means of the runs."""

    name: str
    rows: int
    runs: int
    mean: float
    deviation: float | None  # None for a single run


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = FORMAT
    parser.add_argument("file", metavar="FILE", type=Path, help="recorded answers, one JSON object a line")
    parser.add_argument("--parsing", choices=("lenient", "strict"), default="lenient", help="default: %(default)s")
    parser.add_argument("--by", choices=LABELS, default=LABELS[0], help="rows of the table, default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--expect-same", action="store_true", help="exit 1 if a recorded score is not reproduced")


def run(options: argparse.Namespace) -> int:
    """Score the answers and print the result.

    Returns:
        1 under --expect-same if a recorded score is not reproduced, else 0.

    Raises:
        UsageError: if the file cannot be read.
    """
    rows = read_recorded_answers(options.file)
    answers = [score_answer(row, options.parsing) for row in rows]
    groups = group_means(answers, options.by)
    if options.json:
        json.dump(_as_json(answers, groups, options.parsing), sys.stdout, indent=2)
        print()
    else:
        print("\n".join(_as_text(answers, groups, options)))
    return 1 if options.expect_same and any(answer.differs for answer in answers) else 0


def score_answer(row: RecordedAnswer, parsing: Parsing) -> ScoredAnswer:
    """Return the row with its new score."""
    shape = form(KINDS[row.kind].form)
    question = Question(
        id=row.id, family="recorded", group="", section="", text=row.question, prompt="",
        form=shape.name, reference=row.reference, metric=row.metric, names=row.names, place=row.place, parsing=parsing,
    )  # fmt: skip
    try:
        return ScoredAnswer(row, grade(question, Reply(row.reply, finish_reason=row.finish_reason)))
    except ProviderError:
        return ScoredAnswer(row, None)


def group_means(answers: Sequence[ScoredAnswer], by: str) -> list[GroupMean]:
    """Return a mean for each value of the label `by`, in order of appearance, and one for all rows together."""
    groups: dict[str, list[ScoredAnswer]] = {}
    for answer in answers:
        if answer.score is not None:
            groups.setdefault(answer.row.labels.get(by, "-"), []).append(answer)
    together = [answer for group in groups.values() for answer in group]
    means = [_mean(name, group) for name, group in groups.items()]
    return [*means, _mean("all", together)] if together else []


def _mean(name: str, group: Sequence[ScoredAnswer]) -> GroupMean:
    runs: dict[str, list[float]] = {}
    for answer in group:
        if answer.score is not None:
            runs.setdefault(answer.row.labels.get("run", "-"), []).append(answer.score.value)
    means = [statistics.fmean(values) for values in runs.values()]
    deviation = statistics.stdev(means) if len(means) > 1 else None
    mean = statistics.fmean(value for values in runs.values() for value in values)
    return GroupMean(name, len(group), len(runs), mean, deviation)


def _as_text(answers: Sequence[ScoredAnswer], groups: Sequence[GroupMean], options: argparse.Namespace) -> list[str]:
    recorded = [answer for answer in answers if answer.row.recorded is not None]
    differing = [answer for answer in recorded if answer.differs]
    cut_off = sum(answer.score is None for answer in answers)
    lines = [
        f"{len(answers)} rows scored, parsing {options.parsing}"
        + (f"; cut off, not in the means: {cut_off}" if cut_off else ""),
        f"{len(recorded) - len(differing)} of {len(recorded)} recorded scores reproduced",
        *(f"  {_difference(answer)}" for answer in differing),
    ]
    cells = [[group.name, str(group.rows), str(group.runs), f"{group.mean:.3f}", _deviation(group)] for group in groups]
    return [*lines, "", *table([options.by, "n", "runs", "mean", "sd"], cells, "lrrrr")]


def _difference(answer: ScoredAnswer) -> str:
    now = (
        "cut off"
        if answer.score is None
        else f"{answer.score.value:.3f} ({answer.score.status}: {answer.score.given!r})"
    )
    return one_line(f"{answer.row.id}: recorded {answer.row.recorded:.3f}, now {now}", 160)


def _deviation(group: GroupMean) -> str:
    return "-" if group.deviation is None else f"{group.deviation:.3f}"


def _as_json(answers: Sequence[ScoredAnswer], groups: Sequence[GroupMean], parsing: Parsing) -> dict[str, Any]:
    return {
        "parsing": parsing,
        "rows": len(answers),
        "compared": sum(answer.row.recorded is not None for answer in answers),
        "differing": [answer.row.id for answer in answers if answer.differs],
        "groups": [asdict(group) for group in groups],
        "scores": [{"id": answer.row.id, "score": answer.score and asdict(answer.score)} for answer in answers],
    }
