"""The cosine of two embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence


def cosine(vectors: Sequence[Sequence[float]]) -> float | None:
    """Return the cosine of the angle between two vectors, clipped to 0.0 to 1.0; None for one of length 0."""
    ours, theirs = (_unit(vector) for vector in vectors)
    if not ours or not theirs:
        return None
    return min(1.0, max(0.0, math.fsum(a * b for a, b in zip(ours, theirs, strict=True))))


def _unit(vector: Sequence[float]) -> list[float]:
    """Return the vector scaled to length 1; an empty list for a vector of length 0.

    The vector is divided by its largest part first, so that no part underflows.
    """
    largest = max(map(abs, vector), default=0.0)
    scaled = [part / largest for part in vector] if largest else []
    return [part / math.hypot(*scaled) for part in scaled]
