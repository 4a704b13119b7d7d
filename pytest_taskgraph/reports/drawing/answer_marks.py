"""An answer in the drawing of what its question is about: where each name of the answer stands, and how it is marked.

A name is that of the node or group with this label; where several have the label, that whose path it is, such as
`Outer.Inner`. What stands nowhere, or in several places, is unplaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...diagram import Diagram, DiagramEdge
from ...scoring.answer_parts import AnswerParts, NamedPart, answer_parts
from ...trial import Trial
from ..escape import one_line
from .marks import MARK_LOOKS, Mark, MarkKind, Marks
from .svg import GATEWAYS

MOST_UNPLACED: Final = 20  # names
LONGEST_NAME: Final = 100  # columns
LONGEST_QUESTION: Final = 20_000  # characters that are searched for names
MOST_PAIRS: Final = 500
DEEPEST: Final = 12  # parts of a path
_ORDER = {kind: at for at, kind in enumerate(MARK_LOOKS)}
_PLAIN_WORD = re.compile(r"[^\W\d_]?[^\WA-Z\d_]*")  # a word as any sentence may hold it
_QUOTES = "'\"`“”‘’«»"


@dataclass(frozen=True, slots=True)
class AnswerMarks:
    """The marks of an answer in a drawing."""

    marks: Marks = field(default_factory=Marks)
    unplaced: Mapping[MarkKind, Sequence[str]] = field(default_factory=dict)  # names that stand nowhere in it
    tags: str = ""  # what the tags of the marks are; empty if they have none

    @property
    def unplaced_text(self) -> str:
        """Return the names that stand nowhere as printable text; empty if there are none."""
        return "; ".join(
            f"{', '.join(one_line(name, LONGEST_NAME) for name in names[:MOST_UNPLACED])}"
            f"{f' and {len(names) - MOST_UNPLACED} more' if len(names) > MOST_UNPLACED else ''}"
            f" ({MARK_LOOKS[kind].words})"
            for kind, names in self.unplaced.items()
        )


class MarkedSubject:
    """A diagram of what questions are about, in which their answers are marked."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self._by_name = _parts_by_name(diagram)
        self._labels = {part.id: part.label for part in diagram.parts}
        self._paths = _paths(diagram)
        self._groups = {group.id for group in diagram.groups}
        self._names = sorted({label for label in self._labels.values() if label}, key=lambda name: (-len(name), name))

    def marks(self, trial: Trial) -> AnswerMarks:
        """Return the marks of the answer of a trial, and of the names in its question."""
        names_in_question = _mentioned(self._names, trial.question.text[:LONGEST_QUESTION])
        parts = answer_parts(trial.question, trial.score)
        scoped = any(part_id in self._groups for name in names_in_question for part_id in self._by_name.get(name, ()))
        placed: dict[str, list[Mark]] = {}
        unplaced: dict[MarkKind, list[str]] = {}
        for part in parts.names:
            part_id = self._find(part, scoped)
            if part_id:
                placed.setdefault(part_id, []).append(Mark(part.verdict, part.tag))
            elif parts.complete:
                unplaced.setdefault(part.verdict, []).append(part.name)
        for name in names_in_question:
            part_id = self._find(NamedPart(name, "right"), scoped)
            if part_id and part_id not in placed:
                placed[part_id] = [Mark("asked")]
        edges = self._edges(parts, unplaced)
        by_kind = {part_id: sorted(marks, key=_rank) for part_id, marks in placed.items()}
        return AnswerMarks(Marks(by_kind, edges), unplaced, parts.tags if any(map(_has_tag, by_kind.values())) else "")

    def _find(self, part: NamedPart, scoped: bool) -> str:
        """Return the id of the node or group that a name means; empty if there is none, or if it may be another.

        Args:
            part: The name.
            scoped: True if the question is about the inside of a group, where a path may begin.
        """
        for name in (part.name, *part.spellings):
            part_ids = self._by_name.get(name, [])
            exact = [part_id for part_id in part_ids if self._paths[part_id] == name]
            if len(part_ids) == 1:
                return part_ids[0]
            if len(exact) == 1 and not scoped:
                return exact[0]
        return ""

    def _edges(self, parts: AnswerParts, unplaced: dict[MarkKind, list[str]]) -> dict[DiagramEdge, Mark]:
        """Return the marks of links: those that carry a condition, and those that an order runs against."""
        marks: dict[DiagramEdge, Mark] = {}
        for part in parts.conditions:
            carriers = [edge for edge in self.diagram.edges if edge.label == part.name]
            if len(carriers) == 1:
                marks[carriers[0]] = Mark(part.verdict)
            else:
                unplaced.setdefault(part.verdict, []).append(part.name)
        for first, second in parts.reversed_pairs[:MOST_PAIRS]:
            ends = self._find(NamedPart(first, "right"), True), self._find(NamedPart(second, "right"), True)
            marks |= dict.fromkeys(self._direct_path(*ends) if all(ends) else (), Mark("misplaced"))
        return marks

    def _direct_path(self, source: str, target: str) -> list[DiagramEdge]:
        """Return the links of the control flow from one node to another with gateways alone between them."""
        gateways = {node.id for node in self.diagram.nodes if node.kind in GATEWAYS}
        edge_into: dict[str, DiagramEdge | None] = {source: None}
        waiting = [source]
        for node in waiting:
            for edge in self.diagram.edges:
                if edge.source == node and edge.kind == "control" and edge.target not in edge_into:
                    edge_into[edge.target] = edge
                    waiting += [edge.target] if edge.target in gateways else []
        path, edge_to = [], edge_into.get(target)
        while edge_to is not None:
            path.append(edge_to)
            edge_to = edge_into[edge_to.source]
        return path


NOT_MARKED: Final = AnswerMarks()


def _rank(mark: Mark) -> int:
    return _ORDER[mark.kind]


def _has_tag(marks: Sequence[Mark]) -> bool:
    return any(mark.tag for mark in marks)


def _paths(diagram: Diagram) -> dict[str, str]:
    """Return for each id the labels of its groups and its own, joined by dots."""
    paths: dict[str, str] = {}
    for group in diagram.groups:
        above = paths.get(group.parent, "")
        paths[group.id] = f"{above}.{group.label}" if above else group.label
    inside = {
        node.id: f"{paths[node.group]}.{node.label}" if node.group in paths else node.label for node in diagram.nodes
    }
    return paths | inside


def _parts_by_name(diagram: Diagram) -> dict[str, list[str]]:
    """Return the ids that a name may mean: by label, and by each end of their path. Tasks have precedence over data."""
    paths = _paths(diagram)
    first = {part.id for part in diagram.parts if getattr(part, "kind", "task") in ("task", "composite")}
    ids_by_name: dict[str, list[str]] = {}
    for part in diagram.parts:
        steps = paths[part.id].split(".")
        ends = {".".join(steps[at:]) for at in range(max(0, len(steps) - DEEPEST), len(steps))}
        for name in sorted(ends | {part.label}):
            ids_by_name.setdefault(name, []).append(part.id)
    return {name: [part_id for part_id in ids if part_id in first] or ids for name, ids in ids_by_name.items()}


def _mentioned(names: Sequence[str], text: str) -> list[str]:
    """Return the names, the longest first, that stand in a text outside longer ones; a plain word only in quotes."""
    mentioned = []
    for name in names:
        at = text.find(name)
        while at >= 0 and not _is_mention(name, text[at - 1 : at], text[at + len(name) :][:1]):
            at = text.find(name, at + 1)
        if at >= 0:
            mentioned.append(name)
            text = text.replace(name, "\0")
    return mentioned


def _is_mention(name: str, before: str, after: str) -> bool:
    """Return True if a name that stands between two characters, or at an end of the text, is meant as a name."""
    if _PLAIN_WORD.fullmatch(name):
        return before in _QUOTES and after in _QUOTES and bool(before and after)
    return not any(character.isalnum() or character == "_" for character in before + after)
