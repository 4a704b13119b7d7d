"""Fit rules that answer yes/no questions from the surface of the text, not from its meaning.

A rule is a stump: one feature of the surface, one cut, and which side of it means yes; or a stump for each wording of
the question; or one for each kind of question (the operator, flow, relation asked about). The features of the text:
`surface_features.py`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ....errors import RecipeTooSmallError
from ..patterns.pattern import Pattern, verdict
from ..patterns.scope import sentence
from ..questions.ingredients import write_workflow
from ..questions.sample import DrawnCase, draw, recipe_for
from .surface_features import Features, surface

MOST = 0.70  # of the answers of a yes/no pattern that a rule may get right; half of them are yes
SEED = 77
FEWEST = 0.05  # of the questions, in which a feature has another value than in most
KIND: Final = ("operator", "flow", "relation", "difficulty")  # labels that the question itself shows
ENOUGH = 8  # questions of one wording or kind, for a stump of its own

EXCEPTIONS: dict[str, str] = {
    "link_existence": "a link between two named ends is one line of the text (difficulty easy); the hard ones are held",
}
"""The yes/no patterns that a rule may answer, each with the reason: their answer is one look at the text."""


@dataclass(frozen=True, slots=True)
class SurfaceSample:
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

    def says_yes(self, sample: SurfaceSample) -> bool:
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

    def accuracy(self, samples: Sequence[SurfaceSample]) -> float:
        """Return the share of the samples that the rule answers right."""
        stumps = [self.stumps.get(_group(sample, self.by), self.stumps[""]) for sample in samples]
        right = sum(stump.says_yes(sample) == sample.yes for stump, sample in zip(stumps, samples, strict=True))
        return right / len(samples)


def size(pattern: Pattern, wanted: int) -> int:
    """Return the wanted number of tasks, or the least that the pattern takes."""
    try:
        recipe_for(pattern, wanted)
    except RecipeTooSmallError as error:
        return error.least
    return wanted


def questions(pattern: Pattern, count: int, tasks: int, difficulty: str = "") -> Iterator[DrawnCase]:
    """Draw questions of the pattern, of a difficulty where one is given; of yes/no patterns the answers alternate."""
    for side in zip(*(_of_side(pattern, tasks, difficulty, parity) for parity in (0, 1)), strict=False):
        if count <= 0:
            return
        yield from side[:count]
        count -= len(side)


def _of_side(pattern: Pattern, tasks: int, difficulty: str, parity: int) -> Iterator[DrawnCase]:
    for ordinal in itertools.count(parity, 2):
        question = draw(pattern, size(pattern, tasks), SEED, ordinal)
        if not difficulty or question.case.labels.get("difficulty") == difficulty:
            yield question


def sample(pattern: Pattern, question: DrawnCase, notation: str) -> SurfaceSample:
    """Return what the surface of a question shows in a notation."""
    text = sentence(pattern, question.phrasing, question.scope, question.case)
    words = re.sub("'[^']*'", "'…'", text.replace(question.scope.place, "…"))
    kind = " ".join(str(question.case.labels.get(label, "")) for label in KIND)
    shown = write_workflow(question.project, notation)
    found = surface(shown, notation, text.replace(question.scope.place, ""), question.project, question.scope)
    return SurfaceSample(found, words, kind, verdict(question.case.answer) == "yes")


def fit(samples: Sequence[SurfaceSample], make: Callable[[str, Sequence[SurfaceSample]], Rule]) -> Rule:
    """Return the rule over one feature, made in that way, that answers most of the samples right."""
    features = sorted(name for name in {name for one in samples for name in one.features} if _varies(name, samples))
    return max((make(feature, samples) for feature in features), key=lambda rule: rule.accuracy(samples))


def _varies(feature: str, samples: Sequence[SurfaceSample]) -> bool:
    """Return True if the feature is not the same in all but a few samples, so that it tells something of many."""
    values = Counter(sample.features.get(feature, 0.0) for sample in samples)
    return len(samples) - values.most_common(1)[0][1] >= FEWEST * len(samples)


def rule_over(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature, as a rule."""
    return Rule(feature, {"": stump(feature, samples)})


def rule_by_wording(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature for each wording of the question."""
    return _rule_by("wording", feature, samples)


def rule_by_kind(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature for each kind of question."""
    return _rule_by("kind", feature, samples)


def _rule_by(by: Literal["wording", "kind"], feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    groups: dict[str, list[SurfaceSample]] = {}
    for one in samples:
        groups.setdefault(_group(one, by), []).append(one)
    if len(groups) == 1:
        return rule_over(feature, samples)
    found = {group: stump(feature, those) for group, those in groups.items() if len(those) >= ENOUGH}
    return Rule(feature, {"": stump(feature, samples), **found}, by)


def _group(sample: SurfaceSample, by: str) -> str:
    return {"wording": sample.words, "kind": sample.kind}.get(by, "")


SORTS = (rule_over, rule_by_wording, rule_by_kind)


def stump(feature: str, samples: Sequence[SurfaceSample]) -> Stump:
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
