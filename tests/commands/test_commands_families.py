"""Commands that families bring: they stand beside the shared ones, and no two have one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.commands import SHARED, all_commands
from pytest_taskgraph.families import FAMILIES

RIDDLES = """
import sys
from pytest_taskgraph.benchmarks.family import Family

SUMMARY = "print a riddle"

def arguments(parser):
    parser.add_argument("--answer", action="store_true", help="print its answer instead")

def run(options):
    print("a hole" if options.answer else "What grows when you take from it?")
    return 3

class Riddles(Family):
    name = "riddles"
    topic = "riddles"
    commands = ("COMMAND",)

    def references(self, settings, options):
        return []

    def question(self, reference, settings):
        raise NotImplementedError

    def command(self, name):
        return sys.modules[__name__]

def pytest_taskgraph_register(registry):
    registry.family(Riddles())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_all_commands_include_those_of_families() -> None:
    names = [name for family in FAMILIES.values() for name in family.commands]
    assert list(all_commands()) == sorted([*SHARED, *names])
    assert "patterns" in names


def test_command_of_a_registered_family_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "riddles_family.py").write_text(RIDDLES.replace("COMMAND", "riddle"))
    assert main(["-p", "riddles_family", "riddle", "--answer"]) == 3
    assert capsys.readouterr().out == "a hole\n"
    with pytest.raises(SystemExit):
        main(["-p", "riddles_family", "--help"])
    output = " ".join(capsys.readouterr().out.split())
    assert "riddle print a riddle" in output
    assert (
        "Benchmarks of workflow understanding, steps of complex tasks, next steps, procedural documents, riddles."
        in output
    )
    assert main(["riddle"]) == 4  # no longer registered


def test_command_with_taken_name_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clashing_family.py").write_text(RIDDLES.replace("COMMAND", "score"))
    assert main(["-p", "clashing_family", "compare", "--help"]) == 4
    output = capsys.readouterr().err
    assert output == "error: family 'riddles': the command 'score' exists already; choose another name\n"
