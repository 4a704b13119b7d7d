"""Answers marked in the drawings of the page: numbers for its script, and whole drawings for pages without one.

The script finds node or group K by `data-n="K"` and link K by `data-e="K"`, and marks it as `drawing/marks.py` does.

Questions whose drawings are in the page: a stated number of them, for a drawing costs more than its question.

A drawing takes about 3 ms and a pair 5 ms, as long as all else about a question; so the page of a large run has those
of the answers that are looked at first.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

from ...diagram import Diagram, unpack
from ...trial import Trial
from ..drawing.answer_marks import NOT_MARKED, AnswerMarks, MarkedSubject
from ..drawing.gantt import schedule_charts
from ..drawing.marks import MARK_LOOKS, mark_counts
from ..drawing.svg import PlacedDiagram
from ..drawing.svg_pair import DrawnPair, draw_pair, draw_schedules

MOST_DRAWN: Final = 60  # subjects of questions, and pairs of an expected and a given answer
MOST_NOT_RIGHT: Final = 50  # of these, for answers that are neither right nor graded: a page of the list
_Key = TypeVar("_Key", bound=Hashable)
_ORDER = {"graded": 1, "right": 2, "skipped": 3}  # what is not right comes first
SUBJECT, PAIR_OF_ANSWERS = "what the question is about", "the expected and the given answer"


@dataclass(frozen=True, slots=True)
class DrawnQuestions:
    """What the page draws: subjects by cluster, and pairs by the id of the question and the model."""

    clusters: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def sort_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials in the order of the page: not right, graded, right, skipped; else their order stays."""
    return sorted(trials, key=_rank)


def select_drawn(trials: Sequence[Trial], diagrams: Collection[str]) -> DrawnQuestions:
    """Return what the page draws of the trials.

    Questions about the same subject share its drawing, so that the page may draw it for more than MOST_DRAWN of them.

    Args:
        trials: The trials, in the order of the page.
        diagrams: The clusters whose diagrams the record has.
    """
    subjects = ((trial.question.cluster, _rank(trial)) for trial in trials if trial.question.cluster in diagrams)
    pairs = (((trial.question.id, trial.model), _rank(trial)) for trial in trials if _has_pair(trial))
    return DrawnQuestions(frozenset(_select(subjects)), frozenset(_select(pairs)))


def _has_pair(trial: Trial) -> bool:
    return bool(trial.diagram_pair) or schedule_charts(trial) is not None


def _rank(trial: Trial) -> int:
    return _ORDER.get(trial.outcome, 0)


def _select(ranked: Iterable[tuple[_Key, int]]) -> Iterator[_Key]:
    """Return the first MOST_DRAWN different keys, of which at most MOST_NOT_RIGHT are of rank 0."""
    ranks: dict[_Key, int] = {}
    for key, rank in ranked:
        ranks.setdefault(key, rank)
    first = islice((key for key, rank in ranks.items() if rank == 0), MOST_NOT_RIGHT)
    others = (key for key, rank in ranks.items() if rank > 0)
    return islice((key for keys in (first, others) for key in keys), MOST_DRAWN)


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

    def pair(self, trial: Trial) -> DrawnPair | None:
        """Return the drawings of the expected and the given answer; None if there are none or they are left out."""
        if (trial.question.id, trial.model) not in self._drawn.pairs:
            return None
        return draw_pair(unpack(trial.diagram_pair), style=False) if trial.diagram_pair else draw_schedules(trial)

    def detail(self, trial: Trial, answer: AnswerMarks) -> dict[str, Any]:
        """Return what the script needs to find and mark the drawing of a question, and what the page does not draw."""
        cluster = trial.question.cluster
        drawn = cluster in self._drawn.clusters
        hidden = [SUBJECT] * (cluster in self._diagrams and not drawn)
        left_out = (trial.question.id, trial.model) not in self._drawn.pairs
        hidden += [PAIR_OF_ANSWERS] * (left_out and _has_pair(trial))
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
