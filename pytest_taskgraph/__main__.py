"""The command line `python -m pytest_taskgraph COMMAND`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from .benchmarks.family import Command
from .commands import all_commands
from .commands.model_requests import ask_model
from .errors import UsageError
from .families import topics
from .hookspec import registered_by
from .installation import check_installation

INTERRUPTED = 2  # both as pytest's own
USAGE_ERROR = 4


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name.

    Args:
        arguments: The command and what follows it; those of the process if None.

    Returns:
        The exit code of the command; 4 after a usage error, which is printed on stderr without a traceback; 2 after
        Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # replies hold characters that no terminal can encode
    try:
        check_installation()
        modules, rest = _modules(sys.argv[1:] if arguments is None else list(arguments))
        with registered_by(modules):
            commands = all_commands()
            options = _parser(commands).parse_args(rest)
            code = commands[options.command].run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe; the rest of the output is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _modules(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the modules that `-p MODULE` names before the command, and the other arguments."""
    modules, rest = [], list(arguments)
    while rest and rest[0].startswith("-p"):
        name = rest.pop(0)[2:].removeprefix("=")
        if not (name := name or (rest.pop(0) if rest else "")):
            raise UsageError("-p: expected a module, such as -p conftest")
        modules.append(name)
    return modules, rest


def _parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m pytest_taskgraph", description=f"Benchmarks of {topics()}.")
    parser.add_argument(
        "-p", metavar="MODULE", help="module whose registrations are used, such as conftest. Repeatable, before COMMAND"
    )
    parser.set_defaults(ask_model=ask_model)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in commands.items():
        command.arguments(subparsers.add_parser(name, help=command.SUMMARY, description=command.SUMMARY))
    return parser


if __name__ == "__main__":
    sys.exit(main())
