"""Which names stand in the wrong group or in the wrong order, and which groups were merged or split.

Equal groups are set aside. The others are matched as for the metric `matching`. Where groups share names,
a name has no single right group, and each group is compared with its counterpart alone.

The names of an order are matched with the nodes of the partial order (`..partial_order`): a name's occurrences with
its nodes, one by one, where the order of these nodes is fixed and as many occur; else all with all. So no pair is named
that some matching allows. Of the violated pairs only those are named that no other violated pair implies: of C, B, A
for A before B before C those are C before B and B before A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ...trial import Json
from ..metrics.agreement import Group, equal_groups, match_groups, name_set
from ..partial_order import PartialOrder, partial_order, task_labels
from .value_differences import MOST, cut, join_names, ordinal, spelling_sentences, times, write_name

MOST_GROUPS: Final = 100
"""Largest number of groups of one side, because matching takes longer with the cube of it."""
MOST_NAMES: Final = 2_000
"""Largest number of names in the groups of one side, because each is compared with those beside it."""
_MOST_PARTS: Final = 4
MOST_TASKS: Final = 500
"""Largest number of nodes of a reference, because all pairs are compared."""
_MOST_STATES: Final = 100


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


@dataclass(frozen=True, slots=True)
class _Block:
    """Nodes with one label, and where their label stands in the answer."""

    title: str
    nodes: int  # bit mask
    ancestors: int  # nodes before all of these
    first: int
    last: int


def explain_order(reference: Json, given: Json) -> list[str]:
    """Name the pairs of names that stand in the wrong order, and the names that stand too often or too rarely.

    Raises:
        UsageError: if the reference is no partial order.
    """
    if not isinstance(given, list) or len(task_labels(reference)) > MOST_TASKS:
        return []
    order, answer = partial_order(reference), [str(name) for name in given]
    counts = Counter(order.labels)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(answer):
        if name in counts:
            places.setdefault(name, []).append(place)
    sentences = cut([_pair_sentence(*pair) for pair in _essential_pairs(_blocks(order, places))], "pair")
    if not sentences and counts == Counter(answer):
        sentences = _first_impossible_place(order, answer)
    miscounted = [name for name in places if len(places[name]) != counts[name]]
    count_sentences = [
        f"{write_name(name)} stands {times(len(places[name]))}, but runs {times(counts[name])}" for name in miscounted
    ]
    return [*sentences, *cut(count_sentences, "name"), *spelling_sentences(order.labels, answer)]


def _pair_sentence(early: _Block, late: _Block) -> str:
    return f"{late.title} stands before {early.title}, but has to come after it"


def _blocks(order: PartialOrder, places: dict[str, list[int]]) -> list[_Block]:
    """Return the nodes whose labels are in the answer: one by one if their places are known, else by label."""
    nodes_of: dict[str, list[int]] = {}
    for node, label in enumerate(order.labels):
        nodes_of.setdefault(label, []).append(node)
    blocks: list[_Block] = []
    for label, own_places in places.items():
        nodes = sorted(nodes_of[label], key=lambda node: (order.ancestors[node].bit_count(), node))
        name = write_name(label)
        if len(nodes) == len(own_places) and _is_chain(order, nodes):
            titles = [name] if len(nodes) == 1 else [f"the {ordinal(at)} {name}" for at in range(1, len(nodes) + 1)]
            blocks += [
                _Block(title, 1 << node, order.ancestors[node], place, place)
                for title, node, place in zip(titles, nodes, own_places, strict=True)
            ]
        else:
            common = order.ancestors[nodes[0]]
            for node in nodes:
                common &= order.ancestors[node]
            title = name if len(own_places) == 1 else f"every {name}"
            blocks.append(_Block(title, sum(1 << node for node in nodes), common, own_places[0], own_places[-1]))
    return blocks


def _is_chain(order: PartialOrder, nodes: Sequence[int]) -> bool:
    return all(order.ancestors[late] >> early & 1 for early, late in pairwise(nodes))


def _essential_pairs(blocks: Sequence[_Block]) -> list[tuple[_Block, _Block]]:
    """Return the violated pairs, what has to come first and what later, without those that others imply."""
    after = [0] * len(blocks)  # bit masks of places in `blocks`
    before = [0] * len(blocks)
    violated_after, violated_before = after.copy(), before.copy()
    for early, block in enumerate(blocks):
        for late, other in enumerate(blocks):
            if early != late and not block.nodes & ~other.ancestors:
                after[early] |= 1 << late
                before[late] |= 1 << early
                if other.last < block.first:
                    violated_after[early] |= 1 << late
                    violated_before[late] |= 1 << early
    pairs = [
        (blocks[early], blocks[late])
        for early in range(len(blocks))
        for late in range(len(blocks))
        if violated_after[early] >> late & 1
        and not after[early] & before[late] & (violated_after[early] | violated_before[late])
    ]
    return sorted(pairs, key=lambda pair: (pair[1].first, pair[0].first))


def _first_impossible_place(order: PartialOrder, answer: Sequence[str]) -> list[str]:
    """Say which name cannot continue the names before it; used where labels occur twice in no fixed order."""
    nodes_of: dict[str, list[int]] = {}
    for node, label in enumerate(order.labels):
        nodes_of.setdefault(label, []).append(node)
    downsets = {0}
    for place, label in enumerate(answer, 1):
        downsets = {
            placed | 1 << node
            for placed in downsets
            for node in nodes_of[label]
            if not placed >> node & 1 and not order.ancestors[node] & ~placed
        }
        if not downsets:
            return [f"{write_name(label)} cannot stand at place {place:,}, after the names before it"]
        if len(downsets) > _MOST_STATES:
            break
    return []
