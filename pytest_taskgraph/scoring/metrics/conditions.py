"""Whether a condition means the same as another (specs/patterns.md, B10)."""

from __future__ import annotations

from ...trial import Json
from ..conditions import means_the_same


def equivalence(given: Json, reference: Json) -> float:
    """1.0 if the answer provably holds in the same situations as the reference (see `conditions`), else 0.0.

    Raises UsageError for a reference that states no condition.
    """
    return 1.0 if means_the_same(given if isinstance(given, str) else "", reference) else 0.0
