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
from ..drawing.svg import PlacedDiagram
from .drawn_questions import DrawnQuestions

SUBJECT, PAIR_OF_ANSWERS = "what the question is about", "the expected and the given answer"


class MarkedDrawings:
    """The diagrams that the page draws, in which the answers to their questions are marked."""

    def __init__(self, diagrams: Mapping[str, Any], drawn: DrawnQuestions) -> None:
        """Prepare the drawings.

        Args:
            diagrams: The diagrams of a record by cluster.
            drawn: What the page draws of them.
        """
        self._diagrams, self._drawn = diagrams, drawn
        self._subjects: dict[str, MarkedSubject] = {}
        self._placed: dict[str, PlacedDiagram] = {}

    def drawings(self) -> dict[str, str]:
        """Return the drawings by cluster, without marks; the same order for the same record."""
        drawn = (cluster for cluster in self._diagrams if cluster in self._drawn.clusters)
        return {cluster: self._place(cluster).svg(style=False) for cluster in drawn}

    def _place(self, cluster: str) -> PlacedDiagram:
        if cluster not in self._placed:
            self._placed[cluster] = PlacedDiagram.of(self._subject(cluster).diagram)
        return self._placed[cluster]

    def _subject(self, cluster: str) -> MarkedSubject:
        if cluster not in self._subjects:
            self._subjects[cluster] = MarkedSubject(Diagram.from_json(self._diagrams[cluster]))
        return self._subjects[cluster]

    def marks(self, trial: Trial) -> AnswerMarks:
        """Return the marks of the answer in the drawing of its cluster; none where nothing is drawn."""
        cluster = trial.question.cluster
        return self._subject(cluster).marks(trial) if cluster in self._drawn.clusters else NOT_MARKED

    def pair(self, trial: Trial) -> str:
        """Return the pair of diagrams of the answer, packed; empty if there is none or it is not drawn."""
        return trial.diagram_pair if (trial.question.id, trial.model) in self._drawn.pairs else ""

    def detail(self, trial: Trial, answer: AnswerMarks) -> dict[str, Any]:
        """Return what the script needs to find and mark the drawing of a question, and what the page does not draw."""
        cluster = trial.question.cluster
        drawn = cluster in self._drawn.clusters
        hidden = [SUBJECT] * (cluster in self._diagrams and not drawn)
        hidden += [PAIR_OF_ANSWERS] * bool(trial.diagram_pair and not self.pair(trial))
        undrawn = {"undrawn": ", and ".join(hidden)} if hidden else {}
        if not drawn:
            return {"cluster": "", **undrawn}
        diagram, marks = self._subject(cluster).diagram, answer.marks
        nodes = [[number, MARK_LOOKS[mark.kind].code, *([mark.tag] if mark.tag else [])]
                 for number, part in enumerate(diagram.parts) for mark in marks.parts.get(part.id, ())]  # fmt: skip
        links = [[number, MARK_LOOKS[marks.edges[edge].kind].code]
                 for number, edge in enumerate(diagram.edges) if edge in marks.edges]  # fmt: skip
        parts = {"nodes": nodes, "links": links, "tags": answer.tags, "unplaced": answer.unplaced_text}
        return {"cluster": cluster, **undrawn, **{name: value for name, value in parts.items() if value}}

    def drawing(self, cluster: str, answer: AnswerMarks) -> tuple[str, dict[str, str]]:
        """Return the drawing of a cluster with the marks of an answer, and the counts by kind of mark."""
        if cluster not in self._drawn.clusters:
            return "", {}
        element = self._place(cluster).svg(marks=answer.marks, style=False)
        return element, {
            str(kind): text for kind, text in mark_counts(self._subject(cluster).diagram, answer.marks).items()
        }
