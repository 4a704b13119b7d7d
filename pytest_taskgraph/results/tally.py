"""Tallies of trials: counts and means by group, section, family, model or label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from math import fsum
from typing import Any, NamedTuple, TypeVar

from ..trial import PROMPT, Trial
from .descriptions import Descriptions, Word
from .statistics.certainty import AnsweredQuestion, Sample
from .statistics.intervals import deviation, mean, rate_interval


def split_into_ranges(numbers: Iterable[int], most: int) -> list[tuple[int, int]]:
    """Split the numbers into ranges with about equally many of them each.

    Every number is in exactly one range, and each range begins and ends with one of the numbers. Few different numbers
    have a range each.

    Args:
        numbers: The numbers, as often as they occur.
        most: Greatest number of ranges, at least 1.

    Returns:
        The least and the greatest number of each range.
    """
    counts = sorted(Counter(numbers).items())
    if len(counts) <= most:
        return [(number, number) for number, _ in counts]
    total = sum(count for _, count in counts)
    before, by_place = 0, dict[int, tuple[int, int]]()
    for number, count in counts:
        # A number belongs to the range that contains the middle of its occurrences if all are divided evenly.
        place = most * (2 * before + count) // (2 * total)
        by_place[place] = (by_place.get(place, (number, number))[0], number)
        before += count
    return list(by_place.values())


def chance_levels(answered: Sequence[Trial]) -> tuple[float | None, float | None]:
    """Return the mean chance level and the score above it, over the answered trials whose chance level is known."""
    with_chance = [trial for trial in answered if trial.question.chance is not None]
    chance = mean([trial.question.chance or 0.0 for trial in with_chance])
    score = mean([0.0 if trial.score is None else trial.score.value for trial in with_chance])
    if chance is None or score is None:
        return None, None
    return chance, (score - chance) / (1 - chance) if chance < 1 else None


def metric_means(answered: Sequence[Trial]) -> tuple[dict[str, float], dict[str, int]]:
    """Return the mean of every metric over the trials where it is defined, and in how many it is undefined."""
    values: dict[str, list[float | None]] = {}
    for trial in answered:
        for name, value in metrics_of(trial).items():
            values.setdefault(name, []).append(value)
    defined = {name: [value for value in values[name] if value is not None] for name in sorted(values)}
    means = {
        name: fsum(values_defined) / len(values_defined) for name, values_defined in defined.items() if values_defined
    }
    missing = {name: len(values[name]) - len(values_defined) for name, values_defined in defined.items()}
    return means, {name: count for name, count in missing.items() if count}


def metrics_of(trial: Trial) -> dict[str, float | None]:
    """Return every metric of an answered trial by name.

    A reply without an answer scores 0 in each metric that was asked for: leaving it out would raise the mean.
    """
    zeros = dict.fromkeys(trial.question.further, 0.0) if trial.outcome in ("unparseable", "refused") else {}
    if trial.score is None:
        return {**zeros, trial.question.metric: 0.0}
    return {**zeros, **trial.score.metrics, trial.question.metric: trial.score.value}


_T = TypeVar("_T")


class SharedParts:
    """Cache that replaces equal parts of trials by one object, to save memory. Results must not be modified."""

    def __init__(self) -> None:
        self._seen: dict[Any, Any] = {}
        self._fields: dict[type[Any], list[str]] = {}

    def trial(self, trial: Trial) -> Trial:
        """Return an equal trial that shares its parts with earlier trials where they are equal."""
        parts = {name: getattr(trial, name) for name in ("question", "reply", "score")}
        shared_parts: dict[str, Any] = {name: part and self._object(part, {}) for name, part in parts.items()}
        if len(trial.exchanges) == 1:  # its messages are rarely shared: a cache of them costs more than it saves
            shared_parts["exchanges"] = [self._names(exchange) for exchange in trial.exchanges]
        return self._object(trial, shared_parts)

    def _names(self, value: Any) -> Any:  # noqa: ANN401
        """Return the value with its texts shared, its lists and objects new."""
        if type(value) is list:
            return [self._names(part) for part in value]
        if type(value) is dict:
            return {self._value(name): self._names(part) for name, part in value.items()}
        return self._value(value)

    def _object(self, instance: _T, shared_parts: dict[str, Any]) -> _T:
        values, kind = dict(shared_parts), type(instance)
        if kind not in self._fields:
            self._fields[kind] = [field_.name for field_ in fields(kind)]  # type: ignore[arg-type]  # every part is a dataclass
        for name in self._fields[kind]:
            if name not in shared_parts:
                values[name] = self._value(getattr(instance, name))
        return kind(**values)

    def _value(self, value: Any) -> Any:  # noqa: ANN401
        if type(value) is str:
            return self._seen.setdefault(value, value)
        if type(value) is list:
            return self._list(value)
        return self._dict(value) if type(value) is dict else value

    def _list(self, value: list[Any]) -> list[Any]:
        if not value:
            return self._seen.setdefault((list,), [])  # type: ignore[no-any-return]
        held = [self._value(value) for value in value]
        return self._seen.setdefault((list, *held), held) if all(type(value) is str for value in held) else held

    def _dict(self, value: dict[str, Any]) -> dict[str, Any]:
        if not value:
            return self._seen.setdefault((dict,), {})  # type: ignore[no-any-return]
        held = {self._value(name): self._value(member) for name, member in value.items()}
        # Only texts and whole numbers: 1, 1.0 and True are equal and would be confused.
        plain = all(type(member) is str or type(member) is int for member in held.values())
        return self._seen.setdefault((dict, *held, *held.values()), held) if plain else held


ANSWERED = frozenset({"right", "wrong", "graded", "unparseable", "refused"})


class RowKey(NamedTuple):
    """Sort key of a row: family, section, order of groups or numbers, name."""

    family: tuple[int, str]
    section: tuple[int, str]
    rank: int
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Group:
    """The trials of one row."""

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    trials: list[Trial]
    graded: bool = False  # True if all questions are graded, False if none is
    graded_left_out: int = 0  # trials of graded questions with the same key, which are left out
    family: str = ""  # of the row of a group, a section or a family, else ""

    @property
    def questions(self) -> int:
        """Return the number of answered questions, each counted once."""
        return len({(trial.question.once, trial.model) for trial in self.trials if trial.outcome in ANSWERED})

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the pass rate, or of the mean score of graded questions.

        The pass rate is taken over questions, by cluster if questions were repeated; the mean score as in
        `certainty.Sample`.
        """
        if self.graded:
            return self.mean_interval
        answered = (trial for trial in self.trials if trial.outcome in ANSWERED)
        return rate_interval(
            (f"{trial.question.unit} {trial.model}", _cluster_of(trial), trial.passed) for trial in answered
        )

    @property
    def mean_interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean score, as in `certainty.Sample`."""
        return _mean_sample([trial for trial in self.trials if trial.outcome in ANSWERED]).ends


@dataclass(frozen=True, slots=True)
class Row:
    """Counts and means over the trials of one model with something in common.

    A trial is one reply: a question asked three times counts three times.

    n = right + wrong + unparseable + refused counts the answered trials, over which rate and means are computed. Errors
    and skipped trials are counted separately and enter no mean. rate, mean and deviation are None if there is no
    answered trial.

    A row contains right and wrong answers, or answers to graded questions, never both. For graded questions n counts
    the answered trials, none is right or wrong, and the rate is None.
    """

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    n: int
    right: int
    wrong: int
    unparseable: int
    refused: int
    errors: int
    skipped: int
    attempts: int  # more than `questions` if some were asked again
    rate: float | None  # right / n; None for graded questions
    mean: float | None  # of the main score
    deviation: float | None  # sample standard deviation of the main score
    metrics: dict[str, float] = field(default_factory=dict)  # mean of each metric by name, including the main metric
    undefined: dict[str, int] = field(default_factory=dict)  # number of trials in which a metric was undefined
    chance: float | None = None  # mean chance level over the answered trials where it is known
    above_chance: float | None = None  # (mean - chance) / (1 - chance) over the same: 0 by guessing, 1 if all are right
    graded: int = 0  # trials of graded questions of the same kind, in no other number of the row

    @property
    def questions(self) -> int:
        """Return the number of questions, answered or not."""
        return self.n + self.errors + self.skipped


@dataclass(frozen=True, slots=True)
class Relation:
    """Pairs of a question and its variation, both answered by the same model."""

    name: str
    model: str
    pairs: int  # pairs with both answered
    same: int  # pairs in which both answers pass or both fail
    interval: tuple[float, float] | None = None  # 95 % interval of the share; by cluster if questions were repeated

    @property
    def share(self) -> float | None:
        """Return the share of the pairs with the same verdict, 0.0 to 1.0; None without pairs."""
        return self.same / self.pairs if self.pairs else None


class Tally:
    """The trials of a run, the latest of each model and question; the order of their arrival does not matter.

    Trials of varied questions (those with a relation) are in `relations` only: in no row, no total and no label. Trials
    of graded questions are separate too: rows, groups and totals contain them only if requested. Rows are in the order
    of the descriptions; groups that these do not list follow by name. Trials with equal texts share them.
    """

    def __init__(self, descriptions: Descriptions | None = None) -> None:
        self.descriptions = descriptions or Descriptions()
        self._trials: dict[tuple[str, str], Trial] = {}
        self._attempts: dict[tuple[str, str], int] = {}
        self._shared = SharedParts()

    def add(self, trial: Trial, attempts: int = 1) -> None:
        """Add a trial; it replaces an earlier trial of the same model and question (a rerun), and attempts add up."""
        trial = self._shared.trial(trial)
        key = (trial.question.id, trial.model)
        self._trials[key] = trial
        self._attempts[key] = self._attempts.get(key, 0) + attempts

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return (self._trials[key] for key in sorted(self._trials))

    def word(self, word: Word) -> str:
        """Return the word of the families of the trials for a group, a section or a cluster."""
        return self.descriptions.word(word, {trial.question.family for trial in self._trials.values()})

    def attempts(self, trial: Trial) -> int:
        """Return how often the trial's question was added for its model; 0 if never."""
        return self._attempts.get((trial.question.id, trial.model), 0)

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names of the models, sorted."""
        return tuple(sorted({model for _, model in self._trials}))

    @property
    def families(self) -> tuple[str, ...]:
        """Return the names of the families that were asked, in their order."""
        names = {trial.question.family for trial in self._trials.values()}
        return tuple(sorted(names, key=self.descriptions.family_place))

    def of_family(self, family: str) -> Tally:
        """Return the tally of the trials of one family."""
        return self.select(lambda trial: trial.question.family == family)

    def of_model(self, model: str) -> Tally:
        """Return the tally of the trials of one model."""
        return self.select(lambda trial: trial.model == model)

    def select(self, condition: Callable[[Trial], bool]) -> Tally:
        """Return the tally of the trials that satisfy the condition, with their attempts."""
        selected = Tally(self.descriptions)
        selected._trials = {key: trial for key, trial in self._trials.items() if condition(trial)}
        selected._attempts = {key: self._attempts[key] for key in selected._trials}
        return selected

    @property
    def pooled_prompts(self) -> tuple[str, ...]:
        """Return the names of the prompt templates, sorted, of the families that were asked with several."""
        by_family: dict[str, set[str]] = {}
        for question in (trial.question for trial in self._trials.values() if not trial.question.relation):
            if PROMPT in question.labels:
                by_family.setdefault(question.family, set()).add(str(question.labels[PROMPT]))
        return tuple(sorted({name for names in by_family.values() if len(names) > 1 for name in names}))

    def labels(self) -> tuple[str, ...]:
        """Return the names of the labels with more than one value, sorted; graded questions left out."""
        values: dict[str, set[str]] = {}
        for trial in self._unvaried(None):
            for label, value in trial.question.labels.items():
                values.setdefault(label, set()).add(str(value))
        return tuple(sorted(label for label, label_values in values.items() if len(label_values) > 1))

    def rows(
        self, by: str = "group", model: str | None = None, most: int | None = None, graded: bool = False
    ) -> list[Row]:
        """Return a row for each model and each value of `by`.

        Models are sorted by name; within a model, families, sections and groups are in the order of the descriptions,
        numbers by size, other values by name. Trials without the label are in no row.

        Args:
            by: "group", "section", "family", "model", or the name of a label.
            model: Name of the only model; None for all.
            most: Greatest number of rows for a label with numeric values, which are grouped into ranges such as
                "20-29".
            graded: True for the rows of graded questions instead of all others.
        """
        return [self.row(group) for group in self.groups(by, model, most, graded=graded)]

    def groups(
        self,
        by: str = "group",
        model: str | None = None,
        most: int | None = None,
        pooled: bool = False,
        graded: bool = False,
    ) -> list[Group]:
        """Return the trials of each row, in the same order.

        Args:
            by: As in `rows`.
            model: As in `rows`.
            most: As in `rows`.
            pooled: True to put the trials of all models in one group.
            graded: As in `rows`.
        """
        trials = self._unvaried(model, graded)
        label_ranges = _label_ranges([trial.question.labels.get(by) for trial in trials], most) if most else []
        groups: dict[tuple[str, RowKey], list[Trial]] = {}
        for trial in trials:
            if (key := self._row_key(trial, by)) is not None:
                groups.setdefault(("" if pooled else trial.model, _range_key(key, label_ranges)), []).append(trial)
        graded_counts: Counter[tuple[str, RowKey | None]] = Counter()
        if not graded:
            graded_trials = ((trial, self._row_key(trial, by)) for trial in self._unvaried(model, graded=True))
            graded_counts.update(
                ("" if pooled else trial.model, key and _range_key(key, label_ranges)) for trial, key in graded_trials
            )
        return [
            Group(
                key.name, model_name, key.section[1] if by == "group" else "", groups[model_name, key], graded,
                graded_counts[model_name, key], key.family[1],
            )
            for model_name, key in sorted(groups)
        ]  # fmt: skip

    def total(self, model: str | None = None, graded: bool = False) -> Row:
        """Return a row "total" over all trials.

        Args:
            model: Name of the only model; None for all.
            graded: True for graded questions instead of all others.
        """
        return self.row(self.total_group(model, graded))

    def total_group(self, model: str | None = None, graded: bool = False) -> Group:
        """Return the trials of `total`.

        Args:
            model: As in `total`.
            graded: As in `total`.
        """
        names = self.models if model is None else (model,)
        graded_left_out = 0 if graded else len(self._unvaried(model, graded=True))
        return Group(
            "total", names[0] if len(names) == 1 else "", "", self._unvaried(model, graded), graded, graded_left_out
        )

    def relations(self, model: str | None = None) -> list[Relation]:
        """Return a row for each model and each relation in which questions were varied, by name.

        Answers to graded questions do not pass or fail, so such questions are in no row.

        Args:
            model: Name of the only model; None for all.
        """
        pairs: dict[tuple[str, str], list[tuple[Trial, Trial | None]]] = {}
        for trial in self:
            if trial.question.relation and not trial.question.graded and model in (None, trial.model):
                original = self._trials.get((trial.question.twin, trial.model))
                pairs.setdefault((trial.model, trial.question.relation), []).append((trial, original))
        return [_count_relation(name, model_name, pairs[model_name, name]) for model_name, name in sorted(pairs)]

    def _unvaried(self, model: str | None, graded: bool = False) -> list[Trial]:
        """Return the model's trials of unvaried questions, graded or not graded."""
        own = (trial for trial in self if model in (None, trial.model) and not trial.question.relation)
        return [trial for trial in own if trial.question.graded == graded]

    def _row_key(self, trial: Trial, by: str) -> RowKey | None:
        """Return the sort key of the trial's row, which ends with the row's name; None if it is in no row."""
        question, described = trial.question, self.descriptions
        if by in ("group", "section", "family"):
            family = described.family_place(question.family)
            section = (0, "") if by == "family" else described.section_place(question.family, question.section)
            rank = described.group_place(question.family, question.group)[0] if by == "group" else 0
            return RowKey(family, section, rank, 0, str(getattr(question, by)))
        if by != "model" and by not in question.labels:
            return None
        name = trial.model if by == "model" else str(question.labels[by])
        numeric = by != "model" and name.isdecimal() and len(name) < 19
        return RowKey((0, ""), (0, ""), 0 if numeric else 1, int(name) if numeric else 0, name)

    def row(self, group: Group) -> Row:
        """Return the counts and means over the trials of the group."""
        trials = group.trials
        answered = [trial for trial in trials if trial.outcome in ANSWERED]
        scores = [0.0 if trial.score is None else trial.score.value for trial in answered]
        metrics, undefined = metric_means(answered)
        outcomes = Counter(trial.outcome for trial in trials)
        chance, above_chance = chance_levels(answered)
        return Row(
            name=group.name,
            model=group.model,
            section=group.section,
            n=len(answered),
            right=outcomes["right"],
            wrong=outcomes["wrong"],
            unparseable=outcomes["unparseable"],
            refused=outcomes["refused"],
            errors=outcomes["error"],
            skipped=outcomes["skipped"],
            attempts=sum(self.attempts(trial) for trial in trials),
            rate=outcomes["right"] / len(answered) if answered and not group.graded else None,
            mean=mean(scores),
            deviation=deviation(scores),
            metrics=metrics,
            undefined=undefined,
            chance=chance,
            above_chance=above_chance,
            graded=group.graded_left_out,
        )


def _count_relation(name: str, model: str, all_pairs: Sequence[tuple[Trial, Trial | None]]) -> Relation:
    pairs = [
        (varied, original)
        for varied, original in all_pairs
        if original and {varied.outcome, original.outcome} <= ANSWERED
    ]
    verdicts = [
        (original.question.once, _cluster_of(original), varied.passed == original.passed) for varied, original in pairs
    ]
    return Relation(name, model, len(pairs), sum(same for _, _, same in verdicts), rate_interval(verdicts))


def _mean_sample(answered: Sequence[Trial]) -> Sample:
    """Return the sample of the main scores: each question with the scores of its repetitions."""
    by_question: dict[str, AnsweredQuestion] = {}
    for trial in answered:
        key = f"{trial.question.once} {trial.model}"
        question = AnsweredQuestion(key, _cluster_of(trial), [], f"{trial.question.unit} {trial.model}")
        values = by_question.setdefault(key, question).values
        values.append(0.0 if trial.score is None else trial.score.value)
    return Sample(list(by_question.values()), 0.95, rates=False)


def _cluster_of(trial: Trial) -> str:
    return trial.question.cluster or trial.question.once


def _label_ranges(values: Sequence[str | int | None], most: int) -> list[tuple[int, int]]:
    """Return the ranges of a label's values; none if a value is not a number."""
    present_values = [value for value in values if value is not None]
    numbers = [value for value in present_values if isinstance(value, int) and not isinstance(value, bool)]
    return split_into_ranges(numbers, most) if len(numbers) == len(present_values) else []


def _range_key(key: RowKey, label_ranges: Sequence[tuple[int, int]]) -> RowKey:
    """Return the key of the range that contains the number of the key."""
    for least, greatest in label_ranges:
        if least <= key.number <= greatest:
            name = str(least) if least == greatest else f"{least}-{greatest}"
            return key._replace(number=least, name=name)
    return key
