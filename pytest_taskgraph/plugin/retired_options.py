"""Refusal of the old names of options and values, set by flag, environment or ini."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import pytest

from ..benchmarks.settings import dest_of, flag_of
from ..errors import UsageError
from ..retired import MODEL_SCHEMES, OPTIONS, VALUES, RenamedOption, check_model_scheme, check_value, renamed_option
from . import options
from .pytest_compat import ini_names, option_names


def add_retired_flags(parser: pytest.Parser) -> None:
    """Declare the old flags, hidden from `pytest --help`, so that the plugin can refuse them with the new names."""
    group = parser.getgroup("taskgraph")
    present = option_names(parser)
    for option in OPTIONS:
        if flag_of(option.old) not in present:
            group.addoption(
                flag_of(option.old),
                dest=_dest(option),
                default=None,
                action="append",
                nargs="?",
                const="",
                help=argparse.SUPPRESS,
            )


def refuse_retired(config: pytest.Config) -> None:
    """Check that no option, value or model scheme of the run has been renamed.

    Raises:
        pytest.UsageError: if one was renamed; the message has the new name.
    """
    try:
        for option in OPTIONS:
            for spelling, new in _uses(config, option):
                raise renamed_option(spelling, option, new)
        _refuse_values(config)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _uses(config: pytest.Config, option: RenamedOption) -> Iterator[tuple[str, str]]:
    """Yield each place where an old option is set, as the user wrote it, with its new name there."""
    old, new = dest_of(option.old), dest_of(option.new)
    if config.getoption(_dest(option), None) is not None:
        yield flag_of(option.old), flag_of(option.new)
    if os.environ.get(old.upper()):
        yield options.environment_spelling(old), new.upper()
    if old in ini_names(config):
        yield options.ini_spelling(old), new


def _refuse_values(config: pytest.Config) -> None:
    present = options.all_options()
    for name in dict.fromkeys(name for name, _ in VALUES if name in present):
        for text in options.given(config, name) or ():
            check_value(options.spelling(config, name), name, text, present[name].choices)
    if MODEL_SCHEMES and (stated := options.given(config, "model")):
        from ..models import MODELS

        for spec in stated:
            check_model_scheme(options.spelling(config, "model"), spec, MODELS)


def _dest(option: RenamedOption) -> str:
    return f"taskgraph_retired_{option.old.replace('-', '_')}"
