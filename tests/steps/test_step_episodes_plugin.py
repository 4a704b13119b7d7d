"""Runs of a family that has the episodes of STEPS, against a server that scores texts in one way or in none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import exp
from typing import Any

import in_process
import pytest
from loopback import Loopback, Raw, as_json, refuse, reply
from plugin_fixtures import loaded, server
from plugin_project import SCORING_CLIENTS, Project, asking_through

__all__ = ["loaded", "server"]

FAMILY = """
from pytest_taskgraph import Family, Question, QuestionReference
from pytest_taskgraph.families.steps.step_episodes import EPISODES

KIND = "class"
ANSWER = "auto"
CHOICES = {
    "right": ("A", "Boil water. Salt", "Boil water. Serve it"),
    "wrong": ("A", "Boil water. Serve it", "Boil water. Salt"),
    "longer": ("B", "Boil water. it it", "Boil water. Salt Salt Salt Salt"),
    "tied": ("A", "Boil water. Stir Salt", "Boil water. Salt Stir"),
}
CANDIDATES = {"salt": "yes", "serve": "no"}


class NextStep(Family):
    name = "next-step"

    def references(self, settings, options):
        return [QuestionReference(name, KIND) for name in (CHOICES if KIND == "choice" else CANDIDATES)]

    def question(self, reference, settings):
        if reference.group == "choice":
            letter, *texts = CHOICES[reference.id]
            return Question(
                reference.id, self.name, "choice", "", "", "\\n".join(texts), "letter", letter, "choice_accuracy",
                names=["A", "B", "tie"], place="whole", episode="lowest_perplexity",
                episode_settings={"queries": [[*pair] for pair in zip("AB", texts)]},
            )
        prompt = f"Boil water. Is {reference.id} next?"
        return Question(
            reference.id, self.name, "class", "", "", prompt, "yes-no", CANDIDATES[reference.id], "class_accuracy",
            place="whole", episode="next_step", episode_settings={"answer": ANSWER},
        )

    def episode(self, name):
        return EPISODES[name]


def pytest_taskgraph_register(registry):
    registry.family(next_step)


next_step = NextStep()
"""
SUITE = """
from conftest import next_step
from pytest_taskgraph import suite

@suite(next_step)
def test_next(trial):
    trial.check()
"""
RECORD = "--taskgraph-report=json=record.json"
WORDS = {" water.": -1.0, " Salt": -1.0, " Serve": -2.0, " it": -1.5, " Stir": -0.3, " Yes": -0.5, " No": -1.0}
USAGE = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
NO_PATH = Raw(404, b'{"detail": "Not Found"}')
NO_LOGPROBS = as_json(
    {"choices": [{"index": at, "text": "", "finish_reason": "length", "logprobs": None} for at in (0, 1)]}
)


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with in_process.untouched(pytester, monkeypatch) as made_project:
        yield made_project


@pytest.fixture
def words(server: Loopback) -> Loopback:
    """The server, of whose words and probabilities the tests know."""
    server.logprob = lambda token: WORDS.get(token, -4.0)
    server.asked = lambda received: json.dumps(received.body)
    return server


def write(project: Project, kind: str, answer: str = "auto") -> None:
    stated = FAMILY.replace('KIND = "class"', f'KIND = "{kind}"').replace('ANSWER = "auto"', f'ANSWER = "{answer}"')
    project.write("conftest.py", stated)
    project.write("test_graph.py", SUITE)


def ask(project: Project, kind: str, *args: str, answer: str = "auto") -> dict[str, dict[str, Any]]:
    """Run the questions of a kind, and return their trials by id."""
    write(project, kind, answer)
    ran = project.run(RECORD, *args)
    assert ran.clean, ran.output
    return {trial["question"]["id"]: trial for trial in project.record()["trials"]}


def listing(**tops: float) -> Raw:
    """Return a chat completion whose first token is one of those listed."""
    first = next(iter(tops))
    entries = [{"token": token, "logprob": value, "bytes": None} for token, value in tops.items()]
    place = {"token": first, "logprob": tops[first], "bytes": None, "top_logprobs": entries}
    return reply(first, logprobs={"content": [place]}, finish_reason="length")


def outcomes(trials: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: trial["outcome"] for name, trial in trials.items()}


def paths(server: Loopback) -> list[str]:
    return [received.path.removeprefix("/v1") for received in server.requests]


@pytest.mark.parametrize("client", SCORING_CLIENTS)
def test_choice_by_perplexity_agrees_with_that_by_hand(client: str, project: Project, words: Loopback) -> None:
    trials = ask(project, "choice", *asking_through(client, words.url))
    assert outcomes(trials) == {"right": "right", "wrong": "wrong", "longer": "right", "tied": "wrong"}
    assert {name: trial["score"]["given"] for name, trial in trials.items()} == {
        "right": "A", "wrong": "B", "longer": "B", "tied": "tie"
    }  # fmt: skip
    by_hand = {"A": round(exp(1), 6), "B": round(exp((1 + 2 + 1.5) / 3), 6)}
    assert trials["right"]["exchanges"][0]["perplexity"] == by_hand
    assert {name for name, trial in trials.items() if trial["score"]["parts"]["ties"] == [1, 1]} == {"tied"}
    assert paths(words) == ["/completions"] * 4


def test_choice_without_log_probabilities_is_skipped_with_the_reason(project: Project, words: Loopback) -> None:
    words.completions = NO_LOGPROBS
    trials = ask(project, "choice", f"--model={words.url}#any")
    assert set(outcomes(trials).values()) == {"skipped"}
    for trial in trials.values():
        assert "cannot score texts: the endpoint gives no log-probabilities" in trial["failure"]["message"]
    assert set(paths(words)) == {"/completions"}


def test_class_by_log_probabilities_is_that_of_the_more_probable_word(project: Project, words: Loopback) -> None:
    trials = ask(project, "class", f"--model={words.url}#any")
    assert outcomes(trials) == {"salt": "right", "serve": "wrong"}
    assert trials["salt"]["score"]["parts"] == {"sensitivity": [1, 1], "by_logprobs": [1, 1], "ties": [0, 1]}
    assert trials["serve"]["score"]["parts"] == {"specificity": [0, 1], "by_logprobs": [1, 1], "ties": [0, 1]}
    assert paths(words) == ["/completions"] * 2


def test_class_with_equally_probable_words_is_wrong_and_counted(project: Project, words: Loopback) -> None:
    words.logprob = lambda token: -1.0
    trials = ask(project, "class", f"--model={words.url}#any")
    assert set(outcomes(trials).values()) == {"unparseable"}
    assert trials["salt"]["score"]["parts"] == {"sensitivity": [0, 1], "by_logprobs": [1, 1], "ties": [1, 1]}


@pytest.mark.parametrize("answer", ["auto", "logprobs"])
def test_class_without_completions_is_that_of_the_listed_tokens(answer: str, project: Project, words: Loopback) -> None:
    words.completions = NO_PATH
    words.answer = lambda body: listing(The=-0.1, No=-2.0, yes=-3.0)
    trials = ask(project, "class", f"--model={words.url}#any", answer=answer)
    assert outcomes(trials) == {"salt": "wrong", "serve": "right"}
    assert trials["serve"]["score"]["parts"] == {"specificity": [1, 1], "by_logprobs": [1, 1], "ties": [0, 1]}
    assert [exchange["answered_by"] for exchange in trials["serve"]["exchanges"]] == ["listed tokens"]


def test_class_without_any_log_probabilities_is_read_from_the_text(project: Project, words: Loopback) -> None:
    words.completions = NO_LOGPROBS
    words.answer = lambda body: refuse(400, "logprobs are not supported") if "top_logprobs" in body else "yes"
    model = f"--model={words.url}#any"
    trials = ask(project, "class", model)
    assert outcomes(trials) == {"salt": "right", "serve": "wrong"}
    assert trials["salt"]["score"]["parts"] == {"sensitivity": [1, 1], "by_logprobs": [0, 1]}
    assert trials["salt"]["reply"]["text"] == "yes"
    assert trials["salt"]["exchanges"][-1]["answered_by"] == "text"
    sent = len(words.requests)
    assert outcomes(ask(project, "class", model, "--taskgraph-replay")) == {"salt": "right", "serve": "wrong"}
    assert len(words.requests) == sent


def test_class_by_log_probabilities_alone_without_any_is_skipped(project: Project, words: Loopback) -> None:
    words.completions = NO_LOGPROBS
    words.answer = "yes"
    trials = ask(project, "class", f"--model={words.url}#any", answer="logprobs")
    assert set(outcomes(trials).values()) == {"skipped"}
    message = trials["salt"]["failure"]["message"]
    assert "no log-probabilities of given text" in message
    assert "no log-probabilities of its reply" in message
    assert all(received.body["logprobs"] for received in words.requests)


def test_class_beyond_the_budget_is_not_asked_in_another_way(project: Project, words: Loopback) -> None:
    trials = ask(project, "class", f"--model={words.url}#any", "--taskgraph-max-calls=2")
    assert (
        "skipped" in outcomes(trials).values()
    )  # the check is the first call; which of the two is not asked is no matter
    assert paths(words) == ["/completions"]


def test_class_with_a_failing_server_is_an_error(project: Project, words: Loopback) -> None:
    words.completions = refuse(500, "broken")
    trials = ask(project, "class", f"--model={words.url}#any", "--taskgraph-retries=0")
    assert set(outcomes(trials).values()) == {"error"}
    assert set(paths(words)) == {"/completions"}


def test_class_by_text_sends_no_score_request(project: Project, words: Loopback) -> None:
    words.answer = "no"
    trials = ask(project, "class", f"--model={words.url}#any", answer="text")
    assert outcomes(trials) == {"salt": "wrong", "serve": "right"}
    assert paths(words) == ["/chat/completions"] * 2


@pytest.mark.parametrize("kind", ["class", "choice"])
def test_simulated_model_is_right_and_wrong_as_stated(kind: str, project: Project) -> None:
    assert set(outcomes(ask(project, kind, "--model=simulated:1")).values()) == {"right"}
    assert set(outcomes(ask(project, kind, "--model=simulated:0")).values()) == {"wrong"}


def test_class_by_shifted_log_probabilities_is_asked_in_another_way(project: Project, words: Loopback) -> None:
    words.shift = 1
    words.answer = "no"
    trials = ask(project, "class", f"--model={words.url}#any")
    assert outcomes(trials) == {"salt": "wrong", "serve": "right"}
    assert "/completions" not in paths(words)


def test_choice_by_shifted_log_probabilities_is_skipped_and_stated(project: Project, words: Loopback) -> None:
    words.shift = 1
    write(project, "choice")
    ran = project.run(f"--model={words.url}#any", "-rs")
    assert ran.counts == {"skipped": 4}, ran.output
    assert "cannot score texts: its log-probabilities seem to stand one token late" in ran.output
    assert "asked for text where the method allows it" in " ".join(line.strip() for line in ran.table), ran.output
    assert words.requests == []


def test_choice_by_single_texts_is_answered_and_stated(project: Project, words: Loopback) -> None:
    words.several = Raw(500, b"", "text/plain")
    write(project, "choice")
    ran = project.run(f"--model={words.url}#any", "--taskgraph-fail-on=nothing", "-v")
    assert ran.counts == {"passed": 2, "wrong": 2}, ran.output  # as with several texts in one request
    assert "in a request of its own, since it refuses several in one" in " ".join(ran.output.split())
    assert {len(request.prompts) for request in words.requests} == {1}


@pytest.mark.parametrize(("kind", "plan"), [("class", "plan: at least 3 requests"), ("choice", "plan: 5 requests")])
def test_plan_states_at_least_where_another_way_may_be_gone(
    kind: str, plan: str, project: Project, words: Loopback
) -> None:
    write(project, kind)
    ran = project.run(f"--model={words.url}#any", "--taskgraph-dry-run")
    assert plan in " ".join(ran.output.split()), ran.output
    assert words.requests == []
