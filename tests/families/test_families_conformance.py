"""What holds for every benchmark family, whatever it asks, as a user runs it: a further one is an entry of FAMILIES."""

from __future__ import annotations

import json
import os

import pytest
from benchmark_families import (
    FAMILIES,
    RECORD,
    REPORT_ONLY,
    REPORTS,
    Benchmark,
    each_family,
    each_suite,
    line_of,
    one_family,
    simulated_run,
    telling_families,
    write,
)
from informed_provider import PRICED, Provider, lasting, prompt_of, scores
from loopback import Loopback, refuse
from plugin_project import Project
from record_schema_file import record_validator

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.reports.wording import model_name


@each_suite
def test_simulated_right_answers_score_one_and_wrong_less(project: Project, family: Benchmark) -> None:
    ran = simulated_run(project, family, "1").ran
    assert (ran.code, ran.counts) == (0, {"passed": family.size}), ran.output
    right = simulated_run(project, family, "1").record
    assert {trial["outcome"] for trial in right["trials"]} == family.outcomes
    assert {trial["score"]["value"] for trial in right["trials"]} == {1.0}
    wrong = simulated_run(project, family, "0").record
    assert all(trial["score"]["value"] < 1 and trial["outcome"] != "right" for trial in wrong["trials"])
    assert len(wrong["trials"]) == family.size


@telling_families
def test_live_run_records_replies_of_server(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    ran = project.run(*provider.arguments, *REPORTS)
    first = project.record("r.json")
    requests = family.size * family.requests
    assert (ran.code, ran.clean, len(provider.served)) == (family.failing, True, requests), ran.output
    exchanges = [exchange for trial in first["trials"] for exchange in trial["exchanges"]]
    texts = [
        exchange["text"] if "text" in exchange else trial["reply"]["text"]
        for trial in first["trials"]
        for exchange in trial["exchanges"]
    ]
    recorded = [
        (text, exchange["tokens_in"], exchange["tokens_out"]) for text, exchange in zip(texts, exchanges, strict=True)
    ]
    assert sorted(recorded) == sorted(provider.served)
    tokens_in, tokens_out = sum(trial for _, trial, _ in recorded), sum(trial for _, _, trial in recorded)
    usage = first["usage"]
    assert (usage["sent"], usage["tokens_in"], usage["tokens_out"]) == (len(provider.served), tokens_in, tokens_out)
    assert usage["cost"] == pytest.approx(provider.cost)
    total = f"{tokens_in:,} tokens in, {tokens_out:,} out, cost ${provider.cost:.4f}"
    assert total in line_of(ran)
    for name in ("r.md", "r.html"):
        assert total in (project.path / name).read_text(encoding="utf-8"), name
    fails = {trial["question"]["id"]: provider.fails(prompt_of(first, trial)) for trial in first["trials"]}
    assert {name for name, (_, score) in scores(first).items() if score["value"] < 1} == {
        name for name in fails if fails[name]
    }

    again = project.run(*provider.arguments, RECORD)
    assert (again.counts, len(provider.served)) == (ran.counts, len(exchanges))
    assert lasting(project.record("r.json"))["trials"] == lasting(first)["trials"]
    server.answer = "Nothing is to be asked."
    replayed = project.run(*provider.arguments, RECORD, "--taskgraph-replay")
    assert (replayed.counts, len(server.requests)) == (ran.counts, len(exchanges))
    assert scores(project.record("r.json")) == scores(first)


@one_family
def test_two_workers_record_same_as_one_process(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    alone = project.run(*provider.arguments, RECORD)
    single = lasting(project.record("r.json"))
    provider.served.clear()
    spread = project.spread(*provider.arguments, RECORD, "--taskgraph-refresh")
    assert (spread.code, spread.clean, spread.counts) == (alone.code, True, alone.counts), spread.output
    assert len(provider.served) == family.size * family.requests
    assert lasting(project.record("r.json")) == single


@one_family
def test_run_keeps_budgets(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    ran = project.run(*provider.arguments, RECORD, f"--taskgraph-max-calls={family.size * family.requests - 1}")
    assert (ran.code, len(provider.served), ran.counts["skipped"]) == (1, family.size * family.requests - 1, 1)
    assert "failed budget::calls" in line_of(ran)
    (left,) = [trial for trial in project.record("r.json")["trials"] if trial["outcome"] == "skipped"]
    assert len(left["exchanges"]) == left["requests"] == family.requests - 1
    limit = min(0.003, provider.cost / 2)
    provider.served.clear()
    ran = project.run(*provider.arguments, f"--taskgraph-max-cost={limit:.6f}", "--taskgraph-refresh")
    assert 0 < provider.cost <= limit
    assert (ran.code, ran.counts["skipped"] > 0, "failed budget::cost" in line_of(ran)) == (1, True, True), ran.output


@one_family
def test_provider_failure_is_error_without_score(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    server.script(refuse(400, "out of order"))
    ran = project.run(*provider.arguments, RECORD, REPORT_ONLY, "--taskgraph-concurrency=1")
    trials = project.record("r.json")["trials"]
    (failed,) = [trial for trial in trials if trial["outcome"] == "error"]
    assert (ran.code, ran.clean, failed["score"], failed["reply"]) == (1, True, None, None), ran.output
    assert "out of order" in failed["failure"]["message"]
    assert len(provider.served) == (family.size - 1) * family.requests
    record_validator().validate(project.record("r.json"))
    again = project.run(*provider.arguments, REPORT_ONLY)
    assert (again.code, len(provider.served)) == (0, family.size * family.requests), again.output


@each_suite
def test_rescoring_reproduces_every_score(
    project: Project, server: Loopback, family: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = Provider(project, family, server)
    server.answer = lambda prompt: (
        (f"{provider.right[prompt]}, Nobody" if family.graded else provider.wrong[prompt])
        if provider.fails(prompt)
        else provider.right[prompt]
    )
    project.run(*provider.arguments, RECORD, REPORT_ONLY)
    record = project.record("r.json")
    values = {trial["score"]["value"] for trial in record["trials"]}
    assert {0.0, 1.0} < values | {0.0, 1.0} if family.graded else values == {0.0, 1.0}
    capsys.readouterr()
    assert main([*family.plugin, "rescore", "r.json", "--check", "--out", "new.json"]) == 0
    assert f"{family.size} answers scored again" in capsys.readouterr().out
    assert scores(project.record("new.json")) == scores(record)
    damaged = json.loads(json.dumps(record))
    damaged["trials"][0]["score"]["value"] = 0.123
    project.write("r.json", json.dumps(damaged))
    assert main([*family.plugin, "rescore", "r.json", "--check", "--out", "renewed.json"]) == 1
    assert scores(project.record("renewed.json")) == scores(record)


@telling_families
def test_plan_states_requests_and_facts_and_sends_nothing(
    project: Project, server: Loopback, family: Benchmark
) -> None:
    provider = Provider(project, family, server)
    ran = project.run(f"--model={provider.url}", *PRICED, *family.flags, "--taskgraph-dry-run", "-v")
    assert (ran.code, ran.clean, provider.served) == (0, True, []), ran.output
    assert f"{family.size} requests" in line_of(ran)
    assert ("at least" in line_of(ran)) == (family.requests > 1), ran.output
    project.run("--model=simulated:1", *family.flags, RECORD)
    (described,) = project.record("r.json")["families"]
    assert described["facts"]
    for name, value in described["facts"].items():
        assert f"{name} {value[:60]}" in line_of(ran)  # a long path is cut


@each_family
def test_family_option_is_read_and_recorded(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    server.asked, server.answer = (lambda received: received.prompt), "Perhaps."
    name, value, requests = family.own
    ran = project.run(*provider.arguments, RECORD, f"--taskgraph-{name}={value}", REPORT_ONLY)
    assert (ran.clean, len(server.requests)) == (True, requests), ran.output
    assert str(project.record("r.json")["settings"][name]) == str(value)


@one_family
def test_repetitions_are_asked_separately_and_averaged(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    provider.fails = lambda prompt: len(provider.served) % 2 == 1
    ran = project.run(*provider.arguments, RECORD, "--taskgraph-repeats=2", REPORT_ONLY)
    assert (ran.clean, len(provider.served)) == (True, 2 * family.size * family.requests), ran.output
    trials = project.record("r.json")["trials"]
    assert {trial["question"]["repetition"] for trial in trials} == {1, 2}
    assert len(trials) == 2 * family.size
    assert project.record("r.json")["settings"]["repeats"] == 2


def test_ids_and_prompts_do_not_depend_on_the_hash_seed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, *FAMILIES)
    records = []
    monkeypatch.setenv("PYTHONHASHSEED", "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0")  # not that of here
    for run in (project.run, project.spawn):
        ran = run("--model=simulated:0.5", "--taskgraph-instances=1", "-v", RECORD, REPORT_ONLY)
        items = [line.split()[0] for line in ran.output.splitlines() if line.startswith("test_")]
        records.append((items, json.dumps(project.record("r.json") | {"provenance": None})))
    assert records[0] == records[1]
    (items, record), _ = records
    assert len(items) == len(json.loads(record)["trials"])
    assert {trial["question"]["family"] for trial in json.loads(record)["trials"]} == {
        family.name for family in FAMILIES
    }


@each_suite
def test_run_without_model_uses_baseline_of_family(project: Project, family: Benchmark) -> None:
    write(project, family)
    ran = project.run(*family.flags, RECORD)
    assert (ran.code, ran.clean, "skipped" in ran.counts) == (0, True, False), ran.output
    record = project.record("r.json")
    sources = {trial["reply"]["source"] for trial in record["trials"]}
    (model,) = record["models"]
    assert f"model {model_name(model)}," in line_of(ran)
    assert model in sources | {"baseline"}
    for source in sources - {model}:
        assert model_name(source) in line_of(ran) or "2 baselines" in line_of(ran)


def test_families_together_keep_own_tables_options_and_gates(project: Project) -> None:
    write(project, *FAMILIES)
    flags = [flag for family in FAMILIES for flag in family.flags]
    gates = [f"--taskgraph-gate={family.name}>=0.9" for family in FAMILIES]
    gates += ["--taskgraph-gate=glossary.word_overlap>=0.9", "--taskgraph-gate=understanding.rouge1>=0.9"]
    flags.append("--taskgraph-instances=2")  # else all have that of the last family, and steps hundreds of questions
    ran = project.run("--model=simulated:1", *flags, *REPORTS, *gates)
    assert (ran.code, ran.clean) == (0, True), ran.output
    record = project.record("r.json")
    trials = record["trials"]
    assert [entry["name"] for entry in record["families"]] == [
        "understanding",
        "tasklama",
        "steps",
        "paged",
        "glossary",
    ]
    assert {family.own[0] for family in FAMILIES} <= set(record["settings"])
    tables = {(entry["family"], entry["name"]) for entry in record["tables"]}
    by_name = {family.name: family for family in FAMILIES}
    filled = {(entry["name"], name) for entry in record["families"] for name in by_name[entry["name"]].filled(entry)}
    assert filled <= tables
    cases = {entry["name"]: entry["reason"] for entry in record["gates"]}
    for family in FAMILIES:
        own = [entry for entry in trials if entry["question"]["family"] == family.name]
        right, graded = (sum(entry["outcome"] == what for entry in own) for what in ("right", "graded"))
        assert (bool(right), bool(graded)) == (family.rated, family.graded)
        reason = cases[f"gates::{family.name}"]
        assert reason.startswith(f"pass rate 1.000 of {right}" if right else f"mean score 1.000 of {graded}")
        assert (f"{graded} graded left out" in reason) == (family.rated and family.graded)
    rated = [entry for entry in trials if entry["outcome"] == "right"]
    assert record["totals"][0]["n"] == len(rated) < len(trials)
    described = project.run("--help").output
    assert [family.name for family in FAMILIES if f"--taskgraph-{family.own[0]}=" not in described] == []
