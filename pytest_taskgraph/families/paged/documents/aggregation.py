"""Aggregation of units into sentences (Du et al. 2024, section 3.2), by rules where the paper has models.

The units are stated one after the other. An action is stated once, with its actor; what the same actor does next is
added to the sentence. Gateways appear as the words that open branches and end parts. A unit that does not go on from
what was stated last refers to it by name, so that any order of units gives a text that says all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .document_phrases import (
    clause,
    condition_words,
    constraint_clauses,
    is_infinitive,
    is_otherwise,
    notice_clause,
    unmistakable,
    upper_first,
)
from .part_words import (
    FIRST_HAND,
    FURTHER_CASES,
    PART_DONE,
    branch_marker,
    closing_words,
    destination,
    further_branch,
    origin,
    together,
)
from .procedure_parts import find_parts
from .unit_grouping import UnitGroup
from .unit_templates import ENDS, fragment_text, needs_actor
from .units import CONSTRAINING, PARALLEL, Unit, is_split

MOST_STEPS: Final = 3  # actions of one actor in a sentence
_CONNECTIVES: Final = ("then, ", "next, ")


@dataclass(frozen=True, slots=True)
class DocumentSentence:
    """A sentence of a document.

    Args:
        text: The sentence with its full stop.
        units: The units that it says, or of which it says a part.
        group: The number of the group of units that it stands for, from 0.
    """

    text: str
    units: tuple[Unit, ...]
    group: int


def aggregate(graph: ProceduralGraph, groups: Sequence[UnitGroup], random: Random) -> tuple[DocumentSentence, ...]:
    """Return the sentences that state some groups of units, in their order.

    Args:
        graph: The graph of the units.
        groups: The units, in the order of the text.
        random: Decides between words that mean the same.
    """
    writer = _SentenceWriter(graph, groups, random)
    for number, group in enumerate(groups):
        writer.begin_group(number)
        for unit in group.units:
            writer.write_unit(unit)
    return writer.sentences()


@dataclass
class _Draft:
    """A sentence that can still be added to.

    Args:
        group: The group that it stands for.
        pieces: Its words; empty if there are none but those about constraints, which follow it.
        units: The units that it says.
        last: The action that it ends with; None if nothing can be added.
        steps: The number of actions stated since its subject was named.
        constraints: The units about its actions, which follow it.
    """

    group: int
    pieces: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    last: ProceduralNode | None = None
    steps: int = 0
    constraints: list[Unit] = field(default_factory=list)


class _SentenceWriter:
    """Writer of units, one after the other, that knows what has been stated."""

    def __init__(self, graph: ProceduralGraph, groups: Sequence[UnitGroup], random: Random) -> None:
        self._graph = graph
        self._random = random
        self._parts = find_parts(graph)
        self._mentions = Counter(unit for group in groups for unit in group.units)
        self._drafts: list[_Draft] = []
        self._group = 0
        self._fresh = True  # the next action begins a sentence
        self._lead = ""  # the words of gateways that the next sentence begins with
        self._lead_units: list[Unit] = []
        self._position: ProceduralNode | None = None
        self._stated: set[ProceduralNode] = set()
        self._branches: Counter[ProceduralNode] = Counter()
        self._first_conditions: dict[ProceduralNode, str] = {}
        self._open: list[ProceduralNode] = []
        self._openings: dict[ProceduralNode, _Draft] = {}

    def begin_group(self, number: int) -> None:
        """Let what follows stand for a group; it begins a sentence."""
        self._group, self._fresh = number, True

    def write_unit(self, unit: Unit) -> None:
        """Write a unit."""
        if unit.kind in CONSTRAINING:
            self._write_constraint(unit)
        elif unit.kind in PARALLEL:
            self._write_parallel(unit)
        elif any(node.is_constraint for node in unit.nodes):
            self._add_sentence(fragment_text(self._graph, unit).removesuffix("."), unit, None)
        elif unit.kind.startswith(("exclusive-", "inclusive-")):
            self._write_branch(unit)
        else:
            self._write_flow(unit)

    def sentences(self) -> tuple[DocumentSentence, ...]:
        """Return the sentences."""
        self._drop_lead()
        if self._drafts:
            self._drafts[-1].units += self._lead_units
        return tuple(sentence for draft in self._drafts for sentence in self._finish_draft(draft))

    def _write_flow(self, unit: Unit) -> None:
        """State a flow that opens no branch."""
        source, target = unit.nodes
        self._introduce(source, unit)
        here = self._position == source or source.sort == "start"
        if here and target.is_gateway and target not in self._stated and not unit.condition:
            self._pass_gateway(unit, source, target)
        elif self._can_add(unit):
            self._add(f", and {ENDS}" if target.sort == "end" else self._next_step(target), unit, target)
        else:
            condition = condition_words(unit.condition) if unit.condition else ""
            self._add_sentence(f"{self._before(unit)}{condition}{self._destination(target)}", unit, target)
        self._stated.add(source)

    def _pass_gateway(self, unit: Unit, source: ProceduralNode, target: ProceduralNode) -> None:
        """Come to a gateway: in words only if that ends a part."""
        if is_split(self._graph, target) or source.sort == "start":
            self._set_lead(self._before(unit), unit)
        elif source.is_gateway:
            self._add_sentence(f"{self._before(unit)}{PART_DONE}", unit, None)
        else:
            self._drafts[-1].units.append(unit)
        self._position = target

    def _write_branch(self, unit: Unit) -> None:
        """State a branch of a choice."""
        split, target = unit.nodes[:2]
        number = self._branches[split]
        words = condition_words(unit.condition) if unit.condition else _unconditional(split)
        if number and not is_otherwise(unit.condition):
            words = f"{self._further(split)}{words}"
        elif number:
            self._further(split)
        else:
            words = f"{self._before(unit)}{words}"
            self._open.append(split)
            self._first_conditions[split] = unit.condition
        self._branches[split] += 1
        self._stated.add(split)
        if is_split(self._graph, target) and target not in self._stated:
            # "Otherwise, if ..." would be a further branch of the same choice.
            choice = is_otherwise(unit.condition) and target.sort in ("exclusive", "inclusive")
            self._set_lead(f"{words}{FURTHER_CASES if choice else ''}", unit)
        else:
            self._add_sentence(f"{words}{self._destination(target)}", unit, target)
        self._position = target

    def _write_parallel(self, unit: Unit) -> None:
        """State the next of parallel branches, or all of them if the unit stands there once."""
        split = unit.nodes[0]
        order = [flow.target for flow in self._parts.parts[split].ways if flow in unit.flows]
        first = self._branches[split]
        last = first + 1 if self._mentions[unit] == len(order) else len(order)
        for target in order[first:last]:
            if self._branches[split]:
                self._write_beside(unit, target)
            else:
                self._write_first_beside(unit, target, len(order))
            self._branches[split] += 1
            self._position = target
        self._stated.add(split)

    def _write_first_beside(self, unit: Unit, target: ProceduralNode, count: int) -> None:
        split = unit.nodes[0]
        beside = self._lead.endswith((FIRST_HAND, "at the same time, ", "meanwhile, "))
        lead = f"{self._before(unit)}{together(count) if beside else ''}"
        self._open.append(split)
        if is_split(self._graph, target) and target not in self._stated:
            self._set_lead(f"{lead}{FIRST_HAND if count > 1 else ''}", unit)
            return
        self._add_sentence(lead, unit, target)
        self._drafts[-1].pieces += ["", self._destination(target, new=True)]
        self._openings[split] = self._drafts[-1]

    def _write_beside(self, unit: Unit, target: ProceduralNode) -> None:
        """State a further parallel branch: in the same sentence while that is still open."""
        split = unit.nodes[0]
        opening = self._openings.get(split)
        tie = self._further(split)
        nested = is_split(self._graph, target) and target not in self._stated
        if opening is not None and opening is self._drafts[-1] and not self._lead and not nested:
            self._add(f"; {tie}{self._destination(target)}", unit, target)
            opening.steps, self._fresh = 1, False
            return
        if opening is not None:
            # The first branch takes more than a sentence: its beginning has to be seen.
            del self._openings[split]
            opening.pieces[1] = FIRST_HAND
        if nested:
            self._set_lead(tie, unit)
        else:
            self._add_sentence(f"{tie}{self._destination(target)}", unit, target)

    def _further(self, split: ProceduralNode) -> str:
        """Return the words that open a further branch. The parts inside the branch before it are over."""
        strayed = split not in self._open
        while not strayed and self._open[-1] != split:
            self._open.pop()
            strayed = True
            if self._open[-1] == split:
                break
        if split not in self._open:
            self._open.append(split)
        return further_branch(split, self._branches[split], self._first_conditions.get(split, ""), strayed)

    def _before(self, unit: Unit) -> str:
        """Return the words in front of a flow: what gateways left to say, or how it goes on from what was stated."""
        source = unit.nodes[0]
        if self._lead and self._position == source:
            lead, self._lead = self._lead, ""
            return lead
        if source.sort == "start":
            return "in the beginning, "
        part = self._parts.by_join.get(source)
        if part is not None and part.split in self._open:
            strayed = self._open[-1] != part.split
            del self._open[self._open.index(part.split) :]
            return closing_words(part, self._first_conditions.get(part.split, ""), strayed)
        if self._position != source:
            return origin(self._graph, source)
        return f"{self._random.choice(_CONNECTIVES)}{branch_marker(self._parts, unit.flows[0])}"

    def _introduce(self, source: ProceduralNode, unit: Unit) -> None:
        """State the action that a flow leaves if no flow led to it."""
        if source.sort == "action" and source not in self._stated:
            self._add_sentence(f"{'separately, ' if self._drafts else ''}{clause(source)}", unit, source)

    def _destination(self, target: ProceduralNode, new: bool = False) -> str:
        return destination(self._graph, target, is_stated=not new and target in self._stated)

    def _next_step(self, action: ProceduralNode) -> str:
        """Return a further action of the actor of the sentence."""
        subject_words = clause(action)
        last = self._drafts[-1].last
        if last is not None and (last.actor, is_infinitive(last.text)) == (action.actor, is_infinitive(action.text)):
            subject_words = unmistakable(action.text)
        return f", then {subject_words}"

    def _can_add(self, unit: Unit) -> bool:
        source, target = unit.nodes
        if not self._drafts or self._fresh or unit.condition or self._lead or self._position != source:
            return False
        draft = self._drafts[-1]
        adds_step = target.sort == "action" and target not in self._stated and draft.steps < MOST_STEPS
        return draft.last == source and (adds_step or target.sort == "end")

    def _add(self, words: str, unit: Unit, target: ProceduralNode) -> None:
        """Add to the last sentence."""
        draft = self._drafts[-1]
        draft.pieces.append(words)
        draft.units.append(unit)
        draft.steps += 1
        self._arrive(draft, target)

    def _add_sentence(self, words: str, unit: Unit, target: ProceduralNode | None) -> None:
        """Begin a sentence; what gateways left to say stands in it, or before it if it cannot."""
        self._drop_lead()
        draft = _Draft(self._group, [words], [*self._lead_units, unit], steps=1)
        self._lead_units = []
        self._drafts.append(draft)
        self._fresh = False
        if target is not None:
            self._arrive(draft, target)

    def _arrive(self, draft: _Draft, target: ProceduralNode) -> None:
        draft.last = target if target.sort == "action" and target not in self._stated else None
        self._position = target
        if target.sort == "action":
            self._stated.add(target)

    def _set_lead(self, words: str, unit: Unit) -> None:
        self._drop_lead()
        self._lead = words
        self._lead_units.append(unit)

    def _drop_lead(self) -> None:
        """State by itself what a gateway left to say if nothing goes on from there."""
        if self._lead:
            words, self._lead = self._lead, ""
            self._drafts.append(_Draft(self._group, [f"{words}something else is done"], self._lead_units))
            self._lead_units = []

    def _write_constraint(self, unit: Unit) -> None:
        """Put a constraint behind the sentence of its action, which may still be added to."""
        if not self._drafts:
            self._drafts.append(_Draft(self._group))
        self._drafts[-1].constraints.append(unit)

    def _finish_draft(self, draft: _Draft) -> list[DocumentSentence]:
        """Return a sentence and those about the constraints of its actions."""
        pieces = draft.pieces
        if len(pieces) > 2 and all(piece.startswith(", then ") for piece in pieces[-2:]):
            pieces = [*pieces[:-1], f", and then {pieces[-1].removeprefix(', then ')}"]
        sentences = [("".join(pieces), tuple(dict.fromkeys(draft.units)))] if pieces else []
        by_action: dict[ProceduralNode, list[Unit]] = {}
        for unit in draft.constraints:
            by_action.setdefault(next(node for node in unit.nodes if node.sort == "action"), []).append(unit)
        for action, units in by_action.items():
            sentences += self._constraint_sentences(action, units)
        return [DocumentSentence(f"{upper_first(words)}.", units, draft.group) for words, units in sentences]

    def _constraint_sentences(self, action: ProceduralNode, units: list[Unit]) -> list[tuple[str, tuple[Unit, ...]]]:
        with_actor = needs_actor(self._graph, action)
        data = [unit for unit in units if unit.kind != "action-notice"]
        sentences = []
        if data:
            required = [unit.nodes[0] for unit in data if unit.kind == "data-action"]
            produced = [unit.nodes[1] for unit in data if unit.kind == "action-data"]
            sentences.append((constraint_clauses(action, required, produced, with_actor), tuple(data)))
        notices = (unit for unit in units if unit.kind == "action-notice")
        return sentences + [(notice_clause(action, unit.nodes[1], with_actor), (unit,)) for unit in notices]


def _unconditional(split: ProceduralNode) -> str:
    return "in any case, " if split.sort == "inclusive" else "in the remaining case, "
