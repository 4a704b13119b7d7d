"""docs/benchmarks/paged.md: its options, scores, variations, files and numbers are those of the command `paged`."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.commands.model_requests import GRACE
from pytest_taskgraph.families.paged import paged_command
from pytest_taskgraph.families.paged.document_quality.document_annotations import CRITERIA
from pytest_taskgraph.families.paged.document_quality.quality_metrics import THRESHOLD
from pytest_taskgraph.families.paged.paged_command import agreement_command, build_command, quality_command
from pytest_taskgraph.families.paged.paged_command.build_command import ABOUT
from pytest_taskgraph.families.paged.paged_command.stated_documents import DOCUMENTS, MOST_DOCUMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks" / "paged.md").read_text(encoding="utf-8")
FLAT_PAGE = re.sub(r"\s+", " ", PAGE)


def table(head: str) -> list[list[str]]:
    """Return the cells of the rows of all tables whose first line begins with this word."""
    rows = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|:]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")[1:-1]] for rows in rows for row in rows.splitlines()]


def names(head: str) -> list[str]:
    return [name for row in table(head) for name in re.findall(r"`([^`]+)`", row[0])]


def test_page_lists_the_actions_of_the_command() -> None:
    assert names("command") == [*paged_command.ACTIONS]


def test_page_lists_every_option_of_build() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    build_command.arguments(parser)
    assert {*names("option"), "--out"} == {action.option_strings[0] for action in parser._actions}


@pytest.mark.parametrize("name", [*paged_command.ACTIONS])
def test_page_names_the_options_of_each_action(name: str) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    paged_command.ACTIONS[name].arguments(parser)
    stated = [option for action in parser._actions for option in action.option_strings[:1]]
    assert [option for option in stated if option not in PAGE] == []


def test_page_lists_criteria_and_variations() -> None:
    assert names("criterion") == [*CRITERIA]
    assert names("variation") == [*quality_command.VARIATIONS]


def test_numbers_of_the_page_are_those_of_the_code() -> None:
    rows = {row[0].strip("`"): row for row in table("option")}
    assert (rows["--documents"][1], rows["--documents"][2]) == (
        f"number of generated documents, 1 to {MOST_DOCUMENTS:,}",
        str(DOCUMENTS),
    )
    assert f"requests under way get {GRACE:g} seconds to arrive" in FLAT_PAGE
    assert f"{agreement_command.RELIABLE} or more counts as reliable" in FLAT_PAGE
    assert f"if the probability of that is above {THRESHOLD}." in FLAT_PAGE
    assert f"stands in `{ABOUT}`" in FLAT_PAGE


def test_scores_of_the_page_are_those_that_quality_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paged", "quality", "--documents=3"]) == 0
    printed = [line.rsplit(maxsplit=3)[0] for line in capsys.readouterr().out.splitlines() if line[-1:].isdigit()]
    assert names("score") == [*printed, "omission", "hallucination"]


def test_ratings_of_the_page_are_read_without_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (rows,) = re.findall(r"^```text\n(system,.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    Path("ratings.csv").write_text(rows, encoding="utf-8")
    (command,) = re.findall(r"^python -m pytest_taskgraph (paged agreement .*)$", PAGE, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "pipeline      readability  4.50  1.000          2             2         0\n" in out
    assert "all           clarity      2.62" in out


def test_commands_of_the_page_for_own_graphs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("graphs").mkdir()
    Path("graphs/tea.graph.txt").write_text("Start -> boil water\nboil water -> End\n", encoding="utf-8")
    (command,) = re.findall(r"^python -m pytest_taskgraph (paged build --from .*)$", PAGE, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    assert {path.name for path in Path("procedures").rglob("*.txt")} == {ABOUT, "tea.graph.txt", "tea.document.txt"}


def test_commands_of_the_page_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that need a model, too: the parser takes them."""
    commands = re.findall(r"^(?:\$ )?python -m pytest_taskgraph paged (.*)$", PAGE, re.MULTILINE)
    assert len(commands) > 7
    for command in commands:
        parser = argparse.ArgumentParser(exit_on_error=False)
        paged_command.arguments(parser)
        assert parser.parse_args(shlex.split(command)).action in paged_command.ACTIONS
