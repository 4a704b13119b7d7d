from __future__ import annotations

from collections.abc import Iterator

import in_process
import pytest
from plugin_fixtures import loaded, server, unknown_circumstances
from plugin_project import Project

__all__ = ["loaded", "project", "server", "unknown_circumstances"]


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with in_process.untouched(pytester, monkeypatch) as pytester_:
        yield pytester_
