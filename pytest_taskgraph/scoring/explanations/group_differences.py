"""Which names stand in the wrong group, and which groups were merged or split.

Equal groups are set aside. The others are matched as for the metric `matching`. Where groups share names,
a name has no single right group, and each group is compared with its counterpart alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...trial import Json
from ..metrics.agreement import Group, equal_groups, match_groups, name_set
from .sentence_parts import MOST, cut, join_names, write_name
from .value_differences import spelling_sentences

MOST_GROUPS: Final = 100
"""Largest number of groups of one side, because matching takes longer with the cube of it."""
MOST_NAMES: Final = 2_000
"""Largest number of names in the groups of one side, because each is compared with those beside it."""
_MOST_PARTS: Final = 4


@dataclass(frozen=True, slots=True)
class _Leftover:
    """The groups of both sides that have no equal one on the other, and the counterparts among them."""

    given: list[Group]
    right: list[Group]
    counterparts: dict[int, int]  # index in `given` -> index in `right`
    disjoint: bool  # True if no name stands in two groups of one side

    def home(self, name: str) -> int | None:
        """Return the index of the right group of a name."""
        return next((at for at, group in enumerate(self.right) if name in group), None)


def explain_groups(reference: Json, given: Json) -> list[str]:
    """Name the groups that were merged or split, and the names that stand in a wrong group."""
    if not isinstance(given, list) or not isinstance(reference, list):
        return []
    ours, theirs = [*map(name_set, given)], [*map(name_set, reference)]
    equal = equal_groups(ours, theirs)
    taken = {*equal.values()}
    wrong = [group for at, group in enumerate(ours) if at not in equal]
    right = [group for at, group in enumerate(theirs) if at not in taken]
    if not wrong or not right or max(len(wrong), len(right)) > MOST_GROUPS:
        return []
    if max(sum(map(len, wrong)), sum(map(len, right))) > MOST_NAMES:
        return []
    leftover = _Leftover(wrong, right, match_groups(wrong, right), _disjoint(ours) and _disjoint(theirs))
    expected, answered = (sorted(name for group in groups for name in group) for groups in (theirs, ours))
    sentences = _sentences_by_name(leftover) if leftover.disjoint else _sentences_by_group(leftover)
    return [*sentences, *spelling_sentences(expected, answered)]


def _disjoint(groups: Sequence[Group]) -> bool:
    names = [name for group in groups for name in group]
    return len(names) == len({*names})


def _sentences_by_name(leftover: _Leftover) -> list[str]:
    merged = {at: parts for at, group in enumerate(leftover.given) if (parts := _parts(group, leftover.right))}
    split = {at: parts for at, group in enumerate(leftover.right) if (parts := _parts(group, leftover.given))}
    whole = [
        f"{_names(leftover.given[at])} stand in one group, but belong in {len(parts)}: {_list(parts)}"
        for at, parts in merged.items()
    ] + [
        f"{_names(leftover.right[at])} belong in one group, but stand in {len(parts)}: {_list(parts)}"
        for at, parts in split.items()
    ]
    in_split = frozenset[str]().union(*(leftover.right[at] for at in split))
    moved = [
        sentence for at in range(len(leftover.given)) if at not in merged for sentence in _moves(leftover, at, in_split)
    ]
    return [*cut(whole, "group"), *cut([*moved, *_left_out(leftover)], "fault")]


def _parts(whole: Group, groups: Sequence[Group]) -> list[Group]:
    """Return the groups that make up a whole, if there are several; empty if there are none such."""
    parts = [group for group in groups if group and group <= whole]
    return parts if len(parts) > 1 and sum(map(len, parts)) == len(whole) else []


def _moves(leftover: _Leftover, at: int, in_split: Group) -> Iterator[str]:
    """Yield a sentence for the names of a given group that belong in the same other group."""
    group, counterpart = leftover.given[at], leftover.counterparts.get(at)
    names_at_home = group & leftover.right[counterpart] if counterpart is not None else frozenset()
    names_by_home: dict[int | None, list[str]] = {}
    for name in sorted(group - names_at_home - in_split):
        names_by_home.setdefault(leftover.home(name), []).append(name)
    for home, names in names_by_home.items():
        beside = names_at_home or group.difference(names)
        stand = f"{_verb('stand', names)} {_company(beside, names, 'apart')}"
        if home is not None:
            others = leftover.right[home].difference(names)
            belong = f"{_verb('belong', names)} {_company(others, names, 'in a group of their own')}"
            yield f"{join_names(names)} {stand}, but {belong}"
        elif counterpart is not None:
            yield f"{join_names(names)} {stand}, but {_verb('belong', names)} in no group"


def _company(others: Group, names: Sequence[str], without: str) -> str:
    """Return the names beside some names, in words; `without` is the word for several names that are by themselves."""
    if others:
        return f"with {_names(others)}"
    return without if len(names) > 1 else "alone"


def _left_out(leftover: _Leftover) -> Iterator[str]:
    """Yield a sentence for the names that stand in no group, while others of their group do."""
    present = frozenset[str]().union(*leftover.given)
    for group in leftover.right:
        if group & present and (names := sorted(group - present)):
            belong = f"{_verb('belong', names)} with {_names(group & present)}"
            yield f"{join_names(names)} {_verb('stand', names)} in no group, but {belong}"


def _verb(verb: str, names: Sequence[str]) -> str:
    return verb if len(names) > 1 else f"{verb}s"


def _sentences_by_group(leftover: _Leftover) -> list[str]:
    sentences = []
    for at, counterpart in sorted(leftover.counterparts.items()):
        group, right = leftover.given[at], leftover.right[counterpart]
        faults = [
            f"lacks {_names(right - group)}" if right - group else "",
            f"must not hold {_names(group - right)}" if group - right else "",
        ]
        sentences.append(f"the group {_names(group)} {' and '.join(filter(None, faults))}")
    return cut(sentences, "group")


def _names(group: Group) -> str:
    return join_names(sorted(group))


def _list(groups: Sequence[Group]) -> str:
    """Return groups with their names, a vertical bar between two; of many, the first ones."""
    texts = [
        ", ".join(map(write_name, sorted(group)[:MOST])) + (", …" if len(group) > MOST else "") for group in groups
    ]
    return " | ".join([*texts[:_MOST_PARTS], *(["…"] if len(texts) > _MOST_PARTS else [])])
