"""BPMN files of the user: what of a file is shown, which process is asked about, and what the header says of both."""

from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding.own_files.file_view import show_file

MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:di="urn:di" xmlns:tool="urn:tool">
  <bpmn:collaboration id="C">
    <bpmn:participant id="P1" name="Shop" processRef="Process_1" />
    <bpmn:participant id="P2" name="Depot" processRef="Process_2" />
    <bpmn:messageFlow id="M" sourceRef="A" targetRef="X" />
  </bpmn:collaboration>
  <bpmn:process id="Process_1">
    <bpmn:task id="A" name="Check&#10;order" />
    <bpmn:task id="B" name="Bill" tool:colour="red" />
    <bpmn:callActivity id="D" name="Deliver" calledElement="Process_3" />
    <bpmn:sequenceFlow id="F1" sourceRef="A" targetRef="B" />
    <bpmn:sequenceFlow id="F2" sourceRef="B" targetRef="D" />
  </bpmn:process>
  <bpmn:process id="Process_2">
    <bpmn:task id="X" name="Pick" />
    <bpmn:task id="Y" name="Pack" />
    <bpmn:sequenceFlow id="F3" sourceRef="X" targetRef="Y" />
  </bpmn:process>
  <bpmn:process id="Process_3" name="Delivery">
    <bpmn:task id="L" name="Load" />
    <bpmn:task id="U" name="Unload" />
    <bpmn:sequenceFlow id="F4" sourceRef="L" targetRef="U" />
  </bpmn:process>
  <di:BPMNDiagram id="Diagram_1"><di:Edge colour="blue" /></di:BPMNDiagram>
</bpmn:definitions>
"""
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["task_list", "next_tasks", "flow_start", "task_after_task", "parallel_pair"])
def test_graph(trial):
    trial.check()
"""


def prompts(project: Project, server: Loopback, workflow: str, *options: str) -> tuple[str, list[str]]:
    """Return the output of a run over a model and its prompts."""
    project.write("order.bpmn", MODEL)
    project.write("test_graph.py", SUITE)
    server.answer = right
    ran = project.run(*asking(server.url), f"--taskgraph-workflow={workflow}", "--taskgraph-instances=8", *options)
    assert (ran.code, set(ran.counts)) == (0, {"passed"}), ran.output
    return " ".join(ran.output.split()), [request.prompt for request in server.requests]


def test_bpmn_is_shown_without_diagram_and_header_says_so(project: Project, server: Loopback) -> None:
    output, shown = prompts(project, server, "order.bpmn")
    assert "order.bpmn: BPMN model, 3 workflows; shown without its diagram and extensions; 1 part" in output
    assert all('name="Check order"' in prompt and "colour" not in prompt for prompt in shown)


def test_bpmn_verbatim_is_shown_as_file_and_header_says_so(project: Project, server: Loopback) -> None:
    output, shown = prompts(project, server, "order.bpmn", "--taskgraph-verbatim")
    assert "order.bpmn (verbatim): BPMN model, 3 workflows; shown verbatim; 1 part" in output
    assert all(MODEL.strip() in prompt for prompt in shown)
    assert all("Its diagram, the extensions of tools, incoming and outgoing are no part" in prompt for prompt in shown)


@pytest.mark.parametrize("name", ["Shop", "Process_1"])
def test_bpmn_one_process_is_shown_with_those_it_calls(project: Project, server: Loopback, name: str) -> None:
    output, shown = prompts(project, server, f"order.bpmn::{name}")
    assert f"order.bpmn::{name}: BPMN model, 2 workflows; shown without" in output
    assert all("Load" in prompt and "Pick" not in prompt and "messageFlow" not in prompt for prompt in shown)
    assert any("'Shop'" in prompt.rpartition("</definitions>")[2] for prompt in shown)


def test_show_of_one_process_names_lines_of_the_file(project: Project) -> None:
    path = project.write("order.bpmn", MODEL.replace('task id="X"', 'task id="X" isForCompensation="true"'))
    lines = show_file(f"{path}::Depot", "").lines
    assert lines[0] == f"{path}::Depot: BPMN model, 1 workflow"
    assert f"  {path}:16: compensation task 'Pick': when it runs is not part of the questions" in lines


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (
            ["order.bpmn::Shops"],
            "order.bpmn:2:1: found no process 'Shops', expected the id of one, or the name of one of",
        ),
        (["order.bpmn::Shop", "--taskgraph-verbatim"], "--taskgraph-verbatim shows all of it; leave out '::Shop'"),
        (["a.mmd::Shop"], "a.mmd: one process is chosen of BPMN files; leave out '::Shop'"),
        (["order.bpmn", "--taskgraph-verbatim", "--taskgraph-notation=prose"], "converts them; state one"),
        (
            ["unnamed.bpmn", "--taskgraph-verbatim"],
            "unnamed.bpmn: the name 'task_1' is given by the reader and does not",
        ),
    ],
)
def test_bpmn_choice_that_is_impossible_ends_run(project: Project, stated: list[str], reason: str) -> None:
    project.write("order.bpmn", MODEL)
    project.write("unnamed.bpmn", MODEL.replace('<bpmn:task id="X" name="Pick" />', "<bpmn:task />"))
    project.write("a.mmd", "flowchart TD\n  A --> B\n")
    project.write("test_graph.py", SUITE)
    ran = project.run("--model=simulated:1", f"--taskgraph-workflow={stated[0]}", *stated[1:])
    assert ran.code == 4
    assert reason in " ".join(ran.output.split())


def test_bpmn_two_processes_of_one_name_are_chosen_by_id(project: Project) -> None:
    path = project.write("order.bpmn", MODEL.replace("Depot", "Shop"))
    with pytest.raises(UsageError, match="found 2 processes of the name 'Shop', expected the id of one"):
        show_file(f"{path}::Shop", "")
    assert "Shop: 2 tasks, 3 links" in show_file(f"{path}::Process_2", "").lines
