from __future__ import annotations

from functools import cache
from random import Random

import pytest

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, scopes, sentence
from pytest_taskgraph.families.understanding.patterns.structure.flow import (
    flow_connected,
    flow_cycle,
    flow_end,
    flow_start,
)
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Gateway, Link, Task, Workflow

PATTERNS = (flow_cycle, flow_start, flow_end, flow_connected)
FEATURES = (
    frozenset({"parallel", "exclusive", "data"}),
    frozenset({"loop", "inclusive", "data"}),
    frozenset({"hierarchy", "mixed"}),
    frozenset({"guards"}),
)
Far = dict[tuple[str, str], int]


def workflow_of(links: str, data: str = "", also: str = "") -> Workflow:
    """Return a workflow of links "A>B", data links "d>A" and further tasks; x, y, z are gateways."""
    pairs = [text.split(">") for text in links.split()]
    flows = [text.split(">") for text in data.split()]
    names = dict.fromkeys([*(name for pair in [*pairs, *flows] for name in pair), *also.split()])
    return Workflow(
        "Hand",
        tasks=tuple(Task(name) for name in names if name[0].isupper() and name not in (START, END)),
        data=tuple(Data(name) for name in names if name.islower() and name not in "xyz"),
        gateways=tuple(Gateway(name, "exclusive", "split") for name in "xyz" if name in names),
        links=tuple(Link(*pair) for pair in pairs),
        data_links=tuple(DataLink(*pair) for pair in flows),
    )


HAND = {
    "chained gateways": workflow_of("START>A A>x x>y y>B x>C y>x C>D D>END B>z z>END", "d>A A>e e>C C>f"),
    "cycle": workflow_of("START>A A>B B>C C>A C>D D>END", "d>A A>e e>B B>d d>C C>g"),
    "cycle of data only": workflow_of("START>A A>B B>END", "A>d d>B B>e e>A"),
    "data read and written": workflow_of("START>A A>B B>END", "A>d d>A d>B"),
    "chain of data": workflow_of("START>A A>B B>END", "a>A A>d d>B"),
    "cycle of control only": workflow_of("START>A A>B B>A B>END", "a>A A>d d>B"),
    "self-loop": workflow_of("START>A A>B B>x x>B x>END B>B"),
    "cycle of gateways": workflow_of("START>A A>x x>y y>x y>B B>END"),
    "two starts": workflow_of("START>A START>x x>B B>C A>C C>END"),
    "second start that stands alone": workflow_of("START>A A>B B>END C>B"),
    "stray": workflow_of("START>A A>END", "e>Lost Lost>f f>A"),
    "stray that repeats itself": workflow_of("START>A A>END B>B"),
    "no end": workflow_of("START>A A>B B>A"),
    "loop beside the way": workflow_of("START>A A>B B>A A>END"),
    "nothing but a task": workflow_of("", also="A"),
    "no task": workflow_of("START>END"),
    "no control": workflow_of("", "a>B B>c c>B"),
    "no control, no cycle": workflow_of("", "a>B B>c c>D"),
}


def generated_levels() -> list[Workflow]:
    recipes = [Recipe(tasks=12, features=features, cross_links=links) for features in FEATURES for links in (0, 2)]
    projects = [build(recipe, Random(seed)) for recipe in recipes for seed in range(4)]
    return [scope.workflow for project in projects for scope in scopes(project)]


def flawed(kind: str) -> list[Workflow]:
    flawed_projects = []
    for seed in range(12):
        features = frozenset({"guards", "parallel", "data"})
        try:
            flawed_projects.append(
                MUTATIONS[kind](build(Recipe(features=features, avoid=frozenset({"loop"})), Random(seed)), Random(1))
            )
        except NoCaseError:
            continue
    return flawed_projects


@cache
def sample_workflows() -> list[Workflow]:
    return [*HAND.values(), *generated_levels(), *flawed("back-link"), *flawed("drop-link")]


def shortest_paths(workflow: Workflow, flow: str) -> Far:
    """Return the numbers of tasks entered on shortest paths between any two nodes (Floyd-Warshall)."""
    links = workflow.links if flow == "control" else workflow.data_links
    pairs = [(link.source, link.target) for link in links]
    distances = {(a, b): int(b in workflow.task_names) for a, b in pairs}
    nodes = sorted({name for pair in pairs for name in pair})
    for k in nodes:
        for a in nodes:
            for b in nodes:
                if (a, k) in distances and (k, b) in distances:
                    distances[a, b] = min(distances.get((a, b), 10**6), distances[a, k] + distances[k, b])
    return distances


def nodes(workflow: Workflow, flow: str) -> set[str]:
    links = workflow.links if flow == "control" else workflow.data_links
    return {name for link in links for name in (link.source, link.target)}


def answers_by_flow(pattern: Pattern, workflow: Workflow) -> dict[str, Json]:
    pairs = [(case.fields["flow"], case.answer) for case in pattern.cases(workflow)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def cycle(workflow: Workflow, flow: str) -> int:
    ways = shortest_paths(workflow, flow)
    return min((ways[task, task] for task in workflow.task_names if (task, task) in ways), default=0)


def test_flow_cycle_equals_shortest_paths() -> None:
    for workflow in sample_workflows():
        control, data = cycle(workflow, "control"), cycle(workflow, "data")
        expected: dict[str, tuple[str, int]] = {}
        if workflow.tasks and workflow.links:
            expected["control"] = ("yes" if control else "no", control)
        if workflow.data_links and (control or data or not workflow.links):
            expected["data"] = ("yes" if data else "no", data)
        answers = {str(c.fields["flow"]): (c.answer, c.labels["cycle"]) for c in flow_cycle.cases(workflow)}
        assert answers == expected


def test_flow_cycle_data_question_does_not_reveal_answer() -> None:
    answers = {answers_by_flow(flow_cycle, workflow).get("data") for workflow in HAND.values()}
    assert answers == {None, "yes", "no"}
    assert answers_by_flow(flow_cycle, HAND["cycle of control only"]) == {"control": "yes", "data": "no"}
    assert answers_by_flow(flow_cycle, HAND["cycle of data only"]) == {"control": "no", "data": "yes"}
    assert answers_by_flow(flow_cycle, HAND["chain of data"]) == {"control": "no"}


def test_flow_cycle_drawn_workflow_has_guards() -> None:
    for ordinal in range(24):
        drawn_case = draw(flow_cycle, 12, 1, ordinal)
        assert drawn_case.case.fields["flow"] == "control"
        assert any(link.guard for link in drawn_case.project.links)


def test_flow_cycle_number_of_guards_does_not_reveal_answer() -> None:
    counts: dict[int, list[Json]] = {}
    for ordinal in range(200):
        drawn_case = draw(flow_cycle, 12, 2, ordinal)
        guards = sum(link.guard is not None for link in drawn_case.project.links)
        counts.setdefault(guards, []).append(drawn_case.case.answer)
    assert sum(max(answers.count("yes"), answers.count("no")) for answers in counts.values()) < 0.75 * 200


def test_flow_start_equals_shortest_paths() -> None:
    for workflow in sample_workflows():
        ways, expected = shortest_paths(workflow, "control"), {}
        others = [(a, b) for a, b in ways if a != b and a in workflow.task_names]
        first = [task for task in workflow.task_names if ways.get((START, task)) == 1]
        unled = [task for task in workflow.task_names if not any(b == task for _, b in others)]
        if len(first) == 1 and set(unled) <= set(first):
            expected["control"] = first[0]
        ways = shortest_paths(workflow, "data")
        fed = {b for a, b in ways if a != b and a in workflow.task_names}
        free = [task for task in workflow.task_names if task in nodes(workflow, "data") - fed]
        if len(free) == 1:
            expected["data"] = free[0]
        assert answers_by_flow(flow_start, workflow) == expected


def test_flow_start_ambiguous_left_out() -> None:
    assert answers_by_flow(flow_start, HAND["two starts"]) == {}
    assert answers_by_flow(flow_start, HAND["second start that stands alone"]) == {}
    assert answers_by_flow(flow_start, HAND["stray that repeats itself"]) == {}
    assert answers_by_flow(flow_start, HAND["loop beside the way"]) == {"control": "A"}
    assert answers_by_flow(flow_start, HAND["data read and written"]) == {"control": "A", "data": "A"}


def test_flow_end_equals_shortest_paths() -> None:
    for workflow in sample_workflows():
        expected = {}
        for flow in ("control", "data"):
            leading = {a for a, b in shortest_paths(workflow, flow) if a != b and b in workflow.task_names}
            if last := [name for name in workflow.task_names if name in nodes(workflow, flow) - leading]:
                expected[flow] = sorted(last)
        assert answers_by_flow(flow_end, workflow) == expected


def test_flow_end_question_excludes_unlinked_tasks() -> None:
    for name in ("stray", "cycle"):
        control, data = flow_end.cases(HAND[name])
        scope = Scope(HAND[name], "workflow 'Soup'", True)
        assert all(("link" in sentence(flow_end, i, scope, control)) == (name == "stray") for i in (0, 1))
        assert not any("link" in sentence(flow_end, i, scope, data) for i in (0, 1))


def test_flow_connected_equals_shortest_paths() -> None:
    for workflow in sample_workflows():
        ways, tasks = shortest_paths(workflow, "control"), workflow.task_names
        whole = all((START, task) in ways and (task, END) in ways for task in tasks)
        assert answers_by_flow(flow_connected, workflow) == ({"control": "yes" if whole else "no"} if tasks else {})
    assert answers_by_flow(flow_connected, HAND["loop beside the way"]) == {"control": "yes"}
    assert answers_by_flow(flow_connected, HAND["no end"]) == {"control": "no"}


def test_flow_planted_flaw_determines_answer() -> None:
    assert len(flawed("back-link")) > 6
    assert len(flawed("drop-link")) > 6
    assert all(answers_by_flow(flow_cycle, workflow)["control"] == "yes" for workflow in flawed("back-link"))
    assert all(answers_by_flow(flow_connected, workflow)["control"] == "no" for workflow in flawed("drop-link"))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_flow_phrasings_name_place_and_flow(pattern: Pattern) -> None:
    for workflow in HAND.values():
        for case in pattern.cases(workflow):
            texts = [sentence(pattern, i, Scope(workflow, "workflow 'Soup'", True), case) for i in (0, 1)]
            assert texts[0] != texts[1]
            assert all("workflow 'Soup'" in text and f"{case.fields['flow']} flow" in text for text in texts)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_flow_draws_alternate_answer_and_phrasing(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 3, ordinal) for ordinal in range(8)]
    assert [each.phrasing for each in drawn_cases] == [0, 0, 1, 1] * 2
    if pattern.yes_no:
        assert [each.case.answer for each in drawn_cases] == ["yes", "no"] * 4


def test_flow_end_draws_both_flows() -> None:
    flows = [draw(flow_end, 12, 5, ordinal).case.labels["flow"] for ordinal in range(40)]
    assert 10 <= flows.count("data") <= 30
