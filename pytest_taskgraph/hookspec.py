"""The hook with which a `conftest.py` or another plugin adds models, prompts, forms, metrics and other objects."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from .catalog import registrations
from .errors import RegistrationError
from .registry import Registry, failure


@pytest.hookspec(historic=True)
def pytest_taskgraph_register(registry: Registry) -> None:
    """Register what the project adds to pytest-taskgraph. Called once in each process, before the options are parsed.

    Conftest files that pytest loads later, in folders that it collects, are called when they are loaded. Registrations
    end with the session.

    Args:
        registry: The registry, with a method for each kind of object; `docs/how-to/extending.md` has an example of
            each.

    Example:
        >>> def pytest_taskgraph_register(registry):
        ...     registry.model("support", answer, version="2.1")
    """


def call_register(plugins: pytest.PytestPluginManager, registry: Registry) -> None:
    """Call the hook of all plugins, and of every plugin that pytest registers later.

    Raises:
        RegistrationError: if a hook fails. The message names the plugin and the reason, on one line.
    """
    try:
        plugins.hook.pytest_taskgraph_register.call_historic(kwargs={"registry": registry})
    except RegistrationError:
        raise
    except Exception as error:
        raise failure(registry, error) or error from error


@contextmanager
def registered_by(modules: Sequence[str]) -> Iterator[None]:
    """Call the hooks of these modules, and keep their registrations within the context: a command has no session.

    Modules are searched in the working directory, too.

    Raises:
        RegistrationError: if a module cannot be imported, or its registration fails.
    """
    if not modules:
        yield
        return
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with registrations() as opened:
        plugins, registry = pytest.PytestPluginManager(), Registry(opened, Path.cwd())
        plugins.add_hookspecs(sys.modules[__name__])
        for name in modules:
            try:
                plugins.import_plugin(name)
            except Exception as error:
                message = " ".join(str(error).split())
                raise RegistrationError(f"-p {name}: {message or type(error).__name__}") from None
        call_register(plugins, registry)
        registry.check()
        yield
