from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugin_project import Project

from pytest_taskgraph.benchmarks import FAMILIES
from pytest_taskgraph.plugin.options import PROFILES, all_options, profile_options

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
ALONE = "from pytest_taskgraph import suite, understanding\n\n@suite(understanding, patterns='parallel_pair')\n"
ALONE += "def test_graph(trial):\n    trial.check()\n"


def ids(project: Project, *args: str) -> list[str]:
    """The items that would run."""
    ran = project.run("--collect-only", "-q", *args)
    assert ran.code == 0, ran.output
    return [
        line.partition("[")[2].rstrip("]") for line in ran.output.splitlines() if line.startswith("test_graph.py::")
    ]


@pytest.mark.parametrize("name", PROFILES)
def test_profile_is_nothing_but_options_it_lists(project: Project, name: str) -> None:
    flags = [f"--taskgraph-{option}={value}" for option, value in profile_options(name, FAMILIES.values()).items()]
    assert ids(project, f"--taskgraph-profile={name}") == ids(project, *flags)


@pytest.mark.parametrize("name", PROFILES)
def test_profile_values_are_valid_for_options(project: Project, name: str) -> None:
    for option, value in profile_options(name, FAMILIES.values()).items():
        option_row = all_options()[option]
        assert not option_row.choices or value in option_row.choices
        assert not {"model", "profile"} & profile_options(name, FAMILIES.values()).keys()
    assert project.run(f"--taskgraph-profile={name}", "--collect-only").code == 0


def test_profiles_ask_as_much_as_they_say(project: Project) -> None:
    project.write("test_graph.py", ALONE)
    assert [len(ids(project, f"--taskgraph-profile={name}")) for name in ("dev", "ci", "full")] == [1, 4, 180]


def test_flag_wins_over_environment_that_over_ini_file_that_over_profile(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("test_graph.py", ALONE)
    counts = [len(ids(project)), len(ids(project, "--taskgraph-profile=dev"))]
    project.write("pytest.ini", "[pytest]\ntaskgraph_instances = 2\ntaskgraph_profile = dev\n")
    counts.append(len(ids(project)))
    monkeypatch.setenv("TASKGRAPH_INSTANCES", "3")
    counts.append(len(ids(project)))
    counts.append(len(ids(project, "--taskgraph-instances=5")))
    assert counts == [4, 1, 2, 3, 5]


def test_profile_itself_is_taken_from_flag_environment_and_ini_in_turn(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("test_graph.py", ALONE)
    project.write("pytest.ini", "[pytest]\ntaskgraph_profile = full\n")
    assert len(ids(project)) == 180
    monkeypatch.setenv("TASKGRAPH_PROFILE", "ci")
    assert len(ids(project)) == 4
    assert len(ids(project, "--taskgraph-profile", "dev")) == 1


def test_profile_overrides_suite_like_flag(project: Project) -> None:
    assert len(ids(project)) == 4
    assert len(ids(project, "--taskgraph-profile=dev")) == 2
    assert len(ids(project, "--taskgraph-profile=ci")) == 8


def test_profile_names_no_model_so_default_baseline_is_report_only(project: Project) -> None:
    ran = project.run("--taskgraph-profile=dev")
    assert ran.code == 0
    assert "baseline:reader" in ran.output


@pytest.mark.parametrize("how", ["flag", "environment", "ini"])
def test_profile_that_there_is_not_is_answered_with_those_there_are(
    project: Project, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    args = ["--taskgraph-profile=nightly"] if how == "flag" else []
    if how == "environment":
        monkeypatch.setenv("TASKGRAPH_PROFILE", "nightly")
    if how == "ini":
        project.write("pytest.ini", "[pytest]\ntaskgraph_profile = nightly\n")
    ran = project.run(*args)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "--taskgraph-profile: 'nightly'; known: dev, ci, full" in ran.output
    assert ran.clean


def test_table_of_page_shows_every_profile_with_every_option() -> None:
    table = re.search(r"\| option \|(.*)\|\n\|[-| ]+\|\n((?:\|.*\|\n)+)", PAGE)
    assert table is not None
    names = [cell.strip(" `") for cell in table[1].split("|")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table[2].splitlines()]
    columns = {name: {row[0]: row[at] for row in rows if row[at]} for at, name in enumerate(names, 1)}
    assert columns == {name: profile_options(name, FAMILIES.values()) for name in PROFILES}


def test_page_says_what_each_profile_is_for() -> None:
    for name, profile in PROFILES.items():
        assert f"- `{name}`: {profile.summary}." in PAGE
