"""Fixtures that the tests of the plugin and of families share."""

from __future__ import annotations

from collections.abc import Iterator

import in_process
import pytest
from loopback import Loopback


@pytest.fixture(scope="session")
def loaded() -> None:
    in_process.load()


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A provider that answers yes."""
    with Loopback() as running:
        yield running


@pytest.fixture
def unknown_circumstances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records without date, duration and command line, so that those of two runs can be equal."""
    monkeypatch.setattr("pytest_taskgraph.plugin.output.circumstances.Circumstances.observe", lambda self: None)
