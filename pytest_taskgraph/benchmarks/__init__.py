"""Benchmarks: what is asked. A family is one folder, one line here, and one suite."""

from __future__ import annotations

from ..errors import UnknownNameError
from .family import Family
from .understanding import understanding

FAMILIES: dict[str, Family] = {"understanding": understanding}


def family(name: str) -> Family:
    """The family of that name. Raises UnknownNameError."""
    if name not in FAMILIES:
        raise UnknownNameError("benchmark family", name, FAMILIES)
    return FAMILIES[name]
