"""A project with suites that are linted, in this process, and a family whose questions a suite writes out."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import in_process
import pytest

from pytest_taskgraph.__main__ import main

# A family of riddles: the suite states the id, the prompt, the answer and the form of each question.
RIDDLES = """
from itertools import count
from pytest_taskgraph import Family, QuestionReference
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.trial import Question

TURN = count()

class Riddles(Family):
    name = "riddles"
    topic = "riddles"
    suite_options = frozenset({"rows"})

    def references(self, settings, options):
        return [QuestionReference(row["id"], row.get("group", "riddle"), row) for row in options.get("rows", ())]

    def question(self, reference, settings):
        row = reference.payload
        if "error" in row:
            raise ValueError(row["error"])
        prompt = row["prompt"].replace("TURN", str(next(TURN)))
        shape = form(row.get("form", "yes-no"))
        return Question(reference.id, "riddles", reference.group, "", prompt, prompt, shape.name, row["answer"],
                        row.get("metric", shape.metric))

riddles = Riddles()

def pytest_taskgraph_register(registry):
    registry.family(riddles)
"""
SUITE = """
from conftest import riddles
from pytest_taskgraph import suite

ROWS = {rows}

@suite(riddles, rows=ROWS)
def test_riddles(trial):
    trial.check()
"""
LINE = 7  # of the suite in that file
# A suite about one pattern, whose line is given in PATTERN_LINE.
PATTERN = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding

{head}
@pattern({templates}, form="{form}")
def chosen(workflow: Workflow) -> Cases:
    """A pattern of the project's own."""
    {body}

@suite(understanding, patterns=chosen, instances={instances})
def test_chosen(trial):
    trial.check()
'''
PATTERN_LINE = 5


@dataclass(frozen=True)
class Linted:
    """What the linter came to."""

    code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """Return the lines of findings: each begins with the place."""
        return [line for line in self.output.splitlines() if ".py:" in line.split(" ")[0]]

    @property
    def rules(self) -> list[str]:
        """Return the names of the rules of the findings, each once, in order."""
        return list(dict.fromkeys(line.split(" ")[1] for line in self.lines))


class LintProject:
    """A folder with suites; the working directory."""

    def __init__(self, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = pytester.path
        self._capsys = capsys
        self.write("pytest.ini", "[pytest]\n")

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_riddles(self, *rows: dict[str, Any]) -> None:
        """Write a suite that asks these questions."""
        self.write("conftest.py", RIDDLES)
        self.write("test_riddles.py", SUITE.format(rows=repr(list(rows))))

    def write_pattern(self, *templates: str, body: str, form: str = "task", head: str = "", instances: int = 2) -> None:
        """Write a suite that asks one pattern."""
        words = ", ".join(map(repr, templates))
        self.write(
            "test_chosen.py", PATTERN.format(templates=words, body=body, form=form, head=head, instances=instances)
        )

    def lint(self, *arguments: str) -> Linted:
        """Run the command in this process."""
        loaded = set(sys.modules)
        path = list(sys.path)
        self._capsys.readouterr()
        gc.freeze()  # the run within collects garbage twice, among all objects of this process
        try:
            code = main(["lint", *arguments])
        finally:
            sys.path[:] = path
            for name in set(sys.modules) - loaded:
                if name in ("conftest", "ours") or name.startswith("test_"):
                    del sys.modules[name]
        captured = self._capsys.readouterr()
        return Linted(code, captured.out, captured.err)


def row(id_: str, prompt: str, answer: Any = "yes", **others: Any) -> dict[str, Any]:  # noqa: ANN401 - of the form
    """Return a question of the riddles."""
    return {"id": id_, "prompt": prompt, "answer": answer, **others}


SOUND = (row("hole", "Does it grow?"), row("egg", "Does it walk?", "no"))


@contextmanager
def lint_project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[LintProject]:
    """A project that no setting of the surrounding run reaches."""
    with in_process.untouched(pytester, monkeypatch) as project:
        (project.path / "test_graph.py").unlink()
        yield LintProject(pytester, capsys)
