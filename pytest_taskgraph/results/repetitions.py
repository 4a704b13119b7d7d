"""Statistics over repetitions of questions: reducers over each question, then the mean over questions.

A question counts by its answered repetitions; errors and skipped repetitions enter no reducer.
`docs/how-to/repetitions.md` explains which question each reducer answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb, fsum, sqrt

from ..trial import Trial
from .statistics.intervals import deviation, mean
from .tally import ANSWERED, Group


@dataclass(frozen=True, slots=True)
class RepetitionRow:
    """The repetitions of the questions of one row; a number is None if nothing defines it.

    Graded questions do not pass or fail; they have `mean`, `within` and `between` only.
    """

    name: str
    model: str  # "" where several are pooled
    section: str  # of the row of a group, else ""
    repetitions: int  # greatest number of any question
    questions: int  # questions with an answered repetition
    mean: float | None  # of the questions' mean main scores
    majority: float | None  # share of the questions that more than half of their answered repetitions pass
    pass_at: dict[int, float | None] = field(default_factory=dict)  # k -> chance that one of k repetitions passes
    pass_hat: dict[int, float | None] = field(default_factory=dict)  # k -> chance that all of k repetitions pass
    left_out: dict[int, int] = field(default_factory=dict)  # k -> questions with fewer than k answered repetitions
    within: float | None = None  # pooled standard deviation of the main score over the repetitions of a question
    between: float | None = None  # standard deviation of the means of the clusters


def pass_at_k(n: int, passed: int, k: int) -> float:
    """Return the unbiased estimate of the probability that at least one of k repetitions passes.

    1 - C(n - passed, k) / C(n, k): the share of the subsets of k repetitions that contain a pass. M. Chen et al.,
    "Evaluating Large Language Models Trained on Code", 2021, equation 1.

    Args:
        n: Repetitions of the question.
        passed: Repetitions that passed, 0 to n.
        k: Size of the subsets, 1 to n.
    """
    return (comb(n, k) - comb(n - passed, k)) / comb(n, k)


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """Return the unbiased estimate of the probability that all of k repetitions pass.

    C(passed, k) / C(n, k): the share of the subsets of k repetitions that contain only passes. S. Yao et al.,
    "tau-bench", 2024.

    Args:
        n: Repetitions of the question.
        passed: Repetitions that passed, 0 to n.
        k: Size of the subsets, 1 to n.
    """
    return comb(passed, k) / comb(n, k)


def most_repetitions(trials: Iterable[Trial]) -> int:
    """Return the greatest number of repetitions of one question to one model; 0 for no trials."""
    return max(map(len, _by_question(trials)), default=0)


def reduce_repetitions(group: Group, ks: Sequence[int] | None = None) -> RepetitionRow:
    """Return the row of the group's trials.

    Args:
        group: The trials of one row.
        ks: Numbers k of pass@k and pass^k, each at least 1; by default 1 to the repetitions of the group.
    """
    questions = _by_question(group.trials)
    most = max(map(len, questions), default=0)
    answered = [[trial for trial in trials if trial.outcome in ANSWERED] for trials in questions]
    all_outcomes = [(len(trials), sum(trial.passed for trial in trials)) for trials in answered if not group.graded]
    answered_values = [(trials, [_score_of(trial) for trial in trials]) for trials in answered if trials]
    chosen_ks = range(1, most + 1) if ks is None else ks
    outcomes_by_k = {k: [(n, passed) for n, passed in all_outcomes if n >= k] for k in chosen_ks}
    return RepetitionRow(
        name=group.name,
        model=group.model,
        section=group.section,
        repetitions=most,
        questions=len(answered_values),
        mean=mean([fsum(values) / len(values) for _, values in answered_values]),
        majority=mean([float(2 * passed > n) for n, passed in all_outcomes if n]),
        pass_at={k: mean([pass_at_k(n, passed, k) for n, passed in outcomes]) for k, outcomes in outcomes_by_k.items()},
        pass_hat={
            k: mean([pass_hat_k(n, passed, k) for n, passed in outcomes]) for k, outcomes in outcomes_by_k.items()
        },
        left_out={k: len(all_outcomes) - len(outcomes) for k, outcomes in outcomes_by_k.items()},
        within=_spread_within([values for _, values in answered_values]),
        between=_spread_between(answered_values),
    )


def _by_question(trials: Iterable[Trial]) -> list[list[Trial]]:
    by_question: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        by_question.setdefault((trial.question.once, trial.model), []).append(trial)
    return list(by_question.values())


def _score_of(trial: Trial) -> float:
    return 0.0 if trial.score is None else trial.score.value


def _spread_within(questions: Sequence[Sequence[float]]) -> float | None:
    """Return the pooled standard deviation of the scores over the repetitions of a question; None without repetitions.

    The square root of the squared distances from each question's own mean, over the sum of the n - 1.
    """
    freedom = sum(len(values) - 1 for values in questions)
    squares = [(value - fsum(values) / len(values)) ** 2 for values in questions for value in values]
    return sqrt(fsum(squares) / freedom) if freedom else None


def _spread_between(questions: Sequence[tuple[Sequence[Trial], Sequence[float]]]) -> float | None:
    """Return the sample standard deviation of the clusters' means, each the mean of its questions' means."""
    clusters: dict[str, list[float]] = {}
    for trials, values in questions:
        question = trials[0].question
        clusters.setdefault(question.cluster or question.once, []).append(fsum(values) / len(values))
    return deviation([fsum(means) / len(means) for means in clusters.values()])
