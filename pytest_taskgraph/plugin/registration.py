"""The registry of a session, and the errors of registrations by plugins and conftest files."""

from __future__ import annotations

from functools import partial

import pytest

from ..catalog import Registrations
from ..errors import RegistrationError
from ..hookspec import call_register
from ..registry import Registry, failure
from .options import add_family_options
from .pytest_compat import parser_of

_REGISTRY = pytest.StashKey[Registry]()


def open_registry(config: pytest.Config, parser: pytest.Parser | None = None) -> Registry:
    """Return the registry of the session; the first call opens it and calls the hooks of all plugins with it.

    Args:
        config: The configuration of the session.
        parser: The parser to declare options of families in, until the command line is parsed completely.

    Raises:
        pytest.UsageError: if a registration fails.
    """
    if _REGISTRY not in config.stash:
        opened = Registrations()
        opened.open()
        config.add_cleanup(opened.close)  # a session may end before pytest_unconfigure is called
        options_parser = parser or parser_of(config)
        declare = None if options_parser is None else partial(add_family_options, options_parser)
        config.stash[_REGISTRY] = Registry(opened, config.rootpath, declare)
        try:
            call_register(config.pluginmanager, config.stash[_REGISTRY])
        except RegistrationError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[_REGISTRY]


def registration_error(
    config: pytest.Config, excinfo: pytest.ExceptionInfo[BaseException] | None
) -> RegistrationError | None:
    """Return the error of a collector that failed because a conftest file in its folder cannot register; else None."""
    if excinfo is None:
        return None
    if isinstance(excinfo.value, RegistrationError):
        return excinfo.value
    return failure(open_registry(config), excinfo.value)
