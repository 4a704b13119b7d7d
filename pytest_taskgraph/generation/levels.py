"""Distribute the tasks of a workflow among its levels, and turn a workflow into one that is derived from another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from ..workflow.model import Configuration, Data, Task, Workflow
from .recipe import Recipe, demanded_features, least_own

LONGEST_CHAIN = 4  # sub-workflows that refer to one another, as pattern S24 asks


@dataclass(slots=True)
class Share:
    """The number of tasks directly in a level, and the shares of the sub-workflows of some of them."""

    own: int
    inner: list[Share] = field(default_factory=list)
    referred: bool = False


def share_out(recipe: Recipe, rng: Random) -> Share:
    """Draw the share of the whole workflow, exactly `recipe.tasks` in all.

    References form chains of 1 to 4 sub-workflows each; inline sub-workflows are drawn too if "hierarchy" is demanded
    for itself, or there are no references.
    """
    spare = recipe.tasks - least_own(recipe)
    root = Share(recipe.tasks)
    features = demanded_features(recipe)
    if "references" in features:
        for _ in range(_draw_count(root, rng)):
            if room := _room(root, spare):
                spare = _move_tasks(root, _draw_chain(1 + _draw_large(_largest_share(room), rng), rng), spare)
    if "hierarchy" in (recipe.features if root.inner else features):
        for _ in range(_draw_count(root, rng)):
            if room := _room(root, spare):
                spare = _move_tasks(
                    root, _draw_nest(1 + rng.randrange(_largest_share(room)), recipe.depth - 1, rng), spare
                )
    return root


def _draw_count(root: Share, rng: Random) -> int:
    """Draw how many sub-workflows a level gets, if there is room: mostly several, and more for large levels."""
    return 1 + _draw_large(3 + root.own // 12, rng)


def _room(root: Share, spare: int) -> int:
    """Return how many tasks a further sub-workflow may have, so that the level keeps tasks that are not composite."""
    return max(0, min(spare, root.own - 3 * (len(root.inner) + 1))) if root.inner else spare


def _draw_large(count: int, rng: Random) -> int:
    """Draw a number below the count, large ones more often."""
    return max(rng.randrange(count), rng.randrange(count))


def _largest_share(spare: int) -> int:
    """Return the largest size of one sub-workflow, so that not all of a large workflow is inside one task."""
    return max(1, min(spare, 2 + spare // 2))


def _move_tasks(outer: Share, inner: Share, spare: int) -> int:
    """Move tasks of the outer share to an inner one; return how many are left to spare."""
    outer.inner.append(inner)
    outer.own -= size(inner)
    return spare - size(inner)


def size(share: Share) -> int:
    """Return the number of tasks in the share, at any depth."""
    return share.own + sum(size(inner) for inner in share.inner)


def _draw_chain(tasks: int, rng: Random) -> Share:
    """Draw a chain of sub-workflows, each referred to by a task of the previous sub-workflow."""
    length = 1 + _draw_large(min(LONGEST_CHAIN, tasks), rng)
    cuts = sorted(rng.sample(list(range(1, tasks)), length - 1))
    parts = [end - start for start, end in zip([0, *cuts], [*cuts, tasks], strict=True)]
    share = Share(parts[-1], referred=True)
    for part in reversed(parts[:-1]):
        share = Share(part, [share], referred=True)
    return share


def _draw_nest(tasks: int, depth: int, rng: Random) -> Share:
    """Draw an inline sub-workflow of that many tasks in all, at times with another in one of its tasks."""
    share = Share(tasks)
    if depth > 0 and tasks >= 3 and rng.random() > 0.5:
        _move_tasks(share, _draw_nest(1 + rng.randrange(tasks // 2), depth - 1, rng), tasks)
    return share


LIBRARY = "library"  # the package of bases
_BARE = {"description": "", "kind": "", "implementation": "", "parameters": (), "effects": (), "duration": None}


def base_name(name: str) -> str:
    """Return the name of the base of the workflow of that name."""
    return f"{name}Base"


def derive(workflow: Workflow, rng: Random) -> Workflow:
    """Return a workflow that `references.assemble` turns into the given workflow, derived in one or two steps.

    The base has tasks, data and links, and lacks some attributes of tasks and data (at least one, if there is any),
    also inside composite tasks, inline or by reference; configurations fill them in.
    """
    others = [replace(other, package=LIBRARY) for other in workflow.others]
    stripping = _Stripping(others, rng)
    bare, configurations = stripping.level(workflow)
    if not configurations:
        stripping.always = True
        bare, configurations = stripping.level(workflow)
    base = replace(bare, name=base_name(workflow.name), package=LIBRARY, description="", others=())
    return _derived_from(workflow, base, configurations, tuple(stripping.others), rng)


def _derived_from(
    workflow: Workflow, base: Workflow, configurations: list[Configuration], others: tuple[Workflow, ...], rng: Random
) -> Workflow:
    """Return the derived workflow on its base, or on a workflow in between that has the first configurations."""
    derived = Workflow(workflow.name, workflow.package, workflow.description, base=base.qualified)
    if len(configurations) < 2 or rng.random() <= 0.7:
        return replace(derived, configurations=tuple(configurations), others=(base, *others))
    cut = 1 + rng.randrange(len(configurations) - 1)
    between = Workflow(f"{base.name}2", LIBRARY, base=base.qualified, configurations=tuple(configurations[:cut]))
    return replace(
        derived, base=between.qualified, configurations=tuple(configurations[cut:]), others=(between, base, *others)
    )


class _Stripping:
    """Removes attributes from levels, at random or, if `always`, all, and returns configurations that restore them."""

    def __init__(self, others: list[Workflow], rng: Random) -> None:
        self.others, self.rng, self.always = others, rng, False

    def level(self, level: Workflow) -> tuple[Workflow, list[Configuration]]:
        """Return the level without some attributes, and the configurations that restore them."""
        tasks = [self._task(task) for task in level.tasks]
        data = [self._data(datum) for datum in level.data]
        stripped = replace(level, tasks=tuple(task for task, _ in tasks), data=tuple(datum for datum, _ in data))
        return stripped, [configuration for _, configuration in (*tasks, *data) if configuration is not None]

    def _chosen(self) -> bool:
        return self.always or self.rng.random() > 0.4

    def _task(self, task: Task) -> tuple[Task, Configuration | None]:
        bare, inside = self._inside(task)
        has_content = any(getattr(task, attribute) for attribute in _BARE)
        if has_content and self._chosen():
            filled = Configuration(
                task.name, "task", task.description, task.kind, task.implementation, "", task.parameters, task.effects,
                duration=task.duration,
            )  # fmt: skip
            bare = replace(bare, **_BARE)  # type: ignore[arg-type]
        elif inside:
            filled = Configuration(task.name)
        else:
            return bare, None
        return bare, replace(filled, configurations=tuple(inside))

    def _inside(self, task: Task) -> tuple[Task, list[Configuration]]:
        """Return the composite task with its sub-workflow stripped, and the configurations inside it."""
        if task.subworkflow is not None:
            inner, configurations = self.level(task.subworkflow)
            return replace(task, subworkflow=inner), configurations
        for index, other in enumerate(self.others):
            if task.reference is not None and other.name == task.reference.name and self._chosen():
                inner, configurations = self.level(other)
                self.others[index] = inner
                return task, configurations
        return task, []

    def _data(self, datum: Data) -> tuple[Data, Configuration | None]:
        if not (datum.description or datum.schema) or not self._chosen():
            return datum, None
        filled = Configuration(datum.name, "data", datum.description, schema=datum.schema)
        return Data(datum.name), filled
