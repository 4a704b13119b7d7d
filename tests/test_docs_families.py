"""docs/how-to/families.md: its family runs, and its tables name all that the code has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import in_process
import pytest
from loopback import Loopback, Raw, refuse
from plugin_fixtures import loaded
from plugin_project import Project

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.option import Kind
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.family_description import STATISTICS, Column, FamilyDescription, TableSpec
from pytest_taskgraph.results.table_mistakes import find_table_mistake

__all__ = ["loaded"]
PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "families.md").read_text(encoding="utf-8")
FILES = re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def capitals(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project with the files of the page."""
    with in_process.untouched(pytester, monkeypatch) as project:
        (project.path / "test_graph.py").unlink()
        monkeypatch.syspath_prepend(project.path)
        for name, text in FILES:
            project.write(name, text)
        yield project


def rows(heading: str) -> str:
    """The table under a heading."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_family_of_page_runs(capitals: Project) -> None:
    data = "--taskgraph-data=countries=countries.csv"
    ran = capitals.run(data, "--model=simulated:1", "--taskgraph-gate=continent=Africa>=0.5")
    assert (ran.code, ran.counts) == (0, {"passed": 4}), ran.output  # three countries, as the suite says, and the gate
    ran = capitals.run(data, "--model=simulated:0", "--taskgraph-most-countries=4", "--taskgraph-fail-on=nothing")
    assert ran.counts == {"wrong": 4}
    ran = capitals.run(data, "--model=simulated:1", "--taskgraph-gate=continent=Mars>=0.5")
    assert "no question matches 'continent=Mars'; known values of continent: " in ran.output


def test_family_registered_deeper_runs_over_workers(capitals: Project) -> None:
    for name in ("conftest.py", "test_capitals.py"):
        (capitals.path / name).rename(capitals.write(f"deep/{name}", ""))
    capitals.write("test_other.py", "def test_it():\n    pass\n")
    capitals.write("pytest.ini", "[pytest]\ntaskgraph_data =\n  countries=countries.csv\n")
    ran = capitals.spread("--model=simulated:1", "--taskgraph-report=json=record.json")
    assert (ran.code, ran.counts) == (0, {"passed": 4}), ran.output
    assert len(capitals.record()["trials"]) == 3


CHECKED = """
from dataclasses import replace

from checking import checked


class Checked(Capitals):
    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        return replace(super().question(reference, settings), episode="checked")

    def episode(self, name: str):
        return checked if name == "checked" else super().episode(name)


capitals = Checked()
"""


def test_episode_of_page_runs(capitals: Project) -> None:
    conftest = capitals.path / "conftest.py"
    source = conftest.read_text(encoding="utf-8")
    conftest.write_text(source.replace("capitals = Capitals()\n", CHECKED), encoding="utf-8")
    with Loopback(lambda prompt: "Lima" if "sure" in prompt else "Nairobi") as server:
        args = (f"--model={server.url}#any", "--taskgraph-data=countries=countries.csv", "-k", "Kenya")
        ran = capitals.run(*args, "--taskgraph-report=json=record.json")
    assert ran.code == 0, ran.output
    (trial,) = capitals.record()["trials"]
    assert [(exchange["step"], exchange["text"]) for exchange in trial["exchanges"]] == [
        ("draft", "Nairobi"), ("check", "Lima"), ("check", "Nairobi"),
    ]  # fmt: skip
    assert (trial["reply"]["text"], trial["score"]["parts"]) == ("Nairobi", {"agreement": [2, 3]})


LIKELIER = """
from dataclasses import replace

from fallback import likelier


class Likelier(Capitals):
    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        made = super().question(reference, settings)
        return replace(made, form="yes-no", reference="yes", episode="likelier")

    def episode(self, name: str):
        return likelier if name == "likelier" else super().episode(name)


capitals = Likelier()
"""


@pytest.mark.parametrize(("refused", "by_logprobs"), [(None, 1), (refuse(404, "no such path"), 0)])
def test_episode_of_page_that_catches_failure_runs(capitals: Project, refused: Raw | None, by_logprobs: int) -> None:
    conftest = capitals.path / "conftest.py"
    source = conftest.read_text(encoding="utf-8")
    conftest.write_text(source.replace("capitals = Capitals()\n", LIKELIER), encoding="utf-8")
    with Loopback("yes") as server:
        server.completions = refused
        server.logprob = lambda token: -1.0 if token == " yes" else -2.0
        args = (f"--model={server.url}#any", "--taskgraph-data=countries=countries.csv", "-k", "Kenya")
        ran = capitals.run(*args, "--taskgraph-report=json=record.json")
    assert ran.code == 0, ran.output
    (trial,) = capitals.record()["trials"]
    assert (trial["reply"]["text"], trial["score"]["parts"]) == ("yes", {"by_logprobs": [by_logprobs, 1]})
    assert [request.path for request in server.requests] == [
        "/v1/completions", *(["/v1/chat/completions"] if refused else []),
    ]  # fmt: skip


def test_page_names_every_attribute_and_method_of_family() -> None:
    defined = {name for name in vars(Family) if not name.startswith("_")} - {"references", "question"}
    names = set(re.findall(r"`(\w+)(?:\([\w, ]*\))?`", rows("What a family may define")))
    assert defined <= names


def test_tables_of_page_are_valid_and_name_every_field() -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", rows("Tables"), re.MULTILINE | re.DOTALL)
    descriptions: dict[str, FamilyDescription] = {}
    exec(block, descriptions)  # a block of our own documentation
    assert find_table_mistake(descriptions["DESCRIPTION"], ["overlap"]) == ""
    names = set(re.findall(r"`(\w+)`", rows("Tables")))
    assert not STATISTICS - names
    fields = {*TableSpec.__dataclass_fields__, *Column.__dataclass_fields__} - {"columns", "value"}
    assert not fields - names


def test_page_names_every_kind_of_option_and_every_field() -> None:
    kinds = re.findall(r"^\| `([\w-]+)` \|", rows("Options"), re.MULTILINE)
    assert kinds == list(get_args(Kind))
    fields = set(Settings.__dataclass_fields__) - {"own"}
    assert fields <= set(re.findall(r"`(?:settings\.)?(\w+)`", rows("Options")))
    assert set(QuestionReference.__dataclass_fields__) - {"repetition"} <= set(
        re.findall(r"`(\w+)`", rows("References"))
    )
