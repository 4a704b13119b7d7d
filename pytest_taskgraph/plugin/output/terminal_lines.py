"""Access to pytest's terminal reporter."""

from __future__ import annotations

import pytest

from ..pytest_compat import is_own_reporter


def width(config: pytest.Config) -> int:
    """Return the columns of the terminal, 80 where pytest's own reporter is absent."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return config.get_terminal_writer().fullwidth if is_own_reporter(reporter) else 80


def start_line(reporter: pytest.TerminalReporter) -> None:
    """Begin a new line, unless the current line is empty.

    `ensure_newline` handles only lines that start with the name of a file, which do not occur under xdist.
    """
    reporter.ensure_newline()
    if is_own_reporter(reporter) and reporter.config.get_terminal_writer().width_of_current_line:
        reporter.write("\n")
