"""What the trials of a run come to, by pattern, category, family, model or label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..trial import Trial
from .metric_means import chances, metric_means
from .ranges import ranges
from .sharing import Shared
from .statistics import deviation, mean, rate_interval

CATEGORIES = ("structure", "behaviour", "functionality")  # shown in this order, others after them by name
ANSWERED = frozenset({"right", "wrong", "unreadable", "refused"})

Place = tuple[int, str, int, int, str]  # where a row stands: sorted by category, then catalogue or number, then name


@dataclass(frozen=True, slots=True)
class Group:
    """The trials that have something in common: those of one row."""

    name: str
    model: str  # "" where several are pooled
    category: str  # of a pattern's group, else ""
    trials: list[Trial]

    @property
    def questions(self) -> int:
        """How many questions were answered, however often."""
        return len({(one.question.once, one.model) for one in self.trials if one.outcome in ANSWERED})

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the pass rate: over questions, and by workflow where questions were repeated."""
        answered = [one for one in self.trials if one.outcome in ANSWERED]
        return rate_interval((f"{one.question.once} {one.model}", _cluster(one), one.passed) for one in answered)


@dataclass(frozen=True, slots=True)
class Row:
    """The trials of one model that have something in common, counted.

    A trial is one reply: a question asked three times counts three times.

    n = right + wrong + unreadable + refused are the answered ones, over which rate and means are taken. Errors and
    skipped are counted apart and are in no mean. rate, mean, deviation are None where there is nothing to take
    them of.
    """

    name: str
    model: str  # "" where several are pooled
    category: str  # of a pattern's row, else ""
    n: int
    right: int
    wrong: int
    unreadable: int
    refused: int
    errors: int
    skipped: int
    attempts: int  # more than `questions` where some were asked again
    rate: float | None  # right / n
    mean: float | None  # of the main score
    deviation: float | None  # sample standard deviation of the main score
    metrics: dict[str, float] = field(default_factory=dict)  # mean of each metric by its name, the main one included
    undefined: dict[str, int] = field(default_factory=dict)  # how often a metric was undefined, and so in no mean
    chance: float | None = None  # mean of what guessing is expected to score, over the answered where it is known
    above_chance: float | None = None  # (mean - chance) / (1 - chance) over the same: 0 as by guessing, 1 all right

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
    interval: tuple[float, float] | None = None  # of the share, 95 %; by workflow where questions were repeated

    @property
    def share(self) -> float | None:
        """The share of the same among the pairs, 0.0 to 1.0; None where there are none."""
        return self.same / self.pairs if self.pairs else None


class Tally:
    """The trials of a run, the last one of each model and question; nothing it tells depends on how they arrived.

    Trials of varied questions (those with a relation) are in `relations` alone: in no row, no total and no label.
    `order` is the catalogue: names of patterns in the order in which their rows are to stand. Trials with equal texts
    share them.
    """

    def __init__(self, order: Sequence[str] = ()) -> None:
        self._rank = {name: rank for rank, name in reversed(list(enumerate(order)))}
        self._trials: dict[tuple[str, str], Trial] = {}
        self._attempts: dict[tuple[str, str], int] = {}
        self._shared = Shared()

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

    def attempts(self, trial: Trial) -> int:
        """How often the trial's question was added for its model; 0 if never."""
        return self._attempts.get((trial.question.id, trial.model), 0)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, sorted."""
        return tuple(sorted({model for _, model in self._trials}))

    def labels(self) -> tuple[str, ...]:
        """The names of the labels that take more than one value, sorted."""
        values: dict[str, set[str]] = {}
        for trial in self._of(None):
            for label, value in trial.question.labels.items():
                values.setdefault(label, set()).add(str(value))
        return tuple(sorted(label for label, found in values.items() if len(found) > 1))

    def rows(self, by: str = "pattern", model: str | None = None, most: int | None = None) -> list[Row]:
        """A row for each model and each "pattern", "category", "family", "model", or value of the label `by`.

        Models by name; then categories as in CATEGORIES, patterns as in the catalogue; numbers by size, the rest by
        name. Trials without the label are in no row, so a label that none has gives no rows. `model` restricts; where
        a label has more than `most` numbers, they are put together in that many ranges, "20-29".
        """
        return [self.row(group) for group in self.groups(by, model, most)]

    def groups(
        self, by: str = "pattern", model: str | None = None, most: int | None = None, pooled: bool = False
    ) -> list[Group]:
        """The trials of each of the `rows`, in the same order; those of all models in one where `pooled`."""
        trials = self._of(model)
        spans = _spans([trial.question.labels.get(by) for trial in trials], most) if most else []
        groups: dict[tuple[str, Place], list[Trial]] = {}
        for trial in trials:
            if (place := self._place(trial, by)) is not None:
                groups.setdefault(("" if pooled else trial.model, _in_range(place, spans)), []).append(trial)
        return [
            Group(place[-1], one, place[1] if by == "pattern" else "", groups[one, place])
            for one, place in sorted(groups)
        ]

    def total(self, model: str | None = None) -> Row:
        """One row, "total", over all trials of the model, of all models where none is given."""
        return self.row(self.whole(model))

    def whole(self, model: str | None = None) -> Group:
        """The trials of `total`."""
        names = self.models if model is None else (model,)
        return Group("total", names[0] if len(names) == 1 else "", "", self._of(model))

    def relations(self, model: str | None = None) -> list[Relation]:
        """A row for each model and each relation in which questions were varied, by name; `model` restricts."""
        found: dict[tuple[str, str], list[tuple[Trial, Trial | None]]] = {}
        for trial in self:
            if trial.question.relation and model in (None, trial.model):
                twin = self._trials.get((trial.question.twin, trial.model))
                found.setdefault((trial.model, trial.question.relation), []).append((trial, twin))
        return [_relation(name, one, found[one, name]) for one, name in sorted(found)]

    def _of(self, model: str | None) -> list[Trial]:
        """The trials of the model that count: those of questions as they are, not varied."""
        return [trial for trial in self if model in (None, trial.model) and not trial.question.relation]

    def _place(self, trial: Trial, by: str) -> Place | None:
        """Where the trial's row stands, by a key that ends in the row's name; None where it is in no row."""
        question = trial.question
        if by == "pattern":
            rank = self._rank.get(question.pattern, len(self._rank))
            return (*_category(question.category), rank, 0, question.pattern)
        if by == "category":
            return (*_category(question.category), 0, 0, question.category)
        if by in ("family", "model"):
            return (0, "", 0, 0, question.family if by == "family" else trial.model)
        if by not in question.labels:
            return None
        name = str(question.labels[by])
        numeric = name.isdecimal() and len(name) < 19
        return (0, "", 0 if numeric else 1, int(name) if numeric else 0, name)

    def row(self, group: Group) -> Row:
        """The trials of the group, counted."""
        trials = group.trials
        answered = [trial for trial in trials if trial.outcome in ANSWERED]
        scores = [0.0 if trial.score is None else trial.score.value for trial in answered]
        metrics, undefined = metric_means(answered)
        outcomes = Counter(trial.outcome for trial in trials)
        chance, above = chances(answered)
        return Row(
            name=group.name,
            model=group.model,
            category=group.category,
            n=len(answered),
            right=outcomes["right"],
            wrong=outcomes["wrong"],
            unreadable=outcomes["unreadable"],
            refused=outcomes["refused"],
            errors=outcomes["error"],
            skipped=outcomes["skipped"],
            attempts=sum(self.attempts(trial) for trial in trials),
            rate=outcomes["right"] / len(answered) if answered else None,
            mean=mean(scores),
            deviation=deviation(scores),
            metrics=metrics,
            undefined=undefined,
            chance=chance,
            above_chance=above,
        )


def _relation(name: str, model: str, found: Sequence[tuple[Trial, Trial | None]]) -> Relation:
    pairs = [(one, twin) for one, twin in found if twin and {one.outcome, twin.outcome} <= ANSWERED]
    verdicts = [(twin.question.once, _cluster(twin), one.passed == twin.passed) for one, twin in pairs]
    return Relation(name, model, len(pairs), sum(same for _, _, same in verdicts), rate_interval(verdicts))


def _cluster(trial: Trial) -> str:
    return trial.question.cluster or trial.question.once


def _spans(values: Sequence[str | int | None], most: int) -> list[tuple[int, int]]:
    """The ranges of a label whose values are numbers; none where one of them is not."""
    known = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int) and not isinstance(value, bool)]
    return ranges(numbers, most) if len(numbers) == len(known) else []


def _in_range(place: Place, spans: Sequence[tuple[int, int]]) -> Place:
    """The place of the range that the number of a place is in."""
    for least, greatest in spans:
        if least <= place[3] <= greatest:
            return (*place[:3], least, str(least) if least == greatest else f"{least}-{greatest}")
    return place


def _category(name: str) -> tuple[int, str]:
    return (CATEGORIES.index(name) if name in CATEGORIES else len(CATEGORIES), name)
