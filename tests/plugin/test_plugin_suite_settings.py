"""Settings that `@suite` states for its own questions."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from plugin_project import IDS, SUITE, Project, asking

from pytest_taskgraph import suite

RECORD = "--taskgraph-report=json=record.json"
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
PAIR = ["parallel_pair-wadl-n012-s0-000"]


def suites(*arguments: str) -> str:
    """A module with a suite for each of the arguments, each about another pattern."""
    patterns = ("parallel_pair", "flow_end", "next_tasks")
    functions = "".join(
        f"@suite(understanding, patterns={pattern!r}, instances=1, {text})\ndef test_{pattern}(trial):\n    pass\n\n"
        for pattern, text in zip(patterns, arguments, strict=False)
    )
    return f"from pytest_taskgraph import suite, understanding\n\n{functions}"


def questions(project: Project) -> dict[str, dict[str, Any]]:
    """The questions of the record, by group."""
    return {trial["question"]["group"]: trial["question"] for trial in project.record()["trials"]}


def test_suite_settings_hold_for_questions_only(project: Project) -> None:
    project.write("test_graph.py", suites('prompt="direct", parsing="strict", pass_threshold=0.25, shots=1', ""))
    ran = project.run("--model=simulated:1", RECORD)
    assert (ran.code, ran.clean) == (0, True), ran.output
    by_pattern = questions(project)
    assert by_pattern["parallel_pair"]["id"] == "parallel_pair-wadl-n012-s0-000-direct-k1"
    assert by_pattern["flow_end"]["id"] == "flow_end-wadl-n012-s0-000"
    settings = [
        (question["labels"]["prompt"], question["parsing"], question["pass_threshold"])
        for question in by_pattern.values()
    ]
    assert sorted(settings) == [("chain-of-thought", "lenient", 1.0), ("direct", "strict", 0.25)]
    record = project.record()
    assert record["prompts"] == ["chain-of-thought", "direct"]
    stated = {"parsing": "strict", "pass_threshold": 0.25, "prompt": ["direct"], "shots": 1}
    assert record["settings"]["suites"] == {"test_graph.py::test_parallel_pair": stated}
    line = "taskgraph: test_parallel_pair sets prompt=direct, shots=1, parsing=strict, pass_threshold=0.25"
    assert line in ran.output


def test_suite_of_one_parsing_is_what_record_states(project: Project) -> None:
    project.write("test_graph.py", suites('parsing="strict"', 'parsing="strict"'))
    ran = project.run("--model=simulated:1", RECORD)
    assert (ran.code, project.record()["parsing"]) == (0, "strict"), ran.output


@pytest.mark.parametrize("place", ["flag", "environment", "ini"])
def test_user_of_run_goes_before_suite(project: Project, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    project.write("test_graph.py", suites('prompt="direct", parsing="strict", pass_threshold=0.25, names="neutral"'))
    stated = {"prompt": "guided", "parsing": "lenient", "pass-threshold": "0.5", "names": "domain"}
    args = [f"--taskgraph-{name}={value}" for name, value in stated.items()] if place == "flag" else []
    names = {f"taskgraph_{name.replace('-', '_')}": value for name, value in stated.items()}
    for name, value in names.items() if place == "environment" else ():
        monkeypatch.setenv(name.upper(), value)
    if place == "ini":
        project.write("pytest.ini", "[pytest]\n" + "".join(f"{name} = {value}\n" for name, value in names.items()))
    ran = project.run("--model=simulated:1", RECORD, *args)
    assert ran.code == 0, ran.output
    question = questions(project)["parallel_pair"]
    assert question["id"] == "parallel_pair-wadl-n012-s0-000-domain-guided"
    assert (question["parsing"], question["pass_threshold"], question["labels"]["names"]) == ("lenient", 0.5, "domain")
    assert "suites" not in project.record()["settings"]
    assert " sets " not in ran.output


def test_suite_asks_each_question_with_each_of_prompts(project: Project) -> None:
    project.write("test_graph.py", suites('prompt=["direct", "guided"]'))
    ran = project.run("--model=simulated:1", RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output
    ids = {trial["question"]["id"] for trial in project.record()["trials"]}
    assert ids == {"parallel_pair-wadl-n012-s0-000-direct", "parallel_pair-wadl-n012-s0-000-guided"}
    assert project.record()["prompts"] == ["direct", "guided"]


def test_ids_are_those_of_same_options_on_command_line(project: Project) -> None:
    listing = project.run("--collect-only", "-q", "--taskgraph-prompt=direct", "--taskgraph-phrasing=first")
    project.write("test_graph.py", SUITE.replace("instances=2", 'instances=2, prompt="direct", phrasing="first"'))
    again = project.run("--collect-only", "-q")
    ids = [line for line in listing.output.splitlines() if "::" in line]
    assert len(ids) == len(IDS)
    assert ids == [line for line in again.output.splitlines() if "::" in line]


CHART = "flowchart TD\n  A[Wake] --> B[Eat] --> C[Leave]\n"
ASK = "{# answer: whole #}\nHELLO {{ workflow }} {{ question }} {{ instruction }}\n"


def test_paths_of_suite_start_in_folder(project: Project) -> None:
    (project.path / "test_graph.py").unlink()
    project.write("deep/flows/day.mmd", CHART)
    project.write("deep/ask.jinja", ASK)
    project.write("deep/test_own.py", suites('workflow="flows/day.mmd", prompt="ask.jinja"', ""))
    ran = project.run("--model=simulated:1", RECORD)
    assert (ran.code, ran.clean) == (0, True), ran.output
    by_pattern = questions(project)
    assert by_pattern["parallel_pair"]["labels"]["notation"] == "mermaid"
    assert by_pattern["parallel_pair"]["id"].endswith("-ask")
    record = project.record()
    own = record["settings"]["suites"]["deep/test_own.py::test_parallel_pair"]
    assert own["workflow"] == [str(Path("deep", "flows", "day.mmd"))]
    assert own["prompt"] == [str(Path("deep", "ask.jinja"))]
    assert record["families"][0]["facts"]["notation"] == "as written, wadl"
    assert by_pattern["flow_end"]["labels"]["notation"] == "wadl"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('parsing="exact"', "@suite(..., parsing=...): 'exact'; known: lenient, strict"),
        ("pass_threshold=80", "@suite(..., pass_threshold=...): '80'; expected a number from 0 to 1"),
        ("pass_threshold=True", "@suite(..., pass_threshold=...): 'true'; expected a number from 0 to 1"),
        ("shots=-1", "@suite(..., shots=...): -1; expected at least 0"),
        ("prompt=[]", "@suite(..., prompt=...): nothing given; expected NAME|FILE"),
        ('prompt=["a/x.jinja", "b/x.jinja"]', "have the same name; rename one of them"),
        ('prompt="drect"', "unknown prompt 'drect'"),
        ('phrasing="third"', "@suite(..., phrasing=...): 'third'; known: both, first, second"),
        ('workflow="absent.mmd"', "absent.mmd: no such file or folder"),
        ("workflow={1, 2}", "@suite(..., workflow=...): {1, 2}; expected PATH"),
        ('model_options="temperature=0"', "@suite(..., model_options=...): str; expected a mapping"),
        ('model_options={"stop": {1}}', "@suite(..., model_options=...): stop: set; expected a JSON value"),
        ("model_options={1: 2}", "expected a text as the name of each option, found int"),
    ],
)
def test_value_that_option_refuses_names_suite(project: Project, arguments: str, message: str) -> None:
    project.write("test_graph.py", suites(arguments))
    ran = project.run("--model=simulated:1")
    assert (ran.code, ran.clean) == (1, True), ran.output
    (line,) = [line for line in ran.output.splitlines() if line.startswith("test_graph.py: test_parallel_pair: ")]
    assert message in line


def test_refused_value_over_workers_is_one_line(project: Project) -> None:
    project.write("test_graph.py", suites('parsing="exact"'))
    ran = project.spread("--model=simulated:1", workers=1)
    assert (ran.code, ran.clean) == (1, True), ran.output
    assert "test_parallel_pair: @suite(..., parsing=...): 'exact'; known: lenient, strict" in ran.output


def test_few_shot_suite_stands_beside_one_without_examples(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    project.write("test_graph.py", suites('prompt="few-shot"', ""))
    ran = project.run(*asking(server.url), "--taskgraph-fail-on=nothing", RECORD)
    assert ran.code == 0, ran.output
    lengths = {trial["question"]["group"]: len(trial["question"]["prompt"]) for trial in project.record()["trials"]}
    examples = [request.prompt.count("Final answer: ") for request in server.requests]
    assert sorted(examples)[0] < sorted(examples)[1], (examples, lengths)
    assert questions(project)["parallel_pair"]["labels"]["prompt"] == "few-shot"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('prompts="direct"', "unknown option of @suite(understanding, ...) 'prompts'"),
        ('model_option={"temperature": 0}', "model_options"),
        ("rpm=3", "parsing, pass_threshold"),
    ],
)
def test_unknown_keyword_is_answered_with_known(project: Project, arguments: str, message: str) -> None:
    project.write("test_graph.py", suites(arguments))
    ran = project.run("--model=simulated:1")
    assert (ran.code, ran.clean, message in ran.output) == (1, True, True), ran.output


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ('parsing="strict"', 'parsing="lenient"', "another parsing"),
        ("pass_threshold=0.5", "", "another pass_threshold"),
        ('model_options={"temperature": 0}', 'model_options={"temperature": 1}', "another model_options"),
    ],
)
def test_same_question_with_other_settings_is_refused(project: Project, first: str, second: str, message: str) -> None:
    source = suites(first) + suites(second).replace("def test_parallel_pair", "def test_again")
    project.write("test_graph.py", source)
    ran = project.run("--model=simulated:1")
    assert (ran.code, ran.clean) == (1, True), ran.output
    assert f"test_again: test_parallel_pair asks the question {PAIR[0]!r} as well, with {message}" in ran.output
    project.write("test_graph.py", source.replace(f", {second})", f", {first})"))
    assert project.run("--model=simulated:1").code == 0


def test_graded_suite_stands_apart_in_gates(project: Project) -> None:
    project.write("test_graph.py", suites("pass_threshold=0", "", ""))
    gates = ("--taskgraph-gate=structure>=0.5", "--taskgraph-gate=parallel_pair>=0.5")
    ran = project.run("--model=simulated:1", RECORD, *gates)
    assert (ran.code, ran.clean) == (0, True), ran.output
    assert "gates::structure: pass rate 1.000 of 2 answered" in ran.output
    assert "gates::parallel_pair: mean score 1.000 of 1 answered" in ran.output
    graded = {trial["question"]["group"] for trial in project.record()["trials"] if trial["outcome"] == "graded"}
    assert graded == {"parallel_pair"}
    ran = project.run("--model=simulated:1", *gates, "--deselect=test_graph.py::test_parallel_pair")
    assert "gates::structure: pass rate 1.000 of 2 answered" in ran.output


def sent(server: Loopback) -> dict[str, object]:
    """The temperature of each request, by the first letters of its question."""
    return {request.prompt: request.body.get("temperature") for request in server.requests}


def by_group(project: Project, server: Loopback) -> dict[str, object]:
    """The temperature of each request, by the group of its question."""
    record = project.record()
    prompts = {
        trial["question"]["group"]: "".join(record["texts"][key] for key in trial["question"]["prompt"])
        for trial in record["trials"]
    }
    by_pattern = sent(server)
    return {group: by_pattern[prompt] for group, prompt in prompts.items()}


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "two workers"])
def test_model_options_of_suite_reach_requests(project: Project, server: Loopback, spread: bool) -> None:
    server.answer = "Final answer: yes"
    project.write("test_graph.py", suites('model_options={"temperature": 0.5}', 'model_options={"temperature": 1}', ""))
    args = (*asking(server.url), "--taskgraph-fail-on=nothing", "-v", RECORD)
    ran = (project.spread if spread else project.run)(*args)
    assert (ran.code, ran.clean, len(server.requests)) == (0, True, 3), ran.output
    assert by_group(project, server) == {"parallel_pair": 0.5, "flow_end": 1, "next_tasks": None}
    record = project.record()
    assert {trial["model"] for trial in record["trials"]} == set(record["models"]) == {"openai/any"}
    assert record["settings"]["suites"] == {
        "test_graph.py::test_parallel_pair": {"model_option": {"temperature": 0.5}},
        "test_graph.py::test_flow_end": {"model_option": {"temperature": 1}},
    }
    assert "sk-test-123456" not in json.dumps(record)
    assert "taskgraph: test_flow_end sets temperature=1" in ran.output
    replayed = project.run(*args, "--taskgraph-replay")
    assert (replayed.code, len(server.requests)) == (0, 3), replayed.output
    assert [trial["reply"]["stored"] for trial in project.record()["trials"]] == [True] * 3


def test_reply_of_other_model_options_is_not_taken(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    args = (*asking(server.url), "--taskgraph-fail-on=nothing")
    for temperature, requests in ((0, 1), (0, 1), (1, 2)):
        project.write("test_graph.py", suites(f'model_options={{"temperature": {temperature}}}'))
        ran = project.run(*args)
        assert (ran.code, len(server.requests)) == (0, requests), ran.output
    planned = project.run(*args, "--taskgraph-dry-run")
    assert (planned.code, len(server.requests)) == (0, 2), planned.output
    assert "taskgraph plan: 0 requests, 1 reply from the store" in planned.output


def test_model_options_of_command_line_win_key_by_key(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    project.write("test_graph.py", suites('model_options={"temperature": 0.5, "max_tokens": 7, "stop": ["END"]}'))
    option = "--taskgraph-model-option"
    ran = project.run(*asking(server.url), option, "temperature=0", RECORD, "--taskgraph-fail-on=nothing")
    assert ran.code == 0, ran.output
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0, 7, ["END"])
    own = project.record()["settings"]["suites"]["test_graph.py::test_parallel_pair"]
    assert own == {"model_option": {"max_tokens": 7, "stop": ["END"]}}


def test_key_among_model_options_is_in_no_artefact(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    project.write("test_graph.py", suites('model_options={"api_key": "sk-suite-987654321", "temperature": 0}'))
    args = ["--model", f"{server.url}#any", RECORD, "--taskgraph-fail-on=nothing"]
    ran = project.run(*args)
    assert (ran.code, len(server.requests)) == (0, 1), ran.output
    assert server.requests[0].headers["authorization"] == "Bearer sk-suite-987654321"
    assert "sk-suite" not in ran.output + (project.path / "record.json").read_text()


def test_limits_and_budget_are_shared_by_model_options(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    project.write("test_graph.py", suites('model_options={"temperature": 0.5}', 'model_options={"temperature": 1}', ""))
    ran = project.run(*asking(server.url), "--taskgraph-max-calls=2", "--taskgraph-fail-on=nothing", RECORD)
    assert len(server.requests) == 2, ran.output
    assert [trial["outcome"] for trial in project.record()["trials"]].count("skipped") == 1


def test_cost_limit_refuses_model_options_of_suite(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", suites('model_options={"web_search_options": {"search_context_size": "low"}}'))
    ran = project.run(*asking(server.url), "--taskgraph-max-cost=1", "--taskgraph-price=openai/any=1/1")
    assert (ran.code, ran.clean, server.requests) == (1, True, []), ran.output
    assert "test_parallel_pair: --taskgraph-max-cost cannot be kept: web_search_options is billed" in ran.output


def test_dry_run_counts_with_model_options_of_suites(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", suites('model_options={"max_tokens": 1000}', 'model_options={"max_tokens": 10}'))
    args = (*asking(server.url), "--taskgraph-dry-run", "--taskgraph-price=openai/any=0/1000000")
    ran = project.run(*args, "--taskgraph-retries=0")
    assert (ran.code, server.requests) == (0, []), ran.output
    assert "at most $1,010" in ran.output, ran.output


def test_baseline_answers_suites_with_model_options(project: Project) -> None:
    project.write("test_graph.py", suites('model_options={"temperature": 0}', 'prompt="direct"'))
    ran = project.run("--taskgraph-fail-on=answers")
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_example_of_page_runs(project: Project, server: Loopback, spread: bool) -> None:
    (project.path / "test_graph.py").unlink()
    ((name, text),) = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    project.write(name, text)
    project.write("flows/release.mmd", CHART)
    args = (*asking(server.url), "--taskgraph-instances=1", "--taskgraph-fail-on=nothing", RECORD)
    ran = (project.spread if spread else project.run)(*args)
    assert (ran.code, ran.clean) == (0, True), ran.output
    records = [trial["question"] for trial in project.record()["trials"]]
    ends = [question for question in records if question["labels"]["notation"] == "wadl"]
    assert {end["labels"]["prompt"]: (end["parsing"], end["pass_threshold"]) for end in ends} == dict.fromkeys(
        ("direct", "guided"), ("strict", 0.8)
    )
    assert {question["labels"]["notation"] for question in records} == {"wadl", "mermaid"}
    assert sum("temperature" in request.body for request in server.requests) == len(records) - len(ends)


def test_keywords_of_page_are_those_of_decorator() -> None:
    section = PAGE.partition("## Settings of one suite\n")[2].partition("\n## ")[0]
    ids = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    keywords = [
        name for name, question in signature(suite).parameters.items() if question.kind is question.KEYWORD_ONLY
    ]
    assert ids == keywords


def test_comparison_tells_that_model_options_of_suite_changed(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: yes"
    settings = []
    for temperature, option in ((0, "save"), (0, "compare"), (1, "compare")):
        project.write("test_graph.py", suites(f'model_options={{"temperature": {temperature}}}'))
        ran = project.run(*asking(server.url), "--taskgraph-fail-on=nothing", f"--taskgraph-{option}=before")
        assert (ran.code, ran.clean) == (0, True), ran.output
        settings.append("the model options changed: they are compared too" in ran.output)
    assert settings == [False, False, True]
