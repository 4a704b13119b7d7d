"""TaskLAMA as a user runs it: methods of several requests over HTTP, an embedder, published data with mistakes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from loopback import Answer, Loopback, as_json, reply
from plugin_project import Project

SUITE = """
from pytest_taskgraph import suite, tasklama

@suite(tasklama)
def test_tasklama(trial):
    trial.check()
"""
METHODS = ("icl", "multseq", "golden_pairs", "golden_linear", "golden_whole", "linear", "pairs", "whole_two")
RECORD = "--taskgraph-report=json=r.json"


def asks(*methods: str, instances: int = 2) -> tuple[str, ...]:
    return f"--taskgraph-tasklama-method={','.join(methods)}", f"--taskgraph-instances={instances}", RECORD


def answer(prompt: str) -> Answer:
    """Answer as a model that writes three steps for every task, keeps orders, and says yes to every second pair."""
    task_prompt = prompt.rpartition("Task: ")[2]
    if "First step:" in task_prompt:
        return reply("yes" if len(task_prompt) % 2 else "no")
    if numbers := re.findall(r"^(\d+)\. ", task_prompt, re.MULTILINE):
        order = ", ".join(numbers)
        return reply(order if "in no particular order" in prompt else " -> ".join(numbers))
    title = task_prompt.splitlines()[0]
    return reply(f"1. Read about how to {title}\n2. Buy what is needed\n3. {title}\n")


def last_message(sent: str) -> str:
    return str(json.loads(sent)["messages"][-1]["content"])


def lasting(record: dict[str, Any]) -> list[Any]:
    """Return the trials of a record without times and without marks of the store."""
    trials: list[Any] = json.loads(json.dumps(record["trials"]))
    for trial in trials:
        for part in (trial["reply"], *trial["exchanges"]):
            for name in [name for name in part if name in ("latency", "stored")]:
                del part[name]
    return trials


@pytest.fixture
def own(project: Project) -> Project:
    project.write("test_tasks.py", SUITE)
    return project


def test_methods_of_several_requests_are_stored_and_replayed(own: Project, server: Loopback) -> None:
    server.answer = answer
    arguments = (f"--model={server.url}#any", *asks(*METHODS, instances=1))
    ran = own.run(*arguments)
    assert (ran.code, ran.counts) == (0, {"passed": len(METHODS)}), ran.output
    first, sent = own.record("r.json"), len(server.requests)
    spread = own.spread(*arguments, "--taskgraph-refresh")
    assert (spread.code, len(server.requests)) == (0, 2 * sent), spread.output
    assert lasting(own.record("r.json")) == lasting(first)
    server.answer = "Nothing is to be asked."
    replayed = own.run(*arguments, "--taskgraph-replay")
    assert (replayed.code, len(server.requests)) == (0, 2 * sent), replayed.output
    assert lasting(own.record("r.json")) == lasting(first)


def test_tables_of_steps_state_similarity_in_every_report(own: Project) -> None:
    ran = own.run(*asks("icl"), "-v", "--taskgraph-report=md=r.md", "--taskgraph-report=html=r.html")
    note = "similarity: lexical (not comparable with the paper)"
    assert ran.output.count(note) == 2  # the table of steps, and that of matchings
    assert [(own.path / name).read_text("utf-8").count(note) for name in ("r.md", "r.html")] == [2, 2]
    assert {table["name"]: table["notes"] for table in own.record("r.json")["tables"]} == {
        "steps": [note],
        "matchings": [note],
    }


def test_similarity_that_is_not_there_is_usage_error_before_run(own: Project) -> None:
    ran = own.run("--taskgraph-tasklama-similarity=cosine")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    known = "known: embeddings, lexical, sentence-transformers, sentence-transformers:MODEL"
    assert f"--taskgraph-tasklama-similarity: unknown similarity of steps 'cosine'; {known}" in ran.output


def test_request_shared_by_methods_is_sent_once(own: Project, server: Loopback) -> None:
    server.answer = answer
    own.run(f"--model={server.url}#any", *asks("icl", "linear", "pairs"))
    prompts = [received.prompt for received in server.requests]
    assert len(prompts) == len(set(prompts)) == 2 + 2 * 3 * 2


def test_right_simulated_model_has_rows_in_every_method(own: Project) -> None:
    ran = own.run("--model=simulated:1", *asks("all"))
    assert ran.code == 0, ran.output
    record = own.record("r.json")
    scores = {trial["question"]["group"]: trial["score"]["value"] for trial in record["trials"]}
    exact = ("icl", "multseq", "filter_logprob", "golden_pairs", "golden_pairs_cot", "golden_whole")
    assert {name: scores[name] for name in exact} == dict.fromkeys(exact, 1.0)
    rows = {row["name"] for table in record["tables"] for row in table["rows"]}
    assert scores.keys() <= rows
    assert {"Repeat Task", "LLM Scoring, 1 sequence", "Majority Class"} <= rows


def test_embedder_values_of_steps_are_rescored(
    own: Project, server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_taskgraph.__main__ import main

    def embedded(texts: list[str]) -> Answer:
        vectors = [{"index": at, "embedding": [1.0, float(len(text) % 3)]} for at, text in enumerate(texts)]
        return as_json({"data": vectors, "model": "any", "usage": {"prompt_tokens": 9}})

    server.asked = lambda received: json.dumps(received.body)
    server.answer = lambda sent: (
        embedded(json.loads(sent)["input"]) if '"input"' in sent else answer(last_message(sent))
    )
    embedder = ("--taskgraph-tasklama-similarity=embeddings", f"--taskgraph-embedder={server.url}#vectors")
    ran = own.run(f"--model={server.url}#any", *asks("icl", "linear"), *embedder)
    assert (ran.code, ran.clean) == (0, True), ran.output
    trials = own.record("r.json")["trials"]
    assert all([exchange["role"] for exchange in trial["exchanges"]] == ["subject", "embedder"] for trial in trials)
    assert all(
        0 < trial["score"]["metrics"]["hungarian_precision"] <= 1
        for trial in trials
        if "icl" in trial["question"]["id"]
    )
    capsys.readouterr()
    assert main(["rescore", "r.json", "--check", "--out", "new.json"]) == 0


def test_embeddings_without_embedder_are_usage_error(own: Project) -> None:
    ran = own.run("--model=simulated:1", *asks("icl"), "--taskgraph-tasklama-similarity=embeddings")
    assert ran.code == 4
    assert "needs a model in the role of embedder: name one with --taskgraph-embedder=SPEC" in " ".join(
        ran.output.split()
    )


def test_published_data_mistakes_are_reported_and_rest_used(own: Project) -> None:
    steps = [{"step": "Wash the rice"}, {"step": "Cook the rice"}]
    lost = {"subtask1": "Sing", "subtask2": "Cook the rice"}
    rice = {"task": "Cook rice", "substeps": steps, "dependencies": [lost]}
    own.write("data/test.jsonl", f"{json.dumps(rice)}\n{{broken\n{json.dumps({'task': 'Nothing', 'substeps': []})}\n")
    ran = own.run("--model=simulated:1", *asks("icl"), "--taskgraph-data=tasklama=data", "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 1}), ran.output
    output = " ".join(ran.output.split())
    assert "tasks published (test split)" in output
    for message in (
        r"line 1 \(Cook rice\): a dependency on 'Sing'",
        "line 2: broken JSON",
        r"line 3 \(Nothing\): the task has",
    ):
        assert re.search(message, output), (message, ran.output)


def test_gates_apply_to_metrics_of_all_methods_and_one(own: Project) -> None:
    gates = (
        "tasklama.hungarian_f1>=0.9",
        "icl.hungarian_f1>=0.9",
        "tasklama.pair_accuracy>=0.9",
        "golden_dependencies>=0.9",
    )
    flags = [f"--taskgraph-gate={gate}" for gate in gates]
    passed = own.run("--model=simulated:1", *asks("icl", "golden_whole"), *flags)
    assert (passed.code, passed.counts) == (0, {"passed": 4 + len(gates)}), passed.output
    failed = own.run("--model=simulated:0", *asks("icl", "golden_whole"), *flags)
    assert (failed.code, failed.counts["failed"]) == (1, len(gates)), failed.output


def test_unknown_method_error_lists_known_methods(own: Project) -> None:
    ran = own.run("--model=simulated:1", *asks("cot"))
    assert (ran.code, ran.clean) == (4, True)
    assert "unknown method of TaskLAMA 'cot'; known: all, entire_graph, filter" in " ".join(ran.output.split())
