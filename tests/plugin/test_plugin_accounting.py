"""What a run sent and spent, and what the store answered: told apart, and as the provider counts it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Raw, refuse, reply
from plugin_project import OWN, Project, Ran, properties, right

MANY = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=5)
def test_graph(trial):
    trial.check()
"""
# Five of the questions once more, in another function.
TWICE = """
@suite(understanding, patterns="flow_end", instances=5)
def test_again(trial):
    trial.check()
"""
# A reply takes 100 tokens in and 10 out: 0.0003 US$.
PRICED = ("--taskgraph-price=1/20", "--taskgraph-model-option=max_tokens=100", "--taskgraph-report=json=record.json")
SENT = "this run sent {} requests, {:,} tokens in, {} out, cost ${:.4f}"


def lean(server: Loopback) -> str:
    return f"--model={server.url}#any"


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of ten questions, each of which is answered with the same numbers of tokens."""

    def answer(prompt: str) -> Raw:
        return reply(right(prompt), usage=(100, 10))

    project.write("test_graph.py", MANY)
    server.answer = answer
    return project


def first_line(ran: Ran) -> str:
    return next(line for line in ran.output.splitlines() if line.startswith("taskgraph: "))


def summary(ran: Ran) -> str:
    """The lines below the table as one."""
    return " ".join(line.strip() for line in ran.table)


def usage(many: Project) -> dict[str, Any]:
    return dict(many.record()["usage"])


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_first_run_tells_what_it_sent(many: Project, server: Loopback, spread: bool) -> None:
    ran = (many.spread if spread else many.run)(lean(server), *PRICED)
    assert SENT.format(10, 1000, 100, 0.003) in summary(ran), ran.output
    assert "the store answered" not in summary(ran)
    counts = usage(many)
    assert (counts["sent"], counts["answered"], counts["stored"]) == (len(server.requests), 10, 0)
    assert (counts["cost"], counts["stored_cost"], counts["complete"]) == (0.003, 0.0, True)


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "worker"])
def test_later_run_and_its_reports_tell_stored_replies_apart(many: Project, server: Loopback, spread: bool) -> None:
    many.run(lean(server), *PRICED, "-k", "flow_start")
    server.requests.clear()
    reports = [f"--taskgraph-report={kind}=report.{kind}" for kind in ("md", "html", "csv")]
    options = (lean(server), *PRICED, "--junitxml=junit.xml", *reports)
    ran = many.spread(*options, workers=1) if spread else many.run(*options)
    line = "; the store answered 5 requests: 500 tokens in, 50 out, cost $0.0015 when they were recorded"
    assert SENT.format(5, 500, 50, 0.0015) + line in summary(ran), ran.output
    counts = usage(many)
    assert (counts["sent"], counts["stored"]) == (len(server.requests), 5) == (5, 5)
    assert (counts["cost"], counts["stored_cost"], counts["stored_tokens_in"]) == (0.0015, 0.0015, 500)
    by_group = {trial["question"]["group"]: trial["reply"]["stored"] for trial in many.record()["trials"]}
    assert by_group == {"flow_start": True, "flow_end": False}
    assert {("taskgraph.requests_sent", "5"), ("taskgraph.cost_usd", "0.001500")} <= set(properties(many.junit()))
    assert {("taskgraph.replies_stored", "5"), ("taskgraph.stored_cost_usd", "0.001500")} <= set(
        properties(many.junit())
    )
    cases = {case.attrib["name"]: dict(properties(case)) for case in many.junit().iter("testcase")}
    assert sorted(case["taskgraph.stored"] for case in cases.values()) == ["no"] * 5 + ["yes"] * 5
    check_reports(many.path)


def check_reports(folder: Path) -> None:
    """Check that reports tell the five stored replies apart."""
    markdown, page = (Path(folder, f"report.{kind}").read_text(encoding="utf-8") for kind in ("md", "html"))
    line = "the store answered 5 requests: 500 tokens in, 50 out, cost $0.0015 when they were recorded"
    assert f"{SENT.format(5, 500, 50, 0.0015)}; {line}" in markdown
    assert "this run sent" in page
    assert "5 requests, 500 tokens in, 50 out, cost $0.0015" in page
    assert "5 requests: 500 tokens in, 50 out, cost $0.0015 when they were recorded" in page
    with open(folder / "report.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["group"], row["stored"]) for row in rows} == {("flow_start", "true"), ("flow_end", "false")}


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_first_line_plan_and_provider_count_same(many: Project, server: Loopback, spread: bool) -> None:
    many.write("test_graph.py", MANY + TWICE)
    many.run(lean(server), *PRICED, "-k", "flow_start and (s0-000 or s0-002)")
    server.requests.clear()
    plan = many.run(lean(server), *PRICED, "--taskgraph-dry-run").output
    assert server.requests == []
    ran = (many.spread if spread else many.run)(lean(server), *PRICED)
    counts = "8 requests, 2 replies from the store, 5 shared with another question"
    assert re.search(rf"taskgraph plan: {counts}, about", plan), plan
    assert first_line(ran).startswith(f"taskgraph: {counts}, about"), ran.output
    assert "this run sent 8 requests, " in summary(ran)
    assert len(server.requests) == usage(many)["sent"] == 8


def test_first_line_from_sample_says_about(many: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_taskgraph.plugin.output.dry_run.EXACT", 9)
    assert first_line(many.run(lean(server), *PRICED)).startswith("taskgraph: about 10 requests, about $")


def test_expected_cost_follows_what_stored_replies_took(many: Project, server: Loopback) -> None:
    first = many.run(lean(server), *PRICED, "--taskgraph-dry-run").output
    assert "expected are replies of 100 tokens (an assumption: no reply is stored yet)" in " ".join(first.split())
    many.run(lean(server), *PRICED)
    later = many.run(lean(server), *PRICED, "--taskgraph-refresh", "--taskgraph-dry-run").output
    assert "expected are replies of 10 tokens, the mean of 10 stored ones" in " ".join(later.split())
    assert "at worst, replies have 100 tokens (as max_tokens allows)" in " ".join(later.split())


def test_replay_sends_nothing_and_says_so(many: Project, server: Loopback) -> None:
    many.run(lean(server), *PRICED)
    ran = many.run(lean(server), *PRICED, "--taskgraph-replay")
    assert "this run sent no request; the store answered 10 requests: 1,000 tokens in" in summary(ran)
    assert (usage(many)["sent"], usage(many)["cost"], usage(many)["stored"]) == (0, 0.0, 10)


def test_retries_and_failures_count_as_sent(many: Project, server: Loopback) -> None:
    server.script(refuse(500, "later"), refuse(500, "later"), refuse(400, "never"))
    ran = many.run(lean(server), *PRICED, "--taskgraph-concurrency=1")
    assert f"this run sent {len(server.requests)} requests (2 retries, 3 without a reply), 900 tokens in" in summary(
        ran
    )
    counts = usage(many)
    assert (counts["sent"], counts["answered"], counts["retries"]) == (12, 9, 2) == (len(server.requests), 9, 2)


def test_requests_of_judge_count_as_sent(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", OWN)
    server.answer = "Final answer: It makes it ready."
    with Loopback("Score: 80") as judge:
        options = ("--taskgraph-text-metric=judge", f"--taskgraph-judge-model={judge.url}#judge")
        ran = project.run(lean(server), *options, "--taskgraph-report=json=record.json", "--taskgraph-fail-on=nothing")
        assert len(judge.requests) > 0, ran.output
        assert usage(project)["sent"] == len(server.requests) + len(judge.requests)


def test_baseline_tells_nothing_of_requests(project: Project) -> None:
    ran = project.run("--taskgraph-report=json=record.json")
    assert "this run sent" not in ran.output
    assert project.record()["usage"] is None
