from __future__ import annotations

from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, scopes, sentence
from pytest_taskgraph.benchmarks.understanding.patterns.structure.flow import (
    flow_connected,
    flow_cycle,
    flow_end,
    flow_start,
)
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Gateway, Link, Task, Workflow

ALL = (flow_cycle, flow_start, flow_end, flow_connected)
FEATURES = (
    frozenset({"parallel", "exclusive", "data"}),
    frozenset({"loop", "inclusive", "data"}),
    frozenset({"hierarchy", "mixed"}),
    frozenset({"guards"}),
)
Far = dict[tuple[str, str], int]


def made(links: str, data: str = "", also: str = "") -> Workflow:
    """A workflow of links "A>B", data links "d>A" and further tasks; x, y, z are gateways."""
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
    "chained gateways": made("START>A A>x x>y y>B x>C y>x C>D D>END B>z z>END", "d>A A>e e>C C>f"),
    "cycle": made("START>A A>B B>C C>A C>D D>END", "d>A A>e e>B B>d d>C C>g"),
    "cycle of data only": made("START>A A>B B>END", "A>d d>B B>e e>A"),
    "data read and written": made("START>A A>B B>END", "A>d d>A d>B"),
    "chain of data": made("START>A A>B B>END", "a>A A>d d>B"),
    "cycle of control only": made("START>A A>B B>A B>END", "a>A A>d d>B"),
    "self-loop": made("START>A A>B B>x x>B x>END B>B"),
    "cycle of gateways": made("START>A A>x x>y y>x y>B B>END"),
    "two starts": made("START>A START>x x>B B>C A>C C>END"),
    "second start that stands alone": made("START>A A>B B>END C>B"),
    "stray": made("START>A A>END", "e>Lost Lost>f f>A"),
    "stray that repeats itself": made("START>A A>END B>B"),
    "no end": made("START>A A>B B>A"),
    "loop beside the way": made("START>A A>B B>A A>END"),
    "nothing but a task": made("", also="A"),
    "no task": made("START>END"),
    "no control": made("", "a>B B>c c>B"),
    "no control, no cycle": made("", "a>B B>c c>D"),
}


def generated() -> list[Workflow]:
    recipes = [Recipe(tasks=12, features=features, cross_links=links) for features in FEATURES for links in (0, 2)]
    found = [build(recipe, Random(seed)) for recipe in recipes for seed in range(4)]
    return [scope.workflow for one in found for scope in scopes(one)]


def flawed(kind: str) -> list[Workflow]:
    found = []
    for seed in range(12):
        features = frozenset({"guards", "parallel", "data"})
        try:
            found.append(
                MUTATIONS[kind](build(Recipe(features=features, avoid=frozenset({"loop"})), Random(seed)), Random(1))
            )
        except NoCaseError:
            continue
    return found


WORKFLOWS = [*HAND.values(), *generated(), *flawed("back-link"), *flawed("drop-link")]


def far(workflow: Workflow, flow: str) -> Far:
    """Floyd and Warshall's: the number of tasks entered on a shortest way of links between any two nodes."""
    every = workflow.links if flow == "control" else workflow.data_links
    pairs = [(link.source, link.target) for link in every]
    found = {(a, b): int(b in workflow.task_names) for a, b in pairs}
    nodes = sorted({name for pair in pairs for name in pair})
    for k in nodes:
        for a in nodes:
            for b in nodes:
                if (a, k) in found and (k, b) in found:
                    found[a, b] = min(found.get((a, b), 10**6), found[a, k] + found[k, b])
    return found


def nodes(workflow: Workflow, flow: str) -> set[str]:
    every = workflow.links if flow == "control" else workflow.data_links
    return {name for link in every for name in (link.source, link.target)}


def asked(pattern: Pattern, workflow: Workflow) -> dict[str, Json]:
    found = [(case.fields["flow"], case.answer) for case in pattern.cases(workflow)]
    assert len(dict(found)) == len(found)
    return dict(found)


def cycle(workflow: Workflow, flow: str) -> int:
    ways = far(workflow, flow)
    return min((ways[task, task] for task in workflow.task_names if (task, task) in ways), default=0)


def test_a_cycle_is_a_way_from_a_task_back_to_it() -> None:
    for workflow in WORKFLOWS:
        control, data = cycle(workflow, "control"), cycle(workflow, "data")
        expected: dict[str, tuple[str, int]] = {}
        if workflow.tasks and workflow.links:
            expected["control"] = ("yes" if control else "no", control)
        if workflow.data_links and (control or data or not workflow.links):
            expected["data"] = ("yes" if data else "no", data)
        found = {str(c.fields["flow"]): (c.answer, c.labels["cycle"]) for c in flow_cycle.cases(workflow)}
        assert found == expected


def test_asking_about_a_cycle_of_data_does_not_give_the_answer_away() -> None:
    answers = {asked(flow_cycle, workflow).get("data") for workflow in HAND.values()}
    assert answers == {None, "yes", "no"}
    assert asked(flow_cycle, HAND["cycle of control only"]) == {"control": "yes", "data": "no"}
    assert asked(flow_cycle, HAND["cycle of data only"]) == {"control": "no", "data": "yes"}
    assert asked(flow_cycle, HAND["chain of data"]) == {"control": "no"}


def test_both_answers_about_a_cycle_come_with_guards_and_about_the_control_flow() -> None:
    for ordinal in range(24):
        drawn = draw(flow_cycle, 12, 1, ordinal)
        assert drawn.case.fields["flow"] == "control"
        assert any(link.guard for link in drawn.project.links)


def test_counting_guards_tells_little_about_a_cycle() -> None:
    counts: dict[int, list[Json]] = {}
    for ordinal in range(200):
        drawn = draw(flow_cycle, 12, 2, ordinal)
        guards = sum(link.guard is not None for link in drawn.project.links)
        counts.setdefault(guards, []).append(drawn.case.answer)
    assert sum(max(found.count("yes"), found.count("no")) for found in counts.values()) < 0.75 * 200


def test_a_flow_starts_at_the_one_task_with_none_before_it() -> None:
    for workflow in WORKFLOWS:
        ways, expected = far(workflow, "control"), {}
        others = [(a, b) for a, b in ways if a != b and a in workflow.task_names]
        first = [task for task in workflow.task_names if ways.get((START, task)) == 1]
        unled = [task for task in workflow.task_names if not any(b == task for _, b in others)]
        if len(first) == 1 and set(unled) <= set(first):
            expected["control"] = first[0]
        ways = far(workflow, "data")
        fed = {b for a, b in ways if a != b and a in workflow.task_names}
        free = [task for task in workflow.task_names if task in nodes(workflow, "data") - fed]
        if len(free) == 1:
            expected["data"] = free[0]
        assert asked(flow_start, workflow) == expected


def test_a_start_that_is_not_unique_is_not_asked_about() -> None:
    assert asked(flow_start, HAND["two starts"]) == {}
    assert asked(flow_start, HAND["second start that stands alone"]) == {}
    assert asked(flow_start, HAND["stray that repeats itself"]) == {}
    assert asked(flow_start, HAND["loop beside the way"]) == {"control": "A"}
    assert asked(flow_start, HAND["data read and written"]) == {"control": "A", "data": "A"}


def test_a_flow_ends_where_no_other_task_comes_after() -> None:
    for workflow in WORKFLOWS:
        expected = {}
        for flow in ("control", "data"):
            leading = {a for a, b in far(workflow, flow) if a != b and b in workflow.task_names}
            if last := [name for name in workflow.task_names if name in nodes(workflow, flow) - leading]:
                expected[flow] = sorted(last)
        assert asked(flow_end, workflow) == expected


def test_tasks_without_a_link_are_ruled_out_where_there_are_any() -> None:
    for name in ("stray", "cycle"):
        control, data = flow_end.cases(HAND[name])
        scope = Scope(HAND[name], "workflow 'Soup'", True)
        assert all(("link" in sentence(flow_end, i, scope, control)) == (name == "stray") for i in (0, 1))
        assert not any("link" in sentence(flow_end, i, scope, data) for i in (0, 1))


def test_connected_means_every_task_on_a_way_from_start_to_end() -> None:
    for workflow in WORKFLOWS:
        ways, tasks = far(workflow, "control"), workflow.task_names
        whole = all((START, task) in ways and (task, END) in ways for task in tasks)
        assert asked(flow_connected, workflow) == ({"control": "yes" if whole else "no"} if tasks else {})
    assert asked(flow_connected, HAND["loop beside the way"]) == {"control": "yes"}
    assert asked(flow_connected, HAND["no end"]) == {"control": "no"}


def test_a_planted_flaw_makes_the_answer() -> None:
    assert len(flawed("back-link")) > 6
    assert len(flawed("drop-link")) > 6
    assert all(asked(flow_cycle, workflow)["control"] == "yes" for workflow in flawed("back-link"))
    assert all(asked(flow_connected, workflow)["control"] == "no" for workflow in flawed("drop-link"))


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_every_phrasing_of_every_flow_names_the_place_and_the_flow(pattern: Pattern) -> None:
    for workflow in HAND.values():
        for case in pattern.cases(workflow):
            texts = [sentence(pattern, i, Scope(workflow, "workflow 'Soup'", True), case) for i in (0, 1)]
            assert texts[0] != texts[1]
            assert all("workflow 'Soup'" in text and f"{case.fields['flow']} flow" in text for text in texts)


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_draws_alternate_the_answer_and_the_phrasing(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 3, ordinal) for ordinal in range(8)]
    assert [found.phrasing for found in drawn] == [0, 0, 1, 1] * 2
    if pattern.yes_no:
        assert [found.case.answer for found in drawn] == ["yes", "no"] * 4


def test_the_ends_of_both_flows_are_drawn() -> None:
    flows = [draw(flow_end, 12, 5, ordinal).case.labels["flow"] for ordinal in range(40)]
    assert 10 <= flows.count("data") <= 30
