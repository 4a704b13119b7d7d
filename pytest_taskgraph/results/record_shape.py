"""What the parts of a record must be, as docs/record.schema.json says it, for what is read of them to be usable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from ..trial import DiagramEdge, DiagramGroup, DiagramNode, Question, Reading, Reply, Score, Trial
from .about import About
from .case import Case
from .shape import Fault, Range, Shape, either, fields_shape, listed, members_shape, named

_SHARE: Final = Annotated[float, Range(0, 1)]
_COUNT: Final = Annotated[int, Range(0)]
_ORDINAL: Final = Annotated[int, Range(1)]
_JUDGE: Final = Literal["auto", "questions", "gates", "none"]


def faults(record: dict[str, Any]) -> Iterator[tuple[str, Fault]]:
    """What is not as it must be, and where: "what the run was", or "trial 3"; the first fault of each."""
    if (fault := _run().fault(record)) is not None:
        yield "what the run was", fault
        return
    find = _trial().fault
    for at, one in enumerate(record["trials"], 1):
        if (fault := find(one)) is not None:
            yield f"trial {at}", fault


@cache
def _run() -> Shape:
    """All but the trials, of which no more is looked at than that they are a list."""
    diagram = {"title": str, "nodes": list[DiagramNode], "edges": list[DiagramEdge], "groups": list[DiagramGroup]}
    parts = {
        "trials": Shape("a list", {list: None}),
        "texts": dict[str, str],
        "diagrams": named(members_shape({**diagram, "omitted": _COUNT}, spare={"omitted"})),
        "patterns": list[str],
        "totals": list[dict[str, Any]],
    }
    facts = {"reading": Reading, "judge": _JUDGE, "questions": _COUNT | None, "gates": list[Case]}
    return fields_shape(About, {**facts, **parts}, spare={"diagrams", "patterns", "totals"})


@cache
def _trial() -> Shape:
    tokens: Mapping[str, Any] = {"tokens_in": _COUNT | None, "tokens_out": _COUNT | None}
    question = {"prompt": list[str], "chance": _SHARE | None, "repetition": _ORDINAL}
    exchange = {  # what reports and new marks look at
        "role": str, "text": str | None, "calls": list[Any] | None, "metric": str, "value": float | None,
        "cost": float | None, **tokens,
    }  # fmt: skip
    parts = {
        "question": fields_shape(Question, question),
        "reply": either(fields_shape(Reply, {**tokens, "retries": _COUNT}), None),
        "score": either(fields_shape(Score, {"value": _SHARE}), None),
        "exchanges": listed(members_shape(exchange, exchange.keys())),
        "diagram": None,  # it stands in `diagrams`
        "requests": _COUNT, "retries": _COUNT, "attempts": _ORDINAL,
    }  # fmt: skip
    return fields_shape(Trial, parts)
