"""The procedural graph of an answer, whatever it holds, and that of a reference, which must be well-formed.

Both are JSON: `{"flows": [[source, target, condition], ...]}` as `ProceduralGraph.to_json` writes them. An answer
may also hold `unread`, the lines of the reply that could not be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import UsageError
from ...trial import Json
from ...workflow.procedural_graph import ProceduralFlow, ProceduralGraph


def answered_procedure(given: Json) -> ProceduralGraph:
    """Return the graph that an answer states; never fails.

    An answer of another shape has no flows. A flow of another shape is left out.
    """
    flows = given.get("flows") if isinstance(given, dict) else None
    return ProceduralGraph.of(_well_formed(flows) if isinstance(flows, list) else ())


def unread_lines(given: Json) -> tuple[str, ...]:
    """Return the lines of the reply that an answer states to be unread; never fails."""
    lines = given.get("unread") if isinstance(given, dict) else None
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()


def gold_procedure(reference: Json) -> ProceduralGraph:
    """Return the graph that a reference states.

    Raises:
        UsageError: if the reference has another shape.
    """
    flows = reference.get("flows") if isinstance(reference, dict) else None
    try:
        return ProceduralGraph.from_json(flows)
    except ValueError as problem:
        raise UsageError(
            f"reference of a question about a procedural graph: {problem}; expected "
            '{"flows": [[[sort, text, actor], [sort, text, actor], condition], ...]}; correct the reference'
        ) from None


def _well_formed(flows: list[Json]) -> Iterator[ProceduralFlow]:
    for flow in flows:
        try:
            yield from ProceduralGraph.from_json([flow]).flows
        except ValueError:
            continue
