"""Right or not (metrics-spec, section 2)."""

from __future__ import annotations

from ...trial import Json


def correctness(given: Json, reference: Json) -> float:
    """1.0 if the answer equals the reference, case included, else 0.0."""
    return 1.0 if given == reference else 0.0
