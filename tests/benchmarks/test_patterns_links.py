from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from time import process_time

import pytest

from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, scopes, sentence
from pytest_taskgraph.families.understanding.patterns.structure.links import (
    conditional_link_existence,
    conditional_links,
    link_existence,
    next_tasks,
    task_after_task,
)
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Gateway, Link, Task, Workflow

PATTERNS = (link_existence, task_after_task, next_tasks, conditional_link_existence, conditional_links)
FEATURES = (
    frozenset({"parallel", "exclusive", "data"}),
    frozenset({"loop", "inclusive", "parallel", "data"}),
    frozenset({"hierarchy", "mixed", "exclusive"}),
)
Pair = tuple[str, str]


def workflow_of(links: str, data: str = "") -> Workflow:
    """Return a workflow of links "A>B" and "A?B" (under a condition) and data links "d>A"; x, y, z are gateways."""
    control_links = []
    for text in links.split():
        source, _, target = text.replace("?", ">").partition(">")
        control_links.append(Link(source, target, "k > 1" if "?" in text else None))
    flows = [DataLink(*text.split(">")) for text in data.split()]
    all_links: list[Link | DataLink] = [*control_links, *flows]
    ends = [(link.source, link.target) for link in all_links]
    names = dict.fromkeys(name for pair in ends for name in pair)
    return Workflow(
        "Hand",
        tasks=tuple(Task(name) for name in names if name[0].isupper() and name not in (START, END)),
        data=tuple(Data(name) for name in names if name.islower() and name not in "xyz"),
        gateways=tuple(Gateway(name, "exclusive", "split") for name in "xyz" if name in names),
        links=tuple(control_links),
        data_links=tuple(flows),
    )


HAND = {
    "chained gateways": workflow_of("START>A A>x x?y y>B x>C y>x C>D D>END B>z z>END z?A", "d>A A>e e>C C>f"),
    "cycle": workflow_of("START>A A>B B>C C?A C?D D>END", "d>A A>e e>B B>d d>C C>g"),
    "both ways": workflow_of("START>A A>B B?A A?C C?END B>END", "A>e e>A e>B"),
    "self-loop": workflow_of("START>A A?A A>B B>x x>B x>END", "A>e e>A e>B"),
    "both kinds": workflow_of("START>A A>B A?B A?C A>C B>x C?x x>D A>x D>END"),
    "link beside a gateway": workflow_of("START>A A>B A>x x?B x>C B>END C>END"),
    "no end": workflow_of("START>A A>B B>A", "e>B B>f"),
    "stray": workflow_of("START>A A?END", "e>Lost Lost>f f>A"),
    "no control": workflow_of("", "a>B B>c"),
}


def generated_levels() -> list[Workflow]:
    recipes = [Recipe(tasks=12, features=features, cross_links=links) for features in FEATURES for links in (0, 2)]
    projects = [build(recipe, Random(seed)) for recipe in recipes for seed in range(4)]
    return [scope.workflow for project in projects for scope in scopes(project)]


GENERATED = generated_levels()
WORKFLOWS = [*HAND.values(), *GENERATED]


def paths_from(workflow: Workflow, a: str, passed: frozenset[str] = frozenset()) -> list[tuple[str, bool, bool]]:
    """Return each task reached from a through gateways, and whether a gateway and a condition lie on the path."""
    gateways = {gateway.name for gateway in workflow.gateways}
    paths = []
    for link in workflow.links:
        if link.source == a and link.target in gateways - passed:
            further = paths_from(workflow, link.target, passed | {link.target})
            paths += [(b, True, guarded or link.guard is not None) for b, _, guarded in further]
        elif link.source == a and link.target not in gateways:
            paths.append((link.target, bool(passed), link.guard is not None))
    return paths


def after(workflow: Workflow, flow: str) -> set[Pair]:
    """Return the pairs of tasks of which the second comes directly after the first."""
    tasks = workflow.task_names
    if flow == "control":
        return {(a, b) for a in tasks for b, _, _ in paths_from(workflow, a) if b in tasks}
    ends = [(link.source, link.target) for link in workflow.data_links]
    return {(a, b) for a, d in ends for e, b in ends if d == e and a in tasks and b in tasks}


def links(workflow: Workflow, flow: str) -> set[Pair]:
    """Return the links between tasks and data that a question can be about."""
    names = {*workflow.task_names, *(data.name for data in workflow.data)}
    flow_links = workflow.links if flow == "control" else workflow.data_links
    return {(link.source, link.target) for link in flow_links if {link.source, link.target} <= names}


def conditional(workflow: Workflow) -> set[Pair]:
    tasks = workflow.task_names
    ends = [(link.source, link.target) for link in workflow.links if link.guard]
    return {pair for pair in ends if {*pair} <= {*tasks}}


def through(workflow: Workflow) -> set[Pair]:
    return {(a, b) for a in workflow.task_names for b, gateway, _ in paths_from(workflow, a) if gateway}


def cases_of_flow(pattern: Pattern, workflow: Workflow, flow: str) -> list[Case]:
    return [case for case in pattern.cases(workflow) if case.fields.get("flow", "control") == flow]


def pairs(cases: list[Case], answer: str) -> list[Pair]:
    return [(case.fields["a"], case.fields["b"]) for case in cases if case.answer == answer]


def reverse_pairs(pairs_of_names: set[Pair]) -> set[Pair]:
    return {(b, a) for a, b in pairs_of_names}


def kinds(workflow: Workflow, flow: str) -> set[Pair]:
    """Return all pairs of different nodes that a link of the flow could join."""
    tasks, data = workflow.task_names, [node.name for node in workflow.data]
    if flow == "control":
        return {(a, b) for a in tasks for b in tasks if a != b}
    return {(a, d) for a in tasks for d in data} | {(d, a) for a in tasks for d in data}


def easy_cases(workflow: Workflow) -> list[Case]:
    """Return the cases of link_existence in which both ends are named, with the names as fields."""
    named_cases = [case for case in link_existence.cases(workflow) if case.labels["difficulty"] == "easy"]
    names = [[case.fields[end].split("'")[1] for end in ("first", "second")] for case in named_cases]
    return [
        replace(case, fields={**case.fields, "a": a, "b": b}) for case, (a, b) in zip(named_cases, names, strict=True)
    ]


@pytest.mark.parametrize("flow", ["control", "data"])
def test_link_existence_equals_links_without_gateways(flow: str) -> None:
    for workflow in WORKFLOWS:
        linked, cases = links(workflow, flow), [case for case in easy_cases(workflow) if case.fields["flow"] == flow]
        joined = through(workflow) if flow == "control" else set()
        assert sorted(pairs(cases, "yes")) == sorted(linked)
        assert sorted(pairs(cases, "no")) == sorted(kinds(workflow, flow) - linked - joined)
        data = {node.name for node in workflow.data}
        assert all(case.fields["first"].startswith("data") == (case.fields["a"] in data) for case in cases)
        assert all(case.fields["second"].startswith("data") == (case.fields["b"] in data) for case in cases)


def test_link_existence_ranks_reversed_before_unlinked() -> None:
    workflow = HAND["cycle"]
    ranks = {(c.fields["a"], c.fields["b"]): (c.labels["pair"], c.rank) for c in easy_cases(workflow)}
    assert (ranks["A", "B"], ranks["B", "A"], ranks["D", "A"]) == (("linked", 0), ("reversed", 0), ("unlinked", 1))
    assert (ranks["e", "B"], ranks["B", "e"], ranks["e", "C"]) == (("linked", 0), ("reversed", 0), ("unlinked", 2))
    assert (ranks["C", "g"], ranks["g", "C"]) == (("linked", 1), ("reversed", 1))


def test_link_existence_description_names_third_node() -> None:
    hard = [c for w in WORKFLOWS for c in link_existence.cases(w) if c.labels["difficulty"] == "hard"]
    assert {case.answer for case in hard} == {"yes", "no"}
    for case in hard:
        ends = [case.fields["first"], case.fields["second"]]
        assert sum(text.startswith("the one task that ") for text in ends) == 1
        assert len({text.split("'")[1] for text in ends}) == 2


def test_link_existence_draws_hard_and_easy_equally() -> None:
    difficulties = [draw(link_existence, 12, 3, ordinal).case.labels["difficulty"] for ordinal in range(100)]
    assert 35 <= difficulties.count("hard") <= 65


@pytest.mark.parametrize("flow", ["control", "data"])
def test_task_after_task_equals_direct_successors(flow: str) -> None:
    for workflow in WORKFLOWS:
        followed, cases = after(workflow, flow), cases_of_flow(task_after_task, workflow, flow)
        assert sorted(pairs(cases, "yes")) == sorted(followed)
        assert sorted(pairs(cases, "no")) == sorted(kinds(workflow, "control") - followed)
        hard = [case for case in cases if not case.rank]
        further = {(a, c) for a, b in followed for d, c in followed if b == d and a != c}
        assert set(pairs(hard, "no")) == ({(b, a) for a, b in followed if a != b} | further) - followed
        for case in cases if flow == "control" else ():
            pair = (case.fields["a"], case.fields["b"])
            straight = pair in links(workflow, "control") or pair[::-1] in links(workflow, "control")
            expected_gateway = "none" if case.labels["pair"] == "unlinked" else "no" if straight else "yes"
            assert case.labels.get("gateway", "none") == expected_gateway


@pytest.mark.parametrize("flow", ["control", "data"])
def test_next_tasks_equal_direct_successors(flow: str) -> None:
    for workflow in WORKFLOWS:
        followed, cases = after(workflow, flow), cases_of_flow(next_tasks, workflow, flow)
        expected = {task: sorted(b for a, b in followed if a == task) for task in workflow.task_names}
        if flow == "data":
            expected = {
                a: tasks for a, tasks in expected.items() if any(link.source == a for link in workflow.data_links)
            }
        assert {case.fields["task"]: case.answer for case in cases} == expected
        assert len(cases) == len(expected)
        hardest = [case for case in cases if not case.rank]
        assert {(bool(case.answer), case.share) for case in hardest} in (set(), {(True, 3)}, {(True, 3), (False, 1)})
        assert all(case.stratum == ("followed" if case.answer else "last") for case in cases)


def test_next_tasks_single_link_is_easy() -> None:
    ranks = {case.fields["task"]: case.rank for case in cases_of_flow(next_tasks, HAND["cycle"], "control")}
    assert ranks == {"A": 1, "B": 1, "C": 0, "D": 0}  # nothing follows D
    assert {case.fields["task"]: case.rank for case in cases_of_flow(next_tasks, HAND["chained gateways"], "control")}[
        "B"
    ] == 0


def test_conditional_link_existence_equals_guarded_links() -> None:
    for workflow in WORKFLOWS:
        cases, guarded = list(conditional_link_existence.cases(workflow)), conditional(workflow)
        free = kinds(workflow, "control") - guarded - through(workflow)
        plain = links(workflow, "control") - guarded - through(workflow)
        assert sorted(pairs(cases, "yes")) == sorted(guarded)
        assert sorted(pairs(cases, "no")) == sorted(free | plain)
        out, into = {a for a, _ in guarded}, {b for _, b in guarded}
        crossed = {(a, b) for a, b in free - plain if a in out and b in into}
        beside = {(a, b) for a, b in plain if a in out}
        ranked = [set(pairs([c for c in cases if c.rank == rank], "no")) for rank in range(3)]
        assert ranked[0] == beside | crossed
        assert ranked[1] == plain - beside | reverse_pairs(guarded) & free - plain - crossed
        assert ranked[2] == free - plain - reverse_pairs(guarded) - crossed


def test_conditional_link_existence_most_negatives_are_links_like_positives() -> None:
    drawn_cases = [draw(conditional_link_existence, 12, 3, ordinal).case for ordinal in range(80)]
    kinds_of_pairs = Counter(str(case.labels["pair"]) for case in drawn_cases)
    assert kinds_of_pairs["conditional"] == 40
    assert kinds_of_pairs["unconditional"] > 20
    assert kinds_of_pairs["crossed"] > 2
    profiles = {answer: Counter(c.profile for c in drawn_cases if c.answer == answer) for answer in ("yes", "no")}
    assert (profiles["yes"] & profiles["no"]).total() > 25


def test_conditional_link_existence_ends_do_not_reveal_answer() -> None:
    """Neither a condition after A nor a condition before B predicts more than 0.85 of the answers."""
    drawn_cases = [draw(conditional_link_existence, 12, 0, ordinal) for ordinal in range(60)]
    for end in ("a", "b"):
        hits = 0
        for drawn_case in drawn_cases:
            ends_of_links = {pair[end == "b"] for pair in conditional(drawn_case.scope.workflow)}
            hits += (drawn_case.case.fields[end] in ends_of_links) == (drawn_case.case.answer == "yes")
        assert hits <= 0.85 * len(drawn_cases)


def test_conditional_links_ambiguous_gateway_left_out() -> None:
    for workflow in WORKFLOWS:
        guarded, cases = conditional(workflow), list(conditional_links.cases(workflow))
        clear = {
            task
            for task in workflow.task_names
            if any(link.source == task for link in workflow.links)
            and not any(gateway and condition for _, gateway, condition in paths_from(workflow, task))
        }
        assert {c.fields["task"]: c.answer for c in cases} == {
            t: sorted(b for a, b in guarded if a == t) for t in clear
        }


def test_conditional_links_mixed_or_several_rank_first() -> None:
    def ranks(workflow: Workflow) -> dict[str, int]:
        return {case.fields["task"]: case.rank for case in conditional_links.cases(workflow)}

    assert ranks(HAND["both ways"]) == {"A": 0, "B": 0, "C": 1}
    assert ranks(HAND["cycle"]) == {"A": 2, "B": 2, "C": 0, "D": 2}
    assert "C" not in ranks(HAND["both kinds"])


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_link_cases_reordered_workflow_unchanged(pattern: Pattern) -> None:
    def sorted_cases(workflow: Workflow) -> list[str]:
        return sorted(repr((sorted(c.fields.items()), c.answer, c.rank, c.labels)) for c in pattern.cases(workflow))

    for workflow in WORKFLOWS:
        reordered = replace(
            workflow,
            tasks=workflow.tasks[::-1],
            data=workflow.data[::-1],
            gateways=workflow.gateways[::-1],
            links=workflow.links[::-1],
            data_links=workflow.data_links[::-1],
        )
        assert sorted_cases(workflow) == sorted_cases(reordered)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_link_phrasings_name_flow_and_fields(pattern: Pattern) -> None:
    for workflow in HAND.values():
        for case in pattern.cases(workflow):
            flow = case.fields.get("flow", "control")
            texts = [sentence(pattern, i, Scope(workflow, "workflow 'Soup'", True), case) for i in (0, 1)]
            assert texts[0] != texts[1]
            for text in texts:
                assert "workflow 'Soup'" in text
                assert f"{flow} flow" in text
                assert all(f"'{case.fields[name]}'" in text for name in ("task", "a", "b") if name in case.fields)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_link_draws_alternate_answer_and_phrasing(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 3, ordinal) for ordinal in range(8)]
    assert [each.phrasing for each in drawn_cases] == [0, 0, 1, 1] * 2
    if pattern.yes_no:
        assert [each.case.answer for each in drawn_cases] == ["yes", "no"] * 4


@pytest.mark.parametrize("pattern", [link_existence, task_after_task, next_tasks], ids=lambda pattern: pattern.name)
def test_link_draws_have_both_flows(pattern: Pattern) -> None:
    flows = Counter(str(draw(pattern, 12, 5, ordinal).case.labels["flow"]) for ordinal in range(100))
    assert min(flows["control"], flows["data"]) >= 22, flows


def test_conditional_links_draws_vary_in_number() -> None:
    drawn_cases = [draw(conditional_links, 12, 5, ordinal).case for ordinal in range(40)]
    assert {case.labels["mixed"] for case in drawn_cases} == {"yes", "no"}
    assert len({case.labels["answers"] for case in drawn_cases}) > 1


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_link_cases_of_200_tasks_within_time(pattern: Pattern) -> None:
    features = frozenset({"parallel", "exclusive", "mixed", "data"})
    large = build(Recipe(tasks=200, width=10, features=features, cross_links=100), Random(1))
    started = process_time()
    assert len(list(pattern.cases(large))) < 2000
    assert process_time() - started < 3
