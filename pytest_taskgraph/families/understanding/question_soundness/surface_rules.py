"""Rules that answer yes/no questions from the surface of the text, not from its meaning.

A rule is a stump: one feature of the surface, a cut, and the side of it that means yes; or a stump for each wording of
the question; or for each kind of question (operator, flow, relation). The features: `surface_features.py`.
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
from .surface_features import Features, surface_features

MOST = 0.70  # largest share of right answers that a rule may have for a yes/no pattern; half of them are yes
SEED = 77
FEWEST = 0.05  # least share of questions in which a feature differs from its most frequent value
KIND: Final = ("operator", "flow", "relation", "difficulty")  # labels that are visible in the question
ENOUGH = 8  # questions of one wording or kind that justify a separate stump

EXCEPTIONS: dict[str, str] = {
    "link_existence": "a link between two named ends is one line of the text (difficulty easy); the hard ones are held",
}
"""Yes/no patterns that a rule may answer, each with the reason: a single line of the text shows the answer."""


@dataclass(frozen=True, slots=True)
class SurfaceSample:
    """Surface of a question, and whether its answer is yes."""

    features: Features
    words: str  # the question without names and place
    kind: str  # operator, flow and relation of the question
    yes: bool


@dataclass(frozen=True, slots=True)
class Stump:
    """Rule that answers yes where the feature is at least the cut, or, inverted, where it is less."""

    feature: str
    cut: float
    inverted: bool

    def says_yes(self, sample: SurfaceSample) -> bool:
        """Return True if the stump answers yes."""
        return (sample.features.get(self.feature, 0.0) >= self.cut) != self.inverted


@dataclass(frozen=True, slots=True)
class Rule:
    """A stump, or a stump over one feature for each wording of the question."""

    feature: str
    stumps: Mapping[str, Stump]  # by wording or kind; "" stands for all others
    by: Literal["", "wording", "kind"] = ""

    def __str__(self) -> str:
        return self.feature + (f" (by {self.by})" if self.by else "")

    def accuracy(self, samples: Sequence[SurfaceSample]) -> float:
        """Return the share of the samples that the rule answers right, 0.0 to 1.0."""
        stumps = [self.stumps.get(_group(sample, self.by), self.stumps[""]) for sample in samples]
        right = sum(stump.says_yes(sample) == sample.yes for stump, sample in zip(stumps, samples, strict=True))
        return right / len(samples)


def feasible_size(pattern: Pattern, tasks: int) -> int:
    """Return the given number of tasks, or the least that the pattern takes."""
    try:
        recipe_for(pattern, tasks)
    except RecipeTooSmallError as error:
        return error.least
    return tasks


def questions(pattern: Pattern, count: int, tasks: int, difficulty: str = "", seed: int = SEED) -> Iterator[DrawnCase]:
    """Draw questions of the pattern, of a difficulty if one is given; answers of yes/no patterns alternate."""
    sides = (_questions_of_parity(pattern, tasks, difficulty, seed, parity) for parity in (0, 1))
    for side in zip(*sides, strict=False):
        if count <= 0:
            return
        yield from side[:count]
        count -= len(side)


def _questions_of_parity(pattern: Pattern, tasks: int, difficulty: str, seed: int, parity: int) -> Iterator[DrawnCase]:
    for ordinal in itertools.count(parity, 2):
        question = draw(pattern, feasible_size(pattern, tasks), seed, ordinal)
        if not difficulty or question.case.labels.get("difficulty") == difficulty:
            yield question


def surface_sample(pattern: Pattern, question: DrawnCase, notation: str) -> SurfaceSample:
    """Return the surface of a question in a notation."""
    text = sentence(pattern, question.phrasing, question.scope, question.case)
    words = re.sub("'[^']*'", "'…'", text.replace(question.scope.place, "…"))
    kind = " ".join(str(question.case.labels.get(label, "")) for label in KIND)
    workflow_text = write_workflow(question.project, notation)
    features = surface_features(
        workflow_text, notation, text.replace(question.scope.place, ""), question.project, question.scope
    )
    return SurfaceSample(features, words, kind, verdict(question.case.answer) == "yes")


def fit_rule(samples: Sequence[SurfaceSample], make: Callable[[str, Sequence[SurfaceSample]], Rule]) -> Rule:
    """Return the rule over a single feature that answers most of the samples right."""
    features = sorted(
        name for name in {name for sample in samples for name in sample.features} if _varies(name, samples)
    )
    return max((make(feature, samples) for feature in features), key=lambda rule: rule.accuracy(samples))


def _varies(feature: str, samples: Sequence[SurfaceSample]) -> bool:
    """Return True if the feature differs in enough samples to be informative."""
    values = Counter(sample.features.get(feature, 0.0) for sample in samples)
    return len(samples) - values.most_common(1)[0][1] >= FEWEST * len(samples)


def rule_over(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature, as a rule."""
    return Rule(feature, {"": fit_stump(feature, samples)})


def rule_by_wording(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature for each wording of the question."""
    return _rule_by("wording", feature, samples)


def rule_by_kind(feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    """Return the best stump over a feature for each kind of question."""
    return _rule_by("kind", feature, samples)


def _rule_by(by: Literal["wording", "kind"], feature: str, samples: Sequence[SurfaceSample]) -> Rule:
    groups: dict[str, list[SurfaceSample]] = {}
    for sample in samples:
        groups.setdefault(_group(sample, by), []).append(sample)
    if len(groups) == 1:
        return rule_over(feature, samples)
    stumps = {group: fit_stump(feature, members) for group, members in groups.items() if len(members) >= ENOUGH}
    return Rule(feature, {"": fit_stump(feature, samples), **stumps}, by)


def _group(sample: SurfaceSample, by: str) -> str:
    return {"wording": sample.words, "kind": sample.kind}.get(by, "")


RULE_KINDS = (rule_over, rule_by_wording, rule_by_kind)


def fit_stump(feature: str, samples: Sequence[SurfaceSample]) -> Stump:
    """Return the cut and the side of it that answer most of the samples right."""
    counts: dict[float, list[int]] = {}  # by value: numbers of no and of yes
    for sample in samples:
        counts.setdefault(sample.features.get(feature, 0.0), [0, 0])[sample.yes] += 1
    yes = right = sum(count[1] for count in counts.values())  # of the stump that always says yes
    most, best = right, Stump(feature, min(counts), False)
    for value in sorted(counts):
        for agreeing, inverted in ((right, False), (len(samples) - right, True)):
            if agreeing > most:
                most, best = agreeing, Stump(feature, value, inverted)
        right += counts[value][0] - counts[value][1]
    return best if most > len(samples) - yes else Stump(feature, min(counts), True)
