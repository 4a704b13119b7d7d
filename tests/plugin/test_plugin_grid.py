"""A grid of several prompts and models, from the options to each report and to the comparison with another run."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import Project, asking, properties, right, wrong

GRID = ("--taskgraph-prompt=direct", "--taskgraph-prompt=chain-of-thought")
MODELS = ("--model=simulated:1", "--model=simulated:0")
REPORT_ONLY = "--taskgraph-fail-on=nothing"


def answer(prompt: str) -> str:
    """A right answer to the prompt that asks for a final answer, a wrong one to the prompt that asks for it alone."""
    return right(prompt) if "Final answer" in prompt else wrong(prompt).removeprefix("Final answer: ")


@pytest.fixture
def live(project: Project, server: Loopback) -> list[str]:
    server.answer = answer
    return asking(server.url)


def flat(output: str) -> str:
    return " ".join(output.split())


def test_grid_dry_run_counts_each_prompt_and_model(project: Project) -> None:
    ran = project.run(*GRID, *MODELS, "--taskgraph-dry-run", "--taskgraph-repeats=3")
    assert ran.code == 0, ran.output
    assert "48 questions" in flat(ran.output)


@pytest.mark.parametrize(
    "workers", [0, pytest.param(2, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_grid_live_is_stored_and_replayed(project: Project, server: Loopback, live: list[str], workers: int) -> None:
    run = project.spread if workers else project.run
    store = "--taskgraph-store=kept"
    first = run(*GRID, *live, store, REPORT_ONLY, "--taskgraph-report=json=a.json")
    assert len(server.requests) == 8, first.output
    again = run(*GRID, *live, store, "--taskgraph-replay", REPORT_ONLY, "--taskgraph-report=json=b.json")
    assert len(server.requests) == 8, again.output
    for name in ("a.json", "b.json"):
        (table,) = (section for section in project.record(name)["tables"] if section["name"] == "by prompt")
        rates = {row["name"]: (row["cells"]["rate"]["value"], row["cells"]["n"]["value"]) for row in table["rows"]}
        assert rates == {"chain-of-thought": (1.0, 4), "direct": (0.0, 4)}
    assert "2 prompts are pooled in all numbers but those by prompt: chain-of-thought, direct" in flat(again.output)


def test_grid_with_repetitions_counts_each_reply_of_each_prompt(project: Project) -> None:
    project.run(*GRID, *MODELS, "--taskgraph-repeats=2", REPORT_ONLY, "--taskgraph-report=json=r.json")
    (table,) = (section for section in project.record("r.json")["tables"] if section["name"] == "by prompt")
    assert {row["cells"]["n"]["value"] for row in table["rows"]} == {8}
    assert len(table["rows"]) == 4


def test_grid_of_few_shot_beside_direct_shows_examples_to_one(project: Project, server: Loopback) -> None:
    server.answer = right
    project.run("--taskgraph-prompt=few-shot", "--taskgraph-prompt=direct", *asking(server.url), REPORT_ONLY)
    lengths = sorted(len(request.prompt) for request in server.requests)
    assert len(lengths) == 8
    assert min(lengths[4:]) > 1.5 * max(lengths[:4])


def test_gate_on_prompt_fails_by_that_prompt_alone(project: Project, live: list[str]) -> None:
    gates = ("--taskgraph-gate=prompt=direct>=0.5", "--taskgraph-gate=prompt=chain-of-thought>=0.5")
    ran = project.run(*GRID, *live, *gates, "--taskgraph-report=json=r.json")
    assert ran.code == 1
    assert {gate["name"]: gate["outcome"] for gate in project.record("r.json")["gates"]} == {
        "gates::prompt=direct": "failed",
        "gates::prompt=chain-of-thought": "passed",
    }, ran.output


def test_grid_is_in_report_of_every_kind(project: Project) -> None:
    kinds = {"json": "r.json", "md": "r.md", "html": "r.html", "csv": "r.csv", "tables": "t.csv"}
    reports = [f"--taskgraph-report={kind}={name}" for kind, name in kinds.items()]
    ran = project.run(*GRID, *MODELS, REPORT_ONLY, *reports, "--junitxml=j.xml")
    assert "Pass rates by prompt, 95% interval, n answered" in ran.output
    texts = {kind: Path(project.path / name).read_text(encoding="utf-8") for kind, name in kinds.items()}
    assert "Pass rates by prompt" in texts["md"]
    assert "<caption>Pass rates by prompt</caption>" in texts["html"]
    trials = list(csv.DictReader(texts["csv"].splitlines()))
    assert {trial["label.prompt"] for trial in trials} == {"direct", "chain-of-thought"}
    rows = [section for section in csv.DictReader(texts["tables"].splitlines()) if section["table"] == "by prompt"]
    assert len({(row["row"], row["model"]) for row in rows}) == 4
    names = [name for name, _ in properties(project.junit("j.xml"))]
    assert len([name for name in names if name.startswith("taskgraph.prompt.direct[")]) == 2


def test_grid_compares_with_grid_and_with_single_prompt(project: Project, live: list[str]) -> None:
    project.run(*GRID, *live, REPORT_ONLY, "--taskgraph-save=grid")
    same = project.run(*GRID, *live, REPORT_ONLY, "--taskgraph-compare=grid")
    assert "identical replies: 8 paired questions" in flat(same.output)
    assert "the prompt template changed" not in same.output
    single = project.run(GRID[0], *live, REPORT_ONLY, "--taskgraph-compare=grid")
    assert "identical replies: 4 paired questions" in flat(single.output)
    other = project.run("--taskgraph-prompt=answer-first", *live, REPORT_ONLY, "--taskgraph-compare=grid")
    assert "no question was asked alike and answered in both runs" in flat(other.output)


def test_prompts_of_addopts_and_command_line_add_up(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\naddopts = --taskgraph-prompt=direct\n")
    ran = project.run("--taskgraph-prompt=guided", "--model=simulated:1", "-v")
    assert ran.counts == {"passed": 8}, ran.output
    assert "prompts direct, guided" in ran.output


def test_prompt_of_command_line_replaces_configured_prompts(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntaskgraph_prompt =\n    direct\n    answer-first\n")
    assert "prompts direct, answer-first" in project.run("--model=simulated:1", "-v").output
    ran = project.run("--taskgraph-prompt=guided", "--model=simulated:1", "-v")
    assert ran.counts == {"passed": 4}, ran.output
    assert "prompt guided" in ran.output
