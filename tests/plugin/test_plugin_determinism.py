from __future__ import annotations

import json

import pytest
from plugin_project import Project

ALL = """
from pytest_taskgraph import suite, understanding

@suite(understanding, instances=1)
def test_it(trial):
    trial.check()
"""


@pytest.mark.exhaustive
def test_ids_and_prompts_are_same_under_any_hash_seed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("test_graph.py", ALL)
    outputs = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        ran = project.spawn("-v", "--model", "baseline:random", f"--taskgraph-report=json={seed}.json")
        items = [line.split()[0] for line in ran.output.splitlines() if line.startswith("test_graph.py::")]
        assert len(items) > 20
        outputs.append((items, ran.table, json.dumps(project.record(f"{seed}.json") | {"provenance": None})))
    assert outputs[0] == outputs[1]


def test_same_items_and_same_table_over_workers(project: Project) -> None:
    alone = project.run("--model", "simulated:0.5", "-v")
    spread = project.spread("--model", "simulated:0.5", "-v")

    def verdicts(output: str) -> dict[str, str]:
        lines = [line.split() for line in output.splitlines() if "::" in line and "%]" in line]
        return {part: word for line in lines for part in line for word in line if "::" in part and word.isupper()}

    assert verdicts(alone.output) == verdicts(spread.output)
    assert len(verdicts(alone.output)) == 4
    assert alone.table == spread.table
    assert (alone.code, alone.counts) == (spread.code, spread.counts)


def test_instances_more_extend_fewer(project: Project) -> None:
    report = "--taskgraph-report=json="
    project.run(f"{report}few.json")
    project.run(f"{report}many.json", "--taskgraph-instances=5")
    few, many = (
        {trial["question"]["id"]: trial["question"]["digests"] for trial in project.record(name)["trials"]}
        for name in ("few.json", "many.json")
    )
    assert len(many) == 10
    assert few.items() <= many.items()


def test_another_seed_asks_other_questions(project: Project) -> None:
    report = "--taskgraph-report=json="
    project.run(f"{report}a.json")
    project.run(f"{report}b.json", "--taskgraph-seed=1")
    a, b = (
        {trial["question"]["digests"]["prompt"] for trial in project.record(n)["trials"]} for n in ("a.json", "b.json")
    )
    assert a & b == set()
