"""The table of docs/results.md: rows, scores and shares are those of the records."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bounded_process
import pytest

import pytest_taskgraph
from pytest_taskgraph.results import record

ROOT = Path(pytest_taskgraph.__file__).parents[1]


def run(folder: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return bounded_process.run([sys.executable, *command], cwd=folder, env=environment).stdout


@pytest.mark.exhaustive
def test_real_results_has_a_row_for_each_method_with_the_scores_of_all_models(tmp_path: Path) -> None:
    for model in ("simulated:1", "baseline:random"):
        options = ["--taskgraph-limit=3", f"--model={model}", "--taskgraph-fail-on=nothing", "-p", "no:cacheprovider"]
        report = f"json={model.replace(':', '-')}.json"
        run(tmp_path, "-m", "pytest", str(ROOT / "suites" / "steps"), *options, "--taskgraph-report", report)
    cut = record.load(tmp_path / "simulated-1.json")
    letters = [trial for trial in cut["trials"] if trial["question"]["group"] == "letter"]
    letters[0].update(outcome="error", reply=None, score=None)
    letters[0]["failure"] = {"kind": "truncated", "message": "the reply was cut off"}
    record.save(tmp_path / "simulated-1.json", cut)
    script = str(ROOT / "perf" / "real_results.py")
    model = "simulated:1 (knows the answers; for testing the machinery)"
    printed = run(tmp_path, script, "simulated-1.json", "baseline-random.json", "--model", model)
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines()]
    table = {row[1]: dict(zip(head, row, strict=True)) for row in rows}
    assert table.keys() == {"zero_shot", "perplexity", "letter"}
    assert table["letter"]["answered"] == "2 of 3"
    assert table["letter"]["truncated"] == "1 of 3"
    assert table["perplexity"]["score"] == "1.000"
    assert table["perplexity"]["truncated"] == "0 of 3"
    assert table["perplexity"]["published"] == "0.500 (Majority Class) to 0.717 (OPT-30B)"
    assert table["letter"]["random"] != "-"
