"""Renaming of everything that a project names, also in guards and descriptions."""

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
# Fields with fixed words of the workflow model, never names.
_FIXED = {(Gateway, "kind"), (Gateway, "role"), (Domain, "kind"), (Configuration, "of"), (Flaw, "kind")}


def names_of(project: Workflow) -> dict[str, str]:
    """Return the kind of each name of a project, at any depth.

    Kinds are "task", "data", "gateway", "parameter" and "workflow".
    """
    kinds: dict[str, str] = {}
    for level in every_level(project):
        for name, kind in _names_with_kind(level):
            kinds.setdefault(name, kind)
    return kinds


def random_renaming(names: Mapping[str, str], taken: Collection[str], rng: Random) -> Change:
    """Return a function that replaces each of these names in a text by a new one, where it is a whole word.

    New names are a word for the kind and a number, in another order than the old ones.

    Args:
        names: The names, each with its kind.
        taken: Names that new ones must not equal.
        rng: The random number generator.
    """
    count = max(1000, 4 * (len(names) + len(taken)))
    numbers = iter(rng.sample(range(count // 10, count), count - count // 10))
    new_names: dict[str, str] = {}
    for name, kind in names.items():
        new_names[name] = next(candidate for n in numbers if (candidate := f"{STEMS[kind]}{n}") not in taken)
    return renaming_to(new_names)


def renaming_to(new_names: Mapping[str, str]) -> Change:
    """Return a function that replaces each of these names in a text, where it is a whole word, by its new one."""
    if not new_names:
        return lambda text: text
    longest_first = sorted(new_names, key=lambda name: (-len(name), name))
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return lambda text: new_names[text] if text in new_names else word.sub(lambda match: new_names[match[0]], text)


def with_texts(value: _T, change: Change) -> _T:
    """Return the value with every text in it changed, in dataclasses, lists, tuples and values of dictionaries."""
    return _change_texts(value, change)  # type: ignore[no-any-return]


def _change_texts(value: Any, change: Change) -> Any:  # noqa: ANN401 - whatever a case or a model holds
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_change_texts(part, change) for part in value)
    if isinstance(value, dict):
        return {key: _change_texts(part, change) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init and (type(value), field.name) not in _FIXED]
        return replace(value, **{name: _change_texts(getattr(value, name), change) for name in names})
    return value


def _names_with_kind(level: Workflow) -> Iterator[tuple[str, str]]:
    """Yield the names of a level, each with its kind."""
    yield from ((task.name, "task") for task in level.tasks)
    yield from ((data.name, "data") for data in level.data)
    yield from ((gateway.name, "gateway") for gateway in level.gateways)
    yield level.name, "workflow"
    lists = [level.parameters, *(task.parameters for task in level.tasks)]
    lists += [configuration.parameters for configuration in configurations(level)]
    yield from ((parameter.name, "parameter") for parameters in lists for parameter in parameters)
