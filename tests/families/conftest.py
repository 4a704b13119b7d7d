from __future__ import annotations

from collections.abc import Iterator

import in_process
import pytest
from loopback import Loopback
from plugin_project import Project


@pytest.fixture(scope="session")
def loaded() -> None:
    in_process.load()


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with in_process.untouched(pytester, monkeypatch) as made:
        (made.path / "test_graph.py").unlink()
        monkeypatch.syspath_prepend(made.path)
        yield made


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running
