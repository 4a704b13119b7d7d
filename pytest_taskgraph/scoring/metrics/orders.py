"""How near a list of names is to an order that leaves freedom (metrics-spec, section 4)."""

from __future__ import annotations

from ...trial import Json
from ..partial_order import partial_order
from .order_search import distance


def order(given: Json, reference: Json) -> float:
    """1 - d / max(names given, tasks), 0.0 to 1.0; 1.0 if there are neither; an answer that is no list has no names.

    d is the smallest unrestricted Damerau–Levenshtein distance between the answer and any order that the reference
    (see `partial_order`) allows. Unknown and repeated names cost edits. Raises UsageError for a reference that is no
    partial order, OrderTooWideError where d would need more than MOST_STATES states; never where the downsets of the
    reference times the names given and one are fewer.
    """
    partial = partial_order(reference)
    answer = [str(name) for name in given] if isinstance(given, list) else []
    longest = max(len(answer), len(partial.labels))
    return 1.0 - distance(partial, answer) / longest if longest else 1.0
