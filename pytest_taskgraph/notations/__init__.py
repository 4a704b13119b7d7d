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
        "bpmn": Deferred(_load_bpmn),
    },
)


def _load_actions() -> Notation:
    from .github_actions import ACTIONS

    return ACTIONS


def _load_argo() -> Notation:
    from .argo import ARGO

    return ARGO


FILE_FORMATS: Catalog[Notation] = Catalog(
    "file format",
    {"actions": Deferred(_load_actions), "argo": Deferred(_load_argo), "bpmn": Deferred(_load_bpmn)},
)
"""Notations of other tools, in which people have workflows: such a file is never rewritten."""


def notation(name: str) -> Notation:
    """Return the notation of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the known names.
    """
    return NOTATIONS[name]


def known_notations() -> tuple[Notation, ...]:
    """Return all notations that read files: those that are written first, then those that are only read."""
    return (*NOTATIONS.values(), *(each for name, each in FILE_FORMATS.items() if name not in NOTATIONS))


def known_notation(name: str) -> Notation:
    """Return the notation of that name, whether it is written or only read.

    Raises:
        UnknownNameError: if there is none.
    """
    return FILE_FORMATS[name] if name in FILE_FORMATS else NOTATIONS[name]


__all__ = ["FILE_FORMATS", "NOTATIONS", "Notation", "known_notation", "known_notations", "notation"]
