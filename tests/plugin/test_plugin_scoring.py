"""Runs whose episode has texts scored, with either client: xdist, store, replay, budget, record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback import Loopback, as_json
from plugin_project import SCORING_CLIENTS, Project, Ran, asking_through

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair"], instances=4)
def test_graph(trial):
    trial.check()
"""
CONFTEST = """
from dataclasses import replace

from pytest_taskgraph.asking import Transcript
from pytest_taskgraph.benchmarks.episodes import EPISODES
from pytest_taskgraph.trial import Request


def choose(question):
    (reply,) = yield [Request(kind="score", context=question.prompt, texts=[" yes", " never"])]
    yes, never = reply.scores
    chosen = "yes" if yes.perplexity < never.perplexity else "no"
    return Transcript(replace(reply, text=f"Final answer: {chosen}"))


def pytest_configure(config):
    single = EPISODES["single"]
    EPISODES["single"] = choose
    config.add_cleanup(lambda: EPISODES.update(single=single))
"""
RECORD = "--taskgraph-report=json=record.json"
SCORES = [[-4.0, 1, True], [-6.0, 1, True]]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture
def choosing(project: Project) -> Project:
    project.write("test_graph.py", SUITE)
    project.write("conftest.py", CONFTEST)
    return project


@pytest.mark.parametrize(
    ("client", "workers"),
    [
        ("address", 0),
        *(
            pytest.param(client, workers, marks=pytest.mark.exhaustive)
            for client, workers in (("provider", 0), ("address", 2), ("provider", 2))
        ),
    ],
)
def test_scores_cross_workers_and_are_stored_and_replayed(
    client: str, workers: int, choosing: Project, server: Loopback
) -> None:
    def run(*options: str) -> Ran:
        return choosing.spread(*asking_through(client, server.url), RECORD, *options, workers=workers)

    first = run("--taskgraph-max-calls=5")  # with the check of the log-probabilities
    assert first.counts == {"passed": 3, "failed": 2}, first.output  # the budget passes
    trials = choosing.record()["trials"]
    assert [trial["reply"]["logprobs"] for trial in trials] == [SCORES] * 4
    assert sorted(trial["outcome"] for trial in trials) == ["right", "right", "wrong", "wrong"]
    assert {(request.path, len(request.prompts)) for request in server.requests} == {("/v1/completions", 2)}
    assert (len(server.requests), len(server.probes)) == (4, 1)
    again = run("--taskgraph-replay")
    assert again.counts == {"passed": 2, "failed": 2}, again.output
    assert [trial["reply"]["logprobs"] for trial in choosing.record()["trials"]] == [SCORES] * 4
    assert (len(server.requests), len(server.probes)) == (4, 1)


@pytest.mark.parametrize("client", SCORING_CLIENTS)
def test_questions_beyond_budget_are_not_scored(client: str, choosing: Project, server: Loopback) -> None:
    ran = choosing.run(*asking_through(client, server.url), "--taskgraph-max-calls=2")
    assert ran.counts["skipped"] == 3, ran.output
    assert (len(server.requests), len(server.probes)) == (1, 1)


@pytest.mark.parametrize("client", SCORING_CLIENTS)
def test_endpoint_without_log_probabilities_is_skipped_with_reason(
    client: str, choosing: Project, server: Loopback
) -> None:
    choices = [{"index": at, "text": " and", "finish_reason": "length", "logprobs": None} for at in range(2)]
    server.script(*[as_json({"model": "any", "choices": choices})] * 4)
    ran = choosing.run(*asking_through(client, server.url), "-rs")
    assert ran.counts == {"skipped": 4}, ran.output
    assert "cannot score texts: the endpoint gives no log-probabilities of given text" in ran.output


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_shifted_log_probabilities_are_stated_once(workers: int, choosing: Project, server: Loopback) -> None:
    server.shift = -1
    ran = choosing.spread(*asking_through("address", server.url), workers=workers)
    assert ran.counts == {"skipped": 4}, ran.output
    assert " ".join(ran.output.split()).count("its log-probabilities seem to stand one token early") == 1
    assert (len(server.requests), len(server.probes)) == (0, 1)


def test_plan_counts_check_of_log_probabilities_until_it_is_stored(choosing: Project, server: Loopback) -> None:
    def plan(*options: str) -> str:
        return choosing.run(*asking_through("address", server.url), "--taskgraph-dry-run", *options).output

    assert "plan: at least 5 requests" in plan()
    choosing.run(*asking_through("address", server.url), "-k", "000")
    assert "plan: at least 3 requests" in plan()


def test_model_through_litellm_is_skipped_with_reason(choosing: Project, server: Loopback) -> None:
    ran = choosing.run(*asking_through("litellm", server.url), "-rs")
    assert ran.counts == {"skipped": 4}, ran.output
    assert "cannot score texts" in ran.output
    assert server.requests == []
