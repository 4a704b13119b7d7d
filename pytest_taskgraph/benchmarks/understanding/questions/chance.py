"""Chance level: the main score expected from guessing with knowledge of the form and the names.

The guess depends on the form:

- yes or no: each with probability 1/2
- a list: each name is in it with probability 1/2
- one name: drawn from all names
- a number, a condition: drawn as the baseline `random` draws them
- groups: drawn by the baseline `random`; the score is the mean over DRAWS draws of a separate generator
- an order: the order of declaration, as the baseline `constant` answers
- free text: the description of a random task of the level, which has the vocabulary and the style of a right answer

All of these chance levels but that of groups are exact. That of a free text is unknown if a model measures the score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import permutations
from math import comb, fsum
from random import Random

from ....errors import OrderTooWideError
from ....scoring.condition_meaning import condition_text
from ....scoring.forms import FORMS
from ....scoring.forms.letter_form import letters_of
from ....scoring.metrics.agreement import equivalence, jaccard_index
from ....scoring.metrics.agreement import name_set as as_set
from ....scoring.metrics.orders import order
from ....scoring.metrics.texts import rouge1, rouge1_recall, rouge2, rouge_l
from ....trial import Json
from ....workflow.guards.solver import conditions
from ....workflow.model import Workflow
from ....workflow.references import nested_task_paths

DRAWS = 32  # random groups over which the score is averaged
NUMBERS = range(13)  # the numbers that the baseline `random` draws from
COIN = 0.5  # probability of yes, and of each name in a list
# Metrics of texts that count words; the others need a model.
COUNTED = {"rouge1": rouge1, "rouge1_recall": rouge1_recall, "rouge2": rouge2, "rouge_l": rouge_l}

Names = Sequence[str]


def chance(form: str, reference: Json, names: Names, guards: Names = ()) -> float | None:
    """Return the expected main score of a guess in a form, 0.0 to 1.0.

    Args:
        form: Name of the form of answer; for texts see `chance_of_text`.
        reference: The reference answer.
        names: The names that a guesser chooses from (`candidates`).
        guards: The conditions that a guesser chooses from.

    Returns:
        None for forms whose chance level is not defined.
    """
    guess = GUESSES.get(form)
    return None if guess is None else guess(reference, names, guards)


def chance_at(form: str, measure: str, reference: Json, level: Workflow) -> float | None:
    """Return the chance level of a question about a level; None where neither form nor ROUGE defines it."""
    if form == "text":
        return chance_of_text(measure, reference, level)
    if form not in GUESSES or measure != FORMS[form].metric:
        return None
    names = () if form in NAMELESS else candidates(reference, level)
    return chance(form, reference, names, conditions(level) if form == "condition" else ())


def chance_of_text(measure: str, reference: Json, level: Workflow) -> float | None:
    """Return the expected score of a guess that repeats the description of a task of the level, 0.0 to 1.0.

    Each description that the level shows is equally likely. The description that the question asks for is not shown.

    Returns:
        None if no task has a description, and for a metric that needs a model.
    """
    if measure not in COUNTED:
        return None
    scores = [COUNTED[measure](task.description, reference) for task in level.tasks if task.description]
    return fsum(scores) / len(scores) if scores else None


def candidates(reference: Json, level: Workflow) -> Names:
    """Return the names that a guesser chooses from.

    These are the tasks of the level. If the reference holds other names, they are the first of these lists that covers
    it: the data of the level, the tasks inside its composite tasks, or all names together with those of the reference.
    """
    required = _names(reference)
    if required <= set(level.task_names):
        return level.task_names
    data = [node.name for node in level.data]
    if required <= set(data):
        return data
    paths = nested_task_paths(level)
    nested_names = [path[-1] for path in paths]
    name_lists = [nested_names, [".".join(path) for path in paths], [*level.task_names, *data, *nested_names]]
    fitting = next((names for names in name_lists if required <= set(names)), [*name_lists[-1], *sorted(required)])
    return list(dict.fromkeys(fitting))


@lru_cache(maxsize=512)
def expected_jaccard(right: int, names: int) -> float:
    """Return the expected Jaccard index of a random set against `right` of `names` names.

    Each name is in the set with probability 1/2. E[hits] = right / 2, and the wrong names, binomial and independent of
    the hits, enlarge the union.
    """
    others = names - right
    if not right:
        return COIN**others
    return fsum(share / (right + extra) for extra, share in enumerate(_shares_of_wrong(others))) * right * COIN


def _shares_of_wrong(others: int) -> Iterator[float]:
    """Yield the probabilities that 0, 1, 2 … of so many names are in a random set.

    Whole numbers are divided: from 1,030 names on, the binomial coefficients are larger than any float.
    """
    sets, ways = 2**others, 1
    for extra in range(others + 1):
        yield ways / sets
        ways = ways * (others - extra) // (extra + 1)


@lru_cache(maxsize=512)
def expected_jaccard_of_a_pair(right: int, names: int) -> float:
    """Return the expected Jaccard index of two random names against `right` of `names` (hypergeometric)."""
    guessed, others = min(2, names), names - right
    ways = comb(names, guessed)
    hits = range(min(guessed, right) + 1)
    return fsum(comb(right, h) * comb(others, guessed - h) / ways * _share(h, right + guessed - h) for h in hits)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _coin(reference: Json, names: Names, guards: Names) -> float:
    return COIN


def _one_name(reference: Json, names: Names, guards: Names) -> float:
    return 1 / len(names) if names else 0.0


def _one_letter(reference: Json, names: Names, guards: Names) -> float:
    return 1 / len(letters_of(names)) if letters_of(names) else 0.0


def _some_names(reference: Json, names: Names, guards: Names) -> float:
    return expected_jaccard(len(_names(reference)), len(set(names)))


def _two_names(reference: Json, names: Names, guards: Names) -> float:
    return expected_jaccard_of_a_pair(len(_names(reference)), len(set(names)))


def _number(reference: Json, names: Names, guards: Names) -> float:
    return 1 / len(NUMBERS) if reference in NUMBERS else 0.0


def _condition(reference: Json, names: Names, guards: Names) -> float:
    expected = condition_text(reference)
    scores = {guard: 1.0 if guard == expected else equivalence(guard, reference) for guard in dict.fromkeys(guards)}
    return fsum(scores[guard] for guard in guards) / len(guards) if guards else 0.0


def _two_groups(reference: Json, names: Names, guards: Names) -> float:
    rng = Random(f"chance|{reference}|{len(names)}")
    right = [as_set(group) for group in reference] if isinstance(reference, list) else []
    all_names, scores = frozenset(names), []
    for _ in range(DRAWS):
        first_group = frozenset([name for name in names if rng.random() < COIN])
        scores.append(matching_of_two(first_group, all_names - first_group, right))
    return fsum(scores) / DRAWS


def matching_of_two(first: Set[str], second: Set[str], right: Sequence[Set[str]]) -> float:
    """Return the metric `matching` of two groups against the right groups.

    Both assignments are tried, which avoids the import of a solver.
    """
    gains = [(jaccard_index(first, group), jaccard_index(second, group)) for group in right]
    gains += [(0.0, 0.0)] * (2 - len(right))
    best = max([gain + other for (gain, _), (_, other) in permutations(gains, 2)])
    return best / max(2, len(right))


def _declared_order(reference: Json, names: Names, guards: Names) -> float | None:
    try:
        return order(list(names), reference)
    except OrderTooWideError:
        return None


def _names(reference: Json) -> frozenset[str]:
    """Return the names in a reference answer of any form."""
    if isinstance(reference, dict):
        return _names(reference.get("tasks"))
    if isinstance(reference, list):
        nested = [_names(part) for part in reference if not isinstance(part, str)]
        return frozenset([part for part in reference if isinstance(part, str)]).union(*nested)
    return frozenset([reference]) if isinstance(reference, str) else frozenset()


NAMELESS = frozenset({"yes-no", "yes-no-reason", "number", "condition"})  # forms whose guesses choose no name
GUESSES: Mapping[str, Callable[[Json, Names, Names], float | None]] = {
    "yes-no": _coin,
    "yes-no-reason": _coin,
    "task": _one_name,
    "letter": _one_letter,
    "task-set": _some_names,
    "task-reasons": _some_names,
    "pair-reason": _two_names,
    "groups": _two_groups,
    "task-order": _declared_order,
    "number": _number,
    "condition": _condition,
}
