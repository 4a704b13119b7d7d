from __future__ import annotations

from collections import Counter
from random import Random
from time import process_time

import pytest

from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, scopes, sentence
from pytest_taskgraph.families.understanding.patterns.structure.dependencies import (
    data_production,
    dependency_existence,
    dependency_list,
)
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Data, DataLink, Gateway, Link, Task, Workflow

PATTERNS = (dependency_existence, dependency_list, data_production)
FEATURES = (
    frozenset({"parallel", "exclusive", "data"}),
    frozenset({"loop", "inclusive", "data"}),
    frozenset({"hierarchy", "mixed", "data"}),
)
Distances = dict[tuple[str, str], int]  # steps from task to task on a shortest path; absent: no path


def flow(links: str, data: str = "") -> Workflow:
    """Return a workflow of links "A>B" and data links "d>A", in which x, y, z are gateways."""
    pairs = [tuple(link.split(">")) for link in links.split()]
    data_pairs = [tuple(link.split(">")) for link in data.split()]
    names = dict.fromkeys(name for pair in [*pairs, *data_pairs] for name in pair)
    return Workflow(
        "Hand",
        tasks=tuple(Task(name) for name in names if name[0].isupper() and name not in ("START", "END")),
        data=tuple(Data(name) for name in names if name.islower() and name not in "xyz"),
        gateways=tuple(Gateway(name, "exclusive", "split") for name in "xyz" if name in names),
        links=tuple(Link(*pair) for pair in pairs),
        data_links=tuple(DataLink(*pair) for pair in data_pairs),
    )


HAND = {
    "gateways": flow("START>A A>x x>y x>B y>C y>x C>D D>END B>END", "d>A A>e e>C C>f"),
    "cycle": flow("START>A A>B B>C C>A C>D D>END", "d>A A>e e>B B>d d>C C>g"),
    "self-loop": flow("START>A A>A A>B B>x x>B x>END", "A>e e>A e>B"),
    "no end": flow("START>A A>B B>A", "e>B B>f"),
    "stray": flow("START>A A>END", "e>Lost Lost>f f>A"),
    "two writers": flow("START>A A>B B>C C>END", "A>e B>e e>C C>f a>B"),
    "written twice over": flow("START>A A>B A>B B>END", "A>e A>e e>B e>B"),
    "no data": flow("START>A A>B B>END"),
    "no control": flow("", "a>B B>c"),
}


def generated_levels() -> list[Workflow]:
    recipes = [Recipe(tasks=11, features=features, cross_links=links) for features in FEATURES for links in (0, 1)]
    projects = [build(recipe, Random(seed)) for recipe in recipes for seed in range(3)]
    return [scope.workflow for project in projects for scope in scopes(project)]


WORKFLOWS = [*HAND.values(), *generated_levels()]


def shortest(links: list[tuple[str, str]], counted: set[str]) -> Distances:
    """Return the numbers of counted nodes entered on shortest paths (Floyd-Warshall)."""
    nodes = sorted({name for link in links for name in link})
    far = {(a, b): int(b in counted) for a, b in links}
    for k in nodes:
        for a in nodes:
            for b in nodes:
                if (a, k) in far and (k, b) in far:
                    far[a, b] = min(far.get((a, b), 10**6), far[a, k] + far[k, b])
    return far


def steps(workflow: Workflow, flow: str) -> Distances:
    """Return the steps between tasks, or between data and tasks, in both directions."""
    tasks = {task.name for task in workflow.tasks}
    if flow == "control":
        return shortest([(link.source, link.target) for link in workflow.links], tasks)
    far = shortest([(link.source, link.target) for link in workflow.data_links], tasks)
    return {(a, b): distance if b in tasks else distance + 1 for (a, b), distance in far.items()}


def sources(workflow: Workflow, flow: str) -> list[str]:
    return [node.name for node in (workflow.tasks if flow == "control" else workflow.data)]


def flows(workflow: Workflow) -> list[str]:
    return [name for name, links in (("control", workflow.links), ("data", workflow.data_links)) if links]


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_dependency_existence_equals_shortest_paths(number: int) -> None:
    workflow = WORKFLOWS[number]
    expected: dict[tuple[str, str, str, bool], tuple[str, int]] = {}
    for name in flows(workflow):
        far = steps(workflow, name)
        for on in sources(workflow, name):
            for task in workflow.task_names:
                ahead = far.get((on, task), 0)
                distance = ahead or far.get((task, on), 0)
                if task != on and distance in (0, 1, 2, 3, 4, 6, 8):
                    expected[name, on, task, True] = ("yes" if ahead == 1 else "no", distance)
                    expected[name, on, task, False] = ("yes" if ahead else "no", distance)
    listed_cases = list(dependency_existence.cases(workflow))
    keys = [
        (case.fields["flow"], case.fields["on"], case.fields["task"], case.fields["direct"]) for case in listed_cases
    ]
    assert len(set(keys)) == len(keys)
    assert {
        key: (case.answer, case.labels["distance"]) for key, case in zip(keys, listed_cases, strict=True)
    } == expected


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_dependency_list_equals_shortest_paths(number: int) -> None:
    workflow = WORKFLOWS[number]
    expected = {}
    for name in flows(workflow):
        far = steps(workflow, name)
        for task in workflow.task_names:
            before = {on: far[on, task] for on in sources(workflow, name) if (on, task) in far and on != task}
            expected[name, task, True] = sorted(on for on, distance in before.items() if distance == 1)
            expected[name, task, False] = sorted(before)
    cases_by_key = {
        (c.fields["flow"], c.fields["task"], c.fields["direct"]): c for c in dependency_list.cases(workflow)
    }
    assert {key: case.answer for key, case in cases_by_key.items()} == expected
    for name, task, direct in cases_by_key:
        both = [cases_by_key[name, task, True].answer, cases_by_key[name, task, False].answer]
        assert cases_by_key[name, task, direct].rank == (2 if not both[1] else int(both[0] == both[1]))


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_data_production_names_single_writer(number: int) -> None:
    workflow = WORKFLOWS[number]
    writers: dict[str, set[str]] = {}
    for link in workflow.data_links:
        if link.target not in workflow.task_names:
            writers.setdefault(link.target, set()).add(link.source)
    answers = {case.fields["data"]: case.answer for case in data_production.cases(workflow)}
    assert answers == {data: min(tasks) for data, tasks in writers.items() if len(tasks) == 1}


def test_dependency_existence_by_hand() -> None:
    cases_by_key = {
        tuple(c.fields[k] for k in ("on", "task", "direct")): c for c in dependency_existence.cases(HAND["gateways"])
    }
    kinds = {key: (case.answer, case.rank, case.labels["pair"]) for key, case in cases_by_key.items()}
    assert kinds["A", "C", True] == ("yes", 0, "direct")  # through two gateways
    assert kinds["A", "C", False] == ("yes", 1, "direct")
    assert kinds["A", "D", False] == ("yes", 0, "through others")
    assert kinds["A", "D", True] == ("no", 0, "through others")
    assert kinds["C", "A", False] == ("no", 0, "reversed")
    assert kinds["C", "A", True] == ("no", 0, "reversed")
    assert kinds["D", "A", True] == ("no", 1, "reversed")
    assert kinds["B", "C", False] == ("no", 1, "unrelated")
    assert kinds["d", "C", False] == ("yes", 0, "through others")
    assert kinds["f", "A", False] == ("no", 0, "reversed")


def test_dependency_existence_cycle_both_directions() -> None:
    cases_by_key = {
        tuple(c.fields[k] for k in ("on", "task", "direct")): c for c in dependency_existence.cases(HAND["cycle"])
    }
    assert [cases_by_key["A", "B", False].answer, cases_by_key["B", "A", False].answer] == ["yes", "yes"]
    assert [cases_by_key["A", "B", True].answer, cases_by_key["B", "A", True].answer] == ["yes", "no"]
    assert [cases_by_key["d", "B", False].answer, cases_by_key["e", "A", False].answer] == ["yes", "yes"]


def test_dependencies_missing_flow_left_out() -> None:
    for pattern in (dependency_existence, dependency_list):
        assert {case.fields["flow"] for case in pattern.cases(HAND["no data"])} == {"control"}
        assert {case.fields["flow"] for case in pattern.cases(HAND["no control"])} == {"data"}
    assert list(data_production.cases(HAND["no data"])) == []


def test_dependency_relation_does_not_reveal_answer() -> None:
    drawn_cases = [draw(dependency_existence, 12, 3, ordinal).case for ordinal in range(80)]
    counts = Counter((str(case.answer), str(case.labels["relation"])) for case in drawn_cases)
    assert min(counts.values()) >= 8
    assert len(counts) == 4
    assert {case.labels["flow"] for case in drawn_cases} == {"control", "data"}


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_dependency_phrasings_name_place_and_fields(pattern: Pattern) -> None:
    for name, workflow in HAND.items():
        scope = Scope(workflow, f"workflow '{name}'", True)
        for case in pattern.cases(workflow):
            first, second = (sentence(pattern, phrasing, scope, case) for phrasing in range(2))
            assert first != second
            for text in (first, second):
                assert f"workflow '{name}'" in text
                assert all(
                    f"'{case.fields[field]}'" in text for field in ("task", "on", "data") if field in case.fields
                )
                assert "nested" not in text
                assert "composite" not in text


@pytest.mark.parametrize("pattern", [dependency_existence, dependency_list], ids=lambda pattern: pattern.name)
def test_dependency_relations_have_different_texts(pattern: Pattern) -> None:
    scope = Scope(HAND["cycle"], "workflow 'W'", True)
    kinds = {
        (c.fields["flow"], c.fields["direct"]): c for c in pattern.cases(scope.workflow) if c.fields["task"] == "B"
    }
    assert len({sentence(pattern, i, scope, case) for i in range(2) for case in kinds.values()}) == 8


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_dependency_draw_always_finds_case(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    if pattern.yes_no:
        assert [each.case.answer for each in drawn_cases] == ["yes", "no"] * 4
    assert [each.phrasing for each in drawn_cases] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert all(each.case.rank == 0 for each in drawn_cases)


def test_dependency_existence_long_chain_is_bounded() -> None:
    names = [f"T{number}" for number in range(200)]
    links = " ".join(f"{a}>{b}" for a, b in zip(["START", *names], [*names, "END"], strict=True))
    before = process_time()
    distances = [case.labels["distance"] for case in dependency_existence.cases(flow(links))]
    assert process_time() - before < 5
    assert len(distances) < 15_000
    assert {1, 2, 3, 4, 6, 8, 12, 192} <= set(distances)
