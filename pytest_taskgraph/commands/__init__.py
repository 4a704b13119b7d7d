"""The shelf of commands: `python -m pytest_taskgraph NAME`. Each is a module with `arguments` and `run`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from . import compare, mark, marks, patterns, replies, rescore


@dataclass(frozen=True, slots=True)
class Command:
    """A command: one line of help, what it takes, and what it does; `run` gives the exit code."""

    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS: dict[str, Command] = {
    "compare": Command(compare.SUMMARY, compare.arguments, compare.run),
    "mark": Command(mark.SUMMARY, mark.arguments, mark.run),
    "marks": Command(marks.SUMMARY, marks.arguments, marks.run),
    "patterns": Command(patterns.SUMMARY, patterns.arguments, patterns.run),
    "replies": Command(replies.SUMMARY, replies.arguments, replies.run),
    "rescore": Command(rescore.SUMMARY, rescore.arguments, rescore.run),
}
