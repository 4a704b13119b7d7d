from __future__ import annotations

import json
from typing import Any

import pytest
from html_page import Page
from loopback import Loopback, Raw, refuse, reply
from plugin_project import Project, asking

from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Question

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["nested_tasks"], instances=1)
def test_graph(trial):
    trial.check()
"""
AGENT = ("--taskgraph-presentation=agent", "--taskgraph-report=json=record.json")
ITEM = "test_graph.py::test_graph[nested_tasks-wadl-n012-s0-000-agent]"


@pytest.fixture
def question(project: Project) -> Question:
    """Return the only question of the suite."""
    project.write("test_graph.py", SUITE)
    settings = UnderstandingSettings(instances=1, presentation="agent")
    (reference,) = understanding.references(settings, {"patterns": "nested_tasks"})
    return understanding.question(reference, settings)


def calls(*asked: tuple[str, str, str]) -> Raw:
    """A reply that calls tools: id, name and arguments of each."""
    tool_calls = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in asked]
    return reply(None, finish_reason="tool_calls", message={"tool_calls": tool_calls})


def read(name: str) -> str:
    return json.dumps({"name": name})


def answer(question: Question) -> str:
    return f"Final answer: {FORMS[question.form].write(question.reference, question.names)}"


def trial_of(project: Project) -> dict[str, Any]:
    (trial,) = project.record()["trials"]
    assert isinstance(trial, dict)
    return trial


def test_agent_asks_for_specifications_errs_and_answers(project: Project, server: Loopback, question: Question) -> None:
    first, second = question.needed[:2]
    server.script(
        calls(("c1", "workflow_specification", read(first)), ("c2", "workflow_specification", read(second))),
        calls(("c3", "workflow_specification", read("Nonesuch"))),
        calls(("c4", "workflow_specification", '{"name": ')),
        answer(question),
    )
    ran = project.run(*asking(server.url), *AGENT, "-v")
    assert (ran.code, ran.counts, ran.clean) == (0, {"passed": 1}, True), ran.output
    assert f"{ITEM} PASSED" in ran.output
    trial = trial_of(project)
    calls_of_exchanges = [[(c["name"], c["answer"]) for c in exchange["calls"]] for exchange in trial["exchanges"]]
    tool = "workflow_specification"
    assert calls_of_exchanges == [[(tool, "ok")] * 2, [(tool, "unknown name")], [(tool, "malformed arguments")], []]
    assert [exchange["role"] for exchange in trial["exchanges"]] == ["subject"] * 4
    assert trial["exchanges"][0]["calls"][1]["arguments"] == read(second)
    assert (trial["exchanges"][3]["final"], trial["exchanges"][3]["tokens_in"]) == (True, 3)
    assert trial["reply"]["text"] == answer(question)
    assert trial["requests"] == 4
    needed = len(question.needed)
    assert trial["score"]["metrics"]["specifications_read"] == 2 / needed
    assert trial["score"]["parts"] == {"specifications_read": [2.0, float(needed)], "tool_calls": [2.0, 4.0]}


def test_model_is_reported_tools_and_gets_texts_but_not_in_prompt(
    project: Project, server: Loopback, question: Question
) -> None:
    first = next(iter(question.specifications))
    server.script(calls(("c1", "list_workflows", "")), calls(("c2", "workflow_specification", read(first))))
    server.answer = answer(question)
    assert project.run(*asking(server.url), *AGENT).code == 0
    bodies = [request.body for request in server.requests]
    assert [[t["function"]["name"] for t in b["tools"]] for b in bodies] == [
        ["list_workflows", "workflow_specification"]
    ] * 3
    prompt = bodies[0]["messages"][-1]["content"]
    assert "list_workflows" in prompt
    assert not any(text in prompt for text in question.specifications.values())
    assert json.loads(bodies[1]["messages"][-1]["content"]) == list(question.specifications)
    assert bodies[2]["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "c2",
        "content": question.specifications[first],
    }
    assert bodies[2]["messages"][-2]["tool_calls"][0]["id"] == "c2"
    assert trial_of(project)["score"]["metrics"]["specifications_read"] == 1 / len(question.needed)


def test_agent_that_guesses_has_read_nothing(project: Project, server: Loopback, question: Question) -> None:
    server.answer = answer(question)
    assert project.run(*asking(server.url), *AGENT).code == 0
    assert trial_of(project)["score"]["metrics"]["specifications_read"] == 0.0


def test_agent_without_an_answer_is_wrong_after_last_request(
    project: Project, server: Loopback, question: Question
) -> None:
    server.answer = lambda _: calls(("c", "list_workflows", "{}"))
    ran = project.run(*asking(server.url), *AGENT)
    assert (ran.code, ran.clean) == (1, True), ran.output
    assert ["tools" in request.body for request in server.requests] == [True] * 12 + [False]
    assert "final answer now" in server.requests[-1].prompt
    assert (trial_of(project)["requests"], trial_of(project)["outcome"]) == (13, "unparseable")


def test_provider_that_fails_on_way_is_error_and_requests_are_counted(
    project: Project, server: Loopback, question: Question
) -> None:
    server.script(calls(("c1", "list_workflows", "{}")), refuse(500, "The server had an error"))
    assert project.run(*asking(server.url), *AGENT, "--taskgraph-retries=0").counts == {"error": 1}
    assert (trial_of(project)["requests"], trial_of(project)["outcome"]) == (2, "error")


LACKING = [
    refuse(400, "registry.ollama.ai/library/llama2:latest does not support tools"),
    refuse(400, "Unsupported parameter: 'tools' is not supported with this model."),
    refuse(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    refuse(400, "Function calling is not enabled for models/any"),
    refuse(404, "No endpoints found that support tool use."),
    refuse(500, "tools param requires --jinja flag"),
]


@pytest.mark.parametrize("refusal", LACKING)
def test_model_without_tools_is_skipped_with_reason(
    project: Project, server: Loopback, question: Question, refusal: Raw
) -> None:
    server.script(refusal)
    ran = project.run(*asking(server.url), *AGENT, "-rs")
    assert (ran.code, ran.counts, ran.clean) == (0, {"skipped": 1}, True), ran.output
    assert trial_of(project)["outcome"] == "skipped"
    words = json.loads(refusal.body)["error"]["message"]
    assert trial_of(project)["failure"] == {
        "kind": "skipped",
        "message": f"the model openai/any cannot call tools: {words}",
    }


def test_server_that_ignores_tools_is_skipped_with_reason(
    project: Project, server: Loopback, question: Question
) -> None:
    server.tools = False
    ran = project.run(*asking(server.url), *AGENT, "-rs")
    assert (ran.code, ran.counts, ran.clean) == (0, {"skipped": 1}, True), ran.output
    reason = (
        "the model openai/any cannot call tools: its server ignores them; told to call one, with tool_choice=required, "
        "it replied 'I am ready.'"
    )
    assert trial_of(project)["failure"] == {"kind": "skipped", "message": reason}
    remark = f"taskgraph: {reason.replace(':', ' (its questions are skipped):', 1)}"
    for each in (ran, project.spread(*asking(server.url), *AGENT)):
        assert " ".join(each.output.split()).count(remark) == 1, each.output


def test_another_bad_request_is_error(project: Project, server: Loopback, question: Question) -> None:
    server.script(refuse(400, "temperature is out of range"))
    assert project.run(*asking(server.url), *AGENT).counts == {"error": 1}


def test_words_of_refusal_of_tools_mean_nothing_where_no_tools_were_sent(
    project: Project, server: Loopback, question: Question
) -> None:
    server.script(LACKING[0])
    assert project.run(*asking(server.url)).counts == {"error": 1}


def test_agent_recorded_skipped_simulated_answers(project: Project, question: Question) -> None:
    path = project.write("replies.jsonl", json.dumps({"prompt": question.prompt, "reply": answer(question)}) + "\n")
    for model in ("baseline:reader", f"recorded:{path}"):
        ran = project.run("--model", model, *AGENT, "-rs")
        assert ran.counts == {"skipped": 1}, ran.output
        assert "cannot call tools" in ran.output
    assert project.run("--model", "simulated:1", *AGENT).counts == {"passed": 1}


def test_html_report_shows_calls_of_agent_with_results(project: Project, server: Loopback, question: Question) -> None:
    name = question.needed[0]
    server.script(calls(("c1", "workflow_specification", read(name))), calls(("c2", "list_workflows", "")))
    server.answer = answer(question)
    assert project.run(*asking(server.url), *AGENT, "--taskgraph-report=html=run.html").code == 0
    page = Page((project.path / "run.html").read_text(encoding="utf-8"))
    first, second = page.all("li", class_="call")[:2]
    specification = " ".join(question.specifications[name].split())
    assert first == f"called workflow_specification name {name} result {specification}"
    assert second.startswith("called list_workflows result [")
    assert "Transcript, 3 requests" in page.all("summary")
