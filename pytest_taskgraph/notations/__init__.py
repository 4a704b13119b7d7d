"""The notations, listed by hand: each writes a workflow as text and reads it back.

Not a notation, because its graphs are no workflows:

procedural_text  procedural graphs as text, `Node -> Node`, written and read
"""

from __future__ import annotations

from ..catalog import Catalog, Deferred
from .notation import Notation
from .plain_json import JSON
from .wadl import WADL, WADL_EXPANDED, WADL_SEPARATE


def _load_mermaid() -> Notation:
    from .mermaid import MERMAID

    return MERMAID


def _load_prose() -> Notation:
    from .prose import PROSE

    return PROSE


def _load_bpmn() -> Notation:
    from .bpmn import BPMN

    return BPMN


NOTATIONS: Catalog[Notation] = Catalog(
    "notation",
    {
        **{each.name: each for each in (WADL, WADL_SEPARATE, WADL_EXPANDED)},
        "mermaid": Deferred(_load_mermaid),
        JSON.name: JSON,
        "prose": Deferred(_load_prose),
    },
)

FILE_FORMATS: Catalog[Notation] = Catalog("file format", {"bpmn": Deferred(_load_bpmn)})
"""Notations that are only read: those of other tools, in which people have workflows."""


def notation(name: str) -> Notation:
    """Return the notation of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the known names.
    """
    return NOTATIONS[name]


__all__ = ["FILE_FORMATS", "NOTATIONS", "Notation", "notation"]
