"""Patterns about composite tasks: their content, and infinite recursion (docs/reference/patterns.md).

A task is named by its path (`Outer.Inner`, from the level asked about) where its name occurs there more than once. Not
asked about: tasks that even a path does not identify, levels beyond a dangling reference, and the endless inside of a
recursive reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from .....workflow.graph import task_graph
from .....workflow.model import Workflow
from .....workflow.references import assemble, expand, levels, recursion
from ..pattern import Cases, case, pattern
from ..scope import limit_candidates

SHARE: Final = 4  # with its sub-workflows, a generated level has up to this many times its own number of tasks
MANY: Final = 3  # levels; with more, the order of their texts hardly tells which task lies in which
MOST_OUTER: Final = 40  # composite tasks of a large level
MOST_INNER: Final = 25  # tasks of a large level that lie in one of them, and as many that do not

Path = tuple[str, ...]
Pair = Literal["part", "container", "neighbour", "elsewhere", "beside"]


@pattern(
    "In {{ place }}, is task '{{ task }}' a part of composite task '{{ composite }}' at any depth, that is, does it "
    "lie inside '{{ composite }}' or inside a composite task in there?{% if paths %} Outer.Inner stands for the "
    "task Inner inside the task Outer.{% endif %}",
    "Does composite task '{{ composite }}' in {{ place }} contain task '{{ task }}', be it directly or by way of "
    "further composite tasks that it contains?{% if paths %} Names with dots are paths, such as Outer.Inner for the "
    "task Inner that Outer contains.{% endif %}",
    form="yes-no",
    needs={"hierarchy"},
    flaws={"yes": "repeat-name", "no": "repeat-name"},
    matched=0.75,
    exceptional=True,
)
def task_hierarchy(workflow: Workflow) -> Cases:
    """Check that the model knows which tasks are inside which, through all levels.

    Hard negatives: mostly tasks nested as deep as those of positives, but inside another task, in levels with at least
    three composite tasks, so that depth and position in the text give little hint; then the question reversed (what
    contains the composite task), the tasks directly before and after it, and tasks nested less deep. A path reveals
    what its task lies in: about the user's own workflows such a question is not asked.
    """
    inside = _levels_by_path(workflow)
    names = _names(inside)
    for outer in limit_candidates([path for path in names if path in inside], len(names) // SHARE, MOST_OUTER):
        neighbours = _neighbours(inside[outer[:-1]], outer[-1])
        parts = {path for path in names if path != outer and path[: len(outer)] == outer}
        others = limit_candidates(
            [path for path in names if path != outer and path not in parts], len(names) // SHARE, MOST_INNER
        )
        selected = {
            *limit_candidates([path for path in names if path in parts], len(names) // SHARE, MOST_INNER),
            *others,
        }
        for inner in (path for path in names if path in selected):
            pair = _pair(outer, inner, neighbours)
            further = pair == "elsewhere" and len(inner) > len(outer)
            deeper = min(len(inner) - len(outer), 2) if further or pair == "part" else 0
            yield case(
                pair == "part",
                rank=2 if pair == "beside" else int(len(inside) <= MANY),
                stratum=f"{deeper} deeper",
                share=3 if deeper else 1,
                profile=f"{len(inner)} {len(outer)} {inner in inside}",
                task=names[inner],
                composite=names[outer],
                paths=any(names[path] != path[-1] for path in (inner, outer)),
                revealing=names[inner] != inner[-1] or (names[outer] != outer[-1] and pair == "container"),
                labels={"pair": pair, "nesting": len(inner) - len(outer) if pair == "part" else 0},
            )


@pattern(
    "List the composite tasks of {{ place }}, that is, the tasks that have a sub-workflow."
    "{% if nested %} Do not list tasks nested inside other tasks.{% endif %}",
    "Which tasks of {{ place }} are made up of tasks themselves, in a workflow that is written inside them or that "
    "they refer to?{% if nested %} Name only those that stand directly in it, none that lies inside another task."
    "{% endif %}",
    form="task-set",
    needs={"hierarchy"},
    guess="none",
    exceptional=True,
)
def composite_tasks(workflow: Workflow) -> Cases:
    """Check that the model distinguishes composite tasks from atomic ones.

    Levels with composite tasks are drawn twice as often as levels without.
    """
    composites = tuple(task.name for task in workflow.tasks if task.composite)
    stratum, share = ("none", "one", "several")[min(len(composites), 2)], 2 if composites else 1
    yield case(composites, stratum=stratum, share=share, labels={"answers": len(composites)})


PATHS = (
    "{% if paths %} Give a task by its path from there, like Outer.Inner, where its name stands more than once, "
    "counting a sub-workflow as often as it is used; otherwise by its name.{% endif %}"
)


@pattern(
    "List all tasks nested inside the composite tasks of {{ place }}, at any depth." + PATHS,
    "Which tasks does {{ place }} have that do not stand directly in it, but inside one of its composite tasks or "
    "deeper?" + PATHS,
    form="task-set",
    needs={"hierarchy"},
    flaws={"": "repeat-name"},
    exceptional=True,
)
def nested_tasks(workflow: Workflow) -> Cases:
    """Check that the model collects the tasks of all levels, including those behind references.

    A name counts as occurring more than once if it does so anywhere in the level asked about and below it.
    """
    inside = _levels_by_path(workflow)
    names = _names(inside)
    below = [path for path in _task_paths(inside) if len(path) > 1]
    if inside and all(path in names for path in below):
        answer = tuple(names[path] for path in below)
        paths, deepest = any(names[path] != path[-1] for path in names), max(map(len, inside))
        yield case(answer, rank=int(not below), paths=paths, labels={"nesting": deepest})


@pattern(
    "Is there an infinite recursion in the references of {{ place }}? That is, do its references to sub-workflows"
    "{% if derived %} or to workflows that one is derived from{% endif %}, followed on and on, lead from some "
    "workflow back to that same workflow?",
    "Do the references between workflows ({% if derived %}sub-workflows and bases{% else %}sub-workflows{% endif %}), "
    "followed from {{ place }}, ever come back to a workflow already entered on the same way?",
    form="yes-no",
    needs={"references"},
    avoids={"guards"},
    flaws={"yes": "close-cycle", "no": "cut-cycle"},
    matched=0.75,
    levels="workflow",
    exceptional=True,
)
def infinite_recursion(workflow: Workflow) -> Cases:
    """Check that the model follows references between workflows and notices that they never end.

    Three quarters of the projects with either answer have as many references, and as many workflows that refer to
    themselves, to none, and that none refers to; cycles of one workflow are among the others. Not asked where there is
    no reference, or where a reference is dangling and none of the others is recursive.
    """
    whole = assemble(workflow)
    workflow_names = {each.qualified for each in (whole, *whole.others)}
    tasks = [task for top in (whole, *whole.others) for _, level in levels(top) for task in level.tasks]
    references = [task.reference for task in tasks if task.reference is not None]
    derived = any(each.base is not None for each in (workflow, *workflow.others))
    cycle = recursion(workflow)
    if cycle or ((references or derived) and workflow_names.issuperset(references)):
        yield case(
            bool(cycle),
            profile=_reference_profile((whole, *whole.others)),
            derived=derived,
            labels={"cycle": len(cycle)},
        )


def _reference_profile(workflows: Sequence[Workflow]) -> str:
    """Return how many workflows refer to themselves, to none, to others, and are referred to by none."""
    targets_of = {
        top.qualified: [
            task.reference for _, level in levels(top) for task in level.tasks if task.reference is not None
        ]
        for top in workflows
    }
    every = [target for targets in targets_of.values() for target in targets]
    parts = {
        "references": len(every) - len(workflows),
        "to itself": sum(name in targets for name, targets in targets_of.items()),
        "without": sum(not targets for targets in targets_of.values()),
        "not referred to": sum(name not in every for name in targets_of),
        "to the first": every.count(workflows[0].qualified),
    }
    return ", ".join(f"{number} {what}" for what, number in parts.items())


def _levels_by_path(workflow: Workflow) -> dict[Path, Workflow]:
    """Return the level itself and that inside every composite task, by path; empty if a reference is unresolved."""
    # With its name, an inline level would be confused with the workflow of that name among the others.
    top = replace(workflow, name="")
    inline = workflow.base is None and not any(task.reference for _, level in levels(top) for task in level.tasks)
    # The others do not matter there, and a file of many jobs asks this of each.
    level_by_path = dict(levels(expand(replace(top, others=()) if inline else top)))
    unresolved = any(task.reference is not None for level in level_by_path.values() for task in level.tasks)
    return {} if unresolved else level_by_path


def _task_paths(inside: Mapping[Path, Workflow]) -> list[Path]:
    return [(*path, name) for path, level in inside.items() for name in level.task_names]


def _names(inside: Mapping[Path, Workflow]) -> dict[Path, str]:
    """Return the name of each task, or its path where the name is repeated; only those that identify the task."""
    paths = _task_paths(inside)
    times = Counter(path[-1] for path in paths)
    meanings = Counter(text for path in paths for text in {path[-1], ".".join(path)})
    names = {path: path[-1] if times[path[-1]] == 1 else ".".join(path) for path in paths}
    return {path: name for path, name in names.items() if meanings[name] == 1}


def _neighbours(level: Workflow, task: str) -> set[str]:
    """Return the tasks directly before and after a task."""
    after = task_graph(level)
    return {*after[task], *(other for other in after if task in after[other])}


def _pair(outer: Path, inner: Path, neighbours: Collection[str]) -> Pair:
    if inner[: len(outer)] == outer:
        return "part"
    if outer[: len(inner)] == inner:
        return "container"
    if inner[:-1] == outer[:-1]:
        return "neighbour" if inner[-1] in neighbours else "beside"
    return "elsewhere" if len(inner) > 1 else "beside"
