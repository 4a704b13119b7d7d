"""What runs of pytest inside of this process need: everything imported, and nothing of the surroundings."""

from __future__ import annotations

import asyncio
import gc
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.config import default_plugins
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
from pytest_taskgraph.plugin.output import circumstances
from pytest_taskgraph.trial import Request


def load_package() -> None:
    """Import the package and what it imports late, but for litellm."""
    for module in pkgutil.walk_packages(pytest_taskgraph.__path__, "pytest_taskgraph."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    names = ("scipy.optimize", "networkx", "jinja2.sandbox", "lark", "execnet", "xdist.newhooks")
    for name in (*names, "pdb", *(f"_pytest.{plugin}" for plugin in default_plugins)):
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
    skip_repeated_work(monkeypatch)
    monkeypatch.setattr(pytest.ExceptionInfo, "getrepr", _getrepr)
    catalogue.catalogue()
    patterns = dict(PATTERNS)
    yield Project(pytester)
    PATTERNS.clear()
    PATTERNS.update(patterns)
    copies = (choices.choose, choices.edited_copies, choices.edited_texts)
    for cached in (prompts.prompt_template, projects.load, listing.list_cases, *copies):
        cached.cache_clear()


def skip_repeated_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs of pytest in this process look up once what is the same in all of them."""
    plugins, folders = _distributions_of_plugins(), set(sys.path)

    def distributions() -> list[Any]:
        return [*plugins, *_DISTRIBUTIONS(path=[folder for folder in sys.path if folder not in folders])]

    monkeypatch.setattr(metadata, "distributions", distributions)
    monkeypatch.setattr(circumstances, "version", _version)
    monkeypatch.setattr(circumstances, "_commit_of", _commit_of)


_GETREPR = pytest.ExceptionInfo.getrepr
_DISTRIBUTIONS = metadata.distributions
_COMMIT_OF = circumstances._commit_of
_version = cache(metadata.version)  # which parses the long text of a distribution


def _getrepr(self: pytest.ExceptionInfo[BaseException], **options: Any) -> object:  # noqa: ANN401 - as in pytest
    """Represent a user's mistake and the end of a run without the source of each frame, which takes as long as a run.

    The plugin puts a line in the place of a mistake, and pytest shows the end of a run with `--full-trace` alone.
    """
    if isinstance(self.value, UsageError | KeyboardInterrupt):
        options["style"] = "native"
    return _GETREPR(self, **options)


def _commit_of(folder: Path) -> tuple[str, bool | None]:
    """Ask git, whose process takes as long as a question, only where there is a repository."""
    if not os.environ.get("GIT_DIR") and not any((each / ".git").exists() for each in (folder, *folder.parents)):
        return "", None
    return _COMMIT_OF(folder)


@cache
def _distributions_of_plugins() -> list[SimpleNamespace]:
    """Return the distributions with plugins of pytest, which reads the entry points of all others for each `-p`."""
    found = [(each, each.entry_points) for each in _DISTRIBUTIONS()]
    return [
        SimpleNamespace(entry_points=points, metadata=each.metadata, version=each.version, files=each.files)
        for each, points in found
        if points.select(group="pytest11")
    ]
