"""Measure how well yes/no questions are answered by rules that look at the surface of the text, not at its meaning.

A rule is a stump: one feature of the surface, one cut, and which side of it means yes; or a stump for each wording of
the question; or one for each kind of question (the operator, flow, relation asked about). Stumps over all features are
fitted on one half of the questions, the best of them is evaluated on the other half, and the other way round; the
figure is the mean of the two, the largest of the three sorts of rules. Rules that are known by name are fitted and
evaluated the same way, each by itself. The features of the text: `surface_features.py`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, stdev
from typing import Final, Literal

from surface_features import Features, first_mentions, surface

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.patterns.scope import sentence
from pytest_taskgraph.benchmarks.understanding.questions.ingredients import written
from pytest_taskgraph.benchmarks.understanding.questions.sample import Drawn, draw, recipe_for
from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json

MOST = 0.70  # of the answers of a yes/no pattern that a rule may get right; half of them are yes
SEED = 77
FEWEST = 0.05  # of the questions, in which a feature has another value than in most
KIND: Final = ("operator", "flow", "relation", "difficulty")  # labels that the question itself shows
ENOUGH = 8  # questions of one wording or kind, for a stump of its own
SHUFFLES = 5  # random orders that are scored beside the order of mention, for each question

EXCEPTIONS: dict[str, str] = {
    "link_existence": "a link between two named ends is one line of the text (difficulty easy); the hard ones are held",
}
"""The yes/no patterns that a rule may answer, each with the reason: their answer is one look at the text."""

NAMED: Mapping[str, tuple[str, frozenset[str]]] = {
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
"""The rules of issue 10: the feature that each looks at, and the patterns that it is told of there."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A question as its surface shows it, and whether the answer is yes."""

    features: Features
    words: str  # of the question, without names and place
    kind: str  # of the question: the operator, flow, relation that it is about
    yes: bool


@dataclass(frozen=True, slots=True)
class Stump:
    """Says yes where the feature is at least the cut, or, turned, where it is less."""

    feature: str
    cut: float
    turned: bool

    def says_yes(self, sample: Sample) -> bool:
        """Return what the stump answers."""
        return (sample.features.get(self.feature, 0.0) >= self.cut) != self.turned


@dataclass(frozen=True, slots=True)
class Rule:
    """A stump, or a stump over one feature for each wording of the question."""

    feature: str
    stumps: Mapping[str, Stump]  # by wording or kind; "" stands for every other one
    by: Literal["", "wording", "kind"] = ""

    def __str__(self) -> str:
        return self.feature + (f" (by {self.by})" if self.by else "")

    def accuracy(self, samples: Sequence[Sample]) -> float:
        """Return the share of the samples that the rule answers right."""
        stumps = [self.stumps.get(_group(sample, self.by), self.stumps[""]) for sample in samples]
        right = sum(stump.says_yes(sample) == sample.yes for stump, sample in zip(stumps, samples, strict=True))
        return right / len(samples)


@dataclass(frozen=True, slots=True)
class Measured:
    """What rules get of a yes/no pattern on questions that they were not fitted on."""

    best: float
    rules: tuple[str, ...]  # the best rule of each half
    named: Mapping[str, float]


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


def size(pattern: Pattern, wanted: int) -> int:
    """Return the wanted number of tasks, or the least that the pattern takes."""
    try:
        recipe_for(pattern, wanted)
    except RecipeTooSmallError as error:
        return error.least
    return wanted


def questions(pattern: Pattern, count: int, tasks: int, difficulty: str = "") -> Iterator[Drawn]:
    """Draw questions of the pattern, of a difficulty where one is given; of yes/no patterns the answers alternate."""
    for side in zip(*(_of_side(pattern, tasks, difficulty, parity) for parity in (0, 1)), strict=False):
        if count <= 0:
            return
        yield from side[:count]
        count -= len(side)


def _of_side(pattern: Pattern, tasks: int, difficulty: str, parity: int) -> Iterator[Drawn]:
    for ordinal in itertools.count(parity, 2):
        question = draw(pattern, size(pattern, tasks), SEED, ordinal)
        if not difficulty or question.case.labels.get("difficulty") == difficulty:
            yield question


def sample(pattern: Pattern, question: Drawn, notation: str) -> Sample:
    """Return what the surface of a question shows in a notation."""
    text = sentence(pattern, question.phrasing, question.scope, question.case)
    words = re.sub("'[^']*'", "'…'", text.replace(question.scope.place, "…"))
    kind = " ".join(str(question.case.labels.get(label, "")) for label in KIND)
    shown = written(question.project, notation)
    found = surface(shown, notation, text.replace(question.scope.place, ""), question.project, question.scope)
    return Sample(found, words, kind, verdict(question.case.answer) == "yes")


def measure(pattern: Pattern, count: int, tasks: int = 12, notation: str = "wadl", difficulty: str = "") -> Measured:
    """Fit rules on each half of `count` questions and evaluate them on the other one."""
    samples = [sample(pattern, question, notation) for question in questions(pattern, count, tasks, difficulty)]
    # Four in a row are both answers in both phrasings: so each half holds as many of either.
    halves = [[one for i, one in enumerate(samples) if (i >> 2) % 2 == half] for half in (0, 1)]
    turns = [(halves[0], halves[1]), (halves[1], halves[0])]
    families = [[(fit(train, make), held) for train, held in turns] for make in SORTS]
    shares = [fmean(rule.accuracy(held) for rule, held in fitted) for fitted in families]
    best = families[shares.index(max(shares))]
    known = set(samples[0].features)
    named = {
        name: fmean(rule_by_wording(feature, train).accuracy(held) for train, held in turns)
        for name, (feature, told_of) in NAMED.items()
        if pattern.name in told_of and feature in known
    }
    return Measured(max(shares), tuple(str(rule) for rule, _ in best), named)


def fit(samples: Sequence[Sample], make: Callable[[str, Sequence[Sample]], Rule]) -> Rule:
    """Return the rule over one feature, made in that way, that answers most of the samples right."""
    features = sorted(name for name in {name for one in samples for name in one.features} if _varies(name, samples))
    return max((make(feature, samples) for feature in features), key=lambda rule: rule.accuracy(samples))


def _varies(feature: str, samples: Sequence[Sample]) -> bool:
    """Return True if the feature is not the same in all but a few samples, so that it tells something of many."""
    values = Counter(sample.features.get(feature, 0.0) for sample in samples)
    return len(samples) - values.most_common(1)[0][1] >= FEWEST * len(samples)


def rule_over(feature: str, samples: Sequence[Sample]) -> Rule:
    """Return the best stump over a feature, as a rule."""
    return Rule(feature, {"": stump(feature, samples)})


def rule_by_wording(feature: str, samples: Sequence[Sample]) -> Rule:
    """Return the best stump over a feature for each wording of the question."""
    return _rule_by("wording", feature, samples)


def rule_by_kind(feature: str, samples: Sequence[Sample]) -> Rule:
    """Return the best stump over a feature for each kind of question."""
    return _rule_by("kind", feature, samples)


def _rule_by(by: Literal["wording", "kind"], feature: str, samples: Sequence[Sample]) -> Rule:
    groups: dict[str, list[Sample]] = {}
    for one in samples:
        groups.setdefault(_group(one, by), []).append(one)
    if len(groups) == 1:
        return rule_over(feature, samples)
    found = {group: stump(feature, those) for group, those in groups.items() if len(those) >= ENOUGH}
    return Rule(feature, {"": stump(feature, samples), **found}, by)


def _group(sample: Sample, by: str) -> str:
    return {"wording": sample.words, "kind": sample.kind}.get(by, "")


SORTS = (rule_over, rule_by_wording, rule_by_kind)


def stump(feature: str, samples: Sequence[Sample]) -> Stump:
    """Return the cut and the side of it that answer most of the samples right."""
    counts: dict[float, list[int]] = {}  # of each value: how many no, how many yes
    for one in samples:
        counts.setdefault(one.features.get(feature, 0.0), [0, 0])[one.yes] += 1
    yes = right = sum(count[1] for count in counts.values())  # of the stump that always says yes
    most, best = right, Stump(feature, min(counts), False)
    for value in sorted(counts):
        for agreeing, turned in ((right, False), (len(samples) - right, True)):
            if agreeing > most:
                most, best = agreeing, Stump(feature, value, turned)
        right += counts[value][0] - counts[value][1]
    return best if most > len(samples) - yes else Stump(feature, min(counts), True)


def measure_order(pattern: Pattern, count: int, part: str, tasks: int = 12, notation: str = "wadl") -> OrderMeasured:
    """Score listing the tasks as a part of the text mentions them first, and listing them in random orders.

    A question's difference is that between the score of the order of mention and the mean score of SHUFFLES random
    orders of the same tasks.
    """
    rng, mentioned, shuffled = Random(SEED), list[float](), list[float]()
    for question in questions(pattern, count, tasks):
        shown = written(question.project, notation)
        names = first_mentions(shown, notation, question.scope.workflow.task_names, part)
        if isinstance(question.case.answer, dict):  # of the tasks that run, only the order is guessed
            runs = question.case.answer["tasks"]
            names = [name for name in names if isinstance(runs, list) and name in runs]
        mentioned.append(_score(pattern, [*names], question.case.answer))
        orders: list[Json] = [[*rng.sample(names, len(names))] for _ in range(SHUFFLES)]
        shuffled.append(fmean(_score(pattern, order, question.case.answer) for order in orders))
    differences = [one - other for one, other in zip(mentioned, shuffled, strict=True)]
    return OrderMeasured(fmean(mentioned), fmean(shuffled), stdev(differences) / len(differences) ** 0.5)


def best_constant(pattern: Pattern, count: int, tasks: int = 12) -> tuple[object, float]:
    """Return the most frequent answer of one half of the questions, and its share of the answers of the other half."""
    answers = [repr(question.case.answer) for question in questions(pattern, count, tasks)]
    constant = Counter(answers[::2]).most_common(1)[0][0]
    return constant, fmean(answer == constant for answer in answers[1::2])


@cache
def patterns(form_name: str) -> tuple[Pattern, ...]:
    """Return our patterns of a form whose answers are computed from what the text shows."""
    return tuple(
        one for one in catalogue().values() if one.form == form_name and not one.planted and one.category != "custom"
    )


def _score(pattern: Pattern, given: Json, reference: Json) -> float:
    name = pattern.metric or form(pattern.form).metric
    return measure_answer(name, metric(name), given, reference).value or 0.0
