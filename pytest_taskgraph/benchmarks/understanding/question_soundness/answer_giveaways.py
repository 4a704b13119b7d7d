"""Whether something else than the workflow's meaning gives answers away: rules on the surface of many questions.

Yes/no answers: the rules of `surface_rules.py`, fitted on one half of the questions and counted on the other, and the
other way round. Other answers: the most frequent answer of one half, names and fields of the question, names mentioned
first and last. A rule is reported where the lower bound of its share of right answers (Wilson 1927) is above MOST, so
that few questions report nothing that is chance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import sqrt
from typing import Final, NamedTuple

from ....errors import NoCaseError, UsageError
from ....notations import NOTATIONS
from ....scoring.forms import show_answer
from ....trial import Json
from ...instances import GroupCheck, GroupViolation, Instance
from ..family_options import UnderstandingSettings
from ..patterns import catalogue
from ..patterns.pattern import Pattern
from ..patterns.scope import sentence
from ..questions.ingredients import PatternQuestion, write_workflow
from ..questions.left_out import recipe_features
from ..questions.phrasings import apply_phrasings
from ..questions.sample import DrawnCase, draw
from .question_instances import instance_about
from .surface_features import first_mentions, names_in
from .surface_rules import EXCEPTIONS, MOST, SEED, SORTS, Rule, fit, questions, sample, size

PROPERTY: Final = "answer-not-given-away"
COUNTS: Final = range(80, 241)  # questions that are looked at
SPREAD: Final = 3.3  # standard errors of the bound: a rule at MOST is reported by chance once in 2,000 times
SMALL: Final = 16  # questions of the least size among which the smallest example is looked for
Answers = Callable[[DrawnCase, str, str], Json]
"""From a question, its text and the text of the workflow to the answer of a rule."""


def giveaway_checks(name: str, settings: UnderstandingSettings, examples: int) -> tuple[GroupCheck, ...]:
    """Return the check that nothing gives the answers of a pattern away; none for planted answers.

    Args:
        name: The name of the pattern.
        settings: The settings of the run.
        examples: About how many questions to look at.
    """
    pattern = catalogue()[name]
    if pattern.planted:
        return ()
    count = min(max(examples, COUNTS[0]), COUNTS[-1])
    return (GroupCheck(PROPERTY, _Pool(pattern, settings, count).violation),)


class _Guess(NamedTuple):
    """What a rule got right of the questions that it was not fitted on."""

    rule: str
    right: int
    asked: int
    answers: Callable[[DrawnCase], bool]
    """Whether the rule answers a question right."""

    @property
    def given_away(self) -> bool:
        """Return True if the rule gets more than MOST right, and not by chance."""
        return lower_bound(self.right, self.asked) > MOST


def lower_bound(right: int, count: int) -> float:
    """Return the lower bound of a share, SPREAD standard errors away (Wilson 1927); 0.0 of nothing."""
    if not count:
        return 0.0
    share, square = right / count, SPREAD**2
    middle = share + square / (2 * count)
    return (middle - SPREAD * sqrt(share * (1 - share) / count + square / (4 * count**2))) / (1 + square / count)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Questions of a pattern as suites ask them."""

    pattern: Pattern
    settings: UnderstandingSettings
    count: int

    def violation(self) -> GroupViolation | None:
        """Return the rule that gives the answers away, with the smallest example; None if none does."""
        notation = self._notation()
        if not notation:
            return None
        try:
            pool = self._pool()
        except NoCaseError as error:
            return self._constant_answer(error, notation)
        guesses = self._surface_guesses(pool, notation) if self.pattern.yes_no else self._guesses(pool, notation)
        worst = max(guesses, key=lambda guess: guess.right / guess.asked, default=None)
        if worst is None or not worst.given_away:
            return None
        message = (
            f"the rule {worst.rule!r} gets {worst.right} of {worst.asked} answers right; "
            f"expected at most {MOST:.0%}, but for chance"
        )
        return GroupViolation(message, self._smallest(worst, pool, notation))

    def _notation(self) -> str:
        """Return the first notation that supports the workflows; empty if none does."""
        names = self.settings.notations if self.settings.convert else tuple(NOTATIONS)
        held = recipe_features(self.pattern, self._tasks())
        return next((name for name in names if not held & NOTATIONS[name].unsupported), "")

    def _tasks(self) -> int:
        return size(self.pattern, self.settings.tasks[0])

    def _pool(self) -> list[DrawnCase]:
        if self.pattern.yes_no:
            hard = "hard" if self.pattern.name in EXCEPTIONS else ""
            return list(questions(self.pattern, self.count, self._tasks(), hard))
        return [draw(self.pattern, self._tasks(), SEED, ordinal) for ordinal in range(self.count)]

    def _constant_answer(self, error: NoCaseError, notation: str) -> GroupViolation | None:
        """Return that a yes/no pattern has one answer only; None if it has no case at all."""
        for ordinal in range(2 if self.pattern.yes_no else 0):
            try:
                drawn = draw(self.pattern, size(self.pattern, 3), SEED, ordinal)
            except NoCaseError:
                continue
            message = f"every answer is {json.dumps(drawn.case.answer)}: {error}"
            return GroupViolation(message, self._instance(drawn, notation))
        return None

    def _surface_guesses(self, pool: Sequence[DrawnCase], notation: str) -> Iterator[_Guess]:
        """Yield the best rule of each sort, fitted on each half and counted on the other."""
        samples = [sample(self.pattern, drawn, notation) for drawn in pool]
        # Four in a row are both answers in both phrasings: so each half holds as many of either.
        halves = [[shown for i, shown in enumerate(samples) if (i >> 2) % 2 == half] for half in (0, 1)]
        for make in SORTS:
            rules = [fit(train, make) for train in halves]
            right = sum(round(rule.accuracy(held) * len(held)) for rule, held in zip(rules, halves[::-1], strict=True))
            yield _Guess(self._words(rules[0]), right, len(samples), self._answers(rules[0], notation))

    def _answers(self, rule: Rule, notation: str) -> Callable[[DrawnCase], bool]:
        return lambda drawn: rule.accuracy([sample(self.pattern, drawn, notation)]) == 1.0

    def _words(self, rule: Rule) -> str:
        """Return a rule in words: the stump for every other wording, with its cut and side."""
        stump = rule.stumps[""]
        word = rule.feature.removeprefix("question has ")
        if word != rule.feature and not rule.by:
            return f"yes {'unless' if stump.turned else 'if'} the question has the word {word!r}"
        return f"yes if {rule} is {'less than' if stump.turned else 'at least'} {stump.cut:g}"

    def _guesses(self, pool: Sequence[DrawnCase], notation: str) -> Iterator[_Guess]:
        """Yield rules that need no fitting, but for the most frequent answer."""
        fields = dict.fromkeys(name for drawn in pool for name in sorted(drawn.case.fields))
        telling = {f"what the question tells as {name}": _field_answers(name) for name in fields}
        for name, answers in {**_rules(), **telling}.items():
            answered = [self._says(answers, drawn, notation) for drawn in pool]
            right = sum(map(bool, answered))
            yield _Guess(name, right, len(pool), partial(self._says, answers, notation=notation))
        keys = [json.dumps(drawn.case.answer, sort_keys=True) for drawn in pool]
        halves = [keys[::2], keys[1::2]]
        most = [Counter(half).most_common(1)[0][0] for half in halves]
        right = sum(held.count(answer) for answer, held in zip(most, halves[::-1], strict=True))
        same = json.loads(most[0])
        yield _Guess(f"always {most[0]}", right, len(keys), lambda drawn: bool(drawn.case.answer == same))

    def _says(self, answers: Answers, drawn: DrawnCase, notation: str) -> bool:
        """Return True if a rule gives the answer of a question."""
        text = sentence(self.pattern, drawn.phrasing, drawn.scope, drawn.case).replace(drawn.scope.place, "")
        try:
            given = answers(drawn, text, write_workflow(drawn.project, notation))
        except IndexError:  # no name to say
            return False
        answer = drawn.case.answer
        if isinstance(given, str) and isinstance(answer, list):
            listed = sorted(part.strip() for part in given.split(","))
            return given == show_answer(self.pattern.form, answer) or listed == sorted(answer, key=str)
        return given == (sorted(answer, key=str) if isinstance(answer, list) else answer)

    def _smallest(self, guess: _Guess, pool: Sequence[DrawnCase], notation: str) -> Instance:
        """Return a question of the least size that the rule answers right; of the pool where there is none."""
        least = size(self.pattern, 3)
        try:
            small = [draw(self.pattern, least, SEED, ordinal) for ordinal in range(SMALL)]
        except UsageError:
            small = []
        return self._instance(next(islice(filter(guess.answers, [*small, *pool]), 1), pool[0]), notation)

    def _instance(self, drawn: DrawnCase, notation: str) -> Instance:
        words = apply_phrasings(self.pattern, self.settings.templates)
        text = write_workflow(drawn.project, notation)
        asked = PatternQuestion(
            self.pattern, words, drawn.project, drawn.scope, drawn.case, drawn.phrasing, notation, text
        )
        return instance_about(asked, self.settings)


def _rules() -> dict[str, Answers]:
    """Return the rules for answers in names, by what they answer."""
    return {
        "the first name of the question": lambda drawn, text, shown: _mentioned_names(drawn, text)[0],
        "the last name of the question": lambda drawn, text, shown: _mentioned_names(drawn, text)[-1],
        "all names of the question": lambda drawn, text, shown: [*sorted(set(_mentioned_names(drawn, text)))],
        "the task that the text mentions first": lambda drawn, text, shown: _tasks_by_mention(drawn, shown)[0],
        "the task that the text mentions last": lambda drawn, text, shown: _tasks_by_mention(drawn, shown)[-1],
    }


def _mentioned_names(drawn: DrawnCase, text: str) -> list[str]:
    """Return the names of the level that a question mentions, in order."""
    level = drawn.scope.workflow
    return names_in(text, {*level.task_names, *(data.name for data in level.data)})


def _field_answers(field: str) -> Answers:
    """Return the rule that answers with a field of the case, as the question tells it."""
    return lambda drawn, text, shown: _field_in_question(drawn, text, field)


def _field_in_question(drawn: DrawnCase, text: str, field: str) -> Json:
    """Return what a question tells for a field of its case. Raises IndexError where it tells none."""
    value = drawn.case.fields.get(field)
    parts = value if isinstance(value, list | tuple | set | frozenset) else [value]
    if value is None or not all(str(part) in text for part in parts):
        raise IndexError(field)
    return sorted(parts, key=str) if parts is value else value


def _tasks_by_mention(drawn: DrawnCase, shown: str) -> list[str]:
    return first_mentions(shown, "wadl", drawn.scope.workflow.task_names, "text")
