from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from canonical_form import canonical
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.families.understanding.agent import ROUNDS, specifications_read
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question, Reply, Request

QUESTION = Question(
    "q", "f", "p", "c", "Which?", "Which? Ask.", "task", "A", "correctness", episode="agent", system="Be brief.",
    specifications={"shop.Outer": "OUTER", "shop.Inner": "INNER", "a.Twin": "ONE", "b.Twin": "TWO"},
    needed=["shop.Outer", "shop.Inner"],
)  # fmt: skip
READ = "workflow_specification"


def call(name: str = READ, arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply_with_calls(*calls: dict[str, Any], text: str = "") -> Reply:
    return Reply(text, tool_calls=list(calls))


def run_agent(model: Callable[[Request], Reply], question: Question = QUESTION) -> tuple[Transcript, list[Request]]:
    turns, sent = understanding.episode("agent")(question), list[Request]()
    requests = next(turns)
    while True:
        (request,) = requests
        sent.append(request)
        try:
            requests = turns.send([model(request)])
        except StopIteration as stop:
            transcript: Transcript = stop.value
            return transcript, sent


def scripted_model(*replies: Reply) -> Callable[[Request], Reply]:
    waiting = iter(replies)
    return lambda _: next(waiting)


def call_answers(*calls: dict[str, Any]) -> list[str]:
    """Return the answers to the calls of one message."""
    _, sent = run_agent(scripted_model(reply_with_calls(*calls), Reply("A")))
    return [message["content"] for message in sent[1].messages if message["role"] == "tool"]


def test_agent_model_answers_at_once_sends_one_request() -> None:
    transcript, sent = run_agent(scripted_model(Reply("A")))
    assert transcript.reply == Reply("A")
    assert [message["role"] for message in sent[0].messages] == ["system", "user"]
    assert len(sent) == len(transcript.notes) == 1


def test_agent_calls_of_one_message_answered_in_order() -> None:
    outer, inner = json.dumps({"name": "shop.Outer"}), json.dumps({"name": "Inner"})
    first = reply_with_calls(
        call(arguments=outer, call_id="c1"), call(arguments=inner, call_id="c2"), text="Let me see."
    )
    _, sent = run_agent(scripted_model(first, Reply("A")))
    assert sent[1].messages[:2] == sent[0].messages
    assert sent[1].messages[2:] == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": first.tool_calls},
        {"role": "tool", "tool_call_id": "c1", "content": "OUTER"},
        {"role": "tool", "tool_call_id": "c2", "content": "INNER"},
    ]


def test_list_tool_returns_all_specification_names() -> None:
    assert [json.loads(text) for text in call_answers(call("list_workflows"), call("list_workflows", ""))] == [
        ["shop.Outer", "shop.Inner", "a.Twin", "b.Twin"]
    ] * 2


@pytest.mark.parametrize("name", ["Nonesuch", "", "Twin", "Outer.shop", "hop.Outer"])
def test_read_tool_unknown_or_ambiguous_name_lists_workflows(name: str) -> None:
    (text,) = call_answers(call(arguments=json.dumps({"name": name})))
    assert text.startswith(f'There is no workflow "{name}". The workflows are ["shop.Outer", "shop.Inner"')


@pytest.mark.parametrize(
    "arguments", ["", "{}", "{", "[]", "null", '"Outer"', '{"name": 5}', '{"workflow": "Outer"}', "[" * 100_000]
)
def test_read_tool_malformed_arguments_states_form_and_names(arguments: str) -> None:
    (text,) = call_answers(call(arguments=arguments))
    assert '{"name": "the name of a workflow"}' in text
    assert '"shop.Outer"' in text
    assert len(text) < 500


def test_agent_unknown_tool_lists_tools() -> None:
    (text,) = call_answers(call("search"))
    assert text == 'There is no tool "search". The tools are list_workflows and workflow_specification.'


def test_agent_malformed_arguments_echoed_as_empty_object() -> None:
    _, sent = run_agent(
        scripted_model(reply_with_calls(call(arguments="{"), call(arguments="", call_id="c2")), Reply("A"))
    )
    echoed = next(message for message in sent[1].messages if message["role"] == "assistant")
    assert [echoed_call["function"]["arguments"] for echoed_call in echoed["tool_calls"]] == ["{}", "{}"]
    assert echoed["content"] is None


def test_agent_rounds_exhausted_sends_results_without_tools() -> None:
    transcript, sent = run_agent(
        lambda request: reply_with_calls(call(arguments='{"name": "Outer"}')) if request.tools else Reply("A")
    )
    assert len(sent) == ROUNDS + 1
    assert transcript.reply == Reply("A")
    assert [message["role"] for message in sent[-1].messages] == ["system", "user", "user"]
    assert sent[-1].prompt.count("OUTER") == 1
    assert "final answer now" in sent[-1].prompt


def test_specifications_read_shared_text_counts_for_all_names() -> None:
    question = replace(QUESTION, specifications={"Outer": "BOTH", "Inner": "BOTH"}, needed=["Outer", "Inner"])
    assert specifications_read(question, [reply_with_calls(call(arguments='{"name": "Inner"}'))]) == (2, 2)
    assert specifications_read(question, [reply_with_calls(call(arguments='{"name": "Nobody"}'))]) == (0, 2)


def test_agent_transcript_has_share_read_and_calls() -> None:
    first = reply_with_calls(call(arguments='{"name": "shop.Outer"}'), call("search"))
    transcript, _ = run_agent(scripted_model(first, Reply("A")))
    assert transcript.metrics == {"specifications_read": 0.5}
    assert transcript.parts == {"specifications_read": [1.0, 2.0], "tool_calls": [1.0, 2.0]}
    done = {"name": READ, "arguments": '{"name": "shop.Outer"}', "answer": "ok"}
    assert transcript.notes == [
        {"calls": [done, {"name": "search", "arguments": "{}", "answer": "unknown tool"}]},
        {"calls": []},
    ]
    assert run_agent(scripted_model(Reply("A")), replace(QUESTION, needed=[]))[0].metrics == {
        "specifications_read": None
    }


CALLS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(st.none(), st.sampled_from(["", "c1", "c1_", "call_0", "call_1"])),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.one_of(st.none(), st.sampled_from(["list_workflows", READ, "search"])),
                "arguments": st.one_of(st.none(), st.text(), st.sampled_from(['{"name": "Outer"}', "{", "[1]"])),
            },
        ),
    },
)


@given(st.lists(st.lists(CALLS, max_size=4), max_size=ROUNDS + 3))
def test_agent_arbitrary_calls_bounded_and_answered_once(
    messages: list[list[dict[str, Any]]],
) -> None:
    waiting = iter(messages)
    transcript, sent = run_agent(lambda _: reply_with_calls(*next(waiting, [])))
    assert len(sent) <= ROUNDS + 1
    assert len(transcript.notes) == len(sent)
    json.dumps(transcript.notes)
    for request in sent:
        expected: list[str] = []
        for message in request.messages:
            if message["role"] == "tool":
                assert message["tool_call_id"] == expected.pop(0)
            else:
                assert not expected
                expected = [echoed_call["id"] for echoed_call in message.get("tool_calls", [])]
                assert len(set(expected)) == len(expected)
                assert all(
                    isinstance(json.loads(c["function"]["arguments"]), dict) for c in message.get("tool_calls", [])
                )
        assert not expected


def questions(pattern: str, **overrides: Any) -> list[Question]:  # noqa: ANN401 - settings
    chosen = UnderstandingSettings(**{"instances": 2, "tasks": (8,), "presentation": "agent", **overrides})
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": pattern})
    ]


@pytest.mark.parametrize("notation", sorted(NOTATIONS))
def test_specifications_joined_equal_workflow(notation: str) -> None:
    for pattern in ("nested_tasks", "parallel_pair"):
        agents = questions(pattern, notations=(notation,))
        for agent, inline in zip(agents, questions(pattern, notations=(notation,), presentation="inline"), strict=True):
            assert agent.id == f"{inline.id}-agent"
            whole = NOTATIONS[notation].read_files(agent.specifications)
            text = inline.prompt.split("```")[1].partition("\n")[2] if "```" in inline.prompt else ""
            assert canonical(whole) == canonical(NOTATIONS[notation].read(text))
            assert set(agent.needed) <= set(agent.specifications)
            assert (agent.text, agent.reference) == (inline.text, inline.reference)


def test_agent_prompt_placeholder_not_fenced() -> None:
    for question in questions("flow_start"):
        assert "is not shown here" in question.prompt
        assert "```" not in question.prompt


def test_needed_specifications_include_nested_only_if_asked_about() -> None:
    recursion, pair = questions("infinite_recursion")[1], questions("parallel_pair")[0]
    assert len(recursion.needed) == len(recursion.specifications) > 1
    assert len(pair.needed) == 1


def test_needed_specifications_include_bases() -> None:
    agent = questions("nested_tasks", notations=("wadl-separate",))[0]
    assert any(name.startswith("base.Abstract") for name in agent.needed)


FLOW = """package shop;

workflow {name} {{
  // shown as it is
  task First {{}}
  task Left {{}}
  task Right {{}}
  task Part {{ subworkflow {below}; }}

  START -> First -> PARALLEL_1;
  PARALLEL_1 -> Left -> PARALLEL_END_1;
  PARALLEL_1 -> Right -> PARALLEL_END_1;
  PARALLEL_END_1 -> Part -> END;
}}
"""
LEAF = "package shop;\n\nworkflow Leaf {\n  task Only {}\n  START -> Only -> END;\n}\n"


def test_specifications_of_own_files_are_verbatim(tmp_path: Path) -> None:
    files = {"a.xxp": FLOW.format(name="A", below="B"), "b.xxp": FLOW.format(name="B", below="Leaf") + LEAF}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    parallel_questions = questions("parallel_pair", workflows=(str(tmp_path),), instances=9)
    a, b = (files[name].strip("\n") for name in sorted(files))
    assert all(question.specifications == {"shop.A": a, "shop.B": b, "shop.Leaf": b} for question in parallel_questions)
    assert {(question.text.partition("workflow 'A'")[1], *question.needed) for question in parallel_questions} == {
        ("workflow 'A'", "shop.A"),
        ("", "shop.B"),
    }
    nested = questions("nested_tasks", workflows=(str(tmp_path),), instances=9)
    assert {tuple(question.needed) for question in nested} == {
        ("shop.A", "shop.B", "shop.Leaf"),
        ("shop.B", "shop.Leaf"),
    }
