"""Right or not: equal answers, and conditions that mean the same."""

from __future__ import annotations

from ...trial import Json
from ..condition_meaning import means_the_same


def correctness(given: Json, reference: Json) -> float:
    """1.0 if the answer equals the reference, case included, else 0.0."""
    return 1.0 if given == reference else 0.0


def equivalence(given: Json, reference: Json) -> float:
    """1.0 if the answer provably holds in the same situations as the reference (see `conditions`), else 0.0.

    Raises UsageError for a reference that states no condition.
    """
    return 1.0 if means_the_same(given if isinstance(given, str) else "", reference) else 0.0
