"""An element of a procedure that a model extracted from a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ElementKind = Literal["activity", "condition", "gateway", "needs", "produces", "notice", "end"]


@dataclass(frozen=True, slots=True)
class ExtractedElement:
    """An element.

    Args:
        kind: "gateway" is a cue phrase that connects activities; "needs", "produces" and "notice" are of the activity
            before.
        text: Its words; empty for "end".
        actor: Who does an activity; empty if that is not stated.
    """

    kind: ElementKind
    text: str = ""
    actor: str = ""
