"""Renamed options, values, model schemes and commands, each with its new name.

A change that renames one adds a row here; `plugin/retired_options.py` and `__main__.py` refuse the old name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .errors import UsageError


@dataclass(frozen=True, slots=True)
class RenamedOption:
    """Renamed option, with both names as in `Option.name`: `plan` for `--taskgraph-plan`."""

    old: str
    new: str
    note: str = ""  # about its values, if they were renamed as well


OPTIONS: Final = (
    RenamedOption("frame", "prompt"),
    RenamedOption("pass-mark", "pass-threshold"),
    RenamedOption("judge", "fail-on", "questions is answers now, none is nothing, and auto is the default"),
    RenamedOption("plan", "dry-run"),
    RenamedOption("reading", "parsing"),
)

VALUES: Final[Mapping[tuple[str, str], str]] = {
    ("presentation", "up-front"): "inline",
    ("fail-on", "undecided"): "inconclusive",
    ("prompt", "think-first"): "chain-of-thought",
}
"""The new name of a value, by the present name of its option and the old name of the value."""

MODEL_SCHEMES: Final[Mapping[str, str]] = {"oracle": "simulated"}
"""The new name of the part of a model's specification before the colon, by its old name."""

COMMANDS: Final[Mapping[str, str]] = {"mark": "score", "marks": "annotations"}
"""The new name of a command of `python -m pytest_taskgraph`, by its old name."""

COMMAND_OPTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("score", "--reading"): "--parsing",
    ("rescore", "--reading"): "--parsing",
}
"""The new name of an option of a command, by the present name of the command and the old name of the option."""


def renamed_option(spelling: str, option: RenamedOption, new: str) -> UsageError:
    """Return the error for an old option.

    Args:
        spelling: The option as the user wrote it, and where.
        option: Its row of OPTIONS.
        new: Its new name, spelled as in that place.
    """
    return UsageError(f"{spelling}: renamed to {new}{option.note and f' ({option.note})'}")


def check_value(spelling: str, option: str, text: str, choices: Collection[str] = ()) -> None:
    """Check that a value of an option, or of a list of values, has not been renamed.

    Args:
        spelling: The option as the user wrote it, and where.
        option: The name of the option.
        text: The value as it was typed.
        choices: The values that the option accepts, if they are limited; none of them is an old name.

    Raises:
        UsageError: if a value was renamed; the message has the new name.
    """
    for part in dict.fromkeys([text, *text.replace(",", " ").split()]):
        if (new := VALUES.get((option, part))) and part not in choices:
            raise UsageError(f"{spelling}: the value {part!r} is renamed to {new!r}")


def check_keyword(name: str) -> None:
    """Check that a keyword argument of `@suite` has not been renamed.

    Raises:
        UsageError: if it was renamed; the message has the new name.
    """
    for option in OPTIONS:
        if option.old == name.replace("_", "-"):
            raise renamed_option(f"@suite(..., {name}=...)", option, option.new.replace("-", "_"))


def check_model_scheme(spelling: str, spec: str, present: Collection[str] = ()) -> None:
    """Check that the scheme of a model's specification has not been renamed.

    Args:
        spelling: The option as the user wrote it, and where.
        spec: The specification.
        present: The schemes and names of models that exist; none of them is an old name.

    Raises:
        UsageError: if it was renamed; the message has the new name.
    """
    scheme, colon, _ = spec.strip().partition(":")
    if colon and scheme not in present and (new := MODEL_SCHEMES.get(scheme)):
        raise UsageError(f"{spelling}: {scheme}: is renamed to {new}:")


def check_command(arguments: Sequence[str], present: Collection[str]) -> None:
    """Check that neither the command nor one of its options has been renamed.

    Args:
        arguments: The command and what follows it.
        present: The commands that exist; none of them is an old name.

    Raises:
        UsageError: if one was renamed; the message has the new name.
    """
    command = arguments[0] if arguments else ""
    if command in COMMANDS and command not in present:
        raise UsageError(f"{command}: renamed to {COMMANDS[command]}")
    for argument in arguments[1:]:
        flag = argument.partition("=")[0]
        if new := COMMAND_OPTIONS.get((command, flag)):
            raise UsageError(f"{command} {flag}: renamed to {new}")
