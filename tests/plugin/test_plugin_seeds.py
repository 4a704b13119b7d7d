"""A run with several seeds: the questions of each, with a label, in one table."""

from __future__ import annotations

from typing import Any

import pytest
from plugin_project import SUITE, Project, properties

MODEL, RECORD = "--model=simulated:1", "--taskgraph-report=json=record.json"
CHART = "flowchart TD\n  S((START)) --> a[Load] --> b[Mix] --> c[Bake] --> d[Cool] --> e[Pack] --> E((END))\n"
STEPS = """
from pytest_taskgraph import steps, suite

@suite(steps, steps_method="letter")
def test_steps(trial):
    trial.check()
"""


def trials(project: Project, *options: str) -> dict[str, dict[str, Any]]:
    """The trials of a run by the ids of their questions."""
    assert project.run(MODEL, RECORD, *options).code == 0
    return {trial["question"]["id"]: trial for trial in project.record()["trials"]}


def test_several_seeds_ask_questions_of_each(project: Project) -> None:
    alone = trials(project, "--taskgraph-seed=1") | trials(project, "--taskgraph-seed=2")
    together = trials(project, "--taskgraph-seed=1,2")
    assert list(together) == sorted(alone)
    for id_, trial in together.items():
        seed = 1 if "-s1-" in id_ else 2
        assert trial["question"]["labels"] == alone[id_]["question"]["labels"] | {"seed": seed}
        assert trial["question"]["prompt"] == alone[id_]["question"]["prompt"]
    record = project.record()
    assert (record["seed"], record["settings"]["seeds"]) == (1, [1, 2])


def test_several_seeds_are_pooled_in_one_table_and_named(project: Project) -> None:
    ran = project.run(MODEL, "--taskgraph-seed=1, 2,1", "--taskgraph-report=md=record.md", "--junitxml=junit.xml")
    assert (ran.code, ran.counts) == (0, {"passed": 8})
    assert "seeds 1, 2, 8 questions" in ran.output
    assert [line.split()[1] for line in ran.table if line.startswith("structure")] == ["8*"]
    assert "`1, 2`" in (project.path / "record.md").read_text()
    cases = project.junit().findall("testcase")
    assert sorted(dict(properties(case))["taskgraph.seed"] for case in cases) == [*"11112222"]


def test_single_seed_has_no_label(project: Project) -> None:
    assert all("seed" not in trial["question"]["labels"] for trial in trials(project, "--taskgraph-seed=3,3").values())
    assert "seeds" not in project.record()["settings"]


def test_several_seeds_over_workers_ask_same_questions(project: Project) -> None:
    alone = trials(project, "--taskgraph-seed=1,2")
    assert project.spread(MODEL, RECORD, "--taskgraph-seed=1,2", workers=1).code == 0
    spread = {trial["question"]["id"]: trial for trial in project.record()["trials"]}
    assert {id_: trial["question"] for id_, trial in spread.items()} == {
        id_: trial["question"] for id_, trial in alone.items()
    }


def test_several_seeds_with_several_prompts_are_a_grid(project: Project) -> None:
    prompts = ("--taskgraph-prompt=direct", "--taskgraph-prompt=chain-of-thought")
    labels = [trial["question"]["labels"] for trial in trials(project, "--taskgraph-seed=1,2", *prompts).values()]
    cells = [(label["seed"], label["prompt"]) for label in labels]
    assert sorted(set(cells)) == [(1, "chain-of-thought"), (1, "direct"), (2, "chain-of-thought"), (2, "direct")]
    assert len(cells) == 16


def test_several_seeds_ask_about_own_files_under_ids_of_their_own(project: Project) -> None:
    project.write("own.mmd", CHART)
    project.write("test_graph.py", SUITE.replace('"parallel_pair", "parallel_block"', '"next_tasks"'))
    own = trials(project, "--taskgraph-workflow=own.mmd", "--taskgraph-seed=1,2", "--taskgraph-vary=phrasing")
    first = {id_.removesuffix("-s1") for id_ in own if id_.endswith("-s1")}
    assert first
    assert {f"{id_}-s{seed}" for id_ in first for seed in (1, 2)} == set(own)
    twins = {trial["question"]["twin"] for trial in own.values() if trial["question"].get("twin")}
    assert twins
    assert twins <= set(own)


@pytest.mark.parametrize(("gate", "code"), [("seed=2>=1", 0), ("seed=3>=1", 4)])
def test_gate_is_about_one_seed(project: Project, gate: str, code: int) -> None:
    ran = project.run(MODEL, "--taskgraph-seed=1,2", f"--taskgraph-gate={gate}")
    assert ran.code == code, ran.output
    assert ("of 4 answered" if code == 0 else "known values of seed: 1, 2") in ran.output


def test_several_seeds_leave_label_of_family_alone(project: Project) -> None:
    project.write("test_graph.py", STEPS)
    asked = trials(project, "--taskgraph-seed=1,2", "--taskgraph-instances=1")
    assert all(id_.endswith(("-s1", "-s2")) for id_ in asked)
    assert all("seed" not in trial["question"]["labels"] for trial in asked.values())
