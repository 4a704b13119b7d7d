"""Each row of the table in docs/reference/exit-codes.md is a run here that ends so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Loopback, refuse
from plugin_project import SUITE, Project, right, wrong

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"
FEW = ("--taskgraph-retries=0", "-k", "parallel_pair")
Prepare = Callable[[Project, Loopback], tuple[str, ...]]


def _answering(server: Loopback, answer: Callable[[str], str], *options: str) -> tuple[str, ...]:
    server.answer = answer
    return (f"--model={server.url}#any", *options)


def _failing(server: Loopback, *options: str) -> tuple[str, ...]:
    server.answer = refuse(500, "oops")
    return (f"--model={server.url}#any", *FEW, *options)


def _failing_once(server: Loopback, *options: str) -> tuple[str, ...]:
    server.script(refuse(500, "oops"))
    return _answering(server, right, *FEW, *options)


def _refused(project: Project, server: Loopback) -> tuple[str, ...]:
    server.answer = refuse(401, "Incorrect API key provided")
    return (f"--model={server.url}#any",)


def _invalid(project: Project, server: Loopback) -> tuple[str, ...]:
    project.write("test_invalid.py", SUITE.replace("parallel_pair", "paralel"))
    return _answering(server, right)


def _broken(project: Project, server: Loopback) -> tuple[str, ...]:
    project.write("conftest.py", "def pytest_runtest_logfinish():\n    raise ValueError('not ours')\n")
    return ()


def _outdated(project: Project, server: Loopback) -> tuple[str, ...]:
    model = _answering(server, right)
    project.run(*model, "--taskgraph-report=json=old.json")
    old = project.record("old.json")
    project.write("old.json", json.dumps({**old, "question_sets": {"understanding": 1}}))
    return (*model, "--taskgraph-compare=old.json")


def _configured(project: Project, gate: str = "structure>=0.8") -> None:
    project.write("pytest.ini", f"[pytest]\ntaskgraph_gate = {gate}\n")


def _plain(project: Project, server: Loopback) -> tuple[str, ...]:
    _configured(project)
    project.write("test_unit.py", "def test_plain():\n    pass\n")
    return ("test_unit.py",)


def _mistyped(project: Project, server: Loopback) -> tuple[str, ...]:
    _configured(project, "structur>=0.8")
    return _answering(server, right, "test_graph.py", "--lf")


def _modelless(project: Project, server: Loopback) -> tuple[str, ...]:
    _configured(project)
    return ("test_graph.py",)


def _not_understood(project: Project, server: Loopback) -> tuple[str, ...]:
    shouted = "{# answer: whole #}\n{{ guide }}\n{{ workflow }}\n{{ question | upper }}\n{{ instruction }}\n"
    return (f"--taskgraph-prompt={project.write('shouted.jinja', shouted)}",)


# What leads to an exit code, in the words of the page -> the code, and what prepares such a run and gives its options.
ROWS: dict[str, tuple[int, Prepare]] = {
    "every answer is right": (0, lambda _, server: _answering(server, right)),
    "answers are wrong, and the run fails on gates, which hold": (
        0,
        lambda _, server: _answering(server, wrong, "--taskgraph-gate=structure>=0"),
    ),
    "answers are wrong, report only": (
        0,
        lambda _, server: _answering(server, wrong, "--taskgraph-fail-on=nothing"),
    ),
    "gates are configured, and no question was collected": (0, _plain),
    "replies are missing, no more than `--taskgraph-max-errors` allows": (
        0,
        lambda _, server: _failing_once(server, "--taskgraph-max-errors=0.5"),
    ),
    "gates were skipped, for the user selected": (
        0,
        lambda _, server: _answering(server, right, "--taskgraph-gate=structure>=0.8", "-k", "parallel_pair"),
    ),
    "the plan was shown": (0, lambda _, server: _answering(server, right, "--taskgraph-dry-run")),
    "an answer is wrong, unparseable or refused, and the run fails on answers": (
        1,
        lambda _, server: _answering(server, wrong),
    ),
    "a suite has a mistake, or its fixture `trial` is replaced; all other tests run": (1, _invalid),
    "an answer is wrong, and a budget is set and kept, without a gate": (
        1,
        lambda _, server: _answering(server, wrong, "--taskgraph-max-calls=1000"),
    ),
    "a reply is missing": (1, lambda _, server: _failing(server)),
    "a gate does not hold, or is inconclusive": (
        1,
        lambda _, server: _answering(server, right, "--taskgraph-gate=structure>=0.99@95%"),
    ),
    "a gate's questions were not all answered, and the user did not select": (
        1,
        lambda _, server: _answering(server, right, "--taskgraph-gate=structure>=0", "--taskgraph-max-calls=3"),
    ),
    "a budget is spent": (1, lambda _, server: _answering(server, right, "--taskgraph-max-calls=3")),
    "the baseline understands no prompt at all, and every question is skipped": (1, _not_understood),
    "no reply arrived at all, whatever `--taskgraph-max-errors` allows": (
        1,
        lambda _, server: _failing(server, "--taskgraph-max-errors=1"),
    ),
    "more replies are missing than `--taskgraph-max-errors` allows": (
        1,
        lambda _, server: _failing(server, "--taskgraph-max-errors=0.1"),
    ),
    "the model cannot be asked: the key is refused, the model is not there": (2, _refused),
    "`--stepwise` stopped": (2, lambda _, server: _answering(server, wrong, "--sw")),
    "pytest or a plugin broke": (3, _broken),
    "an option, a name or a file is wrong": (4, lambda _, server: ("--taskgraph-notation=uml",)),
    "a gate is about no question": (4, lambda _, server: _answering(server, right, "--taskgraph-gate=structur>=0.8")),
    "a gate's name is mistyped, though files are named or `--lf` is given": (4, _mistyped),
    "a gate is about a value that no question has": (
        4,
        lambda _, server: _answering(server, right, "--taskgraph-gate=phrasing=7>=0.8"),
    ),
    "a configured gate without `--model`, where questions were collected": (4, _modelless),
    "a gate without `--model`": (4, lambda _, server: ("--taskgraph-gate=structure>=0.8",)),
    "a comparison with a run that asked another version of the question set": (4, _outdated),
    "a report cannot be written": (4, lambda _, server: ("--taskgraph-report=json=test_graph.py/record.json",)),
    "nothing was left to run": (5, lambda _, server: _answering(server, right, "-k", "nothing")),
    "nothing was left to run, with a gate": (
        5,
        lambda _, server: _answering(server, right, "--taskgraph-gate=structure>=0.8", "-k", "nothing"),
    ),
}
TOLD_ELSEWHERE = {"Ctrl-C", "`-x` or `--maxfail` under xdist"}  # test_plugin_ahead.py, test_plugin_gates.py


@pytest.mark.parametrize("row", ROWS)
def test_run_ends_with_exit_code_of_row(project: Project, server: Loopback, row: str) -> None:
    code, prepare = ROWS[row]
    ran = project.run(*prepare(project, server))
    assert ran.code == code, ran.output


def test_table_has_these_rows_and_no_others() -> None:
    rows = re.findall(r"^\| (\d) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {row: int(code) for code, row in rows if row not in TOLD_ELSEWHERE} == {
        row: code for row, (code, _) in ROWS.items()
    }
    assert not TOLD_ELSEWHERE - {row for _, row in rows}
