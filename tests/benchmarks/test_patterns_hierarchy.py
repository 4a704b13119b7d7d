from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from random import Random

import pytest

from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, cases, scopes, sentence
from pytest_taskgraph.families.understanding.patterns.structure.hierarchy import (
    composite_tasks,
    infinite_recursion,
    nested_tasks,
    task_hierarchy,
)
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Configuration, Link, QualifiedName, Task, Workflow

PATTERNS = (task_hierarchy, composite_tasks, nested_tasks, infinite_recursion)
INSIDE = (task_hierarchy, nested_tasks)
Path = tuple[str, ...]


def box(name: str, *tasks: Task | str) -> Task:
    """Return a composite task with its sub-workflow inline."""
    return Task(name, subworkflow=plan(name, *tasks))


def use(name: str, workflow: str, package: str = "") -> Task:
    return Task(name, reference=QualifiedName(workflow, package))


def plan(name: str, *tasks: Task | str, others: tuple[Workflow, ...] = (), package: str = "") -> Workflow:
    plan_tasks = tuple(task if isinstance(task, Task) else Task(task) for task in tasks)
    return Workflow(name, package, tasks=plan_tasks, others=others)


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


def find_workflow(project: Workflow, reference: QualifiedName, package: str) -> Workflow | None:
    workflows = [project, *project.others]
    full = [each for each in workflows if (each.name, each.package) == (reference.name, reference.package or package)]
    loose = [each for each in workflows if each.name == reference.name and not reference.package]
    return full[0] if full else loose[0] if len(loose) == 1 else None


def below(project: Workflow, level: Workflow, package: str, path: Path = ()) -> dict[Path, bool]:
    """Return the paths of all tasks at any depth of a level, and whether they are composite."""
    composite_by_path: dict[Path, bool] = {}
    for task in level.tasks:
        inner = task.subworkflow or (find_workflow(project, task.reference, package) if task.reference else None)
        composite_by_path[(*path, task.name)] = inner is not None
        if inner is not None:
            composite_by_path |= below(project, inner, inner.package or package, (*path, task.name))
    return composite_by_path


def names_by_path(paths: Collection[Path]) -> dict[Path, str]:
    times = Counter(path[-1] for path in paths)
    return {path: path[-1] if times[path[-1]] == 1 else ".".join(path) for path in paths}


def projects() -> dict[str, Workflow]:
    projects_by_name = dict(HAND)
    for features in (["hierarchy"], ["references"], ["data", "hierarchy", "references"]):
        for seed in range(4):
            projects_by_name[f"{'-'.join(features)}-{seed}"] = build(
                Recipe(tasks=16, features=frozenset(features)), Random(seed)
            )
    return projects_by_name


PROJECTS = projects()
each_project = pytest.mark.parametrize("name", PROJECTS)


@each_project
def test_task_hierarchy_equals_paths(name: str) -> None:
    project = PROJECTS[name]
    for scope in scopes(project):
        paths = below(project, scope.workflow, scope.workflow.package)
        names = names_by_path(paths)
        clear = [path for path in paths if len(path) > 1 or [each[-1] for each in paths].count(path[0]) == 1]
        expected = {
            (names[outer], names[inner]): "yes" if inner[: len(outer)] == outer else "no"
            for outer in clear
            for inner in clear
            if inner != outer and paths[outer]
        }
        hierarchy_cases = list(cases(task_hierarchy, scope))
        assert {(c.fields["composite"], c.fields["task"]): c.answer for c in hierarchy_cases} == expected
        assert len(hierarchy_cases) == len(expected)


@each_project
def test_nested_tasks_equal_paths(name: str) -> None:
    project = PROJECTS[name]
    for scope in scopes(project):
        paths = below(project, scope.workflow, scope.workflow.package)
        names = names_by_path(paths)
        (case,) = cases(nested_tasks, scope)
        assert case.answer == sorted(names[path] for path in paths if len(path) > 1)
        assert case.rank == int(not case.answer)


@each_project
def test_composite_tasks_have_sub_workflow(name: str) -> None:
    for scope in scopes(PROJECTS[name]):
        (case,) = cases(composite_tasks, scope)
        tasks = scope.workflow.tasks
        assert case.answer == sorted(t.name for t in tasks if t.subworkflow is not None or t.reference is not None)


def list_cases(pattern: Pattern, project: Workflow) -> list[Case]:
    return list(cases(pattern, scopes(project)[0]))


def test_hierarchy_by_hand() -> None:
    linked = replace(HAND["deep"], links=(Link("A", "B"), Link("B", "H")))
    cases_by_pair = {(c.fields["composite"], c.fields["task"]): c for c in list_cases(task_hierarchy, linked)}
    kinds = {key: (case.labels["pair"], case.answer, case.rank) for key, case in cases_by_pair.items()}
    assert len(kinds) == 3 * 9
    assert kinds["B", "F"] == ("part", "yes", 0)
    assert cases_by_pair["B", "F"].labels["nesting"] == 2
    assert kinds["D", "B"] == ("container", "no", 0)
    assert kinds["D", "G"] == ("beside", "no", 2)
    assert kinds["B", "H"] == ("neighbour", "no", 0)
    assert kinds["B", "A"] == ("neighbour", "no", 0)
    assert kinds["B", "J"] == ("beside", "no", 2)
    assert kinds["B", "I"] == ("elsewhere", "no", 0)
    assert [case.answer for case in list_cases(nested_tasks, linked)] == [["C", "D", "E", "F", "G", "I"]]


def test_hierarchy_repeated_name_given_by_path() -> None:
    assert [case.answer for case in list_cases(nested_tasks, HAND["same names"])] == [
        ["First.Clean", "First.Load", "Second.Clean", "Stop", "Wipe"]
    ]
    hierarchy_cases = list_cases(task_hierarchy, HAND["same names"])
    assert "Load" not in {case.fields["task"] for case in hierarchy_cases}  # ambiguous: in W, or inside First
    assert {case.fields["composite"] for case in hierarchy_cases} == {"First", "Second", "Second.Clean"}
    assert {case.fields["task"] for case in hierarchy_cases if case.fields["paths"]} > {"First.Load", "Second.Clean"}
    dotted = plan("W", box("A", "B"), "A.B", box("C", "B"))
    assert list_cases(nested_tasks, dotted) == []


def test_nested_tasks_workflow_used_twice_counts_twice() -> None:
    assert [case.answer for case in list_cases(nested_tasks, HAND["used twice"])] == [
        ["One.Deep", "One.Deep.Last", "One.Read", "Two.Deep", "Two.Deep.Last", "Two.Read"]
    ]


def test_hierarchy_endless_or_unresolved_left_out() -> None:
    endless = plan("W", use("A", "S"), "B", others=(plan("S", use("C", "W"), "D"),))
    lost = plan("W", use("A", "Nowhere"), "B")
    for pattern in INSIDE:
        assert list_cases(pattern, endless) == []
        assert list_cases(pattern, lost) == []
    assert [case.answer for case in list_cases(composite_tasks, endless)] == [["A"]]
    assert list_cases(infinite_recursion, lost) == []
    assert list_cases(infinite_recursion, HAND["flat"]) == []


def is_recursive(project: Workflow) -> bool:
    """Return True if a path along references from the first workflow enters a workflow twice."""

    def enter(workflow: Workflow, way: tuple[QualifiedName, ...]) -> bool:
        if workflow.qualified in way:
            return True
        inner = [task for outer in workflow.tasks for task in nested_in(outer)]
        to = [find_workflow(project, task.reference, workflow.package) for task in inner if task.reference]
        return any(enter(other, (*way, workflow.qualified)) for other in to if other is not None)

    return enter(project, ())


def nested_in(task: Task) -> list[Task]:
    return [
        task,
        *(deeper for inner in (task.subworkflow.tasks if task.subworkflow else ()) for deeper in nested_in(inner)),
    ]


@pytest.mark.parametrize("flaw", ["close-cycle", "cut-cycle"])
@pytest.mark.parametrize("seed", range(8))
def test_infinite_recursion_equals_path_search(flaw: str, seed: int) -> None:
    rng = Random(seed)
    features = frozenset({"references", "hierarchy"} if seed % 2 else {"references"})
    project = MUTATIONS[flaw](build(Recipe(tasks=14, features=features), rng), rng)
    recursion_cases = list_cases(infinite_recursion, project)
    assert [case.answer for case in recursion_cases] == ["yes" if is_recursive(project) else "no"] * len(
        recursion_cases
    )
    assert recursion_cases or flaw == "cut-cycle"  # no question is possible if the only reference was cut
    assert is_recursive(project) == (flaw == "close-cycle")


def test_infinite_recursion_workflow_used_twice_is_no() -> None:
    assert [case.answer for case in list_cases(infinite_recursion, HAND["used twice"])] == ["no"]


def test_infinite_recursion_question_mentions_bases() -> None:
    scope = Scope(plan("W", "A"), "workflow 'W'", True)
    circular = replace(plan("W"), base=QualifiedName("V"), others=(replace(plan("V"), base=QualifiedName("W")),))
    (case,) = infinite_recursion.cases(circular)
    assert (case.answer, case.labels["cycle"]) == ("yes", 2)
    finite = replace(circular, others=(plan("V"),))
    assert [(case.answer, case.fields["derived"]) for case in infinite_recursion.cases(finite)] == [("no", True)]
    assert "derived from" in sentence(infinite_recursion, 0, scope, case)
    assert "bases" in sentence(infinite_recursion, 1, scope, case)
    (plain,) = list_cases(infinite_recursion, HAND["used twice"])
    assert not any("bases" in sentence(infinite_recursion, i, scope, plain) for i in range(2))


def test_hierarchy_configuration_counts_as_inside() -> None:
    base = plan("Base", "A", "B")
    filled = Configuration("B", reference=QualifiedName("S"))
    derived = Workflow("W", base=QualifiedName("Base"), configurations=(filled,), others=(base, plan("S", "X", "Y")))
    assert [case.answer for case in list_cases(composite_tasks, derived)] == [["B"]]
    assert [case.answer for case in list_cases(nested_tasks, derived)] == [["X", "Y"]]
    assert {(c.fields["task"], c.answer) for c in list_cases(task_hierarchy, derived)} == {
        ("X", "yes"),
        ("Y", "yes"),
        ("A", "no"),
    }


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_hierarchy_phrasings_name_place_and_fields(pattern: Pattern) -> None:
    for project in HAND.values():
        for scope in scopes(project):
            for case in cases(pattern, scope):
                first, second = (sentence(pattern, phrasing, scope, case) for phrasing in range(2))
                assert first != second
                for text in (first, second):
                    assert scope.place in text
                    assert all(f"'{case.fields[f]}'" in text for f in ("task", "composite") if f in case.fields)
                    assert "Outer.Inner" in text or not case.fields.get("paths")


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_hierarchy_draw_always_finds_case(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    if pattern.yes_no:
        assert [each.case.answer for each in drawn_cases] == ["yes", "no"] * 4
    assert [each.phrasing for each in drawn_cases] == [0, 0, 1, 1, 0, 0, 1, 1]
    # A quarter of the questions of task_hierarchy may be about levels with few composite tasks (rank 1).
    assert all(each.case.rank <= (pattern.name == "task_hierarchy") for each in drawn_cases)


def test_infinite_recursion_draws_every_cycle_length() -> None:
    lengths = [draw(infinite_recursion, 20, 1, 2 * ordinal).case.labels["cycle"] for ordinal in range(30)]
    assert set(lengths) == {1, 2, 3, 4}
