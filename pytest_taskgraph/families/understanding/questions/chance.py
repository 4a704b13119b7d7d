"""Chance level: the main score that the best guess earns from the form and the names that a text offers.

A guess knows the pattern, hence the form of its answers, and the names of the tasks and data that the text shows on all
levels, but not what the text says of them:

- yes or no: either, as half of the answers are yes
- a list, a pair: all names; none, in patterns where that answer earns more (`Pattern.guess`)
- one name: any of them, or of those that the question gives to choose from, each with the same probability
- groups: one group of all names
- a number: the most frequent one, or the most frequent number of a time unit
- a condition: the opposite of one that the level shows; most loops asked about are left otherwise
- an order: the order of declaration on the level, as the baseline `constant` answers
- a schedule: all tasks of the level at the start; with workers, one after the other in the order of declaration
- free text: the description of a random task of the level, which has the vocabulary and the style of a right answer

A list of names that are each drawn with probability 1/2 earns less than the list of all: about r/(n + r) with r of n
names right, and not r/n. All levels but that of a number are exact. `perf/chance_levels.py` compares them with what
guesses and baselines earn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from ....errors import OrderTooWideError
from ....scoring.forms import FORMS
from ....scoring.metrics.agreement import equivalence, jaccard, matching
from ....scoring.metrics.orders import order
from ....scoring.metrics.texts import rouge1, rouge1_recall, rouge2, rouge_l
from ....scoring.schedules import constraints, schedule
from ....trial import Json
from ....workflow.guards.solver import conditions
from ....workflow.model import Workflow
from ....workflow.project import every_level
from .ingredients import PatternQuestion

COIN = 0.5  # probability of yes
MOST_FREQUENT_NUMBER = 0.1
"""Share of the answer 1, by simulation: 0.08 to 0.13 at 4 to 20 tasks (`perf/chance_levels.py`)."""
MOST_FREQUENT_TIME = 0.02
"""Share that a guess earns of the numbers of a time unit, of which the most frequent differ by size and pattern."""
# Metrics of texts that count words; the others need a model.
COUNTED = {"rouge1": rouge1, "rouge1_recall": rouge1_recall, "rouge2": rouge2, "rouge_l": rouge_l}

Names = Sequence[str]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a guess is made from, and the reference that it is compared with."""

    reference: Json
    level: Workflow
    names: Names  # that the text offers
    none: bool  # the answer "none" earns more than all names


def chance_level(question: PatternQuestion, measure: str) -> float | None:
    """Return the expected score of the best guess at a question, by this metric, 0.0 to 1.0.

    Returns:
        None if neither the form nor ROUGE defines it, and for a metric that needs a model.
    """
    pattern, reference, level = question.pattern, question.case.answer, question.scope.workflow
    if pattern.form == "text":
        return _described(measure, reference, level)
    if pattern.form not in GUESSES or measure != FORMS[pattern.form].metric:
        return None
    if pattern.options:
        return 1 / pattern.options
    if pattern.form == "number" and pattern.timed:
        return MOST_FREQUENT_TIME
    names = offered_names(question.workflow, wants_data(reference, question.workflow))
    return GUESSES[pattern.form](Guess(reference, level, names, pattern.guess == "none"))


def offered_names(project: Workflow, data: bool = False) -> Names:
    """Return the names of all tasks, or of all data, that a project shows on any level, each once, in order."""
    levels = every_level(project)
    return list(dict.fromkeys(node.name for level in levels for node in (level.data if data else level.tasks)))


def wants_data(reference: Json, project: Workflow) -> bool:
    """Return True if a reference names data, and so the question asks for data."""
    required = _names(reference)
    return bool(required) and required <= {*offered_names(project, data=True)} - {*offered_names(project)}


def _described(measure: str, reference: Json, level: Workflow) -> float | None:
    """Return the mean score of the descriptions that the level shows; that of the task asked about is not shown."""
    if measure not in COUNTED:
        return None
    scores = [COUNTED[measure](task.description, reference) for task in level.tasks if task.description]
    return fsum(scores) / len(scores) if scores else None


def _coin(guess: Guess) -> float:
    return COIN


def _one_name(guess: Guess) -> float:
    return 1 / len(guess.names) if guess.names else 0.0


def _all_names_or_none(guess: Guess) -> float:
    return jaccard([] if guess.none else [*guess.names], [*_names(guess.reference)])


def _one_group(guess: Guess) -> float:
    return matching([[*guess.names]], guess.reference)


def _number(guess: Guess) -> float:
    return MOST_FREQUENT_NUMBER


def _opposite_condition(guess: Guess) -> float:
    opposites = [f"not ({condition})" for condition in conditions(guess.level)]
    return fsum(equivalence(opposite, guess.reference) for opposite in opposites) / max(len(opposites), 1)


def _declared_order(guess: Guess) -> float | None:
    try:
        return order([*guess.level.task_names], guess.reference)
    except OrderTooWideError:
        return None


def _spread_or_at_once(guess: Guess) -> float:
    expected = schedule(guess.reference)
    step = expected.limit if expected.workers else 0  # as long as any task can take
    tasks: list[Json] = [*guess.level.task_names]
    return constraints({"tasks": tasks, "starts": [step * at for at in range(len(tasks))]}, guess.reference)


def _names(reference: Json) -> frozenset[str]:
    """Return the names in a reference answer of any form."""
    if isinstance(reference, dict):
        return _names(reference.get("tasks"))
    if isinstance(reference, list):
        nested = [_names(part) for part in reference if not isinstance(part, str)]
        return frozenset([part for part in reference if isinstance(part, str)]).union(*nested)
    return frozenset([reference]) if isinstance(reference, str) else frozenset()


GUESSES: Mapping[str, Callable[[Guess], float | None]] = {
    "yes-no": _coin,
    "yes-no-reason": _coin,
    "task": _one_name,
    "task-set": _all_names_or_none,
    "task-reasons": _all_names_or_none,
    "pair-reason": _all_names_or_none,
    "groups": _one_group,
    "task-order": _declared_order,
    "schedule": _spread_or_at_once,
    "number": _number,
    "condition": _opposite_condition,
}
