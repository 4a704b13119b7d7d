"""A family of benchmarks that draws its answers, for tests: the steps of a recipe, a chain of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair
from pytest_taskgraph.trial import Json, Question, Score

STEPS = ["Boil", "Warm", "Brew"]


class Recipes(Family):
    """What the steps of a recipe are."""

    name = "recipes"

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return [QuestionReference(f"tea-{at}", "steps", {"ordinal": at}) for at in range(4)]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        prompt = f"What are the steps of recipe {reference.payload['ordinal']}?"
        return Question(
            reference.id, self.name, "steps", "", prompt, prompt, "text", "; ".join(STEPS), "rouge1", place="whole"
        )

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        return DiagramPair(_chain(question.reference), _chain(score.given))


def _chain(steps: Json) -> Diagram:
    ids = str(steps).split("; ")
    links = [DiagramEdge(first, then) for first, then in pairwise(ids)]
    return Diagram("Tea", [DiagramNode(node_id, node_id) for node_id in ids], links)
