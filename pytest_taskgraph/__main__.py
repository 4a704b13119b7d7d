"""`python -m pytest_taskgraph COMMAND`: what is done beside a pytest run."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from .commands import COMMANDS
from .errors import UsageError

USAGE_ERROR = 4  # as pytest's own


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ({self.prog} --help tells more)")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command that the arguments name; 4 for a usage error, told on stderr without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # replies hold what no terminal can encode
    try:
        options = _parser().parse_args(arguments)
        code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:  # who reads the output, such as `head`, has enough; what is left goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m pytest_taskgraph", description="Benchmarks of workflow understanding.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.arguments(commands.add_parser(name, help=command.summary, description=command.summary))
    return parser


if __name__ == "__main__":
    sys.exit(main())
