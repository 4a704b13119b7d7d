"""What the repetitions of questions come to: reducers over one question, then the mean over questions.

A question counts by its answered repetitions; errors and what was skipped are in no reducer.
`docs/how-to/repetitions.md` tells which question each reducer answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb, fsum, sqrt

from ..trial import Trial
from .statistics.intervals import deviation, mean
from .tally import ANSWERED, Group, Tally


@dataclass(frozen=True, slots=True)
class RepetitionRow:
    """The repetitions of the questions of one row. None where there is nothing to take a number of.

    Of graded questions, of which none passes, there are mean, within and between.
    """

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    repetitions: int  # the most that one question has
    questions: int  # with an answered repetition
    mean: float | None  # of the questions' mean main scores
    majority: float | None  # share of the questions that more than half of their answered repetitions pass
    pass_at: dict[int, float | None] = field(default_factory=dict)  # k -> chance that one of k repetitions passes
    pass_hat: dict[int, float | None] = field(default_factory=dict)  # k -> chance that all of k repetitions pass
    left_out: dict[int, int] = field(default_factory=dict)  # k -> questions with fewer than k answered repetitions
    within: float | None = None  # pooled standard deviation of the main score over the repetitions of a question
    between: float | None = None  # standard deviation of the means of the clusters


def pass_at_k(n: int, passed: int, k: int) -> float:
    """The chance that at least one of k repetitions passes, without bias from n repetitions of which `passed` did.

    1 - C(n - passed, k) / C(n, k): the share of the subsets of k repetitions that hold a pass. 0 <= passed <= n,
    1 <= k <= n. M. Chen et al., "Evaluating Large Language Models Trained on Code", 2021, equation 1.
    """
    return (comb(n, k) - comb(n - passed, k)) / comb(n, k)


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """The chance that all of k repetitions pass, without bias from n repetitions of which `passed` did.

    C(passed, k) / C(n, k): the share of the subsets of k repetitions that hold only passes. 0 <= passed <= n,
    1 <= k <= n. S. Yao et al., "tau-bench", 2024.
    """
    return comb(passed, k) / comb(n, k)


def repetition_rows(tally: Tally, by: str = "group", model: str | None = None) -> list[RepetitionRow]:
    """A row for each row of `tally.rows(by, model)`, in the same order, with k = 1 to the repetitions of that row."""
    return [reduce_repetitions(group) for group in tally.groups(by, model)]


def most_repetitions(trials: Iterable[Trial]) -> int:
    """How often one question was put to one model at most; 0 for no trials."""
    return max(map(len, _by_question(trials)), default=0)


def reduce_repetitions(group: Group, ks: Sequence[int] | None = None) -> RepetitionRow:
    """The row of the group's trials, with pass@k and pass^k for each k >= 1 of `ks`; of all that there can be by
    default.
    """
    questions = _by_question(group.trials)
    most = max(map(len, questions), default=0)
    answered = [[one for one in trials if one.outcome in ANSWERED] for trials in questions]
    counts = [(len(trials), sum(one.passed for one in trials)) for trials in answered if not group.graded]
    known = [(trials, [_value(one) for one in trials]) for trials in answered if trials]
    wanted = range(1, most + 1) if ks is None else ks
    enough = {k: [(n, passed) for n, passed in counts if n >= k] for k in wanted}
    return RepetitionRow(
        name=group.name,
        model=group.model,
        section=group.section,
        repetitions=most,
        questions=len(known),
        mean=mean([fsum(values) / len(values) for _, values in known]),
        majority=mean([float(2 * passed > n) for n, passed in counts if n]),
        pass_at={k: mean([pass_at_k(n, passed, k) for n, passed in ones]) for k, ones in enough.items()},
        pass_hat={k: mean([pass_hat_k(n, passed, k) for n, passed in ones]) for k, ones in enough.items()},
        left_out={k: len(counts) - len(ones) for k, ones in enough.items()},
        within=_within([values for _, values in known]),
        between=_between(known),
    )


def _by_question(trials: Iterable[Trial]) -> list[list[Trial]]:
    found: dict[tuple[str, str], list[Trial]] = {}
    for one in trials:
        found.setdefault((one.question.once, one.model), []).append(one)
    return list(found.values())


def _value(trial: Trial) -> float:
    return 0.0 if trial.score is None else trial.score.value


def _within(questions: Sequence[Sequence[float]]) -> float | None:
    """The square root of the squared distances from each question's own mean, over the sum of the n - 1."""
    freedom = sum(len(values) - 1 for values in questions)
    squares = [(value - fsum(values) / len(values)) ** 2 for values in questions for value in values]
    return sqrt(fsum(squares) / freedom) if freedom else None


def _between(questions: Sequence[tuple[Sequence[Trial], Sequence[float]]]) -> float | None:
    """The sample standard deviation of the clusters' means, each the mean of its questions' means."""
    clusters: dict[str, list[float]] = {}
    for trials, values in questions:
        one = trials[0].question
        clusters.setdefault(one.cluster or one.once, []).append(fsum(values) / len(values))
    return deviation([fsum(means) / len(means) for means in clusters.values()])
