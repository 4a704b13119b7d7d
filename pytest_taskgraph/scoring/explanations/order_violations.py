"""Which names of an order stand in the wrong order.

The names of the answer are matched with the nodes of the partial order (`..partial_order`): a name's occurrences with
its nodes, one by one, where the order of these nodes is fixed and as many occur; else all with all. So no pair is named
that some matching allows. Of the violated pairs only those are named that no other violated pair implies: of C, B, A
for A before B before C those are C before B and B before A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ...trial import Json
from ..partial_order import PartialOrder, partial_order, task_labels
from .sentence_parts import cut, ordinal, times, write_name
from .value_differences import spelling_sentences

MOST_TASKS: Final = 500
"""Largest number of nodes of a reference, because all pairs are compared."""
_MOST_STATES: Final = 100


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
