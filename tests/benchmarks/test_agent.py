from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.agent import ROUNDS, specifications_read
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question, Reply, Request
from pytest_taskgraph.workflow.canonical import canonical

QUESTION = Question(
    "q", "f", "p", "c", "Which?", "Which? Ask.", "task", "A", "correctness", episode="agent", system="Be brief.",
    specifications={"shop.Outer": "OUTER", "shop.Inner": "INNER", "a.Twin": "ONE", "b.Twin": "TWO"},
    needed=["shop.Outer", "shop.Inner"],
)  # fmt: skip
READ = "workflow_specification"


def call(name: str = READ, arguments: str = "{}", id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], text: str = "") -> Reply:
    return Reply(text, tool_calls=list(calls))


def play(model: Callable[[Request], Reply], question: Question = QUESTION) -> tuple[Transcript, list[Request]]:
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


def script(*replies: Reply) -> Callable[[Request], Reply]:
    waiting = iter(replies)
    return lambda _: next(waiting)


def told(*calls: dict[str, Any]) -> list[str]:
    """What the calls of one message are answered."""
    _, sent = play(script(calling(*calls), Reply("A")))
    return [message["content"] for message in sent[1].messages if message["role"] == "tool"]


def test_a_model_that_answers_at_once_is_asked_once() -> None:
    transcript, sent = play(script(Reply("A")))
    assert transcript.reply == Reply("A")
    assert [message["role"] for message in sent[0].messages] == ["system", "user"]
    assert len(sent) == len(transcript.notes) == 1


def test_calls_of_one_message_are_answered_in_order() -> None:
    outer, inner = json.dumps({"name": "shop.Outer"}), json.dumps({"name": "Inner"})
    first = calling(call(arguments=outer, id="c1"), call(arguments=inner, id="c2"), text="Let me see.")
    _, sent = play(script(first, Reply("A")))
    assert sent[1].messages[:2] == sent[0].messages
    assert sent[1].messages[2:] == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": first.tool_calls},
        {"role": "tool", "tool_call_id": "c1", "content": "OUTER"},
        {"role": "tool", "tool_call_id": "c2", "content": "INNER"},
    ]


def test_the_names_of_all_specifications_are_listed() -> None:
    assert [json.loads(text) for text in told(call("list_workflows"), call("list_workflows", ""))] == [
        ["shop.Outer", "shop.Inner", "a.Twin", "b.Twin"]
    ] * 2


@pytest.mark.parametrize("name", ["Nonesuch", "", "Twin", "Outer.shop", "hop.Outer"])
def test_a_name_that_means_no_workflow_or_several_is_answered_with_the_known_ones(name: str) -> None:
    (text,) = told(call(arguments=json.dumps({"name": name})))
    assert text.startswith(f'There is no workflow "{name}". The workflows are ["shop.Outer", "shop.Inner"')


@pytest.mark.parametrize(
    "arguments", ["", "{}", "{", "[]", "null", '"Outer"', '{"name": 5}', '{"workflow": "Outer"}', "[" * 100_000]
)
def test_arguments_of_another_form_are_answered_with_the_form_and_the_known_names(arguments: str) -> None:
    (text,) = told(call(arguments=arguments))
    assert '{"name": "the name of a workflow"}' in text
    assert '"shop.Outer"' in text
    assert len(text) < 500


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    (text,) = told(call("search"))
    assert text == 'There is no tool "search". The tools are list_workflows and workflow_specification.'


def test_arguments_that_are_no_object_are_echoed_as_one_for_providers_parse_them() -> None:
    _, sent = play(script(calling(call(arguments="{"), call(arguments="", id="c2")), Reply("A")))
    echoed = next(message for message in sent[1].messages if message["role"] == "assistant")
    assert [one["function"]["arguments"] for one in echoed["tool_calls"]] == ["{}", "{}"]
    assert echoed["content"] is None


def test_where_the_rounds_run_out_all_that_was_told_stands_in_one_last_request_without_tools() -> None:
    transcript, sent = play(
        lambda request: calling(call(arguments='{"name": "Outer"}')) if request.tools else Reply("A")
    )
    assert len(sent) == ROUNDS + 1
    assert transcript.reply == Reply("A")
    assert [message["role"] for message in sent[-1].messages] == ["system", "user", "user"]
    assert sent[-1].prompt.count("OUTER") == 1
    assert "final answer now" in sent[-1].prompt


def test_reading_one_text_under_another_name_counts_for_all_its_workflows() -> None:
    question = replace(QUESTION, specifications={"Outer": "BOTH", "Inner": "BOTH"}, needed=["Outer", "Inner"])
    assert specifications_read(question, [calling(call(arguments='{"name": "Inner"}'))]) == (2, 2)
    assert specifications_read(question, [calling(call(arguments='{"name": "Nobody"}'))]) == (0, 2)


def test_agent_measures_what_it_read_and_notes_its_calls() -> None:
    first = calling(call(arguments='{"name": "shop.Outer"}'), call("search"))
    transcript, _ = play(script(first, Reply("A")))
    assert transcript.metrics == {"specifications_read": 0.5}
    assert transcript.parts == {"specifications_read": [1.0, 2.0], "tool_calls": [1.0, 2.0]}
    done = {"name": READ, "arguments": '{"name": "shop.Outer"}', "answer": "ok"}
    assert transcript.notes == [
        {"calls": [done, {"name": "search", "arguments": "{}", "answer": "unknown tool"}]},
        {"calls": []},
    ]
    assert play(script(Reply("A")), replace(QUESTION, needed=[]))[0].metrics == {"specifications_read": None}


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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CALLS, max_size=4), max_size=ROUNDS + 3))
def test_whatever_a_model_calls_the_rounds_are_bounded_and_every_call_is_answered_once(
    messages: list[list[dict[str, Any]]],
) -> None:
    waiting = iter(messages)
    transcript, sent = play(lambda _: calling(*next(waiting, [])))
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
                expected = [one["id"] for one in message.get("tool_calls", [])]
                assert len(set(expected)) == len(expected)
                assert all(
                    isinstance(json.loads(c["function"]["arguments"]), dict) for c in message.get("tool_calls", [])
                )
        assert not expected


def questions(pattern: str, **changed: Any) -> list[Question]:  # noqa: ANN401 - settings
    chosen = UnderstandingSettings(**{"instances": 2, "tasks": (8,), "presentation": "agent", **changed})
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": pattern})]


@pytest.mark.parametrize("notation", sorted(NOTATIONS))
def test_the_specifications_together_are_the_workflow(notation: str) -> None:
    for pattern in ("nested_tasks", "parallel_pair"):
        agents = questions(pattern, notations=(notation,))
        for agent, shown in zip(agents, questions(pattern, notations=(notation,), presentation="inline"), strict=True):
            assert agent.id == f"{shown.id}-agent"
            whole = NOTATIONS[notation].read_files(agent.specifications)
            text = shown.prompt.split("```")[1].partition("\n")[2] if "```" in shown.prompt else ""
            assert canonical(whole) == canonical(NOTATIONS[notation].read(text))
            assert set(agent.needed) <= set(agent.specifications)
            assert (agent.text, agent.reference) == (shown.text, shown.reference)


def test_the_words_in_place_of_the_workflow_stand_in_no_fence() -> None:
    for question in questions("flow_start"):
        assert "is not shown here" in question.prompt
        assert "```" not in question.prompt


def test_needed_are_those_below_only_where_the_question_is_about_them() -> None:
    recursion, pair = questions("infinite_recursion")[1], questions("parallel_pair")[0]
    assert len(recursion.needed) == len(recursion.specifications) > 1
    assert len(pair.needed) == 1


def test_needed_are_the_bases_of_a_derived_workflow_too() -> None:
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


def test_files_of_the_user_are_given_verbatim_one_for_each_workflow(tmp_path: Path) -> None:
    files = {"a.xxp": FLOW.format(name="A", below="B"), "b.xxp": FLOW.format(name="B", below="Leaf") + LEAF}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked = questions("parallel_pair", workflows=(str(tmp_path),), instances=9)
    a, b = (files[name].strip("\n") for name in sorted(files))
    assert all(one.specifications == {"shop.A": a, "shop.B": b, "shop.Leaf": b} for one in asked)
    assert {(one.text.partition("workflow 'A'")[1], *one.needed) for one in asked} == {
        ("workflow 'A'", "shop.A"),
        ("", "shop.B"),
    }
    nested = questions("nested_tasks", workflows=(str(tmp_path),), instances=9)
    assert {tuple(one.needed) for one in nested} == {
        ("shop.A", "shop.B", "shop.Leaf"),
        ("shop.B", "shop.Leaf"),
        ("shop.Leaf",),
    }
