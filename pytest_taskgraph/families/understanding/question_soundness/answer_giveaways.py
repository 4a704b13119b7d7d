"""Rules on the surface of many questions, to check that only the workflow's meaning determines the answers.

Yes/no answers: rules over features of the text, fitted on one half of the questions and counted on the other, and vice
versa. Other answers: the most frequent answer of one half, names and fields of the question, names mentioned first and
last. A rule is reported where the lower bound of its share of right answers (Wilson 1927) is above MOST, so that few
questions do not lead to findings by chance.

A rule for yes and no is a stump: one feature of the text, a cut, and the side of it that means yes; or a stump for each
wording of the question; or for each kind of question (operator, flow, relation). The features: `surface_features.py`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import sqrt
from typing import Final, Literal, NamedTuple

from ....benchmarks.instances import GroupCheck, GroupViolation, Instance
from ....errors import NoCaseError, RecipeTooSmallError, UsageError
from ....notations import NOTATIONS
from ....scoring.forms import show_answer
from ....trial import Json
from ..patterns import catalogue
from ..patterns.pattern import Pattern, verdict
from ..patterns.scope import sentence
from ..questions.ingredients import PatternQuestion, write_workflow
from ..questions.left_out import recipe_features
from ..questions.phrasings import apply_phrasings
from ..questions.sample import DrawnCase, draw, recipe_for
from ..understanding_settings import UnderstandingSettings
from .question_instances import instance_of
from .surface_features import Features, first_mentions, names_in, surface_features

MOST = 0.70  # largest share of right answers that a rule may have for a yes/no pattern; half of them are yes
SEED = 77
FEWEST = 0.05  # least share of questions in which a feature differs from its most frequent value
KIND: Final = ("operator", "flow", "relation", "difficulty")  # labels that are visible in the question
ENOUGH = 8  # questions of one wording or kind that justify a separate stump
EXCEPTIONS: dict[str, str] = {
    "link_existence": "a link between two named ends is one line of the text (difficulty easy); the hard ones are held",
}
"""Yes/no patterns that a rule may answer, each with the reason: a single line of the text shows the answer."""
PROPERTY: Final = "answer-not-given-away"
COUNTS: Final = range(80, 241)  # numbers of questions that can be examined
SPREAD: Final = 3.3  # standard errors of the bound: by chance, a rule at MOST is reported once in 2,000 times
SMALL: Final = 16  # questions of the least feasible_size that are searched for the smallest example
Answers = Callable[[DrawnCase, str, str], Json]
"""Takes a question, its text and the text of the workflow, and returns the answer of a rule."""


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


def giveaway_checks(name: str, settings: UnderstandingSettings, examples: int) -> tuple[GroupCheck, ...]:
    """Return the check that no rule gives the answers of a pattern away; none for planted answers.

    Args:
        name: The name of the pattern.
        settings: The settings of the run.
        examples: Approximate number of questions to examine.
    """
    pattern = catalogue()[name]
    if pattern.planted:
        return ()
    count = min(max(examples, COUNTS[0]), COUNTS[-1])
    return (GroupCheck(PROPERTY, QuestionPool(pattern, settings, count).violation),)


class RuleScore(NamedTuple):
    """Score of a rule on the questions that it was not fitted on."""

    rule: str
    right: int
    total: int
    answers: Callable[[DrawnCase], bool]
    """Returns True if the rule answers a question right."""

    @property
    def given_away(self) -> bool:
        """Return True if the rule answers significantly more than MOST of the questions right."""
        return lower_bound(self.right, self.total) > MOST


def lower_bound(right: int, count: int) -> float:
    """Return the lower bound of a share, SPREAD standard errors away (Wilson 1927); 0.0 if the count is 0."""
    if not count:
        return 0.0
    share, square = right / count, SPREAD**2
    middle = share + square / (2 * count)
    return (middle - SPREAD * sqrt(share * (1 - share) / count + square / (4 * count**2))) / (1 + square / count)


@dataclass(frozen=True, slots=True)
class QuestionPool:
    """Questions of a pattern as suites ask them."""

    pattern: Pattern
    settings: UnderstandingSettings
    count: int

    def violation(self) -> GroupViolation | None:
        """Return the rule that gives the answers away, with the smallest example; None if there is none."""
        notation = self._notation()
        if not notation:
            return None
        try:
            pool = self._pool()
        except NoCaseError as error:
            return self._constant_answer(error, notation)
        guesses = (
            self._surface_guesses(pool, notation) if self.pattern.yes_no else self._unfitted_guesses(pool, notation)
        )
        worst = max(guesses, key=lambda guess: guess.right / guess.total, default=None)
        if worst is None or not worst.given_away:
            return None
        message = (
            f"the rule {worst.rule!r} gets {worst.right} of {worst.total} answers right; "
            f"expected at most {MOST:.0%}, but for chance"
        )
        return GroupViolation(message, self._smallest(worst, pool, notation))

    def _notation(self) -> str:
        """Return the first notation that supports the workflows; empty if none does."""
        names = self.settings.notations if self.settings.convert else tuple(NOTATIONS)
        held = recipe_features(self.pattern, self._tasks())
        return next((name for name in names if not held & NOTATIONS[name].unsupported), "")

    def _tasks(self) -> int:
        return feasible_size(self.pattern, self.settings.tasks[0])

    def _pool(self) -> list[DrawnCase]:
        if self.pattern.yes_no:
            hard = "hard" if self.pattern.name in EXCEPTIONS else ""
            return list(questions(self.pattern, self.count, self._tasks(), hard))
        return [draw(self.pattern, self._tasks(), SEED, ordinal) for ordinal in range(self.count)]

    def _constant_answer(self, error: NoCaseError, notation: str) -> GroupViolation | None:
        """Return the violation that a yes/no pattern has one answer only; None if it has no case at all."""
        for ordinal in range(2 if self.pattern.yes_no else 0):
            try:
                question = draw(self.pattern, feasible_size(self.pattern, 3), SEED, ordinal)
            except NoCaseError:
                continue
            message = f"every answer is {json.dumps(question.case.answer)}: {error}"
            return GroupViolation(message, self._instance(question, notation))
        return None

    def _surface_guesses(self, pool: Sequence[DrawnCase], notation: str) -> Iterator[RuleScore]:
        """Yield the best rule of each sort, fitted on each half and counted on the other."""
        samples = [surface_sample(self.pattern, question, notation) for question in pool]
        # Four consecutive questions have both answers in both phrasings, so each half has as many of either.
        halves = [
            [sample_of_question for i, sample_of_question in enumerate(samples) if (i >> 2) % 2 == half]
            for half in (0, 1)
        ]
        for make_rule in RULE_KINDS:
            rules = [fit_rule(train, make_rule) for train in halves]
            right = sum(
                round(rule.accuracy(held_out) * len(held_out))
                for rule, held_out in zip(rules, halves[::-1], strict=True)
            )
            yield RuleScore(self._describe_rule(rules[0]), right, len(samples), self._rule_checker(rules[0], notation))

    def _rule_checker(self, rule: Rule, notation: str) -> Callable[[DrawnCase], bool]:
        """Return a function that checks whether a rule answers a question right."""
        return lambda question: rule.accuracy([surface_sample(self.pattern, question, notation)]) == 1.0

    def _describe_rule(self, rule: Rule) -> str:
        """Return a rule in words: its stump for all other wordings, with cut and side."""
        stump = rule.stumps[""]
        word = rule.feature.removeprefix("question has ")
        if word != rule.feature and not rule.by:
            return f"yes {'unless' if stump.inverted else 'if'} the question has the word {word!r}"
        return f"yes if {rule} is {'less than' if stump.inverted else 'at least'} {stump.cut:g}"

    def _unfitted_guesses(self, pool: Sequence[DrawnCase], notation: str) -> Iterator[RuleScore]:
        """Yield rules that need no fitting, and the most frequent answer."""
        fields = dict.fromkeys(name for question in pool for name in sorted(question.case.fields))
        field_rules = {f"the field {name!r} of the question": _field_answers(name) for name in fields}
        for name, answers in {**_name_rules(), **field_rules}.items():
            correct = [self._answers_right(answers, question, notation) for question in pool]
            right = sum(map(bool, correct))
            yield RuleScore(name, right, len(pool), partial(self._answers_right, answers, notation=notation))
        keys = [json.dumps(question.case.answer, sort_keys=True) for question in pool]
        halves = [keys[::2], keys[1::2]]
        most = [Counter(half).most_common(1)[0][0] for half in halves]
        right = sum(held_out.count(answer) for answer, held_out in zip(most, halves[::-1], strict=True))
        same = json.loads(most[0])
        yield RuleScore(f"always {most[0]}", right, len(keys), lambda question: bool(question.case.answer == same))

    def _answers_right(self, answers: Answers, question: DrawnCase, notation: str) -> bool:
        """Return True if a rule gives the answer of a question."""
        text = sentence(self.pattern, question.phrasing, question.scope, question.case).replace(
            question.scope.place, ""
        )
        try:
            answer_of_rule = answers(question, text, write_workflow(question.project, notation))
        except IndexError:  # the rule finds no name
            return False
        answer = question.case.answer
        if isinstance(answer_of_rule, str) and isinstance(answer, list):
            parts = sorted(part.strip() for part in answer_of_rule.split(","))
            return answer_of_rule == show_answer(self.pattern.form, answer) or parts == sorted(answer, key=str)
        return answer_of_rule == (sorted(answer, key=str) if isinstance(answer, list) else answer)

    def _smallest(self, guess: RuleScore, pool: Sequence[DrawnCase], notation: str) -> Instance:
        """Return a question of the least size that the rule answers right, else one of the pool."""
        least = feasible_size(self.pattern, 3)
        try:
            small = [draw(self.pattern, least, SEED, ordinal) for ordinal in range(SMALL)]
        except UsageError:
            small = []
        return self._instance(next(islice(filter(guess.answers, [*small, *pool]), 1), pool[0]), notation)

    def _instance(self, question: DrawnCase, notation: str) -> Instance:
        phrased = apply_phrasings(self.pattern, self.settings.templates)
        text = write_workflow(question.project, notation)
        pattern_question = PatternQuestion(
            self.pattern, phrased, question.project, question.scope, question.case, question.phrasing, notation, text
        )
        return instance_of(pattern_question, self.settings)


def _name_rules() -> dict[str, Answers]:
    """Return the rules for answers in names, by description."""
    return {
        "the first name of the question": lambda question, text, workflow_text: _mentioned_names(question, text)[0],
        "the last name of the question": lambda question, text, workflow_text: _mentioned_names(question, text)[-1],
        "all names of the question": lambda question, text, workflow_text: [
            *sorted(set(_mentioned_names(question, text)))
        ],
        "the task that the text mentions first": lambda question, text, workflow_text: _tasks_by_mention(
            question, workflow_text
        )[0],
        "the task that the text mentions last": lambda question, text, workflow_text: _tasks_by_mention(
            question, workflow_text
        )[-1],
    }


def _mentioned_names(question: DrawnCase, text: str) -> list[str]:
    """Return the names of the level that a question mentions, in order."""
    level = question.scope.workflow
    return names_in(text, {*level.task_names, *(data.name for data in level.data)})


def _field_answers(field: str) -> Answers:
    """Return the rule that answers with a field of the case, if the question shows it."""
    return lambda question, text, workflow_text: _field_in_question(question, text, field)


def _field_in_question(question: DrawnCase, text: str, field: str) -> Json:
    """Return the value of a field of the case as the question shows it.

    Raises:
        IndexError: if the question does not show it.
    """
    value = question.case.fields.get(field)
    parts = value if isinstance(value, list | tuple | set | frozenset) else [value]
    if value is None or not all(str(part) in text for part in parts):
        raise IndexError(field)
    return sorted(parts, key=str) if parts is value else value


def _tasks_by_mention(question: DrawnCase, workflow_text: str) -> list[str]:
    return first_mentions(workflow_text, "wadl", question.scope.workflow.task_names, "text")
