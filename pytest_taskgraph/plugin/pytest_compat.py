"""Every private interface of pytest that we lean on, each with what happens where it is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest


def option_names(parser: pytest.Parser) -> set[str]:
    """The names of all options that are known so far; every name where that cannot be told, so that nothing clashes."""
    try:
        groups = [*parser._groups, parser._anonymous]
        return {name for group in groups for option in group.options for name in option.names()}
    except AttributeError:
        return {"--model"}


def ini_names(config: pytest.Config) -> set[str]:
    """Return the names that ini file and `-o` set, known or not; none where pytest does not tell."""
    stated = getattr(config, "_inicfg", None)  # since pytest 9; reading `inicfg` warns there
    if stated is None:
        stated = getattr(config, "inicfg", {})
    overrides = (text.partition("=")[0] for text in config.getoption("override_ini", None) or ())
    return {*stated, *overrides}


def reword_help(parser: pytest.Parser, heading: str, texts: Mapping[str, str]) -> None:
    """Replace the heading of our options in the help, and the help of some by name; not if pytest does not tell."""
    try:
        groups = [group for group in parser._groups if group.name == "taskgraph"]
        for group in groups:
            of_argparse = getattr(group, "_arggroup", None)  # since pytest 9.1
            vars(of_argparse or group)["title" if of_argparse else "description"] = heading
        for option in (option for group in groups for option in group.options):
            if text := next((texts[name] for name in option.names() if name in texts), ""):
                option.attrs()["help"] = text
    except (AttributeError, TypeError):
        return


def parser_of(config: pytest.Config) -> pytest.Parser | None:
    """Return what read the command line; None where pytest does not tell."""
    found = getattr(config, "_parser", None)
    return found if isinstance(found, pytest.Parser) else None


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


def params(item: pytest.Item) -> dict[str, Any]:
    """What an item is parametrised with, by name; nothing where it is not, or pytest does not tell."""
    return getattr(getattr(item, "callspec", None), "params", {})


def fixtures_of(item: pytest.Item, names: Iterable[str], module: str) -> bool:
    """Return True if the item uses the fixtures of those names as a module defines them; False if pytest hides them."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    defined = [known.get(name) for name in names]
    return all(one and getattr(one[-1].func, "__module__", "") == module for one in defined)


def skipped(item: pytest.Item) -> bool:
    """Whether a mark skips the item; told by the marks' names alone where pytest has changed its ways."""
    try:
        from _pytest.skipping import evaluate_skip_marks

        return evaluate_skip_marks(item) is not None
    except Exception:  # also a condition that cannot be evaluated: the item will tell
        return any(item.iter_markers("skip")) or any(item.iter_markers("skipif"))


def remember_failed(config: pytest.Config, report: pytest.TestReport) -> None:
    """Nothing; --lf will run the item again, though its report is no failure. Not, where pytest has another --lf."""
    remember = getattr(config.pluginmanager.get_plugin("lfplugin"), "pytest_runtest_logreport", None)
    if remember is not None:
        remember(report=pytest.TestReport(report.nodeid, report.location, {}, "failed", None, "call"))


def forget_failed(config: pytest.Config, nodeids: Iterable[str]) -> None:
    """Keep failures that belong to no item from `--lf`; not where pytest remembers failures otherwise."""
    known = getattr(config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
    if isinstance(known, dict):
        for nodeid in nodeids:
            known.pop(nodeid, None)


def queued(config: pytest.Config) -> list[int]:
    """The places of the items that an xdist worker has been sent and has not run; none where xdist does not tell."""
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            try:
                with plugin.torun.lock() as waiting:
                    return [at for at in waiting if isinstance(at, int)]
            except (AttributeError, TypeError):
                return []
    return []


def uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    """Within it, what is written reaches the terminal, also in the middle of a captured set-up."""
    capturing = config.pluginmanager.get_plugin("capturemanager")
    lifted: Callable[[], AbstractContextManager[None]] | None = getattr(capturing, "global_and_fixture_disabled", None)
    return nullcontext() if lifted is None else lifted()


def is_own_reporter(reporter: object) -> bool:
    """Return True if the reporter is pytest's own class, which pytest 8.2 does not export."""
    return type(reporter).__module__ == "_pytest.terminal"
