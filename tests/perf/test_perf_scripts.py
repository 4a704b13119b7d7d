"""The scripts that measure speed: what they count is right; how long it takes is not tested."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from posix_tests import posix_only

import pytest_taskgraph

ROOT = Path(pytest_taskgraph.__file__).parents[1]


def run_script(name: str, folder: Path, *options: str) -> tuple[dict[str, Any], list[str]]:
    """The JSON that a script wrote, and the lines that it printed."""
    command = [sys.executable, str(ROOT / "perf" / name), *options, "--json", str(folder / "rows.json")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = bounded_process.run(command, cwd=folder, env=environment)
    assert ran.returncode == 0, ran.stderr
    return json.loads((folder / "rows.json").read_text()), ran.stdout.splitlines()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("only", "expected"),
    [
        # The second run and the replay need the row "lean".
        ("bare aiohttp/second run", {"plain pytest": 0, "bare aiohttp": 20, "lean": 20, "second run": 0}),
        pytest.param(
            "simulated/lean -n 2/replay",
            {"plain pytest": 0, "simulated": 0, "lean": 20, "lean -n 2": 20, "replay": 0},
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_throughput_counts_requests_of_each_row(tmp_path: Path, only: str, expected: dict[str, int]) -> None:
    options = ["--n=20", "--latency=0.01", "--flight=5", "--rounds=1", f"--only={only}"]
    written, lines = run_script("throughput.py", tmp_path, *options)
    arrived = {name: int(rounds[0]["counted"]["arrived"]) for name, rounds in written["rows"].items()}
    assert arrived == expected
    assert (written["questions"], written["ideal_s"]) == (20, pytest.approx(0.04))
    right = {name: rounds[0]["text"].count("20 of 20 right") for name, rounds in written["rows"].items()}
    assert {name for name, count in right.items() if count} == expected.keys() - {"plain pytest", "bare aiohttp"}
    assert next(line for line in lines if [*expected][-1] in line).split()[-1] == "20"


@pytest.mark.exhaustive
def test_throughput_unknown_row_is_refused_with_known_ones(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "perf" / "throughput.py"), "--n=20", "--only=fast"]
    ran = bounded_process.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert ran.returncode == 1
    assert "--only: unknown row 'fast'; known: plain pytest, plain -n 2, start" in ran.stderr


@pytest.mark.exhaustive
@posix_only
def test_throughput_failed_command_ends_the_script(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "perf" / "throughput.py"), "--n=20", "--rounds=1", "--only=inspect_ai"]
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\necho no such module\nexit 3\n")
    failing.chmod(0o755)
    ran = bounded_process.run(
        [*command, f"--inspect-python={failing}"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert ran.returncode == 1
    assert "no such module" in ran.stderr


@pytest.mark.exhaustive
def test_scaling_measures_pairs_of_as_many_items(tmp_path: Path) -> None:
    written, lines = run_script("scaling.py", tmp_path, "--sizes=20", "--collect=2000", "--markdown")
    rows = written["rows"]
    assert [*rows] == ["run 20", "collect 2000", "select 2000"]
    expected = {
        "run 20": "20 passed",
        "collect 2000": "20/2000 tests collected (1980 deselected)",
        "select 2000": "20 passed, 1980 deselected",
    }
    for name, text in expected.items():
        for measured in rows[name][0]:
            assert text in measured["text"]
            assert measured["peak"] > 10
    assert [line.split("|")[1].strip() for line in lines if line.startswith("|")] == ["row", "---", *rows]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the modules of perf/ importable."""
    monkeypatch.syspath_prepend(str(ROOT / "perf"))


@pytest.mark.usefixtures("scripts")
def test_row_states_medians_and_ratios_within_each_round() -> None:
    from throughput import Round, row  # type: ignore[import-not-found]

    def rounds(*cpus: float) -> list[Any]:
        counted = {"arrived": 1000.0}
        return [Round(0.0, 2 * cpu, cpu, 50.0, "990 of 1000 right", counted) for cpu in cpus]

    # The ratios of the rounds are 2, 4 and 3, while the ratio of the medians is 2.
    cells = row("lean", rounds(2.0, 12.0, 4.0), rounds(1.0, 3.0, 2.0)[:2] + rounds(4 / 3), 1000, 4.0)
    assert cells == ["lean", "8.00", "4.00-24.00", "2.00", "4.00", "4.00", "3.00", "1000", "990"]
    assert row("start", [Round(0.0, 1.0, 1.0, 50.0, "", {"arrived": 0.0})], rounds(2.0), 1000, 4.0)[3:] == [
        "", "1.00", "1.00", "0.50", "", "",
    ]  # fmt: skip


@pytest.mark.usefixtures("scripts")
def test_cells_further_questions_leave_out_start_up() -> None:
    from scaling import cells  # type: ignore[import-not-found]
    from whole_process import Measured  # type: ignore[import-not-found]

    def pair(plain: float, cpu: float) -> tuple[Any, Any]:
        return Measured(0.0, plain, plain, 30.0, ""), Measured(0.0, cpu, cpu, 90.0, "")

    measured = {"run 1000": [pair(0.5, 4.0)], "run 3000": [pair(1.5, 9.0)], "collect 3000": [pair(1.0, 1.5)]}
    further = [row[6] for row in cells(measured)]
    assert further == ["", "2.50", ""]  # 5 s for 2,000 questions
    assert [row[7] for row in cells(measured)] == ["8.00", "6.00", "1.50"]
