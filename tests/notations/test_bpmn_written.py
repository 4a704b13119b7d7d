"""BPMN that this package writes: what stands in it, and what BPMN makes of it."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from xml.etree import ElementTree

import networkx as nx
import pytest
from bpmn_models import flows, process, tasks, written
from bpmn_token_game import SPACE, games
from canonical_form import canonical
from drawn_workflows import generate
from workflow_simulation import a_level, some_situation

from pytest_taskgraph.errors import ReadError, WorkflowError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.notations.notation import DURATIONS
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Data,
    DataLink,
    Duration,
    Gateway,
    GatewayKind,
    Link,
    Task,
    Workflow,
)
from pytest_taskgraph.workflow.semantics.execution import Endless, Run, allows, outcome

LONGEST = 200
ORDER = ["documentation", "property", "dataInputAssociation", "dataOutputAssociation"]
FORK, JOIN = Gateway("Fork", "parallel", "split"), Gateway("Join", "parallel", "join")


def level(*links: str, gateways: tuple[Gateway, ...] = (), exceptional: str = "") -> Workflow:
    """Return a level of links such as `A>B` and `A>B:n < 3`; S and E are START and END."""
    ends = {"S": START, "E": END}
    parts = [re.fullmatch(r"(\w+)>(\w+)(?::(.*))?", text) for text in links]
    found = [Link(ends.get(p[1], p[1]), ends.get(p[2], p[2]), p[3]) for p in parts if p]
    others = {gateway.name for gateway in gateways} | {START, END}
    failing = [Link(*(ends.get(name, name) for name in text.split(">"))) for text in exceptional.split()]
    names = dict.fromkeys(name for link in (*found, *failing) for name in (link.source, link.target))
    return Workflow(
        "W",
        tasks=tuple(Task(name) for name in names if name not in others),
        gateways=gateways,
        links=tuple(found),
        exceptional_links=tuple(failing),
    )


def implied(text: str) -> list[str]:
    """Return the kinds of the implied gateways of a text, with their roles, sorted."""
    return sorted(re.findall(r'<(\w+)Gateway id="\w+" name="implied: ', text))


def check_runs(workflow: Workflow, seed: int) -> int:
    """Compare the runs of the first level in some situations with those of the text; return how many were compared."""
    game, rng, compared = games(BPMN.write(workflow))[workflow.name], Random(seed), 0
    for _ in range(3):
        situation = some_situation(workflow, rng)
        expected = outcome(workflow, situation)
        trace = game.play(situation, rng, LONGEST)
        if isinstance(expected, Run) and len(expected.tasks) <= LONGEST:
            assert trace is not None, BPMN.write(workflow)
            assert allows(expected, trace), (situation, trace)
        compared += isinstance(expected, Run)
        assert trace is None or not isinstance(expected, Endless)
    return compared


def test_runs_of_random_levels_are_those_of_bpmn() -> None:
    compared = 0
    for seed in range(120):
        workflow = a_level(Random(seed))
        forward = nx.DiGraph([(link.source, link.target) for link in workflow.links])
        if nx.is_directed_acyclic_graph(forward):
            compared += check_runs(workflow, seed)
    assert compared > 60


def test_runs_of_generated_workflows_are_those_of_bpmn() -> None:
    features = frozenset({"exclusive", "inclusive", "loop", "mixed", "parallel", "effects", "domains", "exceptional"})
    drawn = [generate(Recipe(tasks=26, features=features, cross_links=seed % 3), seed) for seed in range(8)]
    assert sum(check_runs(workflow, seed) for seed, workflow in enumerate(drawn)) > 8


@pytest.mark.parametrize(
    ("workflow", "gateways"),
    [
        (level("S>A", "A>B", "A>C", "B>D", "C>D", "D>E"), ["parallel"]),
        (level("S>A", "A>B:n < 3", "A>C:n < 5", "B>D", "C>D", "D>E"), ["inclusive"]),
        (level("S>A", "A>B", "A>C:n < 5", "B>D", "C>D", "D>E"), ["inclusive"]),
        (level("S>A", "A>B:n < 3", "A>C:otherwise", "B>D", "C>D", "D>E"), []),
        (level("S>A", "A>B", "B>A:n < 3", "B>E:otherwise"), []),
        (level("S>A", "A>B:n < 3", "A>C:n < 5", "B>D", "C>D", "D>F", "A>F", "F>E"), ["inclusive", "inclusive"]),
        (level("S>A:n < 3", "S>B:otherwise", "A>E", "B>E"), ["inclusive"]),
        (level("S>Fork", "Fork>A:n < 3", "Fork>B", "A>E", "B>E", gateways=(FORK,)), ["inclusive"]),
        (level("S>A", "S>B", "A>Fork", "B>Fork", "Fork>C", "Fork>D", "C>E", "D>E", gateways=(FORK,)), ["parallel"]),
        (level("S>A", "S>B", "A>Join", "B>Join", "Join>C", "Join>D", "C>E", "D>E", gateways=(JOIN,)), ["parallel"]),
    ],
)  # fmt: skip
def test_write_implied_gateways_only_where_bpmn_needs_them(workflow: Workflow, gateways: list[str]) -> None:
    text = BPMN.write(workflow)
    assert implied(text) == gateways
    assert canonical(BPMN.read(text)) == canonical(workflow)


def test_write_level_in_loop_without_choices_joins_in_parallel() -> None:
    workflow = level("S>A", "A>B", "A>C", "B>D", "C>D", "D>F", "F>A:n < 3", "F>E:otherwise", "A>F")
    assert implied(BPMN.write(workflow)) == ["parallel", "parallel"]


def test_write_exceptional_links_keeps_runs_without_failure() -> None:
    links = ("S>Fork", "Fork>A", "Fork>B", "A>Join", "B>Join", "Join>C", "C>E", "D>E")
    workflow = level(*links, gateways=(FORK, JOIN), exceptional="A>D A>E B>Join C>Fork D>A")
    text = BPMN.write(workflow)
    assert text.count("<boundaryEvent ") == 4
    assert canonical(BPMN.read(text)) == canonical(workflow)
    assert {tuple(games(text)["W"].play({}, Random(i), 9) or ()) for i in range(9)} == {
        ("A", "B", "C"),
        ("B", "A", "C"),
    }


def test_write_default_flow_is_the_only_otherwise_beside_a_condition() -> None:
    one = BPMN.write(level("S>A", "A>B:n < 3", "A>C:otherwise", "B>E", "C>E"))
    assert '<task id="A" name="A" default="flow_3"/>' in one
    assert "otherwise" not in one
    for links in (("A>B:otherwise", "A>C"), ("A>B:otherwise", "A>C:otherwise"), ("A>B:otherwise",)):
        workflow = level("S>A", *links)
        text = BPMN.write(workflow)
        assert "default" not in text
        assert canonical(BPMN.read(text)) == canonical(workflow)


def test_write_elements_in_order_of_schema() -> None:
    features = frozenset({"data", "hierarchy", "durations", "kinds", "schemas", "bindings", "domains"})
    root = ElementTree.fromstring(BPMN.write(generate(Recipe(tasks=20, features=features), 1)))
    elements = [element for element in root.iter() if element.tag.removeprefix(SPACE) in ("task", "subProcess")]
    assert {child.tag.removeprefix(SPACE) for element in elements for child in element} >= {*ORDER}
    for element in elements:
        places = [(*ORDER, child).index(child) for child in (each.tag.removeprefix(SPACE) for each in element)]
        assert places == sorted(places)
    identifiers = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(identifiers) == len(set(identifiers))
    referred = {element.text for element in root.iter() if element.tag.endswith("Ref")}
    assert referred <= {*identifiers}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Cook <soup> & \"serve\"", "Cook &lt;soup> &amp; &quot;serve&quot;"),
        ("a\nb", r"a\u{a}b"),
        ("a  b ", r"a \u{20}b\u{20}"),
        (r"\u{a}", r"\u{5c}u{a}"),
        ("\x00", r"\u{0}"),
    ],
)  # fmt: skip
def test_write_name_is_shown_and_read_back(name: str, shown: str) -> None:
    workflow = Workflow("W", tasks=(Task(name), Task("B")), links=(Link(START, name), Link(name, "B", name)))
    text = BPMN.write(workflow)
    assert f'name="{shown}"' in text
    assert BPMN.read(text).task_names == (name, "B")


def test_write_link_to_nowhere_refused() -> None:
    workflow = Workflow("W", tasks=(Task("A"),))
    for wrong in (
        replace(workflow, links=(Link("A", "X"),)),
        replace(workflow, data=(Data("D"),), data_links=(DataLink("X", "A"),)),
    ):
        with pytest.raises(WorkflowError, match="a link leads to 'X', which is not in it"):
            BPMN.write(wrong)


def test_interpret_own_style_shows_text_with_its_guide() -> None:
    workflow = Workflow(
        "W", tasks=(Task("A", duration=Duration(2, "hours")),), links=(Link(START, "A"), Link("A", END))
    )
    text = BPMN.write(workflow)
    reading = BPMN.interpret(text)
    assert reading.presented == text
    assert " ".join(reading.guide) == BPMN.guide_to({"durations"})
    assert reading.doubtful == ()


def test_interpret_own_style_node_without_way_out_leads_nowhere() -> None:
    text = BPMN.write(level("S>A", "S>B", "A>E"))
    assert BPMN.read(text).links == (Link(START, "A"), Link(START, "B"), Link("A", END))
    assert Link("B", END) in BPMN.read(text.replace("pytest-taskgraph", "other")).links


def test_interpret_files_of_other_tools_keep_implied_gateways_and_documentation() -> None:
    documented = '<task id="A" name="A"><documentation>{}</documentation></task>'
    body = tasks("B C") + '<parallelGateway id="g" name="implied: join"/>' + flows("A>g B>g g>C")
    workflow = BPMN.read(written(process(documented.format("kind: user") + body)))
    assert [gateway.name for gateway in workflow.gateways] == ["implied: join"]
    assert workflow.task("A") == Task("A")
    timed = BPMN.interpret(written(process(documented.format("duration: 3 days") + body)))
    assert timed.workflows[0].task("A").duration == Duration(3, "days")
    assert DURATIONS in " ".join(timed.guide)
    vague = BPMN.read(written(process(documented.format("duration: a while") + body)))
    assert vague.task("A").duration is None


@pytest.mark.parametrize("line", ["duration: soon", "parameter: n", "kind: a</documentation><documentation>kind: b"])
def test_read_own_style_malformed_documentation_refused(line: str) -> None:
    text = BPMN.write(Workflow("W", tasks=(Task("A", kind="x"),)))
    with pytest.raises(ReadError, match=r"m\.bpmn:4:5: .*expected"):
        BPMN.parse(text.replace("kind: x", line), "m.bpmn")


def test_parse_several_files_only_in_own_style() -> None:
    own = BPMN.write(Workflow("W", tasks=(Task("A"), Task("B"))))
    other = written(process(tasks("A B"), "P"))
    assert [each.name for each in BPMN.parse(f"{own}<!-- file: p.bpmn -->\n{own}{other}", "")] == ["W", "W", "P"]
    with pytest.raises(ReadError, match=r"m\.bpmn:2:1: .*junk after document element"):
        BPMN.parse(f"{other}\n{own}", "m.bpmn")
    with pytest.raises(ReadError, match=r"m\.bpmn:\d+:1: .*not well-formed"):
        BPMN.parse(f"{own}\nWhich tasks?", "m.bpmn")


def test_parse_too_many_files_refused() -> None:
    own = BPMN.write(Workflow("W", tasks=(Task("A"),)))
    with pytest.raises(ReadError, match="more than 100 files, expected fewer files in one text"):
        BPMN.parse(own * 101, "")


@pytest.mark.parametrize("kind", ["exclusive", "inclusive", "parallel"])
@pytest.mark.parametrize("role", ["split", "join"])
def test_read_gateway_of_any_role_with_any_ways_returns_it(kind: GatewayKind, role: str) -> None:
    gateway = Gateway("G", kind, "join" if role == "join" else "split")
    into, out = ("S>G", "A>G", "B>G"), ("G>C", "G>D:n < 3", "G>E:otherwise")
    for few in range(3):
        for many in range(4):
            workflow = level("S>A", "S>B", "C>E", "D>E", *into[:few], *out[:many], gateways=(gateway,))
            if few + many:
                assert canonical(BPMN.read(BPMN.write(workflow))) == canonical(workflow), (few, many)
