"""Every use of a private interface of pytest, each with a fallback for versions without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest


def option_names(parser: pytest.Parser) -> set[str]:
    """Return the names of all options that are declared so far; `--model` alone if pytest hides them."""
    try:
        groups = [*parser._groups, parser._anonymous]
        return {name for group in groups for option in group.options for name in option.names()}
    except AttributeError:
        return {"--model"}


def parser_of(config: pytest.Config) -> pytest.Parser | None:
    """Return the parser of the command line; None if pytest hides it."""
    parser = getattr(config, "_parser", None)
    return parser if isinstance(parser, pytest.Parser) else None


def error_of(report: pytest.CollectReport) -> pytest.ExceptionInfo[BaseException] | None:
    """Return the exception that stopped a collector; None if there is none, or pytest hides it."""
    return getattr(getattr(report, "call", None), "excinfo", None)


def add_suite_properties(config: pytest.Config, properties: Iterable[tuple[str, str]]) -> None:
    """Add properties of the whole test suite to the JUnit file, if the session writes one and pytest exposes it."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return
    xml = config.stash.get(xml_key, None)
    if xml is not None and hasattr(xml, "add_global_property"):
        for name, text in properties:
            xml.add_global_property(name, text)


def params(item: pytest.Item) -> dict[str, Any]:
    """Return the parameters of an item by name; none if it has none, or pytest hides them."""
    return getattr(getattr(item, "callspec", None), "params", {})


def uses_own_fixtures(item: pytest.Item, names: Iterable[str], module: str) -> bool:
    """Return True if the item uses the fixtures of those names as a module defines them; False if pytest hides them."""
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    of_names = [definitions.get(name) for name in names]
    return all(fixtures and getattr(fixtures[-1].func, "__module__", "") == module for fixtures in of_names)


def fixture_place(definition: pytest.Item, name: str) -> str:
    """Return file and line of the fixture that a test function uses; empty if it has none, or pytest hides it."""
    fixtures = getattr(getattr(definition, "_fixtureinfo", None), "name2fixturedefs", {}).get(name)
    code = getattr(getattr(fixtures[-1], "func", None), "__code__", None) if fixtures else None
    if code is None:
        return ""
    path = Path(code.co_filename)
    root = definition.config.rootpath
    return f"{path.relative_to(root) if path.is_relative_to(root) else path}:{code.co_firstlineno}"


def is_skipped(item: pytest.Item) -> bool:
    """Return True if a mark skips the item; by the names of the marks alone if pytest cannot evaluate them here."""
    try:
        from _pytest.skipping import evaluate_skip_marks

        return evaluate_skip_marks(item) is not None
    except Exception:  # also of a condition that cannot be evaluated, which the item reports
        return any(item.iter_markers("skip")) or any(item.iter_markers("skipif"))


def add_to_last_failed(config: pytest.Config, report: pytest.TestReport) -> None:
    """Let `--lf` run the item again, though its report is no failure; without effect on another plugin for --lf."""
    log_report = getattr(config.pluginmanager.get_plugin("lfplugin"), "pytest_runtest_logreport", None)
    if log_report is not None:
        log_report(report=pytest.TestReport(report.nodeid, report.location, {}, "failed", None, "call"))


def remove_from_last_failed(config: pytest.Config, nodeids: Iterable[str]) -> None:
    """Remove failures that belong to no item from the list of `--lf`, if pytest exposes it."""
    last_failed = getattr(config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
    if isinstance(last_failed, dict):
        for nodeid in nodeids:
            last_failed.pop(nodeid, None)


def queued_positions(config: pytest.Config) -> list[int]:
    """Return the positions of the items in the queue of an xdist worker; none if xdist hides them."""
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            try:
                with plugin.torun.lock() as waiting:
                    return [at for at in waiting if isinstance(at, int)]
            except (AttributeError, TypeError):
                return []
    return []


def without_capture(config: pytest.Config) -> AbstractContextManager[None]:
    """Return a context in which output reaches the terminal, also in the middle of a captured setup."""
    capturing = config.pluginmanager.get_plugin("capturemanager")
    disable: Callable[[], AbstractContextManager[None]] | None = getattr(capturing, "global_and_fixture_disabled", None)
    return nullcontext() if disable is None else disable()


def is_own_reporter(reporter: object) -> bool:
    """Return True if the reporter is pytest's own class, which pytest 8.2 does not export."""
    return type(reporter).__module__ == "_pytest.terminal"
