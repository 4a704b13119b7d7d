"""The diagrams of what questions are about and of their answers, for reports that show them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..benchmarks.diagram_pairs import packed_pair
from ..diagram import pack

if TYPE_CHECKING:
    from ..trial import Question, Trial
    from .suites import Collected


class Drawings:
    """What was drawn and is not told yet; each workflow is told once."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}
        self._told: set[str] = set()

    def draw(self, question: Question, collected: Collected) -> None:
        """Nothing; to be called when the question is built, while its workflow is still at hand: later it costs
        another one.
        """
        cluster = question.cluster
        if cluster not in self._drawn and cluster not in self._told:
            diagram = collected.family.diagram(collected.reference, collected.settings)
            self._drawn[cluster] = pack(diagram.to_json()) if diagram else ""

    def told(self, made: Trial, collected: Collected, again: bool) -> Trial:
        """The trial with the diagram of its workflow, once for each workflow, unless `again`."""
        if again:
            self._told.discard(made.question.cluster)
        self.draw(made.question, collected)
        self._told.add(made.question.cluster)
        diagram = self._drawn.pop(made.question.cluster, "")
        return replace(made, diagram=diagram, diagram_pair=packed_pair(collected.family, made))
