"""Attributes of nodes and edges of Mermaid flowcharts: `A@{ shape: db, label: "Orders" }`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..source import Source

BAR, BEGIN, STOP = "fork", "sm-circ", "fr-circ"
_NAMES = {  # the shape, as its brackets open -> what attributes call it
    "[(": "cyl cylinder database db das h-cyl horizontal-cylinder lin-cyl disk lined-cylinder datastore data-store",
    "{": "diam decision diamond question",
    "{{": "hex hexagon prepare",
    BAR: "fork join",
    BEGIN: "sm-circ small-circle start",
    STOP: "fr-circ framed-circle stop",
}
SHAPE_OF = {name: opening for opening, names in _NAMES.items() for name in names.split()}
_ITEM = re.compile(r"""\s*([\w-]+)\s*:\s*(?:"([^"]*)"|'([^'\n]*)'|([^,}\n]*))\s*,?""")
_END = re.compile(r"\s*\}")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What attributes say that matters here; the others are about the drawing."""

    shape: str = ""  # in lower case
    label: str | None = None

    @property
    def opening(self) -> str:
        """The opening of the brackets that draw the same shape; "[" where the shape means nothing here."""
        return SHAPE_OF.get(self.shape, "[")


def attributes_at(source: Source, offset: int) -> tuple[Attributes, int]:
    """Return the attributes that stand at the offset of their `@{`, and the offset behind them. Raises ReadError."""
    said: dict[str, str] = {}
    at = offset + len("@{")
    while not (end := _END.match(source.text, at)):
        item = _ITEM.match(source.text, at)
        if item is None:
            source.fail(at, source.seen(at), "an attribute such as 'shape: rect', or '}'")
        said[item[1]] = next(value for value in (item[2], item[3], (item[4] or "").strip()) if value is not None)
        at = item.end()
    return Attributes(said.get("shape", "").lower(), said.get("label")), end.end()
