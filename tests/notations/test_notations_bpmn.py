"""BPMN 2.0: models with answers worked out by hand from BPMN's token semantics, in the styles of several tools."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from bpmn_models import STYLES, answers, facts, flows, process, read, tasks, written

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.families.understanding.own_files.file_view import show_file
from pytest_taskgraph.notations import FILE_FORMATS, NOTATIONS
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.notations.notation import Interpretation
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.project import every_level

START, END = '<startEvent id="s"/>', '<endEvent id="e"/>'
XOR, AND = '<exclusiveGateway id="g"/>', '<parallelGateway id="g"/>'
XOR_JOIN, AND_JOIN = '<exclusiveGateway id="j"/>', '<parallelGateway id="j"/>'
OR, OR_JOIN = '<inclusiveGateway id="g" default="g-C"/>', '<inclusiveGateway id="j"/>'
TIMER = '<intermediateCatchEvent id="t" name="Wait"><timerEventDefinition/></intermediateCatchEvent>'


def boundary(kind: str, interrupting: bool = True) -> str:
    cancels = "" if interrupting else ' cancelActivity="false"'
    return f'<boundaryEvent id="t" name="Late" attachedToRef="A"{cancels}><{kind}EventDefinition/></boundaryEvent>'


def sub_process(inside: str, attributes: str = "") -> str:
    return f'<subProcess id="U" name="U"{attributes}>{inside}</subProcess>'


def event_sub_process(of_start: str) -> str:
    start = f'<startEvent id="s2"{of_start}><messageEventDefinition/></startEvent>'
    return sub_process(start + tasks("X Y") + flows("s2>X X>Y"), ' triggeredByEvent="true"')


ERROR_END = '<endEvent id="e2"><errorEventDefinition/></endEvent>'
ABC = {"next": {"A": "B", "B": "C", "C": ""}, "first": "A", "last": "C", "cycle": "no"}
CHOICE = {"A": "B C", "B": "D", "C": "D", "D": ""}
ALL_YES = {"A": "yes", "B": "yes", "C": "yes", "D": "yes"}
# What is expected of each model: of the facts that are named, exactly these are asked.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "a chain": (
        START + tasks("A B C") + END + flows("s>A A>B B>C C>e"),
        {**ABC, "before": {"A": "", "B": "A", "C": "A B"}, "together": {}, "always": dict.fromkeys("ABC", "yes")},
    ),
    "an event between tasks": (START + tasks("A B C") + TIMER + flows("s>A A>t t>B B>C"), ABC),
    "events before and behind a gateway": (
        START + tasks("A B C D") + XOR + TIMER + flows("s>A A>g g>t:late g>C:done t>B B>D C>D"),
        {"next": CHOICE, "cycle": "no", "together": {}},
    ),
    "a choice that is joined": (
        START + tasks("A B C D") + XOR + XOR_JOIN + END + flows("s>A A>g g>B:yes g>C:no B>j C>j j>D D>e"),
        {"next": CHOICE, "before": {"A": "", "B": "A", "C": "A", "D": "A B C"}, "last": "D", "together": {}},
    ),
    "a choice that meets without a gateway": (
        START + tasks("A B C D") + XOR + flows("s>A A>g g>B:yes g>C:no B>D C>D"),
        {"next": CHOICE, "before": {"A": "", "B": "A", "C": "A", "D": "A B C"}, "last": "D", "together": {}},
    ),
    "branches in parallel": (
        START + tasks("A B C D") + AND + AND_JOIN + flows("s>A A>g g>B g>C B>j C>j j>D"),
        {"next": CHOICE, "together": {"B": "C", "C": "B"}, "always": ALL_YES, "first": "A", "last": "D"},
    ),
    "a task with two ways out": (
        START + tasks("A B C D") + AND_JOIN + flows("s>A A>B A>C B>j C>j j>D"),
        {"next": CHOICE, "together": {"B": "C", "C": "B"}, "always": ALL_YES},
    ),
    "branches that meet unjoined, D runs twice": (
        START + tasks("A B C D") + flows("s>A A>B A>C B>D C>D"),
        {"next": CHOICE, "last": "D", "cycle": "no", "together": {}, "always": {}},
    ),
    "an exclusive join behind a fork, D runs twice": (
        START + tasks("A B C D") + AND + XOR_JOIN + flows("s>A A>g g>B g>C B>j C>j j>D"),
        {"next": CHOICE, "together": {}, "always": {}},
    ),
    "a parallel join behind a choice, which never fires": (
        START + tasks("A B C D") + XOR + AND_JOIN + flows("s>A A>g g>B g>C B>j C>j j>D"),
        {"next": CHOICE, "together": {}, "always": {}},
    ),
    "a parallel join that a conditional flow may not reach": (
        START + tasks("A B C D") + AND_JOIN + flows("s>A A>B A>C=late B>j C>j j>D"),
        {"next": CHOICE, "together": {}, "always": {}},
    ),
    "an inclusive choice": (
        START + tasks("A B C D") + OR + OR_JOIN + flows("s>A A>g g>B:x g>C g>D:y B>j C>j D>j"),
        {"next": {"A": "B C D", "B": "", "C": "", "D": ""}, "last": "B C D", "first": "A"},
    ),
    "a loop": (
        START + tasks("A B C") + XOR + flows("s>A A>B B>g g>A:again g>C:done"),
        {
            "next": {"A": "B", "B": "A C", "C": ""},
            "before": {"A": "B", "B": "A", "C": "A B"},
            "cycle": "yes",
            "together": {},
        },
    ),
    "a gateway that joins and splits": (
        START + tasks("A B C D") + XOR + flows("s>A A>g g>B:yes g>C:no B>g C>D"),
        {"next": {"A": "B C", "B": "B C", "C": "D", "D": ""}, "cycle": "yes", "first": "A"},
    ),
    "several start events, of which one starts a run": (
        START
        + '<startEvent id="s2"><messageEventDefinition/></startEvent>'
        + tasks("A B C")
        + flows("s>A s2>B A>C B>C"),
        {"next": {"A": "C", "B": "C", "C": ""}, "first": None, "last": "C", "together": {}},
    ),
    "no start event: all nodes without a flow to them begin": (
        tasks("A B C D") + flows("A>B C>D"),
        {"next": {"A": "B", "B": "", "C": "D", "D": ""}, "together": {"A": "C D", "B": "C D", "C": "A B", "D": "A B"}},
    ),
    "an event-based gateway": (
        START
        + tasks("A B C D")
        + '<eventBasedGateway id="g"/>'
        + TIMER
        + '<intermediateCatchEvent id="m"><messageEventDefinition/></intermediateCatchEvent>'
        + flows("s>A A>g g>t g>m t>B m>C B>D C>D"),
        {"next": CHOICE, "together": {}},
    ),
    "a timer that interrupts A": (
        START + tasks("A B C") + boundary("timer") + flows("s>A A>B t>C"),
        {"next": {"B": "", "C": ""}, "before": {"A": "", "B": "A"}, "last": "B C", "together": {}, "cycle": "no"},
    ),
    "a message that does not interrupt A": (
        START + tasks("A B C") + boundary("message", interrupting=False) + flows("s>A A>B t>C"),
        {"next": {"B": "", "C": ""}, "before": {"A": "", "B": "A"}, "last": "B C"},
    ),
    "a timer whose way leads back": (
        START + tasks("A B C") + boundary("timer") + flows("s>A A>B B>C t>A"),
        {"next": {"B": "C", "C": ""}, "last": "C", "cycle": None, "first": "A"},
    ),
    "a timer without a way out that interrupts A": (
        START + tasks("A B") + boundary("timer") + flows("s>A A>B"),
        {"next": {"A": "B", "B": ""}, "last": "B", "always": {}},
    ),
    "an event sub-process that ends what runs beside it": (
        START + tasks("A B") + event_sub_process("") + flows("s>A A>B"),
        {"next": {"A": "B", "B": ""}, "always": {}},
    ),
    "an event sub-process that ends nothing": (
        START + tasks("A B") + event_sub_process(' isInterrupting="false"') + flows("s>A A>B"),
        {"next": {"A": "B", "B": ""}, "always": {"A": "yes", "B": "yes"}},
    ),
    "a task beside the start event": (
        START + tasks("A B C") + flows("s>A A>B"),
        {"next": {"A": "B", "B": "", "C": ""}, "before": {"A": "", "B": "A", "C": ""}}
        | {"first": None, "last": None, "together": {}, "always": {"A": "yes", "B": "yes"}},
    ),
    "a receive task that starts the process": (
        START + '<receiveTask id="R" name="R" instantiate="true"/>' + tasks("A B") + flows("s>A R>B A>B"),
        {"next": {"A": "B", "R": "B", "B": ""}, "first": None, "together": {}, "always": {}},
    ),
    "a sub-process that gets stuck": (
        START
        + tasks("A D")
        + sub_process(XOR + AND_JOIN + tasks("X Y") + flows("g>X g>Y X>j Y>j"))
        + flows("s>A A>U U>D"),
        {"next": {"A": "U", "U": "D", "D": ""}, "before": {"A": "", "U": "A", "D": "A U"}, "last": "D", "always": {}},
    ),
    "a sub-process that goes round for ever": (
        START + tasks("A D") + sub_process(tasks("W X Y") + flows("W>X X>Y Y>X")) + flows("s>A A>U U>D"),
        {"next": {"A": "U", "U": "D", "D": ""}, "last": "D", "always": {}},
    ),
    "a sub-process that ends with an error": (
        START + tasks("A D") + sub_process(tasks("X") + XOR + ERROR_END + flows("X>g g>e2:bad")) + flows("s>A A>U U>D"),
        {"next": {"A": "U", "U": "D", "D": ""}, "last": "D", "always": {}},
    ),
    "a sub-process that an event makes get stuck": (
        START
        + tasks("A D")
        + sub_process(
            tasks("W X Y")
            + AND_JOIN
            + boundary("timer", interrupting=False).replace('"A"', '"W"')
            + flows("W>X W>j X>j j>Y t>X")
        )
        + flows("s>A A>U U>D"),
        {"next": {"A": "U", "U": "D", "D": ""}, "last": "D", "always": {}},
    ),
    "a fork of a task that an event interrupts, D runs twice": (
        START + tasks("A B C D") + boundary("timer") + flows("s>A A>B A>C B>D C>D t>D"),
        {"next": {"B": "D", "C": "D", "D": ""}, "together": {}, "always": {}},
    ),
    "a sub-process that executes Z twice": (
        START + tasks("A D") + sub_process(tasks("X Y Z") + flows("X>Z Y>Z")) + flows("s>A A>U U>D"),
        {"next": {"A": "U", "U": "D", "D": ""}, "always": {"A": "yes", "U": "yes", "D": "yes"}},
    ),
    "link events jump": (
        START
        + tasks("A B C")
        + '<intermediateThrowEvent id="x"><linkEventDefinition name="L"/></intermediateThrowEvent>'
        + '<intermediateCatchEvent id="y"><linkEventDefinition name="L"/></intermediateCatchEvent>'
        + flows("s>A A>x y>B B>C"),
        ABC,
    ),
    "a flow with a condition out of a task": (
        START + tasks("A B C") + flows("s>A A>B A>C=late"),
        {"next": {"A": "B C", "B": "", "C": ""}, "last": "B C"},
    ),
    "a terminate end event in one of two branches": (
        START
        + tasks("A B C")
        + AND
        + '<endEvent id="e"><terminateEventDefinition/></endEvent>'
        + flows("s>A A>g g>B g>C B>e"),
        {"next": {"A": "B C", "B": "", "C": ""}, "together": {}, "always": {}},
    ),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("model", MODELS)
def test_bpmn_answers_follow_token_semantics(model: str, style: str) -> None:
    body, expected = MODELS[model]
    found = facts(read(process(body), style))
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("model", MODELS)
def test_bpmn_reads_the_same_from_every_tool(model: str) -> None:
    readings = [read(process(MODELS[model][0]), style) for style in STYLES]
    assert len({each.workflows for each in readings}) == 1
    assert not problems(readings[0].workflows[0])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("style", STYLES)
def test_bpmn_text_that_is_shown_reads_the_same(model: str, style: str) -> None:
    reading = read(process(MODELS[model][0]), style)
    again = BPMN.interpret(f"{BPMN.heading('m.bpmn')}\n{reading.presented}", "m.bpmn")
    assert (again.workflows, again.doubtful, again.presented) == (
        reading.workflows,
        reading.doubtful,
        reading.presented,
    )


def reference(key: str, name: str) -> str:
    return f'<dataObjectReference id="{key}" name="{name}" dataObjectRef="o"/>'


NAMES_OF_DATA = '<dataObject id="o"/>', reference("r", "Paid"), reference("q", "New")


@pytest.mark.parametrize(
    ("others", "names", "links"),
    [
        ((START, XOR, XOR_JOIN), "ABCD", "s>A A>g g>B:yes g>C:no B>j C>j j>D"),
        ((START, '<startEvent id="s2"/>'), "ABC", "s>A s2>B A>C B>C"),
        (NAMES_OF_DATA, "AB", "A>B"),
    ],
    ids=["a choice", "several start events", "references of several names"],
)
def test_bpmn_order_of_elements_does_not_matter(others: tuple[str, ...], names: str, links: str) -> None:
    parts = [*others, *map(tasks, names), *map(flows, links.split())]
    forwards, backwards = (read(process("".join(each))) for each in (parts, reversed(parts)))
    assert (forwards.workflows, forwards.doubtful) == (backwards.workflows, backwards.doubtful)


def test_bpmn_order_of_processes_does_not_matter() -> None:
    unnamed = [f'<process id="{key}">{tasks(names)}</process>' for key, names in (("x", "A B"), ("y", "C D"))]
    readings = [read("".join(each)) for each in (unnamed, reversed(unnamed))]
    assert readings[0].workflows == readings[1].workflows


def test_bpmn_gateways_are_equal_under_other_ids() -> None:
    body, _ = MODELS["a choice that is joined"]
    other = body.replace('"g"', '"Gateway_0x1"').replace('"j"', '"sid-9"')
    for old, new in (('Ref="g"', 'Ref="Gateway_0x1"'), ('Ref="j"', 'Ref="sid-9"')):
        other = other.replace(old, new)
    assert read(process(other)).workflows == read(process(body)).workflows


def guards(workflow: Workflow) -> set[tuple[str, str | None]]:
    return {(link.target, link.guard) for link in workflow.links if "split" in link.source}


@pytest.mark.parametrize(
    ("gateway", "links", "expected"),
    [
        (XOR, "s>A A>g g>B:yes g>C:no", {("B", "yes"), ("C", "no")}),
        (XOR, "s>A A>g g>B=x g>C:no", {("B", "x"), ("C", "no")}),
        (XOR, "s>A A>g g>B= g>C:no", {("B", None), ("C", "no")}),
        (OR, "s>A A>g g>B:yes g>C:no", {("B", "yes"), ("C", "otherwise")}),
        (AND, "s>A A>g g>B:yes g>C=no", {("B", None), ("C", None)}),
        ('<eventBasedGateway id="g"/>', "s>A A>g g>B:yes g>C:no", {("B", None), ("C", None)}),
    ],
)
def test_bpmn_conditions_are_expressions_or_names_of_flows(gateway: str, links: str, expected: set[object]) -> None:
    (workflow,) = read(process(START + tasks("A B C") + gateway + flows(links))).workflows
    assert guards(workflow) == expected


def test_bpmn_name_of_flow_out_of_task_is_no_condition() -> None:
    (workflow,) = read(process(START + tasks("A B C") + flows("s>A A>B:first A>C:then"))).workflows
    assert all(link.guard is None for link in workflow.links)


def test_bpmn_error_boundary_event_is_exceptional_link() -> None:
    body = START + tasks("A B C") + boundary("error") + flows("s>A A>B t>C")
    reading = read(process(body))
    (workflow,) = reading.workflows
    assert [(link.source, link.target) for link in workflow.exceptional_links] == [("A", "C")]
    assert reading.left_out == ()
    assert answers(reading, "exceptional_links")
    assert not answers(reading, "next_tasks")


def test_bpmn_names_are_normalised_and_stable() -> None:
    body = (
        '<task id="t1" name="Check&#10;the  order"/><task id="t2"/><task id="t3" name="Ship"/>'
        '<task id="t4" name="Ship"/><task id="t5" name="START"/><task id="t6" name="R&amp;D &lt; &quot;2&quot;"/>'
    )
    reading = read(process(body))
    names = reading.workflows[0].task_names
    assert sorted(names) == ["Check the order", 'R&D < "2"', "t2", "t3", "t4", "t5"]
    assert all(name in reading.presented or name == 'R&D < "2"' for name in names)
    assert reading.spellings["P"]["R&amp;D &lt; &quot;2&quot;"] == 'R&D < "2"'


def test_bpmn_elements_without_ids_get_them_in_the_text() -> None:
    reading = read(process('<task name="A"/><task/>'))
    assert set(reading.workflows[0].task_names) == {"A", "task_2"}
    assert 'id="task_2"' in reading.presented


def test_bpmn_sub_process_is_composite_task() -> None:
    inside = START.replace('"s"', '"s2"') + tasks("X Y") + flows("s2>X X>Y")
    body = START + tasks("A B") + f'<subProcess id="U" name="U">{inside}</subProcess>' + flows("s>A A>U U>B")
    reading = read(process(body))
    assert facts(reading)["next"] == {"A": "U", "U": "B", "B": ""}
    assert facts(reading, path="U")["next"] == {"X": "Y", "Y": ""}


def test_bpmn_call_of_process_in_file_is_reference() -> None:
    caller = process(START + tasks("A") + '<callActivity id="U" name="U" calledElement="q"/>' + flows("s>A A>U"))
    reading = read(caller + process(tasks("X"), "Q") + process(tasks("Z"), "R"))
    assert [workflow.name for workflow in reading.workflows] == ["P", "Q"]
    assert str(reading.workflows[0].task("U").reference) == "Q"
    assert reading.left_out == ("m.bpmn:1: process 'R': it has 1 activity and no process calls it; questions need 2",)


def test_bpmn_call_of_unknown_process_is_plain_task() -> None:
    reading = read(process(tasks("A") + '<callActivity id="U" name="U" calledElement="q"/>'))
    assert not reading.workflows[0].task("U").composite
    reason = "'q' is no process of this file; it is read as a plain task"
    assert reading.left_out == (f"m.bpmn:1: call activity 'U': {reason}",)


def test_bpmn_processes_are_called_by_their_pools() -> None:
    pools = '<participant id="a" name="Shop" processRef="p"/><participant id="b" name="Bank" processRef="q"/>'
    message = '<messageFlow id="m" name="Pay" sourceRef="A" targetRef="X"/>'
    content = f"<collaboration id='c'>{pools}{message}<participant id='d' name='Client'/></collaboration>"
    reading = read(content + process(tasks("A B C")) + process(tasks("X Y"), "Q"))
    assert [workflow.name for workflow in reading.workflows] == ["Shop", "Bank"]
    assert not reading.unnamed
    assert [line.split(": ", 1)[1] for line in reading.left_out] == [
        "message flow 'Pay': messages between pools are not part of the questions",
        "pool 'Client': it has no process",
    ]


def test_bpmn_process_without_name_is_unnamed() -> None:
    reading = read(f'<process id="Process_1">{tasks("A B")}</process>')
    assert reading.unnamed
    assert reading.workflows[0].name == ""


def test_bpmn_receive_task_that_starts_its_process_is_no_remark() -> None:
    assert read(process(MODELS["a receive task that starts the process"][0])).left_out == ()


def test_bpmn_process_with_call_that_gets_stuck_is_not_asked_about_runs() -> None:
    stuck = process(XOR + AND_JOIN + tasks("X Y") + flows("g>X g>Y X>j Y>j"), "Q")
    caller = START + tasks("A B") + '<callActivity id="U" name="U" calledElement="q"/>' + flows("s>A A>U U>B")
    assert facts(read(process(caller) + stuck), "P")["always"] == {}
    assert facts(read(process(caller) + process(tasks("X Y"), "Q")), "P")["always"] == dict.fromkeys("AUB", "yes")


def test_bpmn_fork_that_an_event_interrupts_is_not_asked_what_runs_in_parallel() -> None:
    body, _ = MODELS["a fork of a task that an event interrupts, D runs twice"]
    assert answers(read(process(body)), "parallel_pair") == []


def test_bpmn_default_flow_is_not_asked_to_run_beside_flow_of_unstated_condition() -> None:
    reading = read(process(START + tasks("A B C") + OR + flows("s>A A>g g>B g>C")))
    assert answers(reading, "parallel_pair") == [({"a": "A", "b": "B"}, "no"), ({"a": "A", "b": "C"}, "no")]


def test_bpmn_connection_by_boundary_event_is_not_asked_in_unclear_runs() -> None:
    body = START + tasks("A B C D E") + AND + AND_JOIN + boundary("timer").replace('"A"', '"B"')
    reading = read(process(body + flows("s>A A>g g>B g>C B>j C>j t>D D>j j>E")))
    assert answers(reading, "flow_connected") == []


def test_bpmn_ad_hoc_sub_process_is_not_asked_about_loops() -> None:
    inside = f'<adHocSubProcess id="U" name="U">{tasks("X Y Z")}{flows("X>Y")}</adHocSubProcess>'
    reading = read(process(START + tasks("A B") + inside + flows("s>A A>U U>B")))
    assert facts(reading, path="U")["next"] == {}
    assert "loop" not in {fields["operator"] for fields, _ in answers(reading, "operator_existence", path="U")}


def lasting(names: str) -> str:
    task = '<task id="{0}" name="{0}"><documentation>duration: 2 hours</documentation></task>'
    return "".join(map(task.format, names.split()))


@pytest.mark.parametrize(("event", "asked"), [("", [8]), (TIMER, [])], ids=["without", "timer"])
def test_bpmn_times_are_not_asked_where_flow_waits_at_event(event: str, asked: list[int]) -> None:
    way = "B>t t>D" if event else "B>D"
    reading = read(
        process(START + lasting("A B C D E") + event + AND + AND_JOIN + flows(f"s>A A>g g>B g>C {way} D>j C>j j>E"))
    )
    assert [answer for _, answer in answers(reading, "makespan")] == asked


def test_bpmn_activity_that_waits_for_several_tokens_is_not_asked_about_runs() -> None:
    body = START + tasks("A B C D") + AND + AND_JOIN + flows("s>A A>g g>B g>C B>j C>j j>D")
    twice = body.replace('<task id="B"', '<task id="B" startQuantity="2"')
    assert answers(read(process(body)), "parallel_pair") != []
    reading = read(process(twice))
    assert answers(reading, "parallel_pair") == answers(reading, "order_of_two") == []
    assert answers(reading, "next_tasks") == answers(read(process(body)), "next_tasks")
    assert any("task 'B': it waits for several tokens" in line for line in reading.left_out)


def test_bpmn_inclusive_joins_on_one_cycle_are_not_asked_about_runs() -> None:
    joins = "".join(f'<inclusiveGateway id="{key}"/>' for key in "jk")
    body = START + tasks("A B C D E") + AND + joins + flows("s>A A>g g>B g>C B>j C>k j>D D>k k>E E>j")
    reading = read(process(body))
    assert answers(reading, "parallel_pair") == answers(reading, "order_of_two") == []


def test_bpmn_data_flow_is_read_from_associations() -> None:
    data = (
        '<dataObject id="o"/><dataObjectReference id="r1" dataObjectRef="o" name="Order"/>'
        '<dataObjectReference id="r2" dataObjectRef="o" name="Order"/><dataStoreReference id="r3" name="Stock"/>'
    )
    first = '<task id="A" name="A"><dataOutputAssociation><targetRef>r1</targetRef></dataOutputAssociation></task>'
    second = '<task id="B" name="B"><dataInputAssociation><sourceRef>r2</sourceRef></dataInputAssociation></task>'
    drawn = '<association id="d" sourceRef="r3" targetRef="B" associationDirection="One"/>'
    (workflow,) = read(process(data + first + second + drawn + flows("A>B"))).workflows
    assert [each.name for each in workflow.data] == ["Order", "Stock"]
    assert {(link.source, link.target) for link in workflow.data_links} == {
        ("A", "Order"),
        ("Order", "B"),
        ("Stock", "B"),
    }


def of_operators(reading: Interpretation) -> dict[str, str]:
    return {fields["operator"]: answer for fields, answer in answers(reading, "operator_existence")}


def test_bpmn_exclusive_gateway_with_some_conditions_runs_nothing_in_parallel() -> None:
    body = START + tasks("A B C D") + XOR + flows("s>A A>g g>B g>C:special g>D:rare")
    reading = read(process(body))
    assert {answer for _, answer in answers(reading, "parallel_pair")} == {"no"}
    assert all(not names for _, names in answers(reading, "parallel_to_task"))


STARTS = START + '<startEvent id="s2"/>'


def test_bpmn_choice_of_start_event_is_no_operator_of_the_file() -> None:
    assert of_operators(read(process(STARTS + tasks("A B C") + flows("s>A s2>B A>C B>C")))) == {
        "parallel block": "no",
        "loop": "no",
    }


def test_bpmn_choice_of_the_file_counts_beside_several_start_events() -> None:
    body = STARTS + tasks("A B C D") + XOR + flows("s>A s2>A A>g g>B g>C B>D C>D")
    assert of_operators(read(process(body))) == {"parallel block": "no", "loop": "no", "exclusive choice": "yes"}


def test_bpmn_start_events_exclude_each_other() -> None:
    reading = read(process(STARTS + tasks("A B C") + flows("s>A s2>B A>C B>C")))
    assert ({"a": "A", "b": "B"}, "no") in answers(reading, "parallel_pair")


def test_bpmn_gateways_that_the_file_does_not_hold_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_text(written(process(STARTS + tasks("A B") + XOR + flows("s>A s2>A A>g g>A:again g>B:done"))))
    shown = show_file(str(path), "").lines
    assert shown[1] == "P: 2 tasks, 6 links, 2 conditions, 1 gateway"
    assert not [line for line in shown if "split after START" in line]


def reads(*sources: str) -> str:
    """Return activities A, B, … of which each reads one datum."""
    inside = "<dataInputAssociation><sourceRef>{}</sourceRef></dataInputAssociation>"
    return "".join(
        f'<task id="{name}" name="{name}">{inside.format(source)}</task>'
        for name, source in zip("ABC", sources, strict=False)
    )


def asked_about_data(data: str, *sources: str) -> set[tuple[str, str]]:
    """Return the data and tasks of which a question asks whether a link leads from one to the other, and it does."""
    reading = read(process(data + reads(*sources) + flows("A>B")))
    cases = [str(fields) for fields, answer in answers(reading, "link_existence") if answer == "yes"]
    pairs = product(data_names(reading), reading.workflows[0].task_names)
    return {(name, task) for name, task in pairs if any(f"'{name}'" in case and f"'{task}'" in case for case in cases)}


def data_names(reading: Interpretation) -> list[str]:
    return [each.name for each in reading.workflows[0].data]


OBJECT = '<dataObject id="o" name="Order"/>'


def test_bpmn_data_object_and_its_reference_are_one_datum() -> None:
    data = OBJECT + '<dataObjectReference id="r" name="Order" dataObjectRef="o"/>'
    reading = read(process(data + reads("o", "r") + flows("A>B")))
    assert data_names(reading) == ["Order"]
    assert {link.target for link in reading.workflows[0].data_links} == {"A", "B"}
    assert asked_about_data(data, "o", "r") == {("Order", "A"), ("Order", "B")}


def test_bpmn_references_to_one_object_are_one_datum_of_doubtful_name() -> None:
    data = OBJECT + "".join(
        f'<dataObjectReference id="r{i}" name="Order {state}" dataObjectRef="o"/>'
        for i, state in enumerate(["new", "paid"])
    )
    assert data_names(read(process(data + reads("r0", "r1") + flows("A>B")))) == ["Order new"]
    assert asked_about_data(data, "r0", "r1") == {("Order new", "A")}


def test_bpmn_no_question_depends_on_whether_stores_of_one_name_are_one() -> None:
    stores = "".join(f'<dataStoreReference id="r{i}" name="Stock"/>' for i in range(2))
    assert data_names(read(process(stores + reads("r0", "r1") + flows("A>B")))) == ["r0", "r1"]
    assert not asked_about_data(stores, "r0", "r1")
    other = stores.replace("Stock", "Till", 1)
    assert asked_about_data(other, "r0", "r1") == {*product(["Till", "Stock"], "AB")}


def test_bpmn_guide_says_what_applies() -> None:
    inside = '<subProcess id="U" name="U">' + tasks("X Y") + "</subProcess>"
    plain = " ".join(read(process(tasks("A B") + inside)).guide)
    assert "A sub-process with activities is a composite task" in plain
    assert "called by their ids" not in plain
    twice = " ".join(read(process('<task id="t1" name="A"/><task id="t2" name="A"/>')).guide)
    assert "Activities and data without a name, or with one that occurs twice on a level, are called" in twice


def test_bpmn_guide_names_pools_only_where_there_is_one() -> None:
    two = process(tasks("A B")) + process(tasks("X Y"), "Q")
    pool = '<collaboration id="c"><participant id="a" name="Shop" processRef="p"/></collaboration>'
    assert "called by its pool" in " ".join(read(pool + two).guide)
    assert "called by its pool" not in " ".join(read(two).guide)


def test_bpmn_empty_sub_process_and_call_of_empty_process_are_plain_tasks() -> None:
    body = tasks("A") + '<subProcess id="U" name="U"/><callActivity id="V" name="V" calledElement="q"/>'
    assert read(process(body) + process("", "Q")).left_out == (
        "m.bpmn:1: sub-process 'U': it has no activity; it is read as a plain task",
        "m.bpmn:1: call activity 'V': the process that it calls has no activity; it is read as a plain task",
        "m.bpmn:1: process 'Q': it has no activity",
    )


def test_bpmn_link_jump_into_another_scope_has_a_line() -> None:
    inside = '<intermediateCatchEvent id="y"><linkEventDefinition name="L"/></intermediateCatchEvent>'
    body = (
        START
        + tasks("A")
        + '<intermediateThrowEvent id="x" name="Jump"><linkEventDefinition name="L"/></intermediateThrowEvent>'
        + f'<subProcess id="U" name="U">{inside}{tasks("X")}{flows("y>X")}</subProcess>'
        + flows("s>A A>x")
    )
    line = "m.bpmn:1: intermediate event 'Jump': no single catching link event is called 'L'; the jump is left out"
    assert line in read(process(body)).left_out


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (boundary("timer"), "boundary event 'Late' at 'A': not part of the questions"),
        (TIMER, "intermediate event 'Wait': timer is no activity; the flow passes through it"),
        (
            '<textAnnotation id="n"><text>Mind</text></textAnnotation>',
            "text annotation 'Mind': no part of the workflow",
        ),
        (
            '<laneSet id="l"><lane id="l1" name="Sales"/></laneSet>',
            "lane 'Sales': who executes an activity is no part of the workflow",
        ),
        (flows("A>x"), "sequence flow 'A-x': its target 'x' is no flow node of the file; the flow is left out"),
        (
            '<subProcess id="v" name="V" triggeredByEvent="true"/>',
            "event sub-process 'V': when it runs is not part of the questions",
        ),
        (
            '<task id="c" name="Undo" isForCompensation="true"/>',
            "compensation task 'Undo': when it runs is not part of the questions",
        ),
        (
            '<task id="m" name="M"><multiInstanceLoopCharacteristics/></task>',
            "loop marker of task 'M': it is executed several times; the questions count it once",
        ),
        (
            '<complexGateway id="k" name="K"/>',
            "complex gateway 'K': how it chooses or waits is not part of the questions",
        ),
    ],
)
def test_bpmn_what_is_left_out_has_a_line(body: str, line: str) -> None:
    reading = read(process(tasks("A B") + body + flows("A>B")))
    assert f"m.bpmn:1: {line}" in reading.left_out


@pytest.mark.parametrize(
    ("links", "line"),
    [
        (
            "A>B A>C=late B>j C>j j>D",
            "parallel gateway 'j': runs can wait there for a flow that does not come; such runs",
        ),
        ("A>B A>C B>D C>D", "task 'D': branches of one run meet there unjoined, and what follows runs once for each;"),
    ],
)
def test_bpmn_unclear_runs_have_a_line(links: str, line: str) -> None:
    gateway = AND_JOIN if "j" in links else ""
    (remark,) = read(process(START + tasks("A B C D") + gateway + flows(f"s>A {links}"))).left_out
    assert remark.startswith(f"m.bpmn:1: {line}")


def test_bpmn_questions_that_depend_on_loop_marker_are_not_asked() -> None:
    looped = '<task id="B" name="B"><standardLoopCharacteristics/></task>'
    found = facts(read(process(START + tasks("A C") + looped + flows("s>A A>B B>C"))))
    assert (found["next"], found["cycle"]) == ({"A": "B", "C": ""}, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "found no activity, expected a process with at least 2 activities"),
        (process(tasks("A")), "no process with more than one activity, expected a process with at least 2 activities"),
        (process(tasks("A A")), "found the id 'A' a second time, expected each id once"),
        (
            process(tasks("A") + '<callActivity id="U" name="U" calledElement="p"/>'),
            "found the call activity 'U', which calls 'p' again, expected processes that do not call themselves",
        ),
    ],
)
def test_bpmn_refusal_names_place_and_reason(content: str, message: str) -> None:
    with pytest.raises(ReadError, match=r"^m\.bpmn:1:\d+: ") as caught:
        read(content)
    assert message in str(caught.value)


def test_bpmn_is_recognised_by_its_root_element() -> None:
    assert all(BPMN.recognises(f"<!-- x -->\n{written('', style)}") for style in STYLES)
    assert not BPMN.recognises("<definitions xmlns='urn:other'/>")
    assert not BPMN.recognises("<project/>")


def test_bpmn_is_file_format_and_notation() -> None:
    assert FILE_FORMATS["bpmn"] is BPMN
    assert NOTATIONS["bpmn"] is BPMN


def test_bpmn_levels_have_no_problems() -> None:
    for body, _ in MODELS.values():
        reading = read(process(body))
        assert not [problem for each in (*reading.workflows, *reading.doubtful) for problem in problems(each)]
        assert {level.name for each in reading.workflows for level in every_level(each)} <= {"P", "U"}
