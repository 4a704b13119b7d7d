"""A question of a pattern as the modules of the family refer to it, beside what travels for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..family import QuestionReference


@dataclass(frozen=True, slots=True)
class PatternReference:
    """Enough to build one question of a pattern again, in any process."""

    id: str
    pattern: str
    notation: str
    ordinal: int
    tasks: int = 0  # the size of the generated workflow
    source: int = -1  # the place of the user's own project among those given; -1: generated
    relation: str = ""  # how the question is varied; none where empty
    twin: str = ""  # the id of the question that it varies

    @classmethod
    def of(cls, reference: QuestionReference) -> PatternReference:
        """Return what the payload of a reference holds."""
        return cls(reference.id, reference.group, relation=reference.relation, twin=reference.twin, **reference.payload)

    def generic(self, labels: Mapping[str, str | int | None]) -> QuestionReference:
        """Return the reference that travels, with these labels."""
        payload = {"notation": self.notation, "ordinal": self.ordinal, "tasks": self.tasks, "source": self.source}
        return QuestionReference(self.id, self.pattern, payload, labels, relation=self.relation, twin=self.twin)
