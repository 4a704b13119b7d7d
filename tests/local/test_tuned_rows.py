"""Rows of TaskLAMA's tables with a soft prompt: each method with a tuned model, under the names of the paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
pytest.importorskip("peft", reason="the extra local is not installed")

from plugin_project import Project  # noqa: E402
from tiny_language_model import save_tiny  # noqa: E402

from pytest_taskgraph.__main__ import main  # noqa: E402
from pytest_taskgraph.families.tasklama.sequences.filter_model import FilterModel  # noqa: E402

SUITE = """
from pytest_taskgraph import suite, tasklama

@suite(tasklama)
def test_tasklama(trial):
    trial.check()
"""
CONFTEST = """
from pytest_taskgraph.models.clients import local_model

def write(weights, ids, *_):
    '''Random weights write no steps: what is written is replaced, all else is computed.'''
    prompt = weights.tokenizer.decode(ids)
    steps = "1. Read about it\\\\n2. Buy what is needed\\\\n3. Do it"
    return ("yes" if "Second step:" in prompt else steps), 3, "stop"

local_model.write_reply = write
"""
ROWS = {
    "steps": {"icl": "SPT", "multseq": "MultSeq + SPT", "filter": "S&F + SPT", "multseq_filter": "MultSeq + S&F + SPT"},
    "dependencies": {
        "linear": "Linear Order, 1 sequence",
        "pairs": "SPT, 1 sequence",
        "pairs_linear": "SPT + Linear, 1 sequence",
        "scoring": "LLM Scoring, 1 sequence",
        "pairs_two": "SPT, 2 sequences",
    },
    "golden": {"golden_pairs": "SPT"},
}
METHODS = [method for rows in ROWS.values() for method in rows]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "base", positions=1024)


@pytest.fixture(scope="module")
def tuned(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with one soft prompt for steps and pairs."""
    out = tmp_path_factory.mktemp("models") / "tuned"
    small = ["--updates=2", "--every=1", "--batch=2", "--train=2", "--dev=3", "--prompt-tokens=3"]
    assert main(["tune", "tasklama", f"--model={base}", f"--out={out}", "--method=soft-prompt", *small]) == 0
    about = json.loads((out / "tuning.json").read_text())
    assert about["data"].keys() == {"steps", "pairs"}
    assert about["kept"]["scores"]["scores"].keys() >= {"steps.hungarian_f1", "pairs.pair_accuracy"}
    return out


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("test_graph.py", SUITE)
    project.write("conftest.py", CONFTEST)
    return project


def tables(project: Project, model: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """Run the suite, and return the cells of each row of each table by their names."""
    fitted = FilterModel(("steps",), (0.0,), (1.0,), (-1.0,), 0.5)
    (project.path / "filter.json").write_text(json.dumps(fitted.to_json()))
    run = project.spawn(
        f"--model=local:{model}", "--taskgraph-shots=0", "--taskgraph-instances=2",
        "--taskgraph-data=tasklama-filter=filter.json", "--taskgraph-report=json=r.json", *arguments,
    )  # fmt: skip
    record = json.loads((project.path / "r.json").read_text())
    assert {trial["outcome"] for trial in record["trials"]} == {"graded"}, run.output
    return {
        table["name"]: {row["name"]: row["cells"] for row in table["rows"]}
        for table in record["tables"]
        if table["family"] == "tasklama"
    }


def test_rows_of_a_soft_prompt_have_the_names_of_the_paper(project: Project, tuned: Path) -> None:
    shown = tables(project, tuned, f"--taskgraph-tasklama-method={','.join(METHODS)}")
    for name, rows in ROWS.items():
        for method, title in rows.items():
            assert title in shown[name]
            assert method not in shown[name]
    references = shown["golden"]["SPT"]["pair_accuracy"]["references"]
    assert [reference["value"] for reference in references] == [0.786]


def test_rows_of_the_base_model_keep_the_names_of_methods(project: Project, base: Path) -> None:
    shown = tables(project, base, "--taskgraph-tasklama-method=icl,golden_pairs")
    assert "icl" in shown["steps"]
    assert "golden_pairs" in shown["golden"]
