"""Declared options: parsing of their texts, and what families state about themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.option import Option, OptionValue
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families import FAMILIES, OPTION_HELP, declared_options
from pytest_taskgraph.families.understanding.family_options import OPTIONS
from pytest_taskgraph.families.understanding.understanding_settings import OWN, UnderstandingSettings
from pytest_taskgraph.plugin.options import OPTIONS as RUN_OPTIONS
from pytest_taskgraph.trial import Question

STEPS = Option("steps", "N", "steps of a plan", "3", kind="whole", least=2)


class Minimal(Family):
    """Family with the required members only."""

    name = "minimal"
    options = (STEPS,)

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return []

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("option", "stated", "value"),
    [
        (Option("a", "A", ""), None, ""),
        (Option("a", "A", "", "x"), None, "x"),
        (Option("a", "A", "", repeatable=True), ["x", "y", "x"], ("x", "y")),
        (Option("a", "A", "", kind="list"), ["x, y  z,x"], ("x", "y", "z")),
        (Option("a", "A", "", kind="list"), None, ()),
        (Option("a", "A", "", "4", kind="whole"), ["7"], 7),
        (Option("a", "A", "", kind="whole"), None, None),
        (Option("a", "A", "", "1,2", kind="whole-list"), None, (1, 2)),
        (Option("a", "A", "", kind="number"), ["0.5"], 0.5),
        (Option("a", "", "", kind="switch"), ["true"], True),
        (Option("a", "", "", kind="switch"), None, False),
        (Option("a", "K=V", "", repeatable=True, kind="pairs"), ["x=1", "y=2=3"], (("x", "1"), ("y", "2=3"))),
    ],
)
def test_option_read_any_kind_returns_value(option: Option, stated: list[str] | None, value: OptionValue) -> None:
    assert option.read(stated) == value
    assert type(option.read(stated)) is type(value)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        (Option("a", "A", "", choices=("x", "y")), "z", "--taskgraph-a: 'z'; known: x, y"),
        (Option("a", "A", ""), " ", "--taskgraph-a: nothing given; expected A"),
        (STEPS, "1", "--taskgraph-steps: 1; expected at least 2"),
        (STEPS, "two", "--taskgraph-steps: 'two'; expected a whole number"),
        (STEPS, "3,000", "--taskgraph-steps: '3,000'; expected one whole number, without commas or blanks"),
        (Option("a", "A", "", kind="share"), "1.5", "--taskgraph-a: '1.5'; expected a number from 0 to 1"),
        (Option("a", "A", "", kind="number"), "inf", "--taskgraph-a: 'inf'; expected a number of at least 0"),
        (Option("a", "", "", kind="switch"), "maybe", "--taskgraph-a: 'maybe'; expected true or false"),
        (Option("a", "K=V", "", kind="pairs"), "sk-1234", "--taskgraph-a: a value without a name; expected K=V"),
    ],
)
def test_option_read_invalid_text_refused(option: Option, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        option.read([text])
    assert str(refused.value) == message


def test_settings_value_of_prefers_user_value() -> None:
    assert Settings().value_of(STEPS) == 3
    assert Settings(own={"steps": 5}).value_of(STEPS) == 5
    assert Settings().value_of(STEPS, {"steps": 4}) == 4
    assert Settings(own={"steps": 5}).value_of(STEPS, {"steps": 4}) == 5


def test_settings_with_data_and_own_options_are_hashable() -> None:
    assert len({Settings(own={"steps": 5}), Settings(own={"steps": 5}), Settings(data={"a": "b"})}) == 2


def test_understanding_options_defaults_equal_settings() -> None:
    assert {option.name for option in OPTIONS} == set(OWN)
    read = {OWN[option.name]: option.read(None) for option in OPTIONS}
    assert {name: getattr(UnderstandingSettings(), name) for name in read} == read


def test_understanding_settings_of_takes_own_options() -> None:
    shared = Settings(seed=3, own={"notation": ("json",), "tasks": (8, 9)})
    own = UnderstandingSettings.of(shared)
    assert (own.seed, own.notations, own.tasks, own.convert, own.names) == (3, ("json",), (8, 9), True, "mixed")
    assert UnderstandingSettings.of(own) is own
    assert not UnderstandingSettings.of(Settings()).convert


def test_minimal_family_has_defaults() -> None:
    family, settings = Minimal(), Settings()
    family.check(settings)
    assert not family.notices(settings, {})
    assert not family.suite_options
    assert not family.labels()
    assert family.metrics("any", settings) is None
    assert not family.graded("any", settings)
    assert family.description(settings).name == "minimal"
    assert family.stated(settings) == {"steps": 3}
    with pytest.raises(UnknownNameError):
        family.baseline("reader", Settings())
    with pytest.raises(UnknownNameError):
        family.command("list")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_family_has_named_baselines_and_commands(family: Family, tmp_path: Path) -> None:
    sessions = tmp_path / "sessions.txt"
    sessions.write_text("plan a wedding\twedding venues\n", encoding="utf-8")
    settings = Settings(data={name: str(sessions) for name in family.data_names})
    names = [family.baseline(name, settings).name for name in family.baselines]
    assert names == [f"baseline:{name}" for name in family.baselines]
    assert all(family.command(name).SUMMARY for name in family.commands)


def test_options_of_built_in_families_are_valid_and_declared_alike() -> None:
    declared: dict[str, Option] = {}
    for option in (option for options in declared_options().values() for option in options):
        option.check()
        assert declared.setdefault(option.name, option) == option
    assert not declared.keys() & RUN_OPTIONS.keys()


@pytest.mark.parametrize("name", FAMILIES)
def test_declared_options_and_help_are_those_of_family(name: str) -> None:
    assert FAMILIES[name].name == name
    assert FAMILIES[name].options == declared_options()[name]
    assert FAMILIES[name].option_help == OPTION_HELP[name]
