"""What the trials of a run come to, by group, section, family, model or label."""

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
    """At most `most` (>= 1) ranges, least and greatest number of each, that hold about equally many of the numbers.

    Every number is in exactly one of them, and each begins and ends with a number that is there. Few different numbers
    have a range each.
    """
    counts = sorted(Counter(numbers).items())
    if len(counts) <= most:
        return [(number, number) for number, _ in counts]
    total = sum(count for _, count in counts)
    before, found = 0, dict[int, tuple[int, int]]()
    for number, count in counts:
        # A number belongs where the middle of its ones would be, were all of them dealt out evenly.
        place = most * (2 * before + count) // (2 * total)
        found[place] = (found.get(place, (number, number))[0], number)
        before += count
    return list(found.values())


def chance_levels(answered: Sequence[Trial]) -> tuple[float | None, float | None]:
    """The mean chance, and the score above it, over the answered trials whose chance is known."""
    known = [trial for trial in answered if trial.question.chance is not None]
    chance = mean([trial.question.chance or 0.0 for trial in known])
    score = mean([0.0 if trial.score is None else trial.score.value for trial in known])
    if chance is None or score is None:
        return None, None
    return chance, (score - chance) / (1 - chance) if chance < 1 else None


def metric_means(answered: Sequence[Trial]) -> tuple[dict[str, float], dict[str, int]]:
    """The mean of every metric over the trials where it is defined, and how often it is not."""
    values: dict[str, list[float | None]] = {}
    for trial in answered:
        for name, value in metrics_of(trial).items():
            values.setdefault(name, []).append(value)
    defined = {name: [one for one in values[name] if one is not None] for name in sorted(values)}
    means = {name: fsum(ones) / len(ones) for name, ones in defined.items() if ones}
    missing = {name: len(values[name]) - len(ones) for name, ones in defined.items()}
    return means, {name: count for name, count in missing.items() if count}


def metrics_of(trial: Trial) -> dict[str, float | None]:
    """Every metric of an answered trial by name. A reply without an answer is worth 0 in each that was asked for:
    left out, it would lift the mean.
    """
    zeros = dict.fromkeys(trial.question.further, 0.0) if trial.outcome in ("unparseable", "refused") else {}
    if trial.score is None:
        return {**zeros, trial.question.metric: 0.0}
    return {**zeros, **trial.score.metrics, trial.question.metric: trial.score.value}


_T = TypeVar("_T")


class SharedParts:
    """What was seen so far. Whatever comes out is equal to what went in, and must not be changed by anyone."""

    def __init__(self) -> None:
        self._seen: dict[Any, Any] = {}

    def trial(self, trial: Trial) -> Trial:
        """The trial, of parts that former trials hold too where they are equal."""
        parts = {name: getattr(trial, name) for name in ("question", "reply", "score")}
        made: dict[str, Any] = {name: part and self._object(part, {}) for name, part in parts.items()}
        if len(trial.exchanges) == 1:  # of messages that no other trial has: to remember them takes more than they do
            made["exchanges"] = [self._names(one) for one in trial.exchanges]
        return self._object(trial, made)

    def _names(self, value: Any) -> Any:  # noqa: ANN401
        """The value, with its texts held once, and nothing else of it."""
        if type(value) is list:
            return [self._names(one) for one in value]
        if type(value) is dict:
            return {self._value(name): self._names(one) for name, one in value.items()}
        return self._value(value)

    def _object(self, one: _T, made: dict[str, Any]) -> _T:
        names = (each.name for each in fields(one))  # type: ignore[arg-type]  # every part of a trial is a dataclass
        return type(one)(**{name: made[name] if name in made else self._value(getattr(one, name)) for name in names})

    def _value(self, value: Any) -> Any:  # noqa: ANN401
        if type(value) is str:
            return self._seen.setdefault(value, value)
        if type(value) is list:
            return self._list(value)
        return self._dict(value) if type(value) is dict else value

    def _list(self, value: list[Any]) -> list[Any]:
        held = [self._value(one) for one in value]
        return self._seen.setdefault((list, *held), held) if all(type(one) is str for one in held) else held

    def _dict(self, value: dict[str, Any]) -> dict[str, Any]:
        held = {self._value(name): self._value(one) for name, one in value.items()}
        # Only texts and whole numbers: 1, 1.0 and True are equal, and would be taken for one another.
        plain = all(type(one) is str or type(one) is int for one in held.values())
        return self._seen.setdefault((dict, *held, *held.values()), held) if plain else held


ANSWERED = frozenset({"right", "wrong", "graded", "unparseable", "refused"})


class RowKey(NamedTuple):
    """Where a row stands: by family, then section, then the order of groups or a number, then name."""

    family: tuple[int, str]
    section: tuple[int, str]
    rank: int
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Group:
    """The trials that have something in common: those of one row."""

    name: str
    model: str  # "" where several are pooled
    section: str  # of one group of questions, else ""
    trials: list[Trial]
    graded: bool = False  # of graded questions; else none of its trials is
    graded_left_out: int = 0  # trials of graded questions that would stand here as well, if they were right or wrong
    family: str = ""  # of the row of a group, a section or a family, else ""

    @property
    def questions(self) -> int:
        """How many questions were answered, however often."""
        return len({(one.question.once, one.model) for one in self.trials if one.outcome in ANSWERED})

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the pass rate: over questions, and by cluster where questions were repeated; of graded
        questions that of the mean score, as `certainty.Sample` gives it.
        """
        answered = [one for one in self.trials if one.outcome in ANSWERED]
        if self.graded:
            return _sample(answered).ends
        return rate_interval((f"{one.question.unit} {one.model}", _cluster(one), one.passed) for one in answered)


@dataclass(frozen=True, slots=True)
class Row:
    """The trials of one model that have something in common, counted.

    A trial is one reply: a question asked three times counts three times.

    n = right + wrong + unparseable + refused are the answered ones, over which rate and means are taken. Errors and
    skipped are counted apart and are in no mean. rate, mean, deviation are None where there is nothing to take
    them of.

    A row holds right and wrong answers, or those to graded questions, never both. Of the latter n are the answered
    ones, none is right or wrong, and there is no rate.
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
    attempts: int  # more than `questions` where some were asked again
    rate: float | None  # right / n; None for graded questions
    mean: float | None  # of the main score
    deviation: float | None  # sample standard deviation of the main score
    metrics: dict[str, float] = field(default_factory=dict)  # mean of each metric by its name, the main one included
    undefined: dict[str, int] = field(default_factory=dict)  # how often a metric was undefined, and so in no mean
    chance: float | None = None  # mean chance level, over the answered where it is known
    above_chance: float | None = None  # (mean - chance) / (1 - chance) over the same: 0 as by guessing, 1 all right
    graded: int = 0  # trials of graded questions of the same kind, which are in no other number of the row

    @property
    def questions(self) -> int:
        """How many questions there were, answered or not."""
        return self.n + self.errors + self.skipped


@dataclass(frozen=True, slots=True)
class Relation:
    """The questions that one model answered both as they are and varied in one way."""

    name: str
    model: str
    pairs: int  # both answered
    same: int  # of them, those where both answers pass or both fail
    interval: tuple[float, float] | None = None  # of the share, 95 %; by cluster where questions were repeated

    @property
    def share(self) -> float | None:
        """The share of the same among the pairs, 0.0 to 1.0; None where there are none."""
        return self.same / self.pairs if self.pairs else None


class Tally:
    """The trials of a run, the last one of each model and question; nothing it tells depends on how they arrived.

    Trials of varied questions (those with a relation) are in `relations` alone: in no row, no total and no label.
    Those of graded questions stand apart as well: rows, groups and totals hold them only where they are asked for.
    Rows stand in the order of the descriptions; those of groups that these do not list stand after them, by name.
    Trials with equal texts share them.
    """

    def __init__(self, descriptions: Descriptions | None = None) -> None:
        self.descriptions = descriptions or Descriptions()
        self._trials: dict[tuple[str, str], Trial] = {}
        self._attempts: dict[tuple[str, str], int] = {}
        self._shared = SharedParts()

    def add(self, trial: Trial, attempts: int = 1) -> None:
        """Takes a trial in. One of the same model and question replaces the former (a rerun); attempts add up."""
        trial = self._shared.trial(trial)
        key = (trial.question.id, trial.model)
        self._trials[key] = trial
        self._attempts[key] = self._attempts.get(key, 0) + attempts

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return (self._trials[key] for key in sorted(self._trials))

    def word(self, word: Word) -> str:
        """Return what the families of the trials call a group, a section or a cluster."""
        return self.descriptions.word(word, {trial.question.family for trial in self._trials.values()})

    def attempts(self, trial: Trial) -> int:
        """How often the trial's question was added for its model; 0 if never."""
        return self._attempts.get((trial.question.id, trial.model), 0)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, sorted."""
        return tuple(sorted({model for _, model in self._trials}))

    @property
    def families(self) -> tuple[str, ...]:
        """The names of the families that were asked, in their order."""
        names = {trial.question.family for trial in self._trials.values()}
        return tuple(sorted(names, key=self.descriptions.family_place))

    def of_family(self, family: str) -> Tally:
        """Return the tally of the trials of one family."""
        return self.select(lambda trial: trial.question.family == family)

    def of_model(self, model: str) -> Tally:
        """Return the tally of the trials of one model."""
        return self.select(lambda trial: trial.model == model)

    def select(self, holds: Callable[[Trial], bool]) -> Tally:
        """Return the tally of the trials of which something holds, with their attempts."""
        found = Tally(self.descriptions)
        found._trials = {key: trial for key, trial in self._trials.items() if holds(trial)}
        found._attempts = {key: self._attempts[key] for key in found._trials}
        return found

    @property
    def pooled_prompts(self) -> tuple[str, ...]:
        """The names of the prompt templates, sorted, of the families that were asked with several; none of others."""
        by_family: dict[str, set[str]] = {}
        for question in (trial.question for trial in self._trials.values() if not trial.question.relation):
            if PROMPT in question.labels:
                by_family.setdefault(question.family, set()).add(str(question.labels[PROMPT]))
        return tuple(sorted({name for names in by_family.values() if len(names) > 1 for name in names}))

    def labels(self) -> tuple[str, ...]:
        """The names of the labels that take more than one value, sorted; graded questions left out."""
        values: dict[str, set[str]] = {}
        for trial in self._of(None):
            for label, value in trial.question.labels.items():
                values.setdefault(label, set()).add(str(value))
        return tuple(sorted(label for label, found in values.items() if len(found) > 1))

    def rows(
        self, by: str = "group", model: str | None = None, most: int | None = None, graded: bool = False
    ) -> list[Row]:
        """A row for each model and each "group", "section", "family", "model", or value of the label `by`.

        Models by name; then families, sections and groups as described; numbers by size, the rest by name. Trials
        without the label are in no row, so a label that none has gives no rows. `model` restricts; where
        a label has more than `most` numbers, they are put together in that many ranges, "20-29". `graded`: the rows of
        graded questions, instead of those of all others.
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
        """The trials of each of the `rows`, in the same order; those of all models in one where `pooled`."""
        trials = self._of(model, graded)
        spans = _spans([trial.question.labels.get(by) for trial in trials], most) if most else []
        groups: dict[tuple[str, RowKey], list[Trial]] = {}
        for trial in trials:
            if (place := self._place(trial, by)) is not None:
                groups.setdefault(("" if pooled else trial.model, _in_range(place, spans)), []).append(trial)
        apart: Counter[tuple[str, RowKey | None]] = Counter()
        if not graded:
            others = ((trial, self._place(trial, by)) for trial in self._of(model, graded=True))
            apart.update(("" if pooled else one.model, place and _in_range(place, spans)) for one, place in others)
        return [
            Group(
                place.name, one, place.section[1] if by == "group" else "", groups[one, place], graded,
                apart[one, place], place.family[1],
            )
            for one, place in sorted(groups)
        ]  # fmt: skip

    def total(self, model: str | None = None, graded: bool = False) -> Row:
        """One row, "total", over all trials of the model, of all models where none is given; as `rows` they are all of
        graded questions, or none is.
        """
        return self.row(self.total_group(model, graded))

    def total_group(self, model: str | None = None, graded: bool = False) -> Group:
        """The trials of `total`."""
        names = self.models if model is None else (model,)
        apart = 0 if graded else len(self._of(model, graded=True))
        return Group("total", names[0] if len(names) == 1 else "", "", self._of(model, graded), graded, apart)

    def relations(self, model: str | None = None) -> list[Relation]:
        """A row for each model and each relation in which questions were varied, by name; `model` restricts.

        Answers to graded questions pass no verdict that could be the same: such questions are in no row.
        """
        found: dict[tuple[str, str], list[tuple[Trial, Trial | None]]] = {}
        for trial in self:
            if trial.question.relation and not trial.question.graded and model in (None, trial.model):
                twin = self._trials.get((trial.question.twin, trial.model))
                found.setdefault((trial.model, trial.question.relation), []).append((trial, twin))
        return [_relation(name, one, found[one, name]) for one, name in sorted(found)]

    def _of(self, model: str | None, graded: bool = False) -> list[Trial]:
        """The trials of the model that count: those of questions as they are, not varied; of graded ones, or others."""
        own = (trial for trial in self if model in (None, trial.model) and not trial.question.relation)
        return [trial for trial in own if trial.question.graded == graded]

    def _place(self, trial: Trial, by: str) -> RowKey | None:
        """Where the trial's row stands, by a key that ends in the row's name; None where it is in no row."""
        question, known = trial.question, self.descriptions
        if by in ("group", "section", "family"):
            family = known.family_place(question.family)
            section = (0, "") if by == "family" else known.section_place(question.family, question.section)
            rank = known.group_place(question.family, question.group)[0] if by == "group" else 0
            return RowKey(family, section, rank, 0, str(getattr(question, by)))
        if by != "model" and by not in question.labels:
            return None
        name = trial.model if by == "model" else str(question.labels[by])
        numeric = by != "model" and name.isdecimal() and len(name) < 19
        return RowKey((0, ""), (0, ""), 0 if numeric else 1, int(name) if numeric else 0, name)

    def row(self, group: Group) -> Row:
        """The trials of the group, counted."""
        trials = group.trials
        answered = [trial for trial in trials if trial.outcome in ANSWERED]
        scores = [0.0 if trial.score is None else trial.score.value for trial in answered]
        metrics, undefined = metric_means(answered)
        outcomes = Counter(trial.outcome for trial in trials)
        chance, above = chance_levels(answered)
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
            above_chance=above,
            graded=group.graded_left_out,
        )


def _relation(name: str, model: str, found: Sequence[tuple[Trial, Trial | None]]) -> Relation:
    pairs = [(one, twin) for one, twin in found if twin and {one.outcome, twin.outcome} <= ANSWERED]
    verdicts = [(twin.question.once, _cluster(twin), one.passed == twin.passed) for one, twin in pairs]
    return Relation(name, model, len(pairs), sum(same for _, _, same in verdicts), rate_interval(verdicts))


def _sample(answered: Sequence[Trial]) -> Sample:
    """The questions of graded trials, each with the scores of its repetitions."""
    found: dict[str, AnsweredQuestion] = {}
    for trial in answered:
        key = f"{trial.question.once} {trial.model}"
        made = AnsweredQuestion(key, _cluster(trial), [], f"{trial.question.unit} {trial.model}")
        values = found.setdefault(key, made).values
        values.append(0.0 if trial.score is None else trial.score.value)
    return Sample(list(found.values()), 0.95, rates=False)


def _cluster(trial: Trial) -> str:
    return trial.question.cluster or trial.question.once


def _spans(values: Sequence[str | int | None], most: int) -> list[tuple[int, int]]:
    """The ranges of a label whose values are numbers; none where one of them is not."""
    known = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int) and not isinstance(value, bool)]
    return split_into_ranges(numbers, most) if len(numbers) == len(known) else []


def _in_range(place: RowKey, spans: Sequence[tuple[int, int]]) -> RowKey:
    """The place of the range that the number of a place is in."""
    for least, greatest in spans:
        if least <= place.number <= greatest:
            name = str(least) if least == greatest else f"{least}-{greatest}"
            return place._replace(number=least, name=name)
    return place
