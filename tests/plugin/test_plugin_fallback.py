"""Runs whose episode asks for log-probabilities, and in a chat where the model gives none: counts, record, reports."""

from __future__ import annotations

import re

import pytest
from loopback import Loopback, Raw, as_json
from plugin_project import SCORING_CLIENTS, Project, asking_through, properties, right
from record_schema_file import record_validator

SUITE = """
from conftest import FALLING_BACK
from pytest_taskgraph import suite


@suite(FALLING_BACK, patterns=["parallel_pair"], instances=4)
def test_graph(trial):
    trial.check()
"""
CONFTEST = """
from dataclasses import replace

from pytest_taskgraph import understanding
from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.errors import CannotScoreError, ProviderError
from pytest_taskgraph.trial import Request


def choose(question):
    try:
        (reply,) = yield [Request(kind="score", context=question.prompt, texts=[" yes", " never"])]
    except (CannotScoreError, ProviderError) as failure:
        if isinstance(failure, ProviderError) and failure.kind != "not-stored":
            raise
        (reply,) = yield [Request(messages=[{"role": "user", "content": question.prompt}], settings={"max_tokens": 9})]
        return Transcript(reply, parts={"by_logprobs": [0, 1]}, notes=[{"way": "score"}, {"way": "chat"}])
    yes, never = reply.scores
    chosen = "yes" if yes.perplexity < never.perplexity else "no"
    return Transcript(replace(reply, text=f"Final answer: {chosen}"), parts={"by_logprobs": [1, 1]})


class FallingBack(type(understanding)):
    name = "falling-back"

    def question(self, reference, settings):
        return replace(super().question(reference, settings), family=self.name, episode="choose")

    def episode(self, name):
        return {"choose": choose}[name]


FALLING_BACK = FallingBack()


def pytest_taskgraph_register(registry):
    registry.family(FALLING_BACK)
"""
REPORTS = (
    "--taskgraph-report=json=record.json", "--taskgraph-report=md=r.md", "--taskgraph-report=html=r.html",
    "--junitxml=junit.xml", "--taskgraph-concurrency=1",
)  # fmt: skip
BARE = as_json(
    {
        "model": "any",
        "choices": [{"index": at, "text": " and", "finish_reason": "length", "logprobs": None} for at in range(2)],
    }
)
NOT_FOUND = Raw(404, b'{"detail": "Not Found"}')
PATHS = ["/v1/completions", *["/v1/chat/completions"] * 4]


@pytest.fixture
def falling_back(project: Project, server: Loopback) -> Project:
    project.write("test_graph.py", SUITE)
    project.write("conftest.py", CONFTEST)
    server.answer = right
    return project


@pytest.mark.parametrize("client", SCORING_CLIENTS)
def test_reply_without_logprobs_is_counted_and_shown_in_right_trial(
    client: str, falling_back: Project, server: Loopback
) -> None:
    server.completions = BARE
    ran = falling_back.run(*asking_through(client, server.url), *REPORTS, "--taskgraph-max-calls=5")
    assert ran.counts == {"passed": 5}, ran.output  # the four questions, and the budget
    assert [request.path for request in server.requests] == PATHS
    record = falling_back.record()
    record_validator().validate(record)
    first, *others = record["trials"]
    assert (first["outcome"], first["requests"], [other["requests"] for other in others]) == ("right", 2, [1, 1, 1])
    fields = [[exchange.get(name) for name in ("kind", "failure", "final", "way")] for exchange in first["exchanges"]]
    assert fields == [["score", "no-logprobs", None, "score"], [None, None, True, "chat"]]
    assert [[exchange["way"] for exchange in each["exchanges"]] for each in others] == [["chat"]] * 3
    assert record["usage"]["sent"] == 5
    assert dict(properties(falling_back.junit()))["taskgraph.requests_sent"] == "5"
    assert "this run sent 5 requests (1 without a reply)" in " ".join(line.strip() for line in ran.table), ran.output
    page = (falling_back.path / "r.html").read_text(encoding="utf-8")
    assert re.search(r'aria-label="Why there is no reply"[^>]*>no-logprobs<', page)


def test_wrong_answer_after_failed_request_is_shown_with_both(falling_back: Project, server: Loopback) -> None:
    server.completions = BARE
    server.answer = "Final answer: perhaps"
    ran = falling_back.run(*asking_through("address", server.url), *REPORTS, "--taskgraph-fail-on=nothing")
    assert ran.code == 0, ran.output
    report = (falling_back.path / "r.md").read_text(encoding="utf-8")
    assert report.count("exchanges:\n  1. subject, no reply: no-logprobs\n  2. subject, 3 tokens in, 2 out") == 1


@pytest.mark.parametrize("client", SCORING_CLIENTS)
def test_endpoint_that_is_not_there_is_looked_for_once(client: str, falling_back: Project, server: Loopback) -> None:
    server.completions = NOT_FOUND
    ran = falling_back.run(*asking_through(client, server.url), *REPORTS, "--taskgraph-max-calls=5")
    assert ran.counts == {"passed": 5}, ran.output  # the four questions, and the budget
    assert [request.path for request in server.requests] == PATHS
    trials = falling_back.record()["trials"]
    assert [(trial["requests"], len(trial["exchanges"])) for trial in trials] == [(1, 1)] * 4
    assert falling_back.record()["usage"]["sent"] == 4


def test_replay_takes_way_that_run_took(falling_back: Project, server: Loopback) -> None:
    server.completions = BARE
    assert falling_back.run(*asking_through("address", server.url), *REPORTS).counts == {"passed": 4}
    ran = falling_back.run(*asking_through("address", server.url), *REPORTS, "--taskgraph-replay")
    assert ran.counts == {"passed": 4}, ran.output
    assert len(server.requests) == 5
    assert [trial["score"]["parts"] for trial in falling_back.record()["trials"]] == [{"by_logprobs": [0, 1]}] * 4


def test_budget_that_ends_between_both_ways_skips_question(falling_back: Project, server: Loopback) -> None:
    server.completions = BARE
    ran = falling_back.run(*asking_through("address", server.url), *REPORTS, "--taskgraph-max-calls=1")
    assert ran.counts["skipped"] == 4, ran.output
    assert [request.path for request in server.requests] == PATHS[:1]
    first = falling_back.record()["trials"][0]
    assert (first["requests"], first["failure"]["kind"]) == (1, "budget::calls")
    assert [exchange["failure"] for exchange in first["exchanges"]] == ["no-logprobs"]
