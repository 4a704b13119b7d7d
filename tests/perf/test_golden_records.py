from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bounded_process
import pytest

import pytest_taskgraph

ROOT = Path(pytest_taskgraph.__file__).parents[1]
SCRIPT = ROOT / "perf" / "golden_records.py"
RUN = "paged-simulated-80"


def run_script(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return bounded_process.run([sys.executable, SCRIPT, *arguments], env=variables)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the outputs of one run."""
    folder = tmp_path_factory.mktemp("written")
    ran = run_script("write", folder, "--only", RUN, PYTHONHASHSEED="1")
    assert (ran.returncode, ran.stdout) == (0, f"{RUN}: exit code 0\n"), ran.stderr
    return folder


@pytest.mark.exhaustive
def test_write_twice_writes_equal_bytes(written: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "of another length"
    elsewhere.mkdir()
    run_script("write", tmp_path / "again", "--only", RUN, PYTHONHASHSEED="2", TMPDIR=str(elsewhere))
    outputs = [
        {path.name: path.read_bytes() for path in (folder / RUN).iterdir()} for folder in (written, tmp_path / "again")
    ]
    assert len(outputs[0]) == 8
    assert outputs[0] == outputs[1]


@pytest.mark.exhaustive
def test_compare_equal_folders_prints_each_kind(written: Path) -> None:
    ran = run_script("compare", written, written)
    assert ran.returncode == 0
    lines = [line.split(maxsplit=1) for line in ran.stdout.splitlines()]
    files = ["terminal", "markdown", "csv", "tables", "html", "junit", "record"]
    assert lines[:4] == [[fact, "4 questions equal"] for fact in ("ids", "prompts", "references", "scores")]
    assert lines[4:] == [[kind, "1 files equal"] for kind in files]


@pytest.mark.exhaustive
def test_compare_changed_score_and_line_prints_places(written: Path, tmp_path: Path) -> None:
    other = shutil.copytree(written, tmp_path / "other")
    questions = other / RUN / "questions.jsonl"
    first, *rest = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    assert first["score"] == 1.0
    questions.write_text("".join(json.dumps(row) + "\n" for row in [first | {"score": 0.25}, *rest]), encoding="utf-8")
    terminal = other / RUN / "terminal.txt"
    terminal.write_text(terminal.read_text(encoding="utf-8").replace("4 passed", "3 passed"), encoding="utf-8")
    (other / RUN / "report.md").unlink()
    ran = run_script("compare", written, other, "--lines", "1")
    assert ran.returncode == 1
    text = ran.stdout
    assert "prompts     4 questions equal" in text
    assert "scores      1 of 4 questions differ" in text
    assert f'scores: {RUN}: {first["id"]}\n  - "graded" 1.0\n  + "graded" 0.25\n' in text
    assert "\n  - = 4 passed in <time> =\n  + = 3 passed in <time> =\n" in text
    assert f"markdown: {RUN}/report.md: only in the first folder" in text
    assert "csv         1 files equal" in text


@pytest.mark.exhaustive
def test_compare_records_lists_all_differing_keys(written: Path, tmp_path: Path) -> None:
    other = shutil.copytree(written, tmp_path / "other")
    path = other / RUN / "record.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    for trial in record["trials"]:
        del trial["question"]["relation"]
    record["trials"].reverse()  # the places of trials are not compared
    record["seed"] = 3
    path.write_text(json.dumps(record), encoding="utf-8")
    ran = run_script("compare", written, other)
    assert ran.returncode == 1
    assert f"record: {RUN}/record.json: 2 keys\n" in ran.stdout
    assert "  .seed: 1 places, the first .seed\n  - 0\n  + 3\n" in ran.stdout
    assert "  .trials[].question.relation: 4 places, the first .trials[" in ran.stdout


@pytest.mark.exhaustive
def test_write_unknown_run_is_refused_with_known_ones(tmp_path: Path) -> None:
    ran = run_script("write", tmp_path, "--only", "quick")
    assert ran.returncode == 1
    assert "--only: no run has 'quick' in its name; runs: understanding-baseline-80, " in ran.stderr
