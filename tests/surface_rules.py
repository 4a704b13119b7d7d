"""Measure how well yes/no questions are answered by rules that look at the surface of the text, not at its meaning.

The rules over a single feature stand in `question_soundness/answer_giveaways.py` of the family, the decision trees of
depth 1 to 3 in `surface_trees.py`. They are fitted on one half of the questions, the best of each sort is evaluated on
the other half, and the other way round; the figure of a sort is the mean of the two. `best` is the largest figure of
all sorts and depths. Rules that are known by name are fitted and evaluated the same way, each by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, stdev

from surface_trees import FITS, Tree, table

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import (
    RULE_KINDS,
    SEED,
    Rule,
    SurfaceSample,
    fit_rule,
    questions,
    rule_by_wording,
    surface_sample,
)
from pytest_taskgraph.families.understanding.question_soundness.surface_features import first_mentions
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.families.understanding.questions.sample import DrawnCase
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json

SHUFFLES = 5  # random orders that are scored beside the order of mention, for each question

IN_PLACE = {
    "task_hierarchy": "the text of a composite task stands inside that of its task, or right after its name",
}
"""Yes/no patterns that a rule may answer in notations other than the workflow language, each with the reason."""

NAMED_RULES: Mapping[str, tuple[str, frozenset[str]]] = {
    "the first task is mentioned before the second in the control flow": (
        "names in order in control",
        frozenset({"order_of_two", "order_of_two_conditional"}),
    ),
    "no strict > among the guards": ("guards of level >", frozenset({"mutually_exclusive"})),
    "no strict > among the guards asked about": ("name 1 guards of its links >", frozenset({"mutually_exclusive"})),
    "as many references as workflows": ("as many references as workflows", frozenset({"infinite_recursion"})),
    "every task has a link in and a link out": ("tasks without a link in or out", frozenset({"flow_connected"})),
    "not in the first workflow": ("name 1 in a later workflow", frozenset({"task_hierarchy"})),
    "the keyword of the operator is present": (
        "keyword of the operator is present",
        frozenset({"operator_existence"}),
    ),
    "the second task is the target of a conditional link": (
        "name 2 conditional links in",
        frozenset({"conditional_link_existence"}),
    ),
    "both tasks on a line with a gateway": ("both names on a line with a gateway", frozenset({"parallel_pair"})),
}
"""Known rules: the feature that each examines, and the patterns that it applies to."""


@dataclass(frozen=True, slots=True)
class RuleAccuracy:
    """What rules get of a yes/no pattern on questions that they were not fitted on."""

    best: float
    rules: tuple[str, ...]  # the best rule of each half
    by_sort: Mapping[str, float]  # "single feature" and "tree of depth 1" to 3
    by_rule: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class OrderMeasured:
    """The mean score of listing the tasks as they are mentioned, and of listing them at random."""

    mentioned: float
    random: float
    error: float  # the standard error of the mean difference

    @property
    def tolerance(self) -> float:
        """The difference that may be chance: three standard errors, 0.02 at least."""
        return max(3 * self.error, 0.02)

    @property
    def at_chance(self) -> bool:
        """Return True if the order of mention scores no more than random orders, but for what may be chance."""
        return self.mentioned - self.random <= self.tolerance


@cache
def drawn_questions(pattern: Pattern, count: int, tasks: int, difficulty: str, seed: int) -> tuple[DrawnCase, ...]:
    """Return the first questions of the pattern; drawn once for all that is measured in them."""
    return tuple(questions(pattern, count, tasks, difficulty, seed))


def measure(
    pattern: Pattern, count: int, tasks: int = 12, notation: str = "wadl", difficulty: str = "", seed: int = SEED
) -> RuleAccuracy:
    """Fit rules on each half of `count` questions and evaluate them on the other one."""
    drawn = drawn_questions(pattern, count, tasks, difficulty, seed)
    samples = [surface_sample(pattern, question, notation) for question in drawn]
    # Four in a row are both answers in both phrasings: so each half holds as many of either.
    halves = [[each for i, each in enumerate(samples) if (i >> 2) % 2 == half] for half in (0, 1)]
    turns = [(halves[0], halves[1]), (halves[1], halves[0])]
    features = set(samples[0].features)
    by_rule = {
        name: fmean(rule_by_wording(feature, train).accuracy(held) for train, held in turns)
        for name, (feature, told_of) in NAMED_RULES.items()
        if pattern.name in told_of and feature in features
    }
    by_sort = dict[str, float]()
    best, rules = 0.0, tuple[str, ...]()
    for sort, fitted in _fits(halves):
        share = fmean(rule.accuracy(held) for rule, (_, held) in zip(fitted, turns, strict=True))
        by_sort[sort] = max(share, by_sort.get(sort, 0.0))
        if share > best:
            best, rules = share, tuple(str(rule) for rule in fitted)
    return RuleAccuracy(best, rules, by_sort, by_rule)


def _fits(halves: Sequence[Sequence[SurfaceSample]]) -> Iterator[tuple[str, Sequence[Rule | Tree]]]:
    """Yield the name of each sort of rules, with the best rule of the sort for each half of the questions."""
    for make in RULE_KINDS:
        yield "single feature", [fit_rule(half, make) for half in halves]
    tables = [table(half) for half in halves]
    for depth, fit in FITS:
        yield f"tree of depth {depth}", [fit(each, depth) for each in tables]


def measure_order(
    pattern: Pattern, count: int, part: str, tasks: int = 12, notation: str = "wadl", seed: int = SEED
) -> OrderMeasured:
    """Score listing the tasks as a part of the text mentions them first, and listing them in random orders.

    A question's difference is that between the score of the order of mention and the mean score of SHUFFLES random
    orders of the same tasks.
    """
    rng, mentioned, shuffled = Random(seed), list[float](), list[float]()
    for question in drawn_questions(pattern, count, tasks, "", seed):
        text = write_workflow(question.project, notation)
        names = first_mentions(text, notation, question.scope.workflow.task_names, part)
        if isinstance(question.case.answer, dict):  # of the tasks that run, only the order is guessed
            runs = question.case.answer["tasks"]
            names = [name for name in names if isinstance(runs, list) and name in runs]
        mentioned.append(_score(pattern, [*names], question.case.answer))
        orders: list[Json] = [[*rng.sample(names, len(names))] for _ in range(SHUFFLES)]
        shuffled.append(fmean(_score(pattern, order, question.case.answer) for order in orders))
    differences = [a - b for a, b in zip(mentioned, shuffled, strict=True)]
    return OrderMeasured(fmean(mentioned), fmean(shuffled), stdev(differences) / len(differences) ** 0.5)


def best_constant(pattern: Pattern, count: int, tasks: int = 12, seed: int = SEED) -> tuple[object, float]:
    """Return the most frequent answer of one half of the questions, and its share of the answers of the other half."""
    answers = [repr(question.case.answer) for question in drawn_questions(pattern, count, tasks, "", seed)]
    constant = Counter(answers[::2]).most_common(1)[0][0]
    return constant, fmean(answer == constant for answer in answers[1::2])


@cache
def patterns(form_name: str) -> tuple[Pattern, ...]:
    """Return our patterns of a form whose answers are computed from what the text shows."""
    return tuple(
        each
        for each in catalogue().values()
        if each.form == form_name and not each.planted and each.category != "custom"
    )


def _score(pattern: Pattern, given: Json, reference: Json) -> float:
    name = pattern.metric or form(pattern.form).metric
    return measure_answer(name, metric(name), given, reference).value or 0.0
