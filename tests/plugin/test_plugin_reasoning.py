"""Runs with a model that reasons: what is sent, counted, shown, kept in the record, and replayed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback import Loopback, Raw, as_json, reply
from plugin_project import Project, asking, properties

from pytest_taskgraph.reports import failure
from pytest_taskgraph.reports.trial_text import trial_lines
from pytest_taskgraph.results import record

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["nested_tasks"], instances=1)
def test_graph(trial):
    trial.check()
"""
REASONING = "First the start, then its links."
REPORTS = ("--taskgraph-report=json=record.json", "--taskgraph-report=csv=trials.csv", "--junitxml=junit.xml")
STORE = "--taskgraph-store=store"


def reasoned(text: str, **choice: Any) -> Raw:  # noqa: ANN401 - JSON
    """A reply with 40 reasoning tokens of 50."""
    message = {"reasoning_content": REASONING, **choice.pop("message", {})}
    body = json.loads(reply(text, message=message, **choice).body)
    usage = {"prompt_tokens": 20, "completion_tokens": 50, "total_tokens": 70}
    return as_json(body | {"usage": usage | {"completion_tokens_details": {"reasoning_tokens": 40}}})


@pytest.fixture(autouse=True)
def one_question(project: Project) -> None:
    project.write("test_graph.py", SUITE)


def lean(server: Loopback) -> list[str]:
    return [f"--model={server.url}#any", f"--taskgraph-price={server.url}#any=1/2"]


ASKED = (lean, lambda server: asking(server.url), lambda server: asking(server.url, model="litellm:openai/any"))


@pytest.mark.parametrize("client", ASKED, ids=["lean", "provider", "litellm"])
def test_run_counts_reasoning_and_keeps_its_text(project: Project, server: Loopback, client: Any) -> None:  # noqa: ANN401
    server.answer = lambda _: reasoned("Final answer: Nobody")
    ran = project.run(*client(server), STORE, *REPORTS)
    assert "50 out (of them 40 reasoning)" in " ".join(ran.output.split())
    record = project.record()
    (trial,) = record["trials"]
    assert (trial["reply"]["reasoning"], trial["reply"]["tokens_reasoning"]) == (REASONING, 40)
    assert (record["usage"]["tokens_out"], record["usage"]["tokens_reasoning"]) == (50, 40)
    header, row = (project.path / "trials.csv").read_text().splitlines()[:2]
    assert header.split(",").index("tokens_reasoning") == header.split(",").index("tokens_out") + 1
    assert ",50,40," in row
    assert ("taskgraph.tokens_reasoning", "40") in properties(project.junit())
    replayed = project.run(*client(server), STORE, "--taskgraph-replay", "--taskgraph-report=json=again.json")
    assert "50 out (of them 40 reasoning)" in " ".join(replayed.output.split())
    (again,) = project.record("again.json")["trials"]
    assert again["reply"] == {**trial["reply"], "stored": True}
    assert len(server.requests) == 1


def test_show_has_reasoning_apart_from_reply(project: Project, server: Loopback) -> None:
    server.answer = lambda _: reasoned("Final answer: Nobody\x1b[31m")
    project.run(*lean(server), *REPORTS)
    (trial,) = record.trials(project.record())
    lines = trial_lines(trial)
    assert lines[lines.index("reasoning:") + 1].endswith(REASONING)
    assert lines.index("reasoning:") < lines.index("reply:")
    assert "tokens: 20 in, 50 out (of them 40 reasoning)" in lines


def test_reply_that_ends_in_reasoning_names_token_limit(project: Project, server: Loopback) -> None:
    server.answer = lambda _: reasoned("", finish_reason="length")
    ran = project.run(*lean(server), *REPORTS)
    assert ran.counts == {"error": 1}
    (trial,) = project.record()["trials"]
    assert trial["failure"]["kind"] == "truncated"
    assert trial["failure"]["message"].startswith("the reply ended at the token limit within its reasoning; raise max_")
    assert len(server.requests) == 1


def test_effort_is_in_record_and_separates_stored_replies(project: Project, server: Loopback) -> None:
    server.answer = lambda _: reasoned("Final answer: Nobody")
    for effort in ("low", "high", "low"):
        option = f"--taskgraph-model-option=reasoning_effort={effort}"
        project.run(*lean(server), STORE, option, *REPORTS)
        assert project.record()["settings"]["model_option"]["reasoning_effort"] == effort
    assert [sent.body["reasoning_effort"] for sent in server.requests] == ["low", "high"]


def test_suite_states_effort(project: Project, server: Loopback) -> None:
    server.answer = lambda _: reasoned("Final answer: Nobody")
    options = 'model_options={"thinking": {"type": "enabled", "budget_tokens": 1024}}'
    project.write("test_graph.py", SUITE.replace("instances=1", f"instances=1, {options}"))
    project.run(*lean(server))
    assert server.requests[0].body["thinking"] == {"type": "enabled", "budget_tokens": 1024}


@pytest.mark.parametrize("client", ASKED, ids=["lean", "provider", "litellm"])
def test_agent_sends_reasoning_back_with_results(project: Project, server: Loopback, client: Any) -> None:  # noqa: ANN401
    call = {"id": "c1", "type": "function", "function": {"name": "workflow_specification", "arguments": "{}"}}
    server.script(
        reasoned("", finish_reason="tool_calls", message={"tool_calls": [call]}), reasoned("Final answer: Nobody")
    )
    project.run(*client(server), "--taskgraph-presentation=agent", *REPORTS)
    assistant = next(message for message in server.requests[1].body["messages"] if message["role"] == "assistant")
    assert (assistant["reasoning_content"], assistant.get("content")) == (REASONING, None)
    first, final = project.record()["trials"][0]["exchanges"]
    assert (first["reasoning"], first["tokens_reasoning"], final["tokens_reasoning"]) == (REASONING, 40, 40)
    (trial,) = record.trials(project.record())
    assert f"reasoning: {REASONING}" in failure.exchange_texts(trial)[0]
    assert "50 out (of them 40 reasoning)" in failure.exchange_title(trial.exchanges[0])


def test_agent_without_reasoning_repeats_no_field_of_it(project: Project, server: Loopback) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "workflow_specification", "arguments": "{}"}}
    server.script(reply(None, finish_reason="tool_calls", message={"tool_calls": [call]}), "Final answer: Nobody")
    project.run(*lean(server), "--taskgraph-presentation=agent")
    assistant = next(message for message in server.requests[1].body["messages"] if message["role"] == "assistant")
    assert assistant.keys() == {"role", "content", "tool_calls"}


THINKER = """
from pytest_taskgraph import Reply

class Thinker:
    name, live, settings = "thinker", True, {}

    async def answer(self, request):
        return Reply("Final answer: Nobody", reasoning="So\\x1b[31m", message_fields={"reasoning_details": "opaque"})

def pytest_taskgraph_register(registry):
    registry.model("thinker", Thinker())
"""


def test_trial_has_scrubbed_reasoning_and_no_fields_to_send_back(project: Project) -> None:
    project.write("conftest.py", THINKER)
    project.run("--model=thinker", *REPORTS)
    (trial,) = project.record()["trials"]
    assert (trial["reply"]["reasoning"], trial["reply"]["message_fields"]) == ("So\ufffd[31m", {})
