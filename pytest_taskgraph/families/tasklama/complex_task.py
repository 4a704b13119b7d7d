"""A complex task with its steps and the order between them: the task graph of Yuan et al. (2024), definition 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ComplexTask:
    """A complex task, the context in which it is to be done, and its task graph.

    Args:
        id: Unlike that of any other task of its set; letters, digits and hyphens.
        title: What is to be done, such as "Plan a wedding".
        context: The assumptions of the annotator, such as "In Italy"; may be empty.
        steps: The steps in the order of the annotator; one of several orders in which the task can be done, or none.
        dependencies: Pairs of indices of steps: the first must be done before the second. As annotated, without
            self-loops: cycles are possible, and pairs against the order of the steps.
        cluster: What similar tasks share; empty if that is not known.
        split: "train", "validation" or "test"; empty for a generated task.
    """

    id: str
    title: str
    context: tuple[str, ...]
    steps: tuple[str, ...]
    dependencies: tuple[tuple[int, int], ...]
    cluster: str = ""
    split: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the task as plain JSON values; `from_json` gives it back."""
        return {
            "id": self.id,
            "title": self.title,
            "context": list(self.context),
            "steps": list(self.steps),
            "dependencies": [list(pair) for pair in self.dependencies],
            "cluster": self.cluster,
            "split": self.split,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ComplexTask:
        """Return the task that `to_json` wrote."""
        return cls(
            data["id"],
            data["title"],
            tuple(data["context"]),
            tuple(data["steps"]),
            tuple((before, after) for before, after in data["dependencies"]),
            data["cluster"],
            data["split"],
        )
