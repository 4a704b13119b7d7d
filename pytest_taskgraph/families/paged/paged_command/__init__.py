"""`python -m pytest_taskgraph paged ...`: documents with their graphs are built, counted and judged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from . import agreement_command, build_command, quality_command, statistics_command

if TYPE_CHECKING:
    from ....benchmarks.family import Command

SUMMARY: Final = "build documents with their graphs, count what they hold, and measure how good they are"
ACTIONS: Final[dict[str, Command]] = {
    "build": build_command,
    "statistics": statistics_command,
    "quality": quality_command,
    "agreement": agreement_command,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(ACTIONS))
    for name, action in ACTIONS.items():
        action.arguments(actions.add_parser(name, help=action.SUMMARY, description=action.SUMMARY))


def run(options: argparse.Namespace) -> int:
    """Run the action that the options name.

    Returns:
        The exit code of the action.

    Raises:
        UsageError: if it cannot be done.
    """
    return ACTIONS[options.action].run(options)
