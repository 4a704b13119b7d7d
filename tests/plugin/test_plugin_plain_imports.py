"""Modules of this package are imported without pytest's rewriting of assertions; tests keep it."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader

import pytest

from pytest_taskgraph.plugin.plain_imports import PlainImports, import_plainly

TESTS = """
import sys

def test_modules_of_the_package_are_plain():
    loaders = {name: type(module.__loader__).__name__ for name, module in sys.modules.items()
               if name.startswith("pytest_taskgraph.")}
    assert len(loaders) > 50
    assert {name for name, loader in loaders.items() if loader == "AssertionRewritingHook"} <= {FIRST}

def test_tests_are_rewritten():
    assert type(__loader__).__name__ == "AssertionRewritingHook"
"""
FIRST = {  # before the finder is in place
    "pytest_taskgraph.version",
    "pytest_taskgraph.plugin",
    "pytest_taskgraph.plugin.plain_imports",
}


def test_pytest_rewrites_tests_but_no_module_of_the_package(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marking="import pytest\n\npytest.register_assert_rewrite('pytest_taskgraph')\n")
    pytester.syspathinsert()
    pytester.makepyfile(f"from pytest_taskgraph import suite, understanding\n{TESTS.replace('{FIRST}', repr(FIRST))}")
    plugins = ("-p", "no:taskgraph", "-p", "marking", "-p", "pytest_taskgraph.plugin")
    result = pytester.runpytest_subprocess(*plugins, "--model=reference")
    assert result.parseoutcomes()["passed"] == 2
    assert "cannot be rewritten" not in result.stdout.str()


def test_plain_imports_finds_modules_of_package_only() -> None:
    finder = PlainImports()
    spec = finder.find_spec("pytest_taskgraph.errors", sys.modules["pytest_taskgraph"].__path__)
    assert spec is not None
    assert type(spec.loader) is SourceFileLoader
    assert finder.find_spec("pytest", None) is None
    assert finder.find_spec("pytest_taskgraph_of_another", None) is None


def test_import_plainly_twice_adds_one_finder() -> None:
    import_plainly()
    import_plainly()
    assert sum(isinstance(finder, PlainImports) for finder in sys.meta_path) == 1
