"""docs/how-to/tuning.md: its tasks, methods, options and defaults are those of the code."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pytest_taskgraph.benchmarks.tuning_task import TUNING_METHODS, TuningParameters, TuningTask
from pytest_taskgraph.commands import tune
from pytest_taskgraph.families import FAMILIES

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "tuning.md").read_text(encoding="utf-8")


def table(head: str) -> list[list[str]]:
    """Return the cells of the rows of the table whose first line begins with these words."""
    (rows,) = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|:]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows.splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def tasks() -> dict[str, TuningTask]:
    """Return the tasks by the name that the command takes: the family alone where it has no other task."""
    of_family = {name: list(FAMILIES[name].tuning_tasks()) for name in FAMILIES}
    return {
        family if len(own) == 1 else f"{family}.{task.name}": task for family, own in of_family.items() for task in own
    }


def test_page_lists_tasks_with_what_decides() -> None:
    rows = {names(row[0])[0]: names(row[2]) for row in table("task | what is learned")}
    assert rows.keys() == tasks().keys()
    for name, (measure,) in rows.items():
        assert next(iter(tasks()[name].score([], []))) == measure


def test_page_lists_methods_and_options() -> None:
    assert [names(row[0])[0] for row in table("`--method`")] == [*TUNING_METHODS]
    parser = argparse.ArgumentParser(add_help=False)
    tune.arguments(parser)
    options = {action.option_strings[0] for action in parser._actions if action.option_strings}
    listed = {name for row in table("option") for name in names(row[0])}
    assert options - listed == {"--model", "--method", "--out", "--network"}
    assert listed <= options


def test_page_states_defaults() -> None:
    rows = {(names(row[0])[0], names(row[1])[0]): row[2:] for row in table("task | method")}
    expected = {}
    for name, task in tasks().items():
        for method, stated in task.parameters.items():
            length = str(stated.updates) if stated.updates else f"{stated.epochs} rounds"
            every = str(stated.every) if stated.every else "a round"
            numbers = (stated.batch, stated.tokens, stated.learning_rate, stated.dev)
            expected[name, method] = [length, every, *map(str, numbers)]
    assert rows == expected
    plain = TuningParameters(updates=1)
    assert f"rank {plain.rank}, alpha {plain.alpha} and dropout {plain.dropout}" in PAGE
    lengths = {task.parameters["soft-prompt"].prompt_tokens for task in tasks().values()}
    assert lengths == {(20, 50, 100)}
