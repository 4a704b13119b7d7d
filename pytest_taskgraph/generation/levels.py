"""Share the tasks of a workflow out among its levels, and turn a workflow into one derived from another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from ..workflow.model import Configuration, Data, Task, Workflow
from .recipe import Recipe, demanded, least_own

LONGEST_CHAIN = 4  # of sub-workflows that refer to one another: patterns.md, S24


@dataclass(slots=True)
class Share:
    """The number of tasks directly in a level, and the shares of the sub-workflows of some of them."""

    own: int
    inner: list[Share] = field(default_factory=list)
    referred: bool = False


def share_out(recipe: Recipe, rng: Random) -> Share:
    """The share of the whole workflow, exactly `recipe.tasks` in all.

    References form chains of 1 to 4 sub-workflows each; inline sub-workflows are drawn besides where "hierarchy" is
    demanded for itself, or there are no references.
    """
    spare = recipe.tasks - least_own(recipe)
    root = Share(recipe.tasks)
    wanted = demanded(recipe)
    if "references" in wanted:
        for _ in range(_times(root, rng)):
            if room := _room(root, spare):
                spare = _give(root, _chain(1 + _large(_most(room), rng), rng), spare)
    if "hierarchy" in (recipe.features if root.inner else wanted):
        for _ in range(_times(root, rng)):
            if room := _room(root, spare):
                spare = _give(root, _nest(1 + rng.randrange(_most(room)), recipe.depth - 1, rng), spare)
    return root


def _times(root: Share, rng: Random) -> int:
    """How many sub-workflows a level gets, if there is room: mostly several, of large levels more."""
    return 1 + _large(3 + root.own // 12, rng)


def _room(root: Share, spare: int) -> int:
    """How many tasks a further sub-workflow may have, so that the level keeps tasks that are not composite."""
    return max(0, min(spare, root.own - 3 * (len(root.inner) + 1))) if root.inner else spare


def _large(count: int, rng: Random) -> int:
    """Draw a number below the count, large ones more often."""
    return max(rng.randrange(count), rng.randrange(count))


def _most(spare: int) -> int:
    """The most that one sub-workflow gets: not all of a large workflow is to be inside one task."""
    return max(1, min(spare, 2 + spare // 2))


def _give(outer: Share, inner: Share, spare: int) -> int:
    """What is left to spare when tasks of the outer share have become those of an inner one."""
    outer.inner.append(inner)
    outer.own -= size(inner)
    return spare - size(inner)


def size(share: Share) -> int:
    """The number of tasks in it, at any depth."""
    return share.own + sum(size(inner) for inner in share.inner)


def _chain(tasks: int, rng: Random) -> Share:
    """A chain of sub-workflows, each referred to by a task of the one before."""
    length = 1 + _large(min(LONGEST_CHAIN, tasks), rng)
    cuts = sorted(rng.sample(list(range(1, tasks)), length - 1))
    parts = [end - start for start, end in zip([0, *cuts], [*cuts, tasks], strict=True)]
    share = Share(parts[-1], referred=True)
    for part in reversed(parts[:-1]):
        share = Share(part, [share], referred=True)
    return share


def _nest(tasks: int, depth: int, rng: Random) -> Share:
    """An inline sub-workflow of that many tasks in all, with another in one of its tasks at times."""
    share = Share(tasks)
    if depth > 0 and tasks >= 3 and rng.random() > 0.5:
        _give(share, _nest(1 + rng.randrange(tasks // 2), depth - 1, rng), tasks)
    return share


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
