"""No traceback is built for a verdict; one that cannot be built is no internal error."""

from __future__ import annotations

import ast

import pytest
from plugin_project import IDS, Project

FAILING = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair"], instances=2)
def test_graph(trial):
    assert trial.outcome == "purple", "not purple"
"""


class ParsedSources:
    """The sources that pytest parses in order to build tracebacks."""

    def __init__(self, error: Exception | None = None) -> None:
        self.count = 0
        self._error = error
        self._parse = ast.parse

    def parse(self, source: str, filename: str = "<unknown>", *args: object, **kwargs: object) -> ast.AST:
        if filename == "source":  # the name that pytest's tracebacks give, beside the rewriting of assertions
            self.count += 1
            if self._error is not None:
                raise self._error
        return self._parse(source, filename, *args, **kwargs)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> ParsedSources:
    sources = ParsedSources()
    monkeypatch.setattr("ast.parse", sources.parse)
    return sources


@pytest.mark.parametrize("style", ["auto", "long", "short", "native", "line", "no"])
def test_traceback_wrong_answer_parses_no_source(project: Project, parsed: ParsedSources, style: str) -> None:
    ran = project.run("--model", "simulated:0", "--tb", style)
    assert ran.counts["failed"] > 0
    assert parsed.count == 0


def test_traceback_missing_reply_parses_no_source(project: Project, parsed: ParsedSources) -> None:
    project.write("replies.jsonl", "")
    ran = project.run("--model", "recorded:replies.jsonl")
    assert ran.counts.get("skipped", 0) + ran.counts.get("errors", 0) == len(IDS)
    assert parsed.count == 0


def test_traceback_assertion_shows_source(project: Project, parsed: ParsedSources) -> None:
    project.write("test_graph.py", FAILING)
    ran = project.run("--model", "simulated:1")
    assert ran.counts["failed"] == 2
    assert "not purple" in ran.output
    assert '>       assert trial.outcome == "purple"' in ran.output
    assert parsed.count > 0


def test_traceback_unparseable_source_is_no_internal_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("test_graph.py", FAILING)
    broken = ParsedSources(SystemError("AST constructor recursion depth mismatch (before=63, after=65)"))
    monkeypatch.setattr("ast.parse", broken.parse)
    ran = project.run("--model", "simulated:1")
    assert broken.count > 0
    assert "INTERNALERROR" not in ran.output
    assert ran.counts["failed"] == 2
    assert "not purple" in ran.output
