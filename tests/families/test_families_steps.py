"""STEPS as a user runs it: perplexities and Yes/No over HTTP, published files, baselines, draws of demonstrations."""

from __future__ import annotations

import csv
import re
from math import exp, sqrt
from statistics import fmean, stdev

import pytest
from loopback import Loopback, Raw, Received, as_json, reply
from plugin_project import Project

SUITE = """
from pytest_taskgraph import steps, suite

@suite(steps)
def test_steps(trial):
    trial.check()
"""
RECORD = "--taskgraph-report=json=r.json"
REPORT_ONLY = "--taskgraph-fail-on=nothing"
CHOICES = (
    "Boil water . \tAdd the pasta\tDrain the pasta\n"
    "Boil water . Add the pasta . \tStir\tServe\n"
    "Cut bread . \tToast it now\tToast it well\n"
)
CLASSES = (
    "Boil water . Add the pasta\tStir\tYes\n"
    "Boil water . Add the pasta\tServe\tNo\n"
    "Cut bread . Toast it\tButter it\tYes\n"
    "Cut bread . Toast it\tEat it\tNo\n"
)
LOGPROBS = {"Boil": -1.0, "water": -1.0, ".": -0.5, "Add": -1.0, "the": -0.5, "pasta": -2.0, "Drain": -4.0,
            "Stir": -3.0, "Serve": -2.0, "Cut": -1.0, "bread": -1.0, "Toast": -1.0, "it": -1.0, "now": -2.0,
            "well": -2.0}  # fmt: skip


class WithoutLogprobs(Loopback):
    """A server that writes completions without log-probabilities, and lists no tokens in chats."""

    def _next(self, received: Received) -> Raw:
        if received.prompts:
            with self._lock:
                self.requests.append(received)
            choices = [{"index": at, "text": text, "finish_reason": "length"} for at, text in
                       enumerate(received.prompts)]  # fmt: skip
            return as_json({"object": "text_completion", "model": "any", "choices": choices})
        return super()._next(received)


def asks(*methods: str, instances: int = 60) -> tuple[str, ...]:
    return f"--taskgraph-steps-method={','.join(methods)}", f"--taskgraph-instances={instances}", RECORD


def line_of(output: str) -> str:
    return " ".join(output.split())


def perplexity(query: str) -> float:
    """Of all tokens but the first, by hand."""
    values = [LOGPROBS[word] for word in query.split()[1:]]
    return exp(-fmean(values))


@pytest.fixture
def own(project: Project) -> Project:
    project.write("test_steps.py", SUITE)
    project.write("data/multi-choice/test.txt", CHOICES)
    project.write("data/next_step/test.txt", CLASSES)
    return project


def test_choice_by_perplexity_equals_hand_and_tie_is_wrong(own: Project, server: Loopback) -> None:
    server.logprob = lambda token: LOGPROBS[token.strip()]
    ran = own.run(f"--model={server.url}#any", "--taskgraph-data=steps=data", *asks("perplexity"), REPORT_ONLY)
    assert ran.code == 0, ran.output
    outcomes = {trial["question"]["id"]: trial for trial in own.record("r.json")["trials"]}
    expected = {
        "perplexity-multi-choice-1-2": ("Boil water . ", "Add the pasta", "Drain the pasta", "right"),
        "perplexity-multi-choice-1-3": ("Boil water . Add the pasta . ", "Stir", "Serve", "wrong"),
        "perplexity-multi-choice-2-2": ("Cut bread . ", "Toast it now", "Toast it well", "wrong"),
    }
    assert {name: trial["outcome"] for name, trial in outcomes.items()} == {
        name: outcome for name, (*_, outcome) in expected.items()
    }
    for before, right, other, outcome in expected.values():
        difference = perplexity(before + other) - perplexity(before + right)
        assert (difference > 1e-12) is (outcome == "right"), (before, right, difference)
    assert outcomes["perplexity-multi-choice-2-2"]["score"]["given"] == "tie"
    assert outcomes["perplexity-multi-choice-2-2"]["score"]["parts"]["ties"] == [1, 1]
    assert {received.path for received in server.requests} == {"/v1/completions"}


def test_choice_by_perplexity_without_logprobs_is_skipped(own: Project) -> None:
    with WithoutLogprobs("Yes") as server:
        ran = own.run(f"--model={server.url}#any", "--taskgraph-data=steps=data", *asks("perplexity"), "-rs")
        assert ran.counts == {"skipped": 3}, ran.output
        assert "the endpoint gives no log-probabilities" in line_of(ran.output)
        assert len(server.requests) < 3 * 2


def test_classification_without_logprobs_uses_text_and_notes_it(own: Project) -> None:
    with WithoutLogprobs("Yes, that is reasonable.") as server:
        arguments = (f"--model={server.url}#any", "--taskgraph-data=steps=data", *asks("zero_shot"), REPORT_ONLY, "-v")
        ran = own.run(*arguments)
    assert (ran.code, ran.counts) == (0, {"passed": 2, "wrong": 2}), ran.output
    trials = own.record("r.json")["trials"]
    assert {tuple(trial["score"]["parts"]["by_logprobs"]) for trial in trials} == {(0, 1)}
    row = re.search(r"^zero_shot +4\* (.*)$", ran.output, re.MULTILINE)
    assert row is not None, ran.output
    rates = re.findall(r"(?<!\S)\d\.\d{3}(?!\S)", row[1])
    assert rates == ["1.000", "0.000", "0.000", "0.500", "0.000"], row[1]  # the last one: by log-probability


def test_classification_by_logprobs_compares_yes_and_no(own: Project, server: Loopback) -> None:
    server.logprob = lambda token: {"Yes": -1.0, "No": -0.4}.get(token.strip(), -2.0)
    ran = own.run(f"--model={server.url}#any", "--taskgraph-data=steps=data", *asks("zero_shot"), REPORT_ONLY)
    assert ran.code == 0, ran.output
    trials = own.record("r.json")["trials"]
    assert [trial["score"]["given"] for trial in trials] == ["no"] * 4
    assert {tuple(trial["score"]["parts"]["by_logprobs"]) for trial in trials} == {(1, 1)}
    prompt = "Boil water . Add the pasta . Is the next step of Stir a reasonable step in this recipe ?"
    assert [prompt + " Yes", prompt + " No"] in [received.prompts for received in server.requests]


def test_demonstration_draws_have_mean_and_deviation(own: Project, server: Loopback) -> None:
    server.answer = lambda prompt: reply("Yes" if sum(map(ord, prompt)) % 3 else "No")
    own.run(
        f"--model={server.url}#any", "--taskgraph-data=steps=data", *asks("few_shot"), REPORT_ONLY,
        "--taskgraph-steps-answer=text", "--taskgraph-report=tables=t.csv",
    )  # fmt: skip
    trials = own.record("r.json")["trials"]
    assert len(trials) == 6 * 4
    g_means = []
    for seed in range(1, 7):
        of_seed = [trial for trial in trials if trial["question"]["labels"]["seed"] == seed]
        rates = [
            fmean(trial["score"]["value"] for trial in of_seed if trial["question"]["reference"] == expected)
            for expected in ("yes", "no")
        ]
        g_means.append(sqrt(rates[0] * rates[1]))
    with (own.path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = {row["column"]: row["value"] for row in csv.DictReader(file) if row["row"] == "few_shot"}
    assert float(cells["g_mean_over_seeds"]) == pytest.approx(fmean(g_means), abs=1e-6)
    assert float(cells["g_mean_deviation"]) == pytest.approx(stdev(g_means), abs=1e-6)


def test_published_files_are_asked_unchanged_with_counts(own: Project) -> None:
    ran = own.run(
        "--model=baseline:majority", "--taskgraph-data=steps=data", *asks("zero_shot", "letter"), REPORT_ONLY, "-v"
    )
    output = line_of(ran.output)
    assert "2 Yes, 2 No" in output
    assert "3 choices" in output
    assert len(own.record("r.json")["trials"]) == 4 + 3


def test_positions_show_model_that_always_chooses_a(own: Project) -> None:
    own.run("--model=baseline:majority", *asks("letter"), REPORT_ONLY)
    trials = own.record("r.json")["trials"]
    assert len(trials) > 100
    right = sum(trial["question"]["reference"] == "A" for trial in trials) / len(trials)
    assert 0.4 < right < 0.6
    assert {tuple(trial["score"]["parts"]["chosen_a"]) for trial in trials} == {(1, 1)}
    assert fmean(trial["score"]["value"] for trial in trials) == pytest.approx(right)


@pytest.mark.parametrize("accuracy", ["0", "1"])
def test_simulated_model_has_its_accuracy_in_every_method(own: Project, accuracy: str) -> None:
    ran = own.run(f"--model=simulated:{accuracy}", *asks("all", instances=2), "--taskgraph-steps-seeds=2", REPORT_ONLY)
    assert ran.code == 0, ran.output
    trials = own.record("r.json")["trials"]
    assert {trial["question"]["group"] for trial in trials} == {
        "zero_shot", "one_shot", "few_shot", "perplexity", "letter"
    }  # fmt: skip
    assert {trial["score"]["value"] for trial in trials} == {float(accuracy)}


def test_unknown_method_error_lists_known_methods(own: Project) -> None:
    ran = own.run("--taskgraph-steps-method=two_shot")
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True), ran.output
    assert "unknown method of STEPS 'two_shot'; known: all, classification, few_shot" in line_of(ran.output)
