"""Every private interface of pytest that we lean on, each with what happens where it is gone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def option_names(parser: pytest.Parser) -> set[str]:
    """The names of all options that are known so far; every name where that cannot be told, so that nothing clashes."""
    try:
        groups = [*parser._groups, parser._anonymous]
        return {name for group in groups for option in group.options for name in option.names()}
    except AttributeError:
        return {"--model"}


def width(config: pytest.Config) -> int:
    """The columns of the terminal; 80 where pytest writes to none or does not tell."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return int(getattr(getattr(reporter, "_tw", None), "fullwidth", 80))


def error_of(report: pytest.CollectReport) -> pytest.ExceptionInfo[BaseException] | None:
    """What stopped a collector; None where nothing did, or pytest does not tell."""
    return getattr(getattr(report, "call", None), "excinfo", None)


def add_suite_properties(config: pytest.Config, properties: Iterable[tuple[str, str]]) -> None:
    """Properties of the whole test suite in the JUnit file; none where pytest has no such file or hides it."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return
    xml = config.stash.get(xml_key, None)
    if xml is not None and hasattr(xml, "add_global_property"):
        for name, text in properties:
            xml.add_global_property(name, text)
