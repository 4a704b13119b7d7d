"""An episode that asks models beside the model under test."""

from __future__ import annotations

import pytest
from loopback import Loopback, as_json
from plugin_project import Project

FAMILY = """
from pytest_taskgraph import Family, Question, QuestionReference, Reply, Request, Transcript


def compare(question):
    (reply,) = yield [Request([{"role": "user", "content": question.prompt}])]
    texts = [reply.text, question.episode_settings["beside"]]
    (measured,) = yield [Request(role="embedder", kind="embed", texts=texts)]
    (first, second) = measured.embeddings
    return Transcript(reply, {"alike": float(first == second)})


class Alike(Family):
    name = "alike"
    episode_metrics = ("alike",)

    def references(self, settings, options):
        return [QuestionReference("alike-1", "group")]

    def question(self, reference, settings):
        return Question(
            id=reference.id, family="alike", group="group", section="", text="Is it?", prompt="Is it?", form="yes-no",
            reference="yes", metric="correctness", place="whole", episode="compare", episode_settings={"beside": "yes"},
        )

    def episode(self, name):
        return compare

    def roles(self, settings):
        return ("embedder",)


def pytest_taskgraph_register(registry):
    registry.family(alike)
    registry.model("yes", lambda prompt: "yes")


alike = Alike()
"""
SUITE = """
from conftest import alike
from pytest_taskgraph import suite

@suite(alike)
def test_alike(trial):
    trial.check()
"""


@pytest.fixture
def echoing(project: Project) -> Project:
    project.write("conftest.py", FAMILY)
    project.write("test_graph.py", SUITE)
    return project


def test_episode_request_to_embedder_reaches_model_of_that_role(echoing: Project, server: Loopback) -> None:
    vectors = [{"index": at, "embedding": [1.0, 2.0]} for at in (0, 1)]
    server.answer = as_json({"data": vectors, "model": "any", "usage": {"prompt_tokens": 4}})
    ran = echoing.run("--model=yes", f"--taskgraph-embedder={server.url}#any", "--taskgraph-report=json=r.json")
    assert (ran.code, ran.clean) == (0, True), ran.output
    (trial,) = echoing.record("r.json")["trials"]
    assert trial["score"]["metrics"] == {"alike": 1.0}
    assert [exchange["role"] for exchange in trial["exchanges"]] == ["subject", "embedder"]
    assert server.requests[0].body["input"] == ["yes", "yes"]


def test_episode_role_without_model_is_usage_error(echoing: Project) -> None:
    ran = echoing.run("--model=yes")
    assert ran.code == 4
    assert "the benchmark family 'alike' needs a model in the role of embedder" in " ".join(ran.output.split())
