"""Aggregates of a family that a project registers: gates on them, in one process and over workers, and comparisons."""

from __future__ import annotations

import json
import re

import pytest
from plugin_project import Project

from pytest_taskgraph.__main__ import main

CONFTEST = """
from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.family_description import Aggregate, FamilyDescription
from pytest_taskgraph.scoring.measurement import Measurement, declares
from pytest_taskgraph.trial import Question

CLASSES = "yes yes yes yes no no no no no".split()
SAID = {"start": "yes yes yes no no no yes yes yes", "worse": "no no no no yes yes yes yes yes", "vague": "hm " * 9}
AGGREGATES = (
    Aggregate("sensitivity", "ratio", ("positive",)),
    Aggregate("specificity", "ratio", ("negative",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
    Aggregate("g_seeds", "seed-mean", ("g_mean",), "draw"),
    Aggregate("g_deviation", "seed-deviation", ("g_mean",), "draw"),
)

def measured(given, reference):
    hit = float(given == reference)
    part = "positive" if reference == "yes" else "negative"
    return Measurement(hit, {"caution": float(given == "no")}, {part: (hit, 1)})

classified = declares("caution", unparseable=lambda reference: measured(None, reference))(measured)

class Steps(Family):
    name = "following"

    def references(self, settings, options):
        return [QuestionReference(f"step-{at:02d}", "next_step", {"at": at}) for at in range(9 * COPIES)]

    def question(self, reference, settings):
        at = int(reference.id[5:7])
        return Question(
            reference.id, self.name, reference.group, "", f"Step {at}?", f"Is step {at} next?", "yes-no",
            CLASSES[at % 9], "classified", place="whole", cluster=f"recipe-{at}", labels={"draw": at % 2},
            aggregate=NAMED,
        )

    def metrics(self, group, settings):
        return ("classified",)

    def description(self, settings):
        return FamilyDescription(self.name, cluster="recipe", groups=("next_step",), aggregates=AGGREGATES)

STEPS = Steps()

def pytest_taskgraph_register(registry):
    registry.metric("classified", classified)
    registry.family(STEPS)
    for name, said in SAID.items():
        registry.model(name, lambda prompt, said=said: said.split()[int(prompt.split()[2]) % 9])
"""
SUITE = """
from conftest import STEPS
from pytest_taskgraph import suite

@suite(STEPS)
def test_steps(trial):
    trial.check()
"""


@pytest.fixture
def steps(project: Project) -> Project:
    """A project with a family of nine questions, and models with answers of their own."""
    (project.path / "test_graph.py").unlink()
    write_suite(project)
    project.write("test_steps.py", SUITE)
    return project


def write_suite(project: Project, copies: int = 1, named: str = "mean", old: str = "", new: str = "") -> None:
    """Write the family: its nine questions so many times, and another text in place of an old one."""
    project.write(
        "conftest.py", f"COPIES, NAMED = {copies}, {named!r}\n{CONFTEST.replace(old, new) if old else CONFTEST}"
    )


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "two workers"])
def test_gates_decide_on_aggregates_of_family(steps: Project, spread: bool) -> None:
    gates = [
        "following.g_mean>=0.5",
        "next_step.sensitivity>=0.8",
        "following.g_seeds>=0.1",
        "following.g_mean>=0.3@95%",
    ]
    gate_options = [f"--taskgraph-gate={gate}" for gate in gates]
    ran = (steps.spread if spread else steps.run)("--model=start", *gate_options, "--taskgraph-report=json=record.json")
    assert ran.clean, ran.output
    assert "passed gates::following.g_mean>=0.5: g_mean 0.548 of 9 answered (95% " in ran.output
    assert "failed gates::next_step.sensitivity: sensitivity 0.750 of 4 answered (95% " in ran.output
    assert "passed gates::following.g_seeds: g_seeds 0." in ran.output
    lines = " ".join(ran.output.split())
    assert re.search(r"failed gates::following.g_mean>=0.3@95%: inconclusive: .*; about [\d,]+ questions needed", lines)
    cases = {gate["name"]: gate["estimate"] for gate in steps.record()["gates"]}
    assert cases["gates::following.g_mean>=0.5"] == pytest.approx((0.75 * 0.4) ** 0.5)
    assert {name for trial in steps.record()["trials"] for name in trial["score"]["parts"]} == {"positive", "negative"}


def test_unparseable_replies_count_as_wrong_for_class(steps: Project) -> None:
    gate_options = ["--taskgraph-gate=following.g_mean>=0.1", "--taskgraph-gate=following.caution>=0.1"]
    ran = steps.run("--model=vague", *gate_options)
    assert ran.clean, ran.output
    assert "failed gates::following.g_mean: g_mean 0.000 of 9 answered" in ran.output
    assert "failed gates::following.caution: mean caution 0.000 of 9 answered" in ran.output


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("following.g_deviation>=0.1", "'g_deviation' is a deviation, .* set the gate on a mean"),
        ("following.g_man>=0.1", "no metric or aggregate of that name; did you mean 'g_mean'?"),
        ("g_mean>=0.1", "'g_mean' is an aggregate; write it after a name: following.g_mean"),
    ],
)
def test_gate_about_no_aggregate_ends_run_before_asking(steps: Project, gate: str, message: str) -> None:
    ran = steps.run("--model=start", f"--taskgraph-gate={gate}")
    assert (ran.code, ran.clean, "passed" in ran.counts) == (4, True, False), ran.output
    assert re.search(message.replace("?", r"\?"), " ".join(ran.output.split())), ran.output


@pytest.mark.parametrize(
    ("named", "new", "message"),
    [
        ("mean", '"caution", "ratio"', "the benchmark family 'following': aggregate 'caution': a metric has that name"),
        ("g_man", "", "unknown aggregate of following 'g_man'; known: g_deviation, g_mean, g_seeds, mean"),
        ("g_mean", "", ""),
    ],
)
def test_aggregates_of_family_are_validated(steps: Project, named: str, new: str, message: str) -> None:
    old = '"sensitivity", "ratio"'
    write_suite(steps, named=named, old=old, new=new or old)
    ran = steps.run("--model=start", "--taskgraph-fail-on=nothing")
    assert ("aggregate of" in ran.output or "aggregate '" in ran.output, ran.clean) == (bool(message), True), ran.output
    assert message in " ".join(ran.output.split())


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "workers"])
def test_metric_that_is_none_is_reported_without_traceback(steps: Project, spread: bool) -> None:
    write_suite(steps, old='"caution": float(given == "no")', new='"trust": 1.0')
    ran = steps.spread("--model=start", workers=1) if spread else steps.run("--model=start")
    assert ran.clean, ran.output
    assert "metric 'classified': returned the value 'trust', which it does not declare" in " ".join(ran.output.split())
    assert ran.code in (1, 3, 4), ran.output


def test_comparison_shows_aggregates_and_fails_on_worse_one(
    steps: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(steps, copies=6)
    saved = steps.run("--model=start", "--taskgraph-save=main", "--taskgraph-gate=following>=0.1")
    assert saved.clean, saved.output
    reports = [f"--taskgraph-report={kind}=report.{kind}" for kind in ("json", "html", "md")]
    ran = steps.run("--model=worse", "--taskgraph-compare=main", "--taskgraph-fail-on=regression", *reports)
    assert (ran.code, ran.clean) == (1, True), ran.output
    output = " ".join(ran.output.split())
    assert "failed compare::main: worse: " in output
    assert "worse in next_step, sensitivity, specificity, g_mean, g_seeds" in output
    assert re.search(r"g_mean 54 0\.548 0\.000 -0\.548 \S+ to -\d\.\d+ <0\.001 worse", output), output
    assert re.search(r"g_deviation 54 0\.\d+ 0\.000 \S+ - - -", output), "a deviation is not tested"
    assert "Aggregates, before and after" in (steps.path / "report.html").read_text(encoding="utf-8")
    assert "| `g_mean` | 54 | 0.548 | 0.000 | -0.548 |" in (steps.path / "report.md").read_text(encoding="utf-8")
    monkeypatch.chdir(steps.path)
    capsys.readouterr()
    assert main(["compare", "main", "report.json", "--json"]) == 1
    changes = {aggregate["name"]: aggregate for aggregate in json.loads(capsys.readouterr().out)["aggregates"]}
    assert (changes["g_mean"]["n"], changes["g_mean"]["clusters"], changes["g_mean"]["verdict"]) == (54, 54, "worse")
