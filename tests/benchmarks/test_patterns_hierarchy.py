from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, cases, scopes, sentence
from pytest_taskgraph.benchmarks.understanding.patterns.structure.hierarchy import (
    composite_tasks,
    infinite_recursion,
    nested_tasks,
    task_hierarchy,
)
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Configuration, Link, QualifiedName, Task, Workflow

ALL = (task_hierarchy, composite_tasks, nested_tasks, infinite_recursion)
INSIDE = (task_hierarchy, nested_tasks)
Path = tuple[str, ...]


def box(name: str, *tasks: Task | str) -> Task:
    """A composite task with its sub-workflow inline."""
    return Task(name, subworkflow=plan(name, *tasks))


def use(name: str, workflow: str, package: str = "") -> Task:
    return Task(name, reference=QualifiedName(workflow, package))


def plan(name: str, *tasks: Task | str, others: tuple[Workflow, ...] = (), package: str = "") -> Workflow:
    made = tuple(task if isinstance(task, Task) else Task(task) for task in tasks)
    return Workflow(name, package, tasks=made, others=others)


HAND = {
    "deep": plan("W", "A", box("B", "C", box("D", "E", "F"), "G"), box("H", "I"), "J"),
    "same names": plan("W", "Load", box("First", "Load", "Clean"), box("Second", box("Clean", "Wipe"), "Stop")),
    "used twice": plan(
        "W", use("One", "S"), use("Two", "S"), "Stop", others=(plan("S", "Read", use("Deep", "T")), plan("T", "Last"))
    ),
    "flat": plan("W", "A", "B"),
    "hollow": plan("W", "A", box("B")),
    "packages": plan(
        "W",
        use("One", "S"),
        use("Two", "S", "q"),
        others=(plan("S", "X", package="p"), plan("S", "Y", package="q")),
        package="p",
    ),
    "name of its level": plan("W", box("S", use("Inner", "S")), others=(plan("S", "X"),)),
}


def named(project: Workflow, reference: QualifiedName, package: str) -> Workflow | None:
    every = [project, *project.others]
    full = [one for one in every if (one.name, one.package) == (reference.name, reference.package or package)]
    loose = [one for one in every if one.name == reference.name and not reference.package]
    return full[0] if full else loose[0] if len(loose) == 1 else None


def below(project: Workflow, level: Workflow, package: str, path: Path = ()) -> dict[Path, bool]:
    """The paths of all tasks of a level and of what is inside them, and whether they are composite."""
    found: dict[Path, bool] = {}
    for task in level.tasks:
        inner = task.subworkflow or (named(project, task.reference, package) if task.reference else None)
        found[(*path, task.name)] = inner is not None
        if inner is not None:
            found |= below(project, inner, inner.package or package, (*path, task.name))
    return found


def called(paths: Collection[Path]) -> dict[Path, str]:
    times = Counter(path[-1] for path in paths)
    return {path: path[-1] if times[path[-1]] == 1 else ".".join(path) for path in paths}


def projects() -> dict[str, Workflow]:
    found = dict(HAND)
    for features in (["hierarchy"], ["references"], ["data", "hierarchy", "references"]):
        for seed in range(4):
            found[f"{'-'.join(features)}-{seed}"] = build(Recipe(tasks=16, features=frozenset(features)), Random(seed))
    return found


PROJECTS = projects()
each_project = pytest.mark.parametrize("name", PROJECTS)


@each_project
def test_a_part_is_what_lies_below_at_any_depth(name: str) -> None:
    project = PROJECTS[name]
    for scope in scopes(project):
        paths = below(project, scope.workflow, scope.workflow.package)
        names = called(paths)
        clear = [path for path in paths if len(path) > 1 or [one[-1] for one in paths].count(path[0]) == 1]
        wanted = {
            (names[outer], names[inner]): "yes" if inner[: len(outer)] == outer else "no"
            for outer in clear
            for inner in clear
            if inner != outer and paths[outer]
        }
        found = list(cases(task_hierarchy, scope))
        assert {(c.fields["composite"], c.fields["task"]): c.answer for c in found} == wanted
        assert len(found) == len(wanted)


@each_project
def test_nested_tasks_are_all_below_the_tasks_of_the_level(name: str) -> None:
    project = PROJECTS[name]
    for scope in scopes(project):
        paths = below(project, scope.workflow, scope.workflow.package)
        names = called(paths)
        (found,) = cases(nested_tasks, scope)
        assert found.answer == sorted(names[path] for path in paths if len(path) > 1)
        assert found.rank == int(not found.answer)


@each_project
def test_composite_tasks_are_those_of_the_level_with_a_sub_workflow(name: str) -> None:
    for scope in scopes(PROJECTS[name]):
        (found,) = cases(composite_tasks, scope)
        tasks = scope.workflow.tasks
        assert found.answer == sorted(t.name for t in tasks if t.subworkflow is not None or t.reference is not None)


def asked(pattern: Pattern, project: Workflow) -> list[Case]:
    return list(cases(pattern, scopes(project)[0]))


def test_an_example_by_hand() -> None:
    linked = replace(HAND["deep"], links=(Link("A", "B"), Link("B", "H")))
    found = {(c.fields["composite"], c.fields["task"]): c for c in asked(task_hierarchy, linked)}
    kinds = {key: (case.labels["pair"], case.answer, case.rank) for key, case in found.items()}
    assert len(kinds) == 3 * 9
    assert kinds["B", "F"] == ("part", "yes", 0)
    assert found["B", "F"].labels["nesting"] == 2
    assert kinds["D", "B"] == ("container", "no", 0)
    assert kinds["D", "G"] == ("beside", "no", 1)
    assert kinds["B", "H"] == ("neighbour", "no", 0)
    assert kinds["B", "A"] == ("neighbour", "no", 0)
    assert kinds["B", "J"] == ("beside", "no", 1)
    assert kinds["B", "I"] == ("elsewhere", "no", 0)
    assert [case.answer for case in asked(nested_tasks, linked)] == [["C", "D", "E", "F", "G", "I"]]


def test_names_that_stand_more_than_once_are_given_by_path_and_left_out_where_that_does_not_help() -> None:
    assert [case.answer for case in asked(nested_tasks, HAND["same names"])] == [
        ["First.Clean", "First.Load", "Second.Clean", "Stop", "Wipe"]
    ]
    found = asked(task_hierarchy, HAND["same names"])
    assert "Load" not in {case.fields["task"] for case in found}  # the one of W, or the one inside First?
    assert {case.fields["composite"] for case in found} == {"First", "Second", "Second.Clean"}
    assert {case.fields["task"] for case in found if case.fields["paths"]} > {"First.Load", "Second.Clean"}
    dotted = plan("W", box("A", "B"), "A.B", box("C", "B"))
    assert asked(nested_tasks, dotted) == []


def test_what_is_used_twice_counts_twice() -> None:
    assert [case.answer for case in asked(nested_tasks, HAND["used twice"])] == [
        ["One.Deep", "One.Deep.Last", "One.Read", "Two.Deep", "Two.Deep.Last", "Two.Read"]
    ]


def test_what_never_ends_or_is_not_known_is_not_asked_about() -> None:
    endless = plan("W", use("A", "S"), "B", others=(plan("S", use("C", "W"), "D"),))
    lost = plan("W", use("A", "Nowhere"), "B")
    for pattern in INSIDE:
        assert asked(pattern, endless) == []
        assert asked(pattern, lost) == []
    assert [case.answer for case in asked(composite_tasks, endless)] == [["A"]]
    assert asked(infinite_recursion, lost) == []
    assert asked(infinite_recursion, HAND["flat"]) == []


def comes_back(project: Workflow) -> bool:
    """Whether some way along references from the project's first workflow enters a workflow twice."""

    def enter(one: Workflow, way: tuple[QualifiedName, ...]) -> bool:
        if one.qualified in way:
            return True
        inner = [task for outer in one.tasks for task in all_of(outer)]
        to = [named(project, task.reference, one.package) for task in inner if task.reference]
        return any(enter(other, (*way, one.qualified)) for other in to if other is not None)

    return enter(project, ())


def all_of(task: Task) -> list[Task]:
    return [task, *(deeper for one in (task.subworkflow.tasks if task.subworkflow else ()) for deeper in all_of(one))]


@pytest.mark.parametrize("flaw", ["close-cycle", "cut-cycle"])
@pytest.mark.parametrize("seed", range(8))
def test_recursion_is_a_way_that_enters_a_workflow_twice(flaw: str, seed: int) -> None:
    rng = Random(seed)
    features = frozenset({"references", "hierarchy"} if seed % 2 else {"references"})
    project = MUTATIONS[flaw](build(Recipe(tasks=14, features=features), rng), rng)
    found = asked(infinite_recursion, project)
    assert [case.answer for case in found] == ["yes" if comes_back(project) else "no"] * len(found)
    assert found or flaw == "cut-cycle"  # where the only reference was cut there is nothing to ask
    assert comes_back(project) == (flaw == "close-cycle")


def test_the_same_workflow_used_twice_is_no_recursion() -> None:
    assert [case.answer for case in asked(infinite_recursion, HAND["used twice"])] == ["no"]


def test_bases_are_spoken_of_where_there_are_any() -> None:
    scope = Scope(plan("W", "A"), "workflow 'W'", True)
    circular = replace(plan("W"), base=QualifiedName("V"), others=(replace(plan("V"), base=QualifiedName("W")),))
    (found,) = infinite_recursion.cases(circular)
    assert (found.answer, found.labels["cycle"]) == ("yes", 2)
    finite = replace(circular, others=(plan("V"),))
    assert [(case.answer, case.fields["derived"]) for case in infinite_recursion.cases(finite)] == [("no", True)]
    assert "derived from" in sentence(infinite_recursion, 0, scope, found)
    assert "bases" in sentence(infinite_recursion, 1, scope, found)
    (plain,) = asked(infinite_recursion, HAND["used twice"])
    assert not any("bases" in sentence(infinite_recursion, i, scope, plain) for i in range(2))


def test_what_a_derived_workflow_fills_in_is_inside_it() -> None:
    base = plan("Base", "A", "B")
    filled = Configuration("B", reference=QualifiedName("S"))
    derived = Workflow("W", base=QualifiedName("Base"), configurations=(filled,), others=(base, plan("S", "X", "Y")))
    assert [case.answer for case in asked(composite_tasks, derived)] == [["B"]]
    assert [case.answer for case in asked(nested_tasks, derived)] == [["X", "Y"]]
    assert {(c.fields["task"], c.answer) for c in asked(task_hierarchy, derived)} == {
        ("X", "yes"),
        ("Y", "yes"),
        ("A", "no"),
    }


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_both_phrasings_of_every_case_name_the_place_and_what_is_asked(pattern: Pattern) -> None:
    for project in HAND.values():
        for scope in scopes(project):
            for case in cases(pattern, scope):
                first, second = (sentence(pattern, phrasing, scope, case) for phrasing in range(2))
                assert first != second
                for text in (first, second):
                    assert scope.place in text
                    assert all(f"'{case.fields[f]}'" in text for f in ("task", "composite") if f in case.fields)
                    assert "Outer.Inner" in text or not case.fields.get("paths")


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_a_case_is_found_for_every_draw(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    if pattern.yes_no:
        assert [one.case.answer for one in drawn] == ["yes", "no"] * 4
    assert [one.phrasing for one in drawn] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert all(one.case.rank == 0 for one in drawn)


def test_cycles_of_every_length_are_drawn() -> None:
    drawn = [draw(infinite_recursion, 20, 1, 2 * ordinal).case.labels["cycle"] for ordinal in range(30)]
    assert set(drawn) == {1, 2, 3, 4}
