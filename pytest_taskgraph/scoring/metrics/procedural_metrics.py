"""The metric of procedural graphs: elements and flows against a gold graph.

Elements are scored after Du et al. (2024), appendix C.3 (`..procedural_graphs`). An answer is `{"flows": [...]}` as
`ProceduralGraph.to_json` writes them; flows of another shape are left out. The reference has the same shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...trial import Json
from ...workflow.procedural_graph import GATEWAYS, ProceduralGraph
from ..measurement import Measurement, declares
from ..name_lists import quote_start
from ..procedural_graphs.answered_graphs import answered_procedure, gold_procedure, unread_lines
from ..procedural_graphs.graph_scores import ELEMENTS, pool_counts, score_procedure

_POOLED: Final = {"gateway": GATEWAYS, "overall": ELEMENTS}
_UNREAD: Final = "unread_lines"
_MOST_SHOWN: Final = 3  # unread lines that a remark quotes


def _f1_of_no_answer(reference: Json) -> Measurement:
    return _procedural_f1(ProceduralGraph(), reference)


@declares(*(f"document_{element}_f1" for element in (*ELEMENTS, "gateway")), unparseable=_f1_of_no_answer)
def procedural_f1(given: Json, reference: Json) -> Measurement:
    """Return the F1 of all elements of a procedural graph together, 0.0 to 1.0; None if neither side has any.

    The scores of all elements, whatever their type, are summed before they are divided: an action counts as much as a
    gateway, a flow, or an actor. Beside it stands the F1 of each type in this document, None where it occurs on
    neither side, and of the three types of gateways together.

    For each type the parts `<element>_precision` and `<element>_recall` hold the sum of the scores and the number of
    elements, extracted or gold; so do `gateway_...` and `overall_...`. A table sums them over documents before it
    divides, as Du et al. do. A reply without an answer has no elements: it adds the gold ones to recall.

    The part `unread_lines` holds the number of lines of the reply that could not be parsed, and that of these lines and
    all flows together.
    """
    return _procedural_f1(answered_procedure(given), reference, unread_lines(given))


def _unread_remark(unread: Sequence[str]) -> str:
    if not unread:
        return ""
    quoted = ", ".join(map(quote_start, unread[:_MOST_SHOWN]))
    more = ", ..." if len(unread) > _MOST_SHOWN else ""
    return f"left out {len(unread)} {'line' if len(unread) == 1 else 'lines'} of the reply: {quoted}{more}"


def _procedural_f1(extracted: ProceduralGraph, reference: Json, unread: Sequence[str] = ()) -> Measurement:
    counts = score_procedure(extracted, gold_procedure(reference))
    counts |= {name: pool_counts(counts[element] for element in elements) for name, elements in _POOLED.items()}
    parts: dict[str, tuple[float, float]] = {_UNREAD: (len(unread), len(extracted.flows) + len(unread))}
    for name, count in counts.items():
        parts[f"{name}_precision"], parts[f"{name}_recall"] = count.extracted, count.gold
    values = {f"document_{name}_f1": counts[name].f1 for name in (*ELEMENTS, "gateway")}
    return Measurement(counts["overall"].f1, values, parts, _unread_remark(unread))
