from __future__ import annotations

from collections.abc import Iterator

import in_process
import pytest
from plugin_fixtures import loaded, server
from plugin_project import Project

__all__ = ["loaded", "project", "server"]


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project with a suite of PAGED."""
    with in_process.untouched(pytester, monkeypatch) as made_project:
        (made_project.path / "test_graph.py").unlink()
        made_project.write("test_paged.py", SUITE)
        monkeypatch.syspath_prepend(made_project.path)
        yield made_project


SUITE = """
from pytest_taskgraph import paged, suite

@suite(paged)
def test_paged(trial):
    trial.check()
"""
