"""The notations, listed by hand: each writes a workflow down and reads it back.

Not among them, for it holds no workflow:

procedural_text  procedural graphs as text, `Node -> Node`, written and read
"""

from __future__ import annotations

from pathlib import PurePath

from ..catalog import Catalog
from ..errors import UnknownNameError
from .mermaid import MERMAID
from .mermaid.meaning import drawn_ends
from .notation import Notation
from .plain_json import JSON
from .prose import PROSE
from .wadl import WADL, WADL_EXPANDED, WADL_SEPARATE

_SHELF = (WADL, WADL_SEPARATE, WADL_EXPANDED, MERMAID, JSON, PROSE)
NOTATIONS: Catalog[Notation] = Catalog("notation", {one.name: one for one in _SHELF})


def notation(name: str) -> Notation:
    """The notation of that name. Raises UnknownNameError, which names those that are known."""
    return NOTATIONS[name]


def for_file(path: str) -> Notation:
    """The notation of a file, by the suffix of its path; of several the first of the shelf. Raises UnknownNameError."""
    suffix = PurePath(path).suffix.lower() or path.lower()
    for one in NOTATIONS.values():
        if suffix in one.suffixes:
            return one
    known = {suffix for one in NOTATIONS.values() for suffix in one.suffixes}
    raise UnknownNameError("suffix of a workflow file", suffix, known)


__all__ = ["NOTATIONS", "Notation", "drawn_ends", "for_file", "notation"]
