"""Commands of `python -m pytest_taskgraph NAME`. Each is a module with SUMMARY, `arguments` and `run`."""

from __future__ import annotations

from ..benchmarks.family import Command
from ..errors import UsageError
from ..families import FAMILIES
from . import annotations_command, compare, export, lint, replies, rescore, saved_runs, score, show, tune

SHARED: dict[str, Command] = {
    "annotations": annotations_command,
    "compare": compare,
    "export": export,
    "lint": lint,
    "replies": replies,
    "rescore": rescore,
    "runs": saved_runs,
    "score": score,
    "show": show,
    "tune": tune,
}


def all_commands() -> dict[str, Command]:
    """Return the commands by name, in alphabetical order: the shared ones and those of each family.

    Raises:
        UsageError: if two commands have one name.
    """
    commands = dict(SHARED)
    for family in FAMILIES.values():
        for name in family.commands:
            if name in commands:
                raise UsageError(f"family {family.name!r}: the command {name!r} exists already; choose another name")
            commands[name] = family.command(name)
    return dict(sorted(commands.items()))
