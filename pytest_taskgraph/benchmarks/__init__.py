"""Benchmarks: what is asked. A family is one folder, one line here, and one suite."""

from __future__ import annotations

from ..catalog import Catalog
from .family import Family
from .paged import paged
from .steps import steps
from .tasklama import tasklama
from .understanding import understanding

FAMILIES: Catalog[Family] = Catalog(
    "benchmark family", {"understanding": understanding, "tasklama": tasklama, "steps": steps, "paged": paged}
)


def topics() -> str:
    """Return what the benchmarks of all families are about, for headings."""
    return ", ".join(family.topic for family in FAMILIES.values() if family.topic)


def family(name: str) -> Family:
    """The family of that name. Raises UnknownNameError."""
    return FAMILIES[name]
