"""The benchmark families. Each has a folder, an entry in the tables here and a suite.

An idle session imports this module: of each family it knows the options, and imports the family where it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..benchmarks.option import FAMILY_KIND, Option
from ..catalog import Catalog, Deferred
from .paged import paged_options
from .steps import steps_options
from .tasklama import tasklama_options
from .understanding import family_options

if TYPE_CHECKING:
    from ..benchmarks.family import Family


def _load_understanding() -> Family:
    from .understanding.understanding_family import understanding

    return understanding


def _load_tasklama() -> Family:
    from .tasklama.tasklama_family import tasklama

    return tasklama


def _load_steps() -> Family:
    from .steps.steps_family import steps

    return steps


def _load_paged() -> Family:
    from .paged.paged_family import paged

    return paged


FAMILIES: Catalog[Family] = Catalog(
    FAMILY_KIND,
    {
        "understanding": Deferred(_load_understanding),
        "tasklama": Deferred(_load_tasklama),
        "steps": Deferred(_load_steps),
        "paged": Deferred(_load_paged),
    },
)
_OPTIONS: Final = {
    "understanding": family_options.OPTIONS,
    "tasklama": tasklama_options.OPTIONS,
    "steps": steps_options.OPTIONS,
    "paged": paged_options.OPTIONS,
}
OPTION_HELP: Final[Mapping[str, Mapping[str, str]]] = {
    "understanding": family_options.HELP,
    "tasklama": tasklama_options.HELP,
    "steps": steps_options.HELP,
    "paged": paged_options.HELP,
}
"""By family of this package, its words for the help of shared options (`Family.option_help`)."""


def declared_options() -> dict[str, tuple[Option, ...]]:
    """Return the options of each family by its name, without importing those of this package."""
    return {**_OPTIONS, **{name: FAMILIES[name].options for name in FAMILIES.registered}}


def topics() -> str:
    """Return the topics of the benchmarks of all families, for headings."""
    return ", ".join(family.topic for family in FAMILIES.values() if family.topic)


def family(name: str) -> Family:
    """Return the family of that name.

    Raises:
        UnknownNameError: if there is none.
    """
    return FAMILIES[name]
