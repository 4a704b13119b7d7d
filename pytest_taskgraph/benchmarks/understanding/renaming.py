"""Other names for everything that a project names, put wherever the old ones stand: in guards and descriptions too."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any, TypeVar

from ...workflow.model import Configuration, Domain, Flaw, Gateway, Workflow
from ...workflow.project import configurations, every_level

Change = Callable[[str], str]
_T = TypeVar("_T")

STEMS = {"task": "Step", "data": "Item", "gateway": "Gate", "parameter": "value", "workflow": "Flow"}
RESERVED = frozenset({"and", "or", "not", "otherwise", "yes", "no", "none", "empty", "true", "false"})
# Words of the model itself, never names.
_FIXED = {(Gateway, "kind"), (Gateway, "role"), (Domain, "kind"), (Configuration, "of"), (Flaw, "kind")}


def names_of(project: Workflow) -> dict[str, str]:
    """The kind of each name of a project, at any depth: "task", "data", "gateway", "parameter" or "workflow"."""
    kinds: dict[str, str] = {}
    for level in every_level(project):
        for name, kind in _named(level):
            kinds.setdefault(name, kind)
    return kinds


def renaming(names: Mapping[str, str], taken: Collection[str], rng: Random) -> Change:
    """What replaces each of these names in a text, where it stands as a word, by a new one that is not taken.

    New names are a word for the kind and a number, in another order than the old ones.
    """
    count = max(1000, 4 * (len(names) + len(taken)))
    numbers = iter(rng.sample(range(count // 10, count), count - count // 10))
    new: dict[str, str] = {}
    for name, kind in names.items():
        new[name] = next(made for n in numbers if (made := f"{STEMS[kind]}{n}") not in taken)
    return replacing(new)


def replacing(new: Mapping[str, str]) -> Change:
    """Return what replaces each of these names in a text, where it stands as a word, by its new one."""
    if not new:
        return lambda text: text
    longest_first = sorted(new, key=lambda name: (-len(name), name))
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return lambda text: new[text] if text in new else word.sub(lambda found: new[found[0]], text)


def with_texts(value: _T, change: Change) -> _T:
    """The value with every text in it changed, in dataclasses, lists, tuples and the values of dictionaries."""
    return _changed(value, change)  # type: ignore[no-any-return]


def _changed(value: Any, change: Change) -> Any:  # noqa: ANN401 - whatever a case or a model holds
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _changed(item, change) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if one.init and (type(value), one.name) not in _FIXED]
        return replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    return value


def _named(level: Workflow) -> Iterator[tuple[str, str]]:
    yield from ((one.name, "task") for one in level.tasks)
    yield from ((one.name, "data") for one in level.data)
    yield from ((one.name, "gateway") for one in level.gateways)
    yield level.name, "workflow"
    lists = [level.parameters, *(one.parameters for one in level.tasks)]
    lists += [one.parameters for one in configurations(level)]
    yield from ((one.name, "parameter") for held in lists for one in held)
