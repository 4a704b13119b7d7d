"""The benchmark families. Each has a folder, an entry here and a suite."""

from __future__ import annotations

from ..benchmarks.family import FAMILY_KIND, Family
from ..catalog import Catalog
from ..families.paged import paged
from ..families.steps import steps
from ..families.tasklama import tasklama
from ..families.understanding import understanding

FAMILIES: Catalog[Family] = Catalog(
    FAMILY_KIND, {"understanding": understanding, "tasklama": tasklama, "steps": steps, "paged": paged}
)


def topics() -> str:
    """Return the topics of the benchmarks of all families, for headings."""
    return ", ".join(family.topic for family in FAMILIES.values() if family.topic)


def family(name: str) -> Family:
    """Return the family of that name.

    Raises:
        UnknownNameError: if there is none.
    """
    return FAMILIES[name]
