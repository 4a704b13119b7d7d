"""The shape of a project: a digest that is equal for projects that differ only in names a question does not mention."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b

from ..model import END, START, Workflow
from ..project import every_level


def shape(project: Workflow, kept_names: Collection[str] = ()) -> str:
    """Return a digest of a project that does not depend on the order of declaration and on most names.

    Labels are refined over the neighbourhood (Weisfeiler and Leman, 1968), as often as there are nodes. Very regular
    graphs that differ may have one shape.

    Args:
        project: The project.
        kept_names: Names of tasks and data that count; those of others do not. Names of gateways never do.
    """
    first, *further = [_level_shape(level, kept_names) for level in every_level(project)]
    return _digest([first, sorted(further)])


def _level_shape(level: Workflow, kept_names: Collection[str]) -> str:
    labels = {START: "start", END: "end"}
    labels |= {gateway.name: _digest([gateway.kind, gateway.role]) for gateway in level.gateways}
    for task in level.tasks:
        below = Workflow("") if task.subworkflow else None  # a level of its own
        labels[task.name] = _digest(
            _plain_form(replace(task, name=_kept_name(task.name, kept_names), subworkflow=below))
        )
    for data in level.data:
        labels[data.name] = _digest(_plain_form(replace(data, name=_kept_name(data.name, kept_names))))
    edges = [(link.source, link.target, link.guard or "") for link in level.links]
    edges += [(link.source, link.target, "exception") for link in level.exceptional_links]
    edges += [(link.source, link.target, "data") for link in level.data_links]
    for _ in range(len(labels)):
        finer = _refine_labels(labels, edges)
        if len(set(finer.values())) == len(set(labels.values())):
            break
        labels = finer
    ends = sorted(f"{labels.get(source)} {labels.get(target)} {kind}" for source, target, kind in edges)
    stated = [level.description, level.parameters, level.base, level.configurations, level.flaw]
    return _digest([sorted(labels.values()), ends, list(map(_plain_form, stated))])


def _kept_name(name: str, kept_names: Collection[str]) -> str:
    return name if name in kept_names else ""


def _plain_form(value: object) -> object:
    """Return a value of the model as lists and texts that do not depend on the order of declaration."""
    if is_dataclass(value):
        return [type(value).__name__, *(_plain_form(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, tuple):
        return sorted(map(_plain_form, value), key=json.dumps)
    return repr(value)


def _refine_labels(labels: dict[str, str], edges: list[tuple[str, str, str]]) -> dict[str, str]:
    around: dict[str, list[str]] = {name: [] for name in labels}
    for source, target, kind in edges:
        around.setdefault(source, []).append(f"to {labels.get(target)} {kind}")
        around.setdefault(target, []).append(f"from {labels.get(source)} {kind}")
    return {name: _digest([label, sorted(around[name])]) for name, label in labels.items()}


def _digest(parts: object) -> str:
    return blake2b(json.dumps(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
