from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from plugin_project import Project

from pytest_taskgraph.plugin import pytest_compat


class Config:
    """A config with a stash, and plugins or none."""

    def __init__(self, xml: Any = None, reporter: object = None) -> None:  # noqa: ANN401 - stands for a LogXML
        self.stash = pytest.Stash()
        self.pluginmanager = SimpleNamespace(get_plugin=lambda name: reporter)
        if xml is not None:
            from _pytest.junitxml import xml_key

            self.stash[xml_key] = xml


def config(**plugins: object) -> pytest.Config:
    return cast(pytest.Config, Config(**plugins))


def test_parser_that_hides_options_is_taken_to_alias() -> None:
    assert pytest_compat.option_names(cast(pytest.Parser, SimpleNamespace())) == {"--model"}


def test_parser_tells_options(pytestconfig: pytest.Config) -> None:
    parser = pytestconfig._parser
    assert {"--taskgraph-model", "--maxfail", "-k"} <= pytest_compat.option_names(parser)
    assert "--model" not in pytest_compat.option_names(parser)


def test_alias_taken_by_other_plugin_leaves_long_option(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_compat, "option_names", lambda parser: {"--model"})
    assert project.run("--taskgraph-model", "simulated:1").counts == {"passed": 4}
    refused = project.run("--model=simulated:1")
    assert refused.code == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --model=simulated:1" in refused.output


def test_pytest_without_key_of_junit_file_gets_no_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []
    xml = SimpleNamespace(add_global_property=lambda name, text: seen.append((name, text)))
    there = config(xml=xml)
    pytest_compat.add_suite_properties(there, [("a", "b")])
    assert seen == [("a", "b")]
    monkeypatch.delattr("_pytest.junitxml.xml_key")
    pytest_compat.add_suite_properties(there, [("c", "d")])
    assert seen == [("a", "b")]


def test_junit_file_that_takes_no_properties_gets_none() -> None:
    pytest_compat.add_suite_properties(config(xml=SimpleNamespace()), [("a", "b")])
    pytest_compat.add_suite_properties(config(), [("a", "b")])


def test_terminal_plugin_disabled_run_passes(project: Project) -> None:
    ran = project.run("--taskgraph-model", "simulated:1", "-p", "no:terminal", "--taskgraph-report=json=record.json")
    assert ran.code == 0
    assert len(project.record()["trials"]) == 4


def test_report_that_does_not_tell_error_has_none() -> None:
    assert pytest_compat.error_of(cast(pytest.CollectReport, SimpleNamespace())) is None
