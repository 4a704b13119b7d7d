"""The notations, listed by hand: each writes a workflow as text and reads it back.

Not a notation, because its graphs are no workflows:

procedural_text  procedural graphs as text, `Node -> Node`, written and read
"""

from __future__ import annotations

from pathlib import PurePath

from ..catalog import Catalog, Deferred
from ..errors import UnknownNameError
from .notation import Notation
from .plain_json import JSON
from .wadl import WADL, WADL_EXPANDED, WADL_SEPARATE


def _load_mermaid() -> Notation:
    from .mermaid import MERMAID

    return MERMAID


def _load_prose() -> Notation:
    from .prose import PROSE

    return PROSE


NOTATIONS: Catalog[Notation] = Catalog(
    "notation",
    {
        **{each.name: each for each in (WADL, WADL_SEPARATE, WADL_EXPANDED)},
        "mermaid": Deferred(_load_mermaid),
        JSON.name: JSON,
        "prose": Deferred(_load_prose),
    },
)


def notation(name: str) -> Notation:
    """Return the notation of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the known names.
    """
    return NOTATIONS[name]


def for_file(path: str) -> Notation:
    """Return the notation of a file by the suffix of its path; of several, the first of the shelf.

    Raises:
        UnknownNameError: if no notation has the suffix.
    """
    suffix = PurePath(path).suffix.lower() or path.lower()
    for candidate in NOTATIONS.values():
        if suffix in candidate.suffixes:
            return candidate
    known_suffixes = {suffix for candidate in NOTATIONS.values() for suffix in candidate.suffixes}
    raise UnknownNameError("suffix of a workflow file", suffix, known_suffixes)


__all__ = ["NOTATIONS", "Notation", "for_file", "notation"]
