"""Diagrams of questions and answers, for reports that show them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...benchmarks.contract import pack_diagram_pair
from ...diagram import pack

if TYPE_CHECKING:
    from ...trial import Question, Trial
    from ..suites import CollectedQuestion


class Drawings:
    """Diagrams of clusters of questions, each of which is attached to a single trial."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}
        self._attached: set[str] = set()

    def draw(self, question: Question, collected: CollectedQuestion) -> None:
        """Draw the cluster of the question unless that is done. Cheap immediately after the question is built."""
        cluster = question.cluster
        if cluster not in self._drawn and cluster not in self._attached:
            diagram = collected.family.diagram(collected.reference, collected.settings)
            self._drawn[cluster] = pack(diagram.to_json()) if diagram else ""

    def attach(self, trial: Trial, collected: CollectedQuestion, again: bool) -> Trial:
        """Return the trial with the diagrams of its answer, and with that of its cluster if no other trial has it.

        Args:
            trial: The scored trial.
            collected: The collected question of the trial.
            again: True if the item runs again, and replaces the trial that may have the diagram.
        """
        cluster = trial.question.cluster
        if again:
            self._attached.discard(cluster)
        self.draw(trial.question, collected)
        self._attached.add(cluster)
        return replace(
            trial, diagram=self._drawn.pop(cluster, ""), diagram_pair=pack_diagram_pair(collected.family, trial)
        )
