"""What a run asks, when, and how often: seen from the provider's side."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bounded_process
import pytest
import warm_processes
from loopback import HANG, Loopback, Raw, refuse
from plugin_project import Project, right, wrong
from posix_tests import posix_only

from pytest_taskgraph.models.store import stored_keys
from pytest_taskgraph.models.store.ledger import LedgerEntry, enter_spending
from pytest_taskgraph.models.store.operations import Reservation, Settlement

MANY = """
import pytest
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=10)
def test_graph(trial):
    trial.check()
"""
FLIGHT = "--taskgraph-concurrency=4"
QUICK = "--taskgraph-retries=0"
SPREAD = ["-n", "2", "-p", "xdist"]
LIMITED = ("--taskgraph-max-cost=1", "--taskgraph-price=1/2", "--taskgraph-model-option=max_tokens=100")


def lean(server: Loopback) -> str:
    """The model behind the server, asked without litellm."""
    return f"--model={server.url}#any"


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of twenty questions, all of which get the right answer."""
    project.write("test_graph.py", MANY)
    server.answer = right
    return project


def test_prefetch_uses_all_slots(many: Project, server: Loopback) -> None:
    together = threading.Barrier(4, timeout=bounded_process.LIMIT)

    def answer(prompt: str) -> str:
        together.wait()
        return right(prompt)

    server.answer = answer
    ran = many.run(lean(server), FLIGHT)
    assert (ran.code, ran.counts, len(server.requests)) == (0, {"passed": 20}, 20), ran.output


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--setup-only", "--taskgraph-dry-run"])
def test_run_of_no_item_asks_nothing(many: Project, server: Loopback, option: str) -> None:
    many.run(lean(server), option)
    assert server.requests == []


def test_skipped_and_deselected_items_are_not_asked(many: Project, server: Loopback) -> None:
    skipped = MANY.replace("@suite", "@pytest.mark.skip(reason='not now')\n@suite").replace("test_graph", "test_other")
    many.write("test_other.py", skipped.replace("flow_start", "task_list"))
    ran = many.run(lean(server), "-k", "flow_start or test_other")
    assert ran.counts == {"passed": 10, "skipped": 20, "deselected": 10}, ran.output
    assert len(server.requests) == 10


def test_prefetch_with_maxfail_is_limited(many: Project, server: Loopback) -> None:
    server.answer = wrong
    ran = many.run(lean(server), FLIGHT, "-x")
    assert ran.counts == {"failed": 1}, ran.output
    assert len(server.requests) <= 5


def test_same_prompt_is_asked_once_however_many_items_hold_it(many: Project, server: Loopback) -> None:
    many.write("test_again.py", MANY.replace("test_graph", "test_again"))
    ran = many.run(lean(server), FLIGHT)
    assert (ran.counts, len(server.requests)) == ({"passed": 40}, 20), ran.output


def test_repetitions_are_asked_one_by_one(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "--taskgraph-repeats=3", "-k", "flow_start", "--taskgraph-report=json=record.json")
    assert (ran.counts["passed"], len(server.requests)) == (30, 30), ran.output
    assert (
        sorted(trial["question"]["repetition"] for trial in many.record()["trials"]) == [1] * 10 + [2] * 10 + [3] * 10
    )
    ids = [trial["question"]["id"] for trial in many.record()["trials"]]
    assert ids[:3] == [
        "flow_start-wadl-n012-s0-000",
        "flow_start-wadl-n012-s0-000-r2",
        "flow_start-wadl-n012-s0-000-r3",
    ]


def test_second_run_asks_nothing_and_one_that_refreshes_asks_all(many: Project, server: Loopback) -> None:
    for option, requests in (("-q", 20), ("-q", 20), ("--taskgraph-refresh", 40), ("-q", 40)):
        ran = many.run(lean(server), FLIGHT, option)
        assert (ran.counts["passed"], len(server.requests)) == (20, requests), ran.output


def test_replay_tells_same_and_sends_nothing(many: Project, server: Loopback) -> None:
    def answer(prompt: str) -> str:
        return wrong(prompt) if len(prompt) % 3 else right(prompt)

    server.answer = answer
    live = many.run(lean(server), FLIGHT, "--taskgraph-fail-on=nothing")
    many.write("conftest.py", """
import socket, sys

def refuse(*args, **kwargs):
    raise RuntimeError("a replay must not open connections")

socket.socket.connect = socket.getaddrinfo = refuse

def pytest_unconfigure(config):
    assert "litellm" not in sys.modules and "aiohttp" not in sys.modules
""")  # fmt: skip
    again = many.spawn(lean(server), "--taskgraph-replay", "--taskgraph-fail-on=nothing")
    assert again.code == 0, again.output
    took = "60 tokens in, 40 out, cost unknown"
    sent = f"this run sent 20 requests, {took}"
    stored = f"this run sent no request; the store answered 20 requests: {took} when they were recorded"
    assert sent in live.table
    assert [line for line in again.table if line] == [stored if line == sent else line for line in live.table if line]
    assert len(server.requests) == 20


def test_miss_under_replay_is_error_that_shows_nearest_prompt(many: Project, server: Loopback) -> None:
    many.run(lean(server), "-k", "flow_start")
    ran = many.run(lean(server), "--taskgraph-replay", "-k", "flow_start", "--taskgraph-phrasing=second")
    assert (ran.counts["passed"], ran.counts["error"]) == (4, 6), ran.output  # those that had that phrasing
    assert "not-stored" in ran.output
    assert ran.clean, ran.output
    assert [line for line in ran.output.splitlines() if line.lstrip("E ").startswith(("-", "+"))], ran.output
    assert len(server.requests) == 10


def test_replay_without_store_is_mistake_of_usage(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "--taskgraph-replay")
    assert ran.code == 4
    assert "there is no store of replies" in ran.output
    assert not (many.path / ".taskgraph").exists()


def test_wrong_key_ends_run_after_few_requests_with_one_message(many: Project, server: Loopback) -> None:
    server.answer = lambda prompt: refuse(401, "Incorrect API key provided")
    ran = many.run(lean(server), FLIGHT)
    assert ran.code == 2, ran.output
    assert len(server.requests) <= 8
    assert "Interrupted: taskgraph: authentication: 3 requests in a row failed like this" in ran.output
    assert ran.clean


@pytest.mark.parametrize("model", ["openai/any", pytest.param("gpt-4o", marks=pytest.mark.exhaustive)])
def test_missing_key_ends_run_in_which_nothing_was_sent(
    many: Project, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = many.run(f"--model={model}", "--junitxml=junit.xml")
    assert ran.code == 2, ran.output
    assert "OPENAI_API_KEY" in ran.output
    assert "this run sent" not in ran.output
    assert "the provider said" not in ran.output
    assert '"taskgraph.requests_sent" value="0"' in (many.path / "junit.xml").read_text(encoding="utf-8")


def test_models_one_without_credit_stops_and_others_go_on(many: Project, server: Loopback) -> None:
    with Loopback(refuse(402, "Insufficient credits")) as unpaid:
        ran = many.run(lean(unpaid), lean(server), "--taskgraph-concurrency=2", "--taskgraph-report=json=record.json")
    assert ran.clean, ran.output
    assert (ran.counts["passed"], ran.counts["error"]) == (20, 20), ran.output
    assert (len(server.requests), len(unpaid.requests) in (3, 4)) == (20, True)  # two at a time
    errors = {trial["failure"]["kind"] for trial in many.record()["trials"] if trial["outcome"] == "error"}
    assert errors == {"payment"}


def test_models_all_without_credit_end_run(many: Project, server: Loopback) -> None:
    server.answer = refuse(402, "Insufficient credits")
    with Loopback(server.answer) as other:
        ran = many.run(lean(other), lean(server), "--taskgraph-concurrency=2")
    assert ran.code == 2, ran.output
    assert all(len(source.requests) in (3, 4) for source in (server, other))  # two at a time
    assert "Interrupted: taskgraph: payment: 3 requests in a row failed like this" in ran.output


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "two workers"])
def test_budget_of_calls_is_never_passed(many: Project, server: Loopback, spread: bool) -> None:
    ran = (many.spread if spread else many.run)(lean(server), FLIGHT, "--taskgraph-max-calls=7", "-rsf")
    assert len(server.requests) == 7
    assert ran.counts == {"passed": 7, "skipped": 13, "failed": 1}, ran.output
    assert "FAILED budget::calls" in ran.output
    assert ran.code == 1


def test_budget_that_suffices_is_case_that_passes(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), FLIGHT, "--taskgraph-max-calls=20", "-v", "--junitxml=junit.xml")
    assert (ran.code, ran.counts) == (0, {"passed": 21}), ran.output
    assert "budget::calls PASSED" in ran.output
    assert [case.attrib["name"] for case in many.junit().findall("testcase")].count("calls") == 1


def test_cost_limit_needs_price(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "--taskgraph-max-cost=1")
    assert ran.code == 4
    assert "--taskgraph-price" in ran.output
    assert server.requests == []
    cheap = ("--taskgraph-max-cost=1", "--taskgraph-price=1/2", "--taskgraph-model-option=max_tokens=100")
    assert many.run(lean(server), *cheap).counts == {"passed": 21}


def test_prefetch_two_workers_ask_each_question_once(many: Project, server: Loopback) -> None:
    many.write("test_again.py", MANY.replace("test_graph", "test_again"))
    ran = many.spread(lean(server), FLIGHT, "--taskgraph-report=json=record.json")
    assert (ran.counts, len(server.requests)) == ({"passed": 40}, 20), ran.output
    assert {trial["outcome"] for trial in many.record()["trials"]} == {"right"}


def test_faults_are_repeated_until_answer_comes(many: Project, server: Loopback) -> None:
    broken = Raw(body=b'{"choices": [{"mess')
    slow = Raw(429, b'{"error": {"message": "slow down"}}', headers={"Retry-After": "0"})
    server.script(broken, refuse(500, "oops"), slow, refuse(503, "later"))
    ran = many.run(lean(server), FLIGHT, "--taskgraph-report=json=record.json")
    assert (ran.counts, len(server.requests)) == ({"passed": 20}, 24), ran.output
    assert sum(trial["retries"] for trial in many.record()["trials"]) == 4


@posix_only
@pytest.mark.parametrize(
    ("workers", "sent"),
    [
        pytest.param([], "SIGINT", id="one-interrupted"),
        pytest.param(SPREAD, "SIGKILL", id="two-killed", marks=pytest.mark.exhaustive),
        pytest.param([], "SIGKILL", id="one-killed", marks=pytest.mark.exhaustive),
        pytest.param(SPREAD, "SIGINT", id="two-interrupted", marks=pytest.mark.exhaustive),
    ],
)
def test_run_ended_goes_on_where_it_was(many: Project, server: Loopback, workers: list[str], sent: str) -> None:
    enough, lock = threading.Event(), threading.Lock()

    def answer(prompt: str) -> str | Raw:
        with lock:
            if len(server.requests) > 12:
                enough.set()
                return HANG
        return right(prompt)

    server.answer = answer
    with warm_processes.start_written(["-p", "taskgraph", *workers, lean(server), FLIGHT], many.path) as running:
        process, finish = running
        assert bounded_process.wait_for(enough)
        os.killpg(process, signal.Signals[sent])
        done = finish()
    assert done.returncode == (2 if sent == "SIGINT" else -9), done.stdout
    server.answer = right
    files, first = len(stored_keys(many.path / ".taskgraph")), len(server.requests)
    assert 13 - 4 <= files <= 12, "13 were sent, of which 4 were in flight: what is in flight, or kept, is all"
    ran = many.run(lean(server), FLIGHT, "--taskgraph-report=json=record.json")
    assert (ran.code, ran.counts) == (0, {"passed": 20}), ran.output
    # The server may read the last of what the first run sent after that has died.
    assert 20 - files <= len(server.requests) - first <= 20 - files + 4, "only what was in flight is asked again"
    assert len(many.record()["trials"]) == 20


@pytest.mark.parametrize("limits", [(), LIMITED], ids=["unlimited", "limited"])
def test_disk_full_ends_run_with_one_message_and_reply_paid_for_counts(
    many: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, limits: tuple[str, ...]
) -> None:
    def full(*_: object) -> Any:  # noqa: ANN401 - it gives nothing
        raise sqlite3.OperationalError("database or disk is full")

    def enter(
        connection: sqlite3.Connection,
        run: str,
        owner: str,
        settles: Sequence[Settlement],
        spends: Sequence[Reservation],
    ) -> LedgerEntry:
        return full() if settles else enter_spending(connection, run, owner, settles, spends)

    monkeypatch.setattr("pytest_taskgraph.models.store.connection.write_replies", full)
    monkeypatch.setattr("pytest_taskgraph.models.store.connection.enter_spending", enter)
    # The server may be answering the next request as the run ends; that it cannot is no traceback of the run.
    monkeypatch.setattr("socketserver.BaseServer.handle_error", lambda *_: None)
    ran = many.run(lean(server), *limits, "--taskgraph-concurrency=1", "--taskgraph-report=json=record.json")
    assert ran.counts == {"passed": 1 + bool(limits)}, "the question, and the item budget"
    assert ran.code == 2
    assert "taskgraph: store: the store" in ran.output
    assert "(database or disk is full); see to its disk" in ran.output
    assert "Traceback" not in ran.output
    assert len(server.requests) <= 3
    assert [trial["outcome"] for trial in many.record()["trials"]] == ["right"]


def test_store_that_cannot_say_what_it_holds_ends_run_with_one_message(
    many: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr("pytest_taskgraph.models.store.connection.standing_claims", locked)
    ran = many.run(lean(server), "--taskgraph-report=json=record.json")
    assert (ran.code, ran.counts) == (2, {"error": 1}), ran.output
    assert "taskgraph: store: the store" in ran.output
    assert "Traceback" not in ran.output
    assert server.requests == []
    assert [trial["outcome"] for trial in many.record()["trials"]] == ["error"]


def test_prefetch_several_models_run_concurrently(many: Project, server: Loopback) -> None:
    with Loopback(wrong) as other:
        ran = many.run(lean(server), f"--model={other.url}#two", "-k", "flow_start", "--taskgraph-fail-on=nothing")
        assert (len(server.requests), len(other.requests)) == (10, 10)
    assert ran.counts == {"passed": 10, "wrong": 10, "deselected": 20}, ran.output


def test_keys_reach_neither_store_nor_record(many: Project, server: Loopback) -> None:
    secret = "sk-verysecret-123456"
    option = ("--taskgraph-model-option", f"api_key={secret}")
    many.run(lean(server), *option, "--taskgraph-report=json=record.json")
    assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    files = [path for path in Path(many.path).rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert files == []


def test_store_keeps_out_of_git(many: Project, server: Loopback) -> None:
    many.run(lean(server))
    assert (many.path / ".taskgraph" / ".gitignore").read_text().strip() == "*"
    assert json.dumps(server.requests[0].body)
