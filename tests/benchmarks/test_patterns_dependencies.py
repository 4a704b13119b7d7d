from __future__ import annotations

from collections import Counter
from random import Random
from time import process_time

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, scopes, sentence
from pytest_taskgraph.benchmarks.understanding.patterns.structure.dependencies import (
    data_production,
    dependency_existence,
    dependency_list,
)
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Data, DataLink, Gateway, Link, Task, Workflow

ALL = (dependency_existence, dependency_list, data_production)
FEATURES = (
    frozenset({"parallel", "exclusive", "data"}),
    frozenset({"loop", "inclusive", "data"}),
    frozenset({"hierarchy", "mixed", "data"}),
)
Distances = dict[tuple[str, str], int]  # steps from task to task on a shortest way; absent: no way


def flow(links: str, data: str = "") -> Workflow:
    """A workflow of links "A>B" and data links "d>A", in which x, y, z are gateways."""
    pairs = [tuple(link.split(">")) for link in links.split()]
    data_pairs = [tuple(link.split(">")) for link in data.split()]
    named = dict.fromkeys(name for pair in [*pairs, *data_pairs] for name in pair)
    return Workflow(
        "Hand",
        tasks=tuple(Task(name) for name in named if name[0].isupper() and name not in ("START", "END")),
        data=tuple(Data(name) for name in named if name.islower() and name not in "xyz"),
        gateways=tuple(Gateway(name, "exclusive", "split") for name in "xyz" if name in named),
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


def generated() -> list[Workflow]:
    recipes = [Recipe(tasks=11, features=features, cross_links=links) for features in FEATURES for links in (0, 1)]
    found = [build(recipe, Random(seed)) for recipe in recipes for seed in range(3)]
    return [scope.workflow for one in found for scope in scopes(one)]


WORKFLOWS = [*HAND.values(), *generated()]


def shortest(links: list[tuple[str, str]], counted: set[str]) -> Distances:
    """Floyd and Warshall's: the number of counted nodes entered on a shortest way of one link or more."""
    nodes = sorted({name for link in links for name in link})
    far = {(a, b): int(b in counted) for a, b in links}
    for k in nodes:
        for a in nodes:
            for b in nodes:
                if (a, k) in far and (k, b) in far:
                    far[a, b] = min(far.get((a, b), 10**6), far[a, k] + far[k, b])
    return far


def steps(workflow: Workflow, flow: str) -> Distances:
    """Steps between what may be asked about: task after task, or data and the task that they lead to, both ways."""
    tasks = {task.name for task in workflow.tasks}
    if flow == "control":
        return shortest([(link.source, link.target) for link in workflow.links], tasks)
    far = shortest([(link.source, link.target) for link in workflow.data_links], tasks)
    return {(a, b): distance if b in tasks else distance + 1 for (a, b), distance in far.items()}


def sources(workflow: Workflow, flow: str) -> list[str]:
    return [one.name for one in (workflow.tasks if flow == "control" else workflow.data)]


def flows(workflow: Workflow) -> list[str]:
    return [name for name, links in (("control", workflow.links), ("data", workflow.data_links)) if links]


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_a_dependency_exists_where_a_path_of_links_does(number: int) -> None:
    workflow = WORKFLOWS[number]
    wanted: dict[tuple[str, str, str, bool], tuple[str, int]] = {}
    for name in flows(workflow):
        far = steps(workflow, name)
        for on in sources(workflow, name):
            for task in workflow.task_names:
                ahead = far.get((on, task), 0)
                distance = ahead or far.get((task, on), 0)
                if task != on and distance in (0, 1, 2, 3, 4, 6, 8):
                    wanted[name, on, task, True] = ("yes" if ahead == 1 else "no", distance)
                    wanted[name, on, task, False] = ("yes" if ahead else "no", distance)
    found = list(dependency_existence.cases(workflow))
    keys = [(case.fields["flow"], case.fields["on"], case.fields["task"], case.fields["direct"]) for case in found]
    assert len(set(keys)) == len(keys)
    assert {key: (case.answer, case.labels["distance"]) for key, case in zip(keys, found, strict=True)} == wanted


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_a_list_of_dependencies_holds_all_from_which_a_path_leads(number: int) -> None:
    workflow = WORKFLOWS[number]
    wanted = {}
    for name in flows(workflow):
        far = steps(workflow, name)
        for task in workflow.task_names:
            before = {on: far[on, task] for on in sources(workflow, name) if (on, task) in far and on != task}
            wanted[name, task, True] = sorted(on for on, distance in before.items() if distance == 1)
            wanted[name, task, False] = sorted(before)
    found = {(c.fields["flow"], c.fields["task"], c.fields["direct"]): c for c in dependency_list.cases(workflow)}
    assert {key: case.answer for key, case in found.items()} == wanted
    for name, task, direct in found:
        both = [found[name, task, True].answer, found[name, task, False].answer]
        assert found[name, task, direct].rank == (2 if not both[1] else int(both[0] == both[1]))


@pytest.mark.parametrize("number", range(len(WORKFLOWS)))
def test_data_are_produced_by_the_one_task_that_writes_them(number: int) -> None:
    workflow = WORKFLOWS[number]
    writers: dict[str, set[str]] = {}
    for link in workflow.data_links:
        if link.target not in workflow.task_names:
            writers.setdefault(link.target, set()).add(link.source)
    found = {case.fields["data"]: case.answer for case in data_production.cases(workflow)}
    assert found == {data: min(tasks) for data, tasks in writers.items() if len(tasks) == 1}


def test_an_example_by_hand() -> None:
    found = {
        tuple(c.fields[k] for k in ("on", "task", "direct")): c for c in dependency_existence.cases(HAND["gateways"])
    }
    kinds = {key: (case.answer, case.rank, case.labels["pair"]) for key, case in found.items()}
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


def test_on_a_cycle_both_directions_hold() -> None:
    found = {tuple(c.fields[k] for k in ("on", "task", "direct")): c for c in dependency_existence.cases(HAND["cycle"])}
    assert [found["A", "B", False].answer, found["B", "A", False].answer] == ["yes", "yes"]
    assert [found["A", "B", True].answer, found["B", "A", True].answer] == ["yes", "no"]
    assert [found["d", "B", False].answer, found["e", "A", False].answer] == ["yes", "yes"]


def test_a_flow_that_the_level_has_not_is_not_asked_about() -> None:
    for pattern in (dependency_existence, dependency_list):
        assert {case.fields["flow"] for case in pattern.cases(HAND["no data"])} == {"control"}
        assert {case.fields["flow"] for case in pattern.cases(HAND["no control"])} == {"data"}
    assert list(data_production.cases(HAND["no data"])) == []


def test_neither_relation_gives_the_answer_away() -> None:
    drawn = [draw(dependency_existence, 12, 3, ordinal).case for ordinal in range(80)]
    found = Counter((str(case.answer), str(case.labels["relation"])) for case in drawn)
    assert min(found.values()) >= 8
    assert len(found) == 4
    assert {case.labels["flow"] for case in drawn} == {"control", "data"}


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_both_phrasings_of_every_case_name_the_place_and_what_is_asked(pattern: Pattern) -> None:
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
def test_the_four_relations_are_worded_differently_in_each_phrasing(pattern: Pattern) -> None:
    scope = Scope(HAND["cycle"], "workflow 'W'", True)
    kinds = {
        (c.fields["flow"], c.fields["direct"]): c for c in pattern.cases(scope.workflow) if c.fields["task"] == "B"
    }
    assert len({sentence(pattern, i, scope, case) for i in range(2) for case in kinds.values()}) == 8


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_a_case_is_found_for_every_draw(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    if pattern.yes_no:
        assert [one.case.answer for one in drawn] == ["yes", "no"] * 4
    assert [one.phrasing for one in drawn] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert all(one.case.rank == 0 for one in drawn)


def test_the_cases_of_a_long_chain_stay_few() -> None:
    names = [f"T{number}" for number in range(200)]
    links = " ".join(f"{a}>{b}" for a, b in zip(["START", *names], [*names, "END"], strict=True))
    before = process_time()
    found = [case.labels["distance"] for case in dependency_existence.cases(flow(links))]
    assert process_time() - before < 5
    assert len(found) < 15_000
    assert {1, 2, 3, 4, 6, 8, 12, 192} <= set(found)
