"""Turns a complete workflow into one derived from another: what tasks say of themselves moves into configurations."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..workflow.model import Configuration, Data, Task, Workflow

LIBRARY = "library"  # the package of what is derived from
_BARE = {"description": "", "kind": "", "implementation": "", "parameters": (), "effects": ()}


def base_name(name: str) -> str:
    """The name of the workflow that the one of that name is derived from."""
    return f"{name}Base"


def derive(workflow: Workflow, rng: Random) -> Workflow:
    """A workflow that `references.assemble` turns into the given one: derived, in one step or two, from a base.

    The base has tasks, data and links, and lacks some of what tasks and data say of themselves (at least one piece,
    where there is any), also inside composite tasks, inline or by reference; configurations fill it in.
    """
    others = [replace(one, package=LIBRARY) for one in workflow.others]
    stripping = _Stripping(others, rng)
    bare, configurations = stripping.level(workflow)
    if not configurations:
        stripping.always = True
        bare, configurations = stripping.level(workflow)
    base = replace(bare, name=base_name(workflow.name), package=LIBRARY, description="", others=())
    return _stacked(workflow, base, configurations, tuple(stripping.others), rng)


def _stacked(
    workflow: Workflow, base: Workflow, configurations: list[Configuration], others: tuple[Workflow, ...], rng: Random
) -> Workflow:
    """The derived workflow on its base, or on one in between that has the first configurations."""
    derived = Workflow(workflow.name, workflow.package, workflow.description, base=base.qualified)
    if len(configurations) < 2 or rng.random() <= 0.7:
        return replace(derived, configurations=tuple(configurations), others=(base, *others))
    cut = 1 + rng.randrange(len(configurations) - 1)
    between = Workflow(f"{base.name}2", LIBRARY, base=base.qualified, configurations=tuple(configurations[:cut]))
    return replace(
        derived, base=between.qualified, configurations=tuple(configurations[cut:]), others=(between, base, *others)
    )


class _Stripping:
    """Takes content out of levels, at random or, if `always`, all of it, and gives what puts it back."""

    def __init__(self, others: list[Workflow], rng: Random) -> None:
        self.others, self.rng, self.always = others, rng, False

    def level(self, level: Workflow) -> tuple[Workflow, list[Configuration]]:
        """The level without, and the configurations that fill it in again."""
        tasks = [self._task(task) for task in level.tasks]
        data = [self._data(datum) for datum in level.data]
        stripped = replace(level, tasks=tuple(task for task, _ in tasks), data=tuple(datum for datum, _ in data))
        return stripped, [one for _, one in (*tasks, *data) if one is not None]

    def _chosen(self) -> bool:
        return self.always or self.rng.random() > 0.4

    def _task(self, task: Task) -> tuple[Task, Configuration | None]:
        bare, inside = self._inside(task)
        own = any((task.description, task.kind, task.implementation, task.parameters, task.effects))
        if own and self._chosen():
            filled = Configuration(
                task.name, "task", task.description, task.kind, task.implementation, "", task.parameters, task.effects
            )
            bare = replace(bare, **_BARE)  # type: ignore[arg-type]
        elif inside:
            filled = Configuration(task.name)
        else:
            return bare, None
        return bare, replace(filled, configurations=tuple(inside))

    def _inside(self, task: Task) -> tuple[Task, list[Configuration]]:
        """The composite task with its sub-workflow stripped, and what is to be filled in there."""
        if task.subworkflow is not None:
            inner, found = self.level(task.subworkflow)
            return replace(task, subworkflow=inner), found
        for index, one in enumerate(self.others):
            if task.reference is not None and one.name == task.reference.name and self._chosen():
                inner, found = self.level(one)
                self.others[index] = inner
                return task, found
        return task, []

    def _data(self, datum: Data) -> tuple[Data, Configuration | None]:
        if not (datum.description or datum.schema) or not self._chosen():
            return datum, None
        filled = Configuration(datum.name, "data", datum.description, schema=datum.schema)
        return Data(datum.name), filled
