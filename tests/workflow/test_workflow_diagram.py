from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from workflow_builders import level

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.diagram import MOST_NODES, Diagram, DiagramEdge, DiagramGroup, DiagramNode
from pytest_taskgraph.generation.strategies import workflows
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Gateway, Link, QualifiedName, Task, Workflow
from pytest_taskgraph.workflow.references import expand, levels
from pytest_taskgraph.workflow.workflow_diagram import diagram

INSIDE = level("START -> Weigh\nWeigh -> END")


def drawn(workflow: Workflow) -> dict[str, set[tuple[str, str, str]]]:
    """The links by the label of the group that they stand in, told by labels."""
    made = diagram(workflow)
    labels = {one.id: one.label for one in made.nodes} | {one.id: one.label for one in made.groups}
    places = {one.id: one.group for one in made.nodes} | {one.id: one.parent for one in made.groups}
    found: dict[str, set[tuple[str, str, str]]] = {}
    for edge in made.edges:
        assert places[edge.source] == places[edge.target]
        where = labels.get(places[edge.source], "")
        found.setdefault(where, set()).add((labels[edge.source], labels[edge.target], edge.label))
    return found


def test_tasks_gateways_and_data_are_nodes_and_links_are_edges_with_their_guards() -> None:
    workflow = replace(
        level("START -> A\nA -> X\nX -> B [n > 3]\nX -> END [otherwise]\nB -> END", Gateway("X", "exclusive", "split")),
        data=(Data("Bill"),),
        data_links=(DataLink("A", "Bill"), DataLink("Bill", "B")),
    )
    made = diagram(workflow)
    assert {(one.label, one.kind) for one in made.nodes} == {
        ("START", "start"), ("A", "task"), ("B", "task"), ("X", "exclusive"), ("Bill", "data"), ("END", "end")
    }  # fmt: skip
    assert drawn(workflow)[""] >= {("X", "B", "n > 3"), ("X", "END", "otherwise"), ("A", "Bill", ""), ("Bill", "B", "")}
    assert sorted(one.kind for one in made.edges) == ["control"] * 5 + ["data"] * 2


def test_what_is_inside_a_composite_task_stands_in_its_group() -> None:
    whole = Workflow("W", tasks=(Task("Outer", subworkflow=INSIDE),), links=(Link(START, "Outer"), Link("Outer", END)))
    assert drawn(whole) == {
        "": {("START", "Outer", ""), ("Outer", "END", "")},
        "Outer": {("START", "Weigh", ""), ("Weigh", "END", "")},
    }


def test_a_reference_is_drawn_as_what_it_means_and_says_what_it_calls() -> None:
    called = replace(INSIDE, name="Scales", package="shop")
    whole = Workflow("W", "shop", tasks=(Task("Outer", reference=QualifiedName("Scales")),), others=(called,))
    made = diagram(whole)
    assert made.groups == [DiagramGroup("g0", "Outer", "", "shop.Scales")]
    assert drawn(whole) == {"Outer": {("START", "Weigh", ""), ("Weigh", "END", "")}}


def test_a_workflow_that_comes_back_to_itself_is_drawn_once_beside_the_first() -> None:
    loop = Workflow("Loop", tasks=(Task("Again", reference=QualifiedName("Loop")),))
    whole = Workflow("W", tasks=(Task("Outer", reference=QualifiedName("Loop")),), others=(loop,))
    made = diagram(whole)
    assert [(one.label, one.kind, one.note) for one in made.nodes] == [
        ("Outer", "composite", "calls Loop"), ("Again", "composite", "calls Loop")
    ]  # fmt: skip
    assert [one.label for one in made.groups] == ["Loop"]


def test_a_composite_task_without_room_is_closed_and_says_how_much_is_inside() -> None:
    many = Workflow("Many", tasks=tuple(Task(f"T{at}") for at in range(MOST_NODES)))
    made = diagram(Workflow("W", tasks=(Task("Outer", subworkflow=many), Task("Inner", subworkflow=INSIDE))))
    (outer,) = [one for one in made.nodes if one.label == "Outer"]
    assert (outer.kind, outer.note) == ("composite", f"{MOST_NODES} tasks inside")
    assert [one.label for one in made.groups] == ["Inner"]


def test_of_a_level_that_is_too_large_the_first_are_drawn_and_the_others_counted() -> None:
    many = Workflow("W", tasks=tuple(Task(f"T{at}") for at in range(MOST_NODES + 7)))
    made = diagram(many)
    assert len(made.nodes) == MOST_NODES
    assert made.omitted == 7
    dense = Workflow("W", tasks=(Task("A"), Task("B")), links=(Link("A", "B"),) * 5_000)
    assert len(diagram(dense).edges) + diagram(dense).omitted == 5_000


def test_a_project_that_is_too_large_to_be_expanded_is_drawn_as_it_stands() -> None:
    deep = tuple(
        Workflow(f"L{at}", tasks=tuple(Task(f"T{n}", reference=QualifiedName(f"L{at + 1}")) for n in range(10)))
        for at in range(8)
    )
    made = diagram(replace(deep[0], others=deep[1:]))
    assert [one.note for one in made.nodes[:2]] == ["calls L1", "calls L1"]


@given(workflows())
@settings(max_examples=40, deadline=None)
def test_every_task_at_every_level_is_drawn(workflow: Workflow) -> None:
    made = diagram(workflow)
    expected = sorted(task.name for _, one in levels(expand(workflow)) for task in one.tasks)
    found = [one.label for one in made.nodes if one.kind in ("task", "composite")] + [one.label for one in made.groups]
    inside = {one.id for one in made.groups if not one.parent and one.label not in expected}  # further workflows
    assert inside or sorted(found) == expected
    assert made.omitted == 0


@given(workflows())
@settings(max_examples=25, deadline=None)
def test_a_diagram_comes_back_from_its_json(workflow: Workflow) -> None:
    made = diagram(workflow)
    assert Diagram.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert diagram(workflow) == made


def test_the_json_leaves_out_what_has_its_default() -> None:
    made = Diagram("W", [DiagramNode("n0", "A")], [DiagramEdge("n0", "n0")])
    assert made.to_json() == {
        "title": "W",
        "nodes": [{"id": "n0", "label": "A"}],
        "edges": [{"source": "n0", "target": "n0"}],
        "groups": [],
        "omitted": 0,
    }


@pytest.mark.parametrize("pattern", ["next_tasks", "infinite_recursion"])
def test_a_family_draws_the_workflow_that_its_question_is_about(pattern: str) -> None:
    chosen = UnderstandingSettings(tasks=(12,), instances=2)
    for one in understanding.references(chosen, {"patterns": pattern}):
        prompt = understanding.question(one, chosen).prompt
        labels = [node.label for node in understanding.diagram(one, chosen).nodes if node.kind == "task"]
        assert labels
        assert all(label in prompt for label in labels)


def test_questions_of_one_cluster_have_one_diagram() -> None:
    chosen = UnderstandingSettings(tasks=(12,), instances=1, notations=("wadl", "mermaid"))
    first, second = understanding.references(chosen, {"patterns": "next_tasks"})
    assert understanding.question(first, chosen).cluster == understanding.question(second, chosen).cluster
    assert understanding.diagram(first, chosen) == understanding.diagram(second, chosen)
