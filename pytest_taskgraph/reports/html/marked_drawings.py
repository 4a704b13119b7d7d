"""Answers marked in the drawings of the page: numbers for its script, and whole drawings for pages without one.

The script finds node or group K by `data-n="K"` and link K by `data-e="K"`, and marks it as `drawing/marks.py` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...diagram import Diagram
from ...trial import Trial
from ..drawing.answer_marks import NOT_MARKED, AnswerMarks, MarkedSubject
from ..drawing.marks import MARK_LOOKS, mark_counts
from ..drawing.svg import svg


class MarkedDrawings:
    """The diagrams of a record, in which the answers to their questions are marked."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        diagrams = record.get("diagrams")
        self._diagrams: Mapping[str, Any] = diagrams if isinstance(diagrams, dict) else {}
        self._subjects: dict[str, MarkedSubject] = {}

    def marks(self, trial: Trial) -> AnswerMarks:
        """Return the marks of the answer in the drawing of its cluster; none where nothing is drawn."""
        cluster = trial.question.cluster
        if cluster not in self._diagrams:
            return NOT_MARKED
        if cluster not in self._subjects:
            self._subjects[cluster] = MarkedSubject(Diagram.from_json(self._diagrams[cluster]))
        return self._subjects[cluster].marks(trial)

    def detail(self, cluster: str, answer: AnswerMarks) -> dict[str, Any]:
        """Return what the script needs to mark an answer and to name the rest of it; empty if that is nothing."""
        if cluster not in self._subjects:
            return {}
        diagram, marks = self._subjects[cluster].diagram, answer.marks
        nodes = [[number, MARK_LOOKS[mark.kind].code, *([mark.tag] if mark.tag else [])]
                 for number, part in enumerate(diagram.parts) for mark in marks.parts.get(part.id, ())]  # fmt: skip
        links = [[number, MARK_LOOKS[marks.edges[edge].kind].code]
                 for number, edge in enumerate(diagram.edges) if edge in marks.edges]  # fmt: skip
        parts = {"nodes": nodes, "links": links, "tags": answer.tags, "unplaced": answer.unplaced_text}
        return {name: value for name, value in parts.items() if value}

    def drawing(self, cluster: str, answer: AnswerMarks) -> tuple[str, dict[str, str]]:
        """Return the drawing of a cluster with the marks of an answer, and the counts by kind of mark."""
        if cluster not in self._subjects:
            return "", {}
        element = svg(self._diagrams[cluster], marks=answer.marks, style=False)
        return element, {
            str(kind): text for kind, text in mark_counts(self._subjects[cluster].diagram, answer.marks).items()
        }
