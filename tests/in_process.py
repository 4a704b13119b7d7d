"""What runs of pytest inside of this process need: everything imported, and nothing of the surroundings."""

from __future__ import annotations

import asyncio
import gc
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from types import SimpleNamespace
from typing import Any

import pytest
from loopback import Loopback
from plugin_project import Project

import pytest_taskgraph
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding import patterns as catalogue
from pytest_taskgraph.families.understanding import prompts
from pytest_taskgraph.families.understanding.own_files import choices, projects
from pytest_taskgraph.families.understanding.own_files import choices as listing
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS
from pytest_taskgraph.models.clients import litellm_client as remote
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.trial import Request


def load_package() -> None:
    """Import the package and what it imports late, but for litellm."""
    for module in pkgutil.walk_packages(pytest_taskgraph.__path__, "pytest_taskgraph."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name in ("scipy.optimize", "networkx", "jinja2.sandbox", "lark", "xdist", "execnet"):
        import_module(name)


def load() -> None:
    """Import everything, including litellm and the modules that it imports for a request.

    Runs in this process restore `sys.modules`, so that each run would import new modules again.
    """
    gc.disable()  # a sixth of the time of these imports is the search for garbage, of which they leave next to none
    load_package()

    async def ask(url: str) -> None:
        await LiteLLMModel("openai/any", {"api_base": url, "api_key": "warm"}).answer(
            Request([{"role": "user", "content": "?"}])
        )
        await remote.close()

    with Loopback() as server:
        asyncio.run(ask(server.url))
    gc.enable()
    gc.freeze()  # each run in this process looks for garbage five times at its end, and litellm is a million objects


@contextmanager
def untouched(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project that no setting of the surrounding run reaches, and that leaves nothing behind in this process."""
    for name in list(os.environ):
        if name.startswith(("TASKGRAPH_", "PYTEST_XDIST", "PYTEST_ADDOPTS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "120")
    plugins = _distributions_of_plugins()
    monkeypatch.setattr(metadata, "distributions", lambda: plugins)
    monkeypatch.setattr(pytest.ExceptionInfo, "getrepr", _getrepr)
    monkeypatch.setattr("pytest_taskgraph.plugin.output.circumstances.version", _version)
    catalogue.catalogue()
    patterns = dict(PATTERNS)
    yield Project(pytester)
    PATTERNS.clear()
    PATTERNS.update(patterns)
    copies = (choices.choose, choices.edited_copies, choices.edited_texts)
    for cached in (prompts.prompt_template, projects.load, listing.list_cases, *copies):
        cached.cache_clear()


_GETREPR = pytest.ExceptionInfo.getrepr
_version = cache(metadata.version)  # which parses the long text of a distribution


def _getrepr(self: pytest.ExceptionInfo[BaseException], **options: Any) -> object:  # noqa: ANN401 - as in pytest
    """Represent a user's mistake and the end of a run without the source of each frame, which takes as long as a run.

    The plugin puts a line in the place of a mistake, and pytest shows the end of a run with `--full-trace` alone.
    """
    if isinstance(self.value, UsageError | KeyboardInterrupt):
        options["style"] = "native"
    return _GETREPR(self, **options)


@cache
def _distributions_of_plugins() -> list[SimpleNamespace]:
    """Return the distributions with plugins of pytest, which reads the entry points of all others for each `-p`."""
    found = [(each, each.entry_points) for each in metadata.distributions()]
    return [
        SimpleNamespace(entry_points=points, metadata=each.metadata, version=each.version)
        for each, points in found
        if points.select(group="pytest11")
    ]
