"""The scoreboard of a run: one row of numbers for each model, with each prompt template where there are several.

A block of rows is about questions whose scores are comparable: those of one family that are right or wrong, its graded
ones, or those of a table that declares a headline. Of several blocks the first is about all questions. Counts and means
are those of the tables; times and tokens are sums over all requests of the questions, judges' included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

from ..family_description import STATISTICS, Aggregate, FamilyDescription, TableSpec
from ..trial import PROMPT, Trial
from ..usage import Usage, sum_usages
from .aggregates import estimate_aggregate
from .record.exchanges import sum_trials
from .tables import FEW, Cell, specs_of
from .tally import Group, Row, Tally


@dataclass(frozen=True, slots=True)
class Effort:
    """What the replies to some questions took.

    Args:
        usage: Tokens, cost and latency of all replies.
        median: Median of the latencies of a question, in seconds; None if no reply has one.
        untimed: Number of questions with a reply and without a latency.
    """

    usage: Usage
    median: float | None
    untimed: int


@dataclass(frozen=True, slots=True)
class ScoreboardRow:
    """The numbers of one model.

    Args:
        model: Name of the model.
        prompt: Name of the prompt template; "" if there are several or none.
        score: The score with its interval; by default the mean score.
        rate: The pass rate with its interval; None for graded questions.
        above_chance: The mean score above chance; None if unknown, and if the score is an aggregate.
        answered: Number of answered questions.
        questions: Number of questions, answered or not.
        errors: Number of questions without a reply.
        few: True if at least one and fewer than FEW questions are behind the score.
        highest: True if no other model of the block has a higher score, and one has a lower one; never for a baseline.
        effort: What the replies took.
    """

    model: str
    prompt: str
    score: Cell
    rate: Cell | None
    above_chance: float | None
    answered: int
    questions: int
    errors: int
    few: bool
    highest: bool
    effort: Effort


@dataclass(frozen=True, slots=True)
class ScoreboardBlock:
    """Rows with comparable scores, from the highest score to the lowest; baselines follow the models.

    Args:
        family: Name of the family; "" for the block about all questions.
        part: Title of a part of the family; "" if there is a single part.
        value: What the score is: a statistic, an aggregate or a metric, as in `Column.value`.
        title: The title of its column; "" to use the report's own.
        graded: True if the questions are graded.
        rows: The rows.
    """

    family: str
    part: str
    value: str
    title: str
    graded: bool
    rows: tuple[ScoreboardRow, ...]


def is_baseline(model: str) -> bool:
    """Return True if the name is that of a baseline, which no report ranks among models."""
    return model.partition(":")[0] == "baseline"


def order_models(models: Iterable[str]) -> list[str]:
    """Return the names with the baselines last; else their order stays."""
    return sorted(models, key=is_baseline)


def scoreboard(tally: Tally) -> list[ScoreboardBlock]:
    """Return the blocks of the scoreboard; of several, the first is about all questions.

    Graded questions count in the answers, errors, tokens, cost and time of that block, and not in its scores.
    """
    blocks = [block for family in tally.families for block in _family_blocks(tally.of_family(family), family)]
    if len(blocks) < 2:
        return blocks
    return [_block(tally, FamilyDescription(""), TableSpec("", "", ()), whole=True), *blocks]


def _family_blocks(tally: Tally, family: str) -> Iterator[ScoreboardBlock]:
    description = tally.descriptions[family]
    for spec, part in headline_parts(tally, description):
        yield _block(part, description, spec)


def headline_parts(tally: Tally, description: FamilyDescription) -> Iterator[tuple[TableSpec, Tally]]:
    """Yield the questions of each table with a headline, then the other right or wrong ones, and graded ones.

    The last two come with a table of no column. Parts without a question are left out.
    """
    rest = tally
    for spec in specs_of(description):
        if spec.headline:
            part = rest.select(lambda trial, spec=spec: _belongs(trial, spec))  # type: ignore[misc]
            rest = rest.select(lambda trial, spec=spec: not _belongs(trial, spec))  # type: ignore[misc]
            if len(part):
                yield spec, part
    for graded, title in ((False, ""), (True, "graded")):
        part = rest.select(lambda trial, graded=graded: trial.question.graded == graded)  # type: ignore[misc]
        if len(part):
            yield TableSpec("", title, (), graded=graded), part


def _belongs(trial: Trial, spec: TableSpec) -> bool:
    question = trial.question
    return question.graded == spec.graded and (not spec.groups or question.group in spec.groups)


def _block(tally: Tally, description: FamilyDescription, spec: TableSpec, whole: bool = False) -> ScoreboardBlock:
    value = spec.headline or "mean"
    rows = [_row(part, description, spec, value, whole) for part in _entrants(tally)]
    scores = [row.score.value for row in rows if row.score.value is not None and not is_baseline(row.model)]
    highest = max(scores) if scores and min(scores) < max(scores) else None
    ranked_rows = [
        replace(row, highest=highest is not None and row.score.value == highest and not is_baseline(row.model))
        for row in rows
    ]
    ranked_rows.sort(key=_rank)
    title = next((column.title for column in spec.columns if column.value == value), "")
    return ScoreboardBlock(description.name, spec.title, value, title, spec.graded, tuple(ranked_rows))


def _rank(row: ScoreboardRow) -> tuple[bool, float, str, str]:
    """Return the sort key of a row in its block."""
    return (is_baseline(row.model), -(-1.0 if row.score.value is None else row.score.value), row.model, row.prompt)


def _entrants(tally: Tally) -> Iterator[Tally]:
    """Yield the trials of each model; with each prompt template if all families were asked with the same several."""
    prompts_by_family: dict[str, set[str]] = {}
    for trial in tally:
        prompts_by_family.setdefault(trial.question.family, set()).add(_prompt_of(trial))
    names = sorted({name for prompts in prompts_by_family.values() for name in prompts})
    divided = all(len(prompts) == len(names) for prompts in prompts_by_family.values())
    for model in tally.models:
        of_model = tally.of_model(model)
        for name in names if divided else [""]:
            part = of_model.select(lambda trial, name=name: _prompt_of(trial) == name) if divided else of_model  # type: ignore[misc]
            if len(part):
                yield part


def _prompt_of(trial: Trial) -> str:
    return str(trial.question.labels.get(PROMPT, ""))


def _row(tally: Tally, description: FamilyDescription, spec: TableSpec, value: str, whole: bool) -> ScoreboardRow:
    """Return the row of the trials of one model.

    Args:
        tally: The trials.
        description: The description of their family.
        spec: The table that the row stands for.
        value: What the score is.
        whole: True if the trials are right or wrong and graded: the scores are those of the former.
    """
    (model,) = tally.models
    group = tally.total_group(model, spec.graded)
    row = tally.row(group)
    counted = [row, tally.total(model, graded=True)] if whole else [row]
    prompts = list(dict.fromkeys(map(_prompt_of, tally)))
    return ScoreboardRow(
        model=model,
        prompt=prompts[0] if len(prompts) == 1 else "",
        score=headline_score(group, row, description, value),
        rate=None if spec.graded else _cell(row.rate, group.interval, row.n),
        above_chance=row.above_chance if value in STATISTICS else None,
        answered=sum(part.n for part in counted),
        questions=sum(part.questions for part in counted),
        errors=sum(part.errors for part in counted),
        few=0 < group.questions < FEW,
        highest=False,
        effort=_effort(tally),
    )


def headline_score(group: Group, row: Row, description: FamilyDescription, value: str) -> Cell:
    """Return the score of a group with its interval, as the tables of the family compute it.

    Args:
        group: The group.
        row: Its numbers.
        description: The description of its family.
        value: What the score is: a statistic, an aggregate or a metric.
    """
    if value == "rate" or (value == "mean" and _all_or_nothing(group)):
        return _cell(row.rate, group.interval, row.n)
    if value in STATISTICS:
        return _cell(getattr(row, value), group.mean_interval if value == "mean" else None, row.n)
    aggregates = {aggregate.name: aggregate for aggregate in description.aggregates}
    aggregate = aggregates.get(value) or Aggregate(value, "mean", (value,))
    estimate = estimate_aggregate(aggregate, aggregates, group.trials)
    return _cell(estimate.value, estimate.ends, estimate.n)


def _all_or_nothing(group: Group) -> bool:
    """Return True if no answer has a partial score: the mean score is the pass rate then, and so is its interval."""
    scores = ((trial, trial.score.value) for trial in group.trials if trial.score is not None)
    return not group.graded and all(score == float(trial.passed) for trial, score in scores)


def _cell(value: float | None, ends: tuple[float, float] | None, n: int) -> Cell:
    low, high = ends or (None, None)
    return Cell(value, low, high, n)


def _effort(tally: Tally) -> Effort:
    """Return what the replies to all questions took, those of varied questions included."""
    replied = [usage for trial in tally if (usage := sum_trials([trial])).replies]
    seconds = [usage.latency for usage in replied if usage.latency is not None]
    return Effort(sum_usages(replied), median(seconds) if seconds else None, len(replied) - len(seconds))
