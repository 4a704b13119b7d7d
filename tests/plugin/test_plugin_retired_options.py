"""Old names of options and values: one error that names the new one, wherever they are set."""

from __future__ import annotations

import pytest
from plugin_project import Project, Ran

from pytest_taskgraph.benchmarks.settings import Option, dest_of, flag_of
from pytest_taskgraph.plugin.options import all_options
from pytest_taskgraph.retired import MODEL_SCHEMES, OPTIONS, VALUES, RenamedOption

renamed = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.old)
revalued = pytest.mark.parametrize(("name", "old"), VALUES, ids="=".join)
rescheme = pytest.mark.parametrize("scheme", MODEL_SCHEMES)


def errors(ran: Ran) -> list[str]:
    """Return the lines of the error message of a usage error without a traceback."""
    assert ran.code == pytest.ExitCode.USAGE_ERROR, ran.output
    assert ran.clean
    return [line.removeprefix("ERROR: ") for line in ran.output.splitlines() if line.startswith("ERROR: ")]


def note(option: RenamedOption) -> str:
    return f" ({option.note})" if option.note else ""


@renamed
def test_new_option_is_declared_and_old_is_not(option: RenamedOption) -> None:
    assert option.new in all_options()
    assert option.old not in all_options()


@renamed
@pytest.mark.parametrize("value", ["", "=any", " any"], ids=["bare", "equals", "apart"])
def test_retired_flag_names_new_flag(project: Project, option: RenamedOption, value: str) -> None:
    ran = project.run("test_graph.py", *f"{flag_of(option.old)}{value}".split())
    assert errors(ran) == [f"{flag_of(option.old)}: renamed to {flag_of(option.new)}{note(option)}"]


@renamed
def test_retired_ini_name_names_new_one(project: Project, option: RenamedOption) -> None:
    old, new = dest_of(option.old), dest_of(option.new)
    project.write("pytest.ini", f"[pytest]\n{old} = any\n")
    assert errors(project.run()) == [f"{old} (configuration): renamed to {new}{note(option)}"]


@renamed
def test_retired_override_names_new_one(project: Project, option: RenamedOption) -> None:
    old, new = dest_of(option.old), dest_of(option.new)
    assert errors(project.run("-o", f"{old}=any")) == [f"{old} (configuration): renamed to {new}{note(option)}"]


@renamed
def test_retired_environment_variable_names_new_one(
    project: Project, option: RenamedOption, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = dest_of(option.old).upper(), dest_of(option.new).upper()
    monkeypatch.setenv(old, "any")
    assert errors(project.run()) == [f"{old} (environment): renamed to {new}{note(option)}"]


@renamed
def test_retired_keyword_of_suite_names_new_one(project: Project, option: RenamedOption) -> None:
    keyword = option.old.replace("-", "_")
    project.write(
        "test_graph.py",
        "from pytest_taskgraph import suite, understanding\n"
        f"@suite(understanding, {keyword}='any')\ndef test_graph(trial): ...\n",
    )
    ran = project.run("--model=baseline")
    assert f"@suite(..., {keyword}=...): renamed to {option.new.replace('-', '_')}{note(option)}" in ran.output
    assert ran.clean


def test_help_shows_no_retired_option(project: Project) -> None:
    ran = project.run("--help")
    words = {word.strip("=,():") for line in ran.output.splitlines() for word in line.split("=")[0].split()}
    assert flag_of("seed") in words
    assert not {flag_of(option.old) for option in OPTIONS} & words
    assert not {dest_of(option.old) for option in OPTIONS} & words


def test_retired_options_do_not_trouble_other_runs(project: Project) -> None:
    assert project.run("--collect-only", "-q").code == pytest.ExitCode.OK


@revalued
def test_new_value_is_taken_and_old_is_not(name: str, old: str) -> None:
    option: Option = all_options()[name]
    assert not option.choices or VALUES[name, old] in option.choices
    assert old not in option.choices
    assert old not in option.default.split(",")


@revalued
def test_retired_value_of_flag_names_new_one(project: Project, name: str, old: str) -> None:
    message = f"{flag_of(name)}: the value {old!r} is renamed to {VALUES[name, old]!r}"
    assert errors(project.run(f"{flag_of(name)}={old}")) == [message]


@revalued
def test_retired_value_of_ini_names_new_one(project: Project, name: str, old: str) -> None:
    project.write("pytest.ini", f"[pytest]\n{dest_of(name)} = {old}\n")
    message = f"{dest_of(name)} (configuration): the value {old!r} is renamed to {VALUES[name, old]!r}"
    assert errors(project.run()) == [message]


@revalued
def test_retired_value_of_environment_names_new_one(
    project: Project, name: str, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(dest_of(name).upper(), old)
    message = f"{dest_of(name).upper()} (environment): the value {old!r} is renamed to {VALUES[name, old]!r}"
    assert errors(project.run()) == [message]


@rescheme
def test_retired_model_scheme_names_new_one(project: Project, scheme: str) -> None:
    message = f"--taskgraph-model: {scheme}: is renamed to {MODEL_SCHEMES[scheme]}:"
    assert errors(project.run(f"--model={scheme}:any")) == [message]
