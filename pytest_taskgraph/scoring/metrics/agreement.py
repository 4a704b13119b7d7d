"""Agreement of answers: equal answers, equivalent conditions, sets of names, groups of names, and names with reasons.

Of the forms task-reasons, pair-reason and yes-no-reason the identification of the tasks and the quality of the reasons
are two scores, never one. docs/reference/patterns.md lists the patterns that use them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from statistics import fmean

from ...trial import Json
from ..assignment import gainful_pairs
from ..condition_meaning import is_same_condition
from ..measurement import declares
from .texts import rouge1

Group = frozenset[str]


def correctness(given: Json, reference: Json) -> float:
    """Return 1.0 if the answer equals the reference, case included, else 0.0."""
    return 1.0 if given == reference else 0.0


def equivalence(given: Json, reference: Json) -> float:
    """Return 1.0 if the answer provably holds in the same situations as the reference, else 0.0.

    `condition_meaning` compares the conditions.

    Raises:
        UsageError: if the reference states no condition.
    """
    return 1.0 if is_same_condition(given if isinstance(given, str) else "", reference) else 0.0


def jaccard(given: Json, reference: Json) -> float:
    """Return the Jaccard index |A ∩ R| / |A ∪ R|, 0.0 to 1.0; 1.0 if both are empty, 0.0 if one is."""
    return jaccard_index(name_set(given), name_set(reference))


def precision(given: Json, reference: Json) -> float | None:
    """Return the share of the given names that are right, 0.0 to 1.0; None if no name was given."""
    return _share(name_set(given), name_set(reference))


def recall(given: Json, reference: Json) -> float | None:
    """Return the share of the right names that were given, 0.0 to 1.0; None if there are no right names."""
    return _share(name_set(reference), name_set(given))


def name_set(answer: Json) -> frozenset[str]:
    """Return the names that an answer lists; the empty set for an answer that is no list."""
    return frozenset(str(name) for name in answer) if isinstance(answer, list) else frozenset()


def jaccard_index(first: Set[str], second: Set[str]) -> float:
    """Return the Jaccard index of two sets; 1.0 if both are empty."""
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def _share(whole: Set[str], part: Set[str]) -> float | None:
    return len(whole & part) / len(whole) if whole else None


def matching(given: Json, reference: Json) -> float:
    """Return the mean Jaccard index of the best one-to-one matching of groups, 0.0 to 1.0.

    The sum over the matched pairs is divided by the larger number of groups, so missing and surplus groups cost
    the same; identical groups are matched one by one. 1.0 if there are no groups on either side, 0.0 if on one.
    """
    ours, theirs = _groups(given), _groups(reference)
    if not ours or not theirs:
        return 1.0 if len(ours) == len(theirs) else 0.0
    total = sum(jaccard_index(ours[at], theirs[partner]) for at, partner in match_groups(ours, theirs).items())
    return total / max(len(ours), len(theirs))


def match_groups(ours: Sequence[Group], theirs: Sequence[Group]) -> dict[int, int]:
    """Return which of their groups each of ours stands for, by index: the largest sum of Jaccard indices, one-to-one.

    Equal groups are matched with each other, which no best matching forbids, as 1 minus the index is a metric. Groups
    without a common name are not matched.
    """
    partners = equal_groups(ours, theirs)
    rest = [at for at in range(len(ours)) if at not in partners]
    taken = {*partners.values()}
    others = [at for at in range(len(theirs)) if at not in taken]
    if rest and others:
        pairs = gainful_pairs([[jaccard_index(ours[at], theirs[other]) for other in others] for at in rest])
        partners |= {rest[row]: others[column] for row, column in pairs.items()}
    return partners


def equal_groups(ours: Sequence[Group], theirs: Sequence[Group]) -> dict[int, int]:
    """Return which of their groups each of ours equals, by index: each once, equal ones in their order."""
    waiting: dict[Group, list[int]] = {}
    for at, group in enumerate(theirs):
        waiting.setdefault(group, []).append(at)
    return {at: waiting[group].pop(0) for at, group in enumerate(ours) if waiting.get(group)}


def _groups(answer: Json) -> list[Group]:
    return [name_set(group) for group in answer] if isinstance(answer, list) else []


def identification(given: Json, reference: Json) -> float:
    """Return the Jaccard index of the named and the right tasks, 0.0 to 1.0; 1.0 if there are none in both."""
    return jaccard_index(name_set(_part(given, "tasks")), name_set(_part(reference, "tasks")))


def verdict(given: Json, reference: Json) -> float:
    """Return 1.0 if the verdict is that of the reference, else 0.0."""
    return 1.0 if _part(given, "answer") == _part(reference, "answer") else 0.0


@declares(unparseable=lambda reference: _reason(None, reference))  # a missing reason is not a bad reason
def reason(given: Json, reference: Json) -> float | None:
    """Return the mean ROUGE-1 F1 of the reasons, over the rightly named tasks whose reference has a reason.

    None without such a task. The reason of a pair is compared if a task of the pair is right; that of a yes/no question
    always, if the reference has one.
    """
    return _reason(given, reference)


def explanation(given: Json, reference: Json) -> float | None:
    """Return the mean ROUGE-1 F1 of the reasons over the right tasks, 0.0 for a task that is not named.

    This is the value of Töpfer et al. (2025): surplus tasks cost nothing. None if the reference has no reason.
    """
    reasons, given_reasons = _reasons(reference), _reasons(given)
    return fmean(rouge1(given_reasons.get(name), text) for name, text in reasons.items()) if reasons else None


def _reason(given: Json, reference: Json) -> float | None:
    if _part(reference, "answer") is not None:
        return rouge1(_part(given, "reason"), _part(reference, "reason")) if _part(reference, "reason") else None
    right = name_set(_part(given, "tasks")) & name_set(_part(reference, "tasks"))
    reasons = _reasons(reference)
    given_reasons = _reasons(given)
    scores = [
        rouge1(given_reasons.get(name), reasons[name]) for name in reasons if name in right or (right and not name)
    ]
    return fmean(scores) if scores else None


def _reasons(answer: Json) -> dict[str, Json]:
    reasons = _part(answer, "reasons")
    return {name: text for name, text in reasons.items() if text} if isinstance(reasons, dict) else {}


def _part(answer: Json, name: str) -> Json:
    return answer.get(name) if isinstance(answer, dict) else None
