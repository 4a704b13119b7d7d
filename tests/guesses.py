"""What guesses earn that see only a prompt, to compare with the stated chance levels.

A guess goes by the names that the prompt offers, and by what is right most often in other questions of its pattern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import dumps, loads
from random import Random
from statistics import fmean, stdev

from pytest_taskgraph.families.understanding.baselines import guess_at_random, repeat_constantly
from pytest_taskgraph.families.understanding.baselines.prompt_view import guards_of, names_of, tasks_of_level
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import feasible_size
from pytest_taskgraph.families.understanding.questions.assembly import question, references
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json, Question

MARGIN = 0.02  # by which a guess may earn more or less than stated, beside three standard errors
COINS = 4  # random lists that are scored for each question


@dataclass(frozen=True, slots=True)
class Earned:
    """The mean score of a guess, and by how much it exceeds the stated level."""

    mean: float
    excess: float
    error: float  # the standard error of `excess`


def drawn_questions(pattern: Pattern, count: int, tasks: int, seed: int) -> list[Question]:
    """Return questions of a pattern whose chance level is known, at this size or the least that it takes."""
    settings = UnderstandingSettings(instances=count, tasks=(feasible_size(pattern, tasks),), seed=seed)
    drawn = [question(reference, settings) for reference in references(settings, {"patterns": pattern.name})]
    return [each for each in drawn if each.chance is not None]


def earned_by_guesses(questions: Sequence[Question]) -> dict[str, Earned]:
    """Return what each guess earns in these questions, by name."""
    form = questions[0].form
    guesses: dict[str, Callable[[Question], float]] = {
        "random": lambda each: _score(each, guess_at_random(each.prompt)[1]),
        "constant": lambda each: _score(each, repeat_constantly(each.prompt)[1]),
    }
    if form in CONSTANTS:
        guesses |= CONSTANTS[form]
    scores = {name: [guess(each) for each in questions] for name, guess in guesses.items()}
    if form == "number":
        scores["most frequent"] = list(_scores_of_most_frequent(questions))
    return {name: _compare(values, questions) for name, values in scores.items()}


def misstated(earned: Mapping[str, Earned]) -> str:
    """Return which guess shows that the stated level is too low, or that it is too high; "" if none does."""
    for name, guess in earned.items():
        if guess.excess > 3 * guess.error + MARGIN:
            return f"{name!r} earns {guess.mean:.3f}, {guess.excess:.3f} more than stated"
    if all(guess.excess < -3 * guess.error - MARGIN for guess in earned.values()):
        return "no guess earns what is stated"
    return ""


def _compare(scores: Sequence[float], questions: Sequence[Question]) -> Earned:
    differences = [score - (each.chance or 0.0) for score, each in zip(scores, questions, strict=True)]
    return Earned(fmean(scores), fmean(differences), stdev(differences) / len(differences) ** 0.5)


def _score(question: Question, answer: Json) -> float:
    return measure_answer(question.metric, metric(question.metric), answer, question.reference).value or 0.0


def _coin(question: Question) -> float:
    """Return the mean score of lists that hold each name with probability 1/2."""
    rng, names = Random(question.id), names_of(question.prompt)
    return fmean(_score(question, [name for name in names if rng.random() < 0.5]) for _ in range(COINS))


def _last_in_quotes(text: str) -> list[str]:
    return re.findall("'([^']*)'", text)[-2:]


def _condition(question: Question, form: str) -> float:
    shown = guards_of(question.prompt)
    return fmean(_score(question, form.format(condition)) for condition in shown)


def _scores_of_most_frequent(questions: Sequence[Question]) -> Iterator[float]:
    """Yield the score of the answer that is most frequent in the other half of the questions."""
    answers = [dumps(each.reference) for each in questions]
    most = [Counter(answers[half::2]).most_common(1)[0][0] for half in (0, 1)]
    for i, each in enumerate(questions):
        yield _score(each, loads(most[1 - i % 2]))


def _tasks(names: Sequence[str]) -> Json:
    return {"tasks": [*names], "reasons": {}}


def _spread(question: Question) -> Json:
    """Return the tasks of the level at its start; with workers, in the order of declaration, far from each other."""
    tasks = tasks_of_level(question.prompt)
    step = 10**6 if "orkers" in question.text or "at most" in question.text else 0
    return {"tasks": [*tasks], "starts": [step * at for at in range(len(tasks))]}


LISTS: Mapping[str, Callable[[Question], float]] = {
    "all": lambda each: _score(each, [*names_of(each.prompt)]),
    "none": lambda each: _score(each, []),
    "coin": _coin,
}
CONSTANTS: Mapping[str, Mapping[str, Callable[[Question], float]]] = {
    "task-set": LISTS,
    "task-reasons": {
        "all": lambda each: _score(each, _tasks(names_of(each.prompt))),
        "none": lambda each: _score(each, _tasks([])),
    },
    "pair-reason": {"all": lambda each: _score(each, _tasks(names_of(each.prompt)))},
    "schedule": {"at once, or with workers one after the other": lambda each: _score(each, _spread(each))},
    "task": {
        "first name": lambda each: _score(each, names_of(each.prompt)[0]),
        "last name": lambda each: _score(each, names_of(each.prompt)[-1]),
        "one of two in the question": lambda each: fmean(_score(each, name) for name in _last_in_quotes(each.text)),
    },
    "groups": {
        "one group": lambda each: _score(each, [[*names_of(each.prompt)]]),
        "none": lambda each: _score(each, []),
        "a group each": lambda each: _score(each, [[name] for name in names_of(each.prompt)]),
    },
    "condition": {
        "a condition shown": lambda each: _condition(each, "{}"),
        "the opposite of one": lambda each: _condition(each, "not ({})"),
    },
}
"""Guesses by form and name, beside the two baselines."""
