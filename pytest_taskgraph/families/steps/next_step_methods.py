"""The methods of STEPS, in the order of reports, and how users choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from ...errors import UnknownNameError
from .recipe_questions import METHODS as RECIPE_METHODS
from .step_method import StepMethod

METHODS: Final[Mapping[str, StepMethod]] = MappingProxyType({method.name: method for method in RECIPE_METHODS})
SECTIONS: Final[tuple[str, ...]] = tuple(dict.fromkeys(method.section for method in METHODS.values()))
ALL: Final = "all"


def select_methods(names: Iterable[str]) -> tuple[StepMethod, ...]:
    """Return the methods that are named, each once, in the order of reports.

    Args:
        names: Names of methods, of sections for all of their methods, or "all".

    Raises:
        UnknownNameError: if there is no method of a name.
    """
    chosen: set[str] = set()
    for name in names:
        matching = [method.name for method in METHODS.values() if name in (ALL, method.name, method.section)]
        if not matching:
            raise UnknownNameError("method of STEPS", name, [*METHODS, *SECTIONS, ALL])
        chosen.update(matching)
    return tuple(method for method in METHODS.values() if method.name in chosen)
