"""A small project with a suite, on which pytest is run: in this process, or in one of its own."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from xml.etree import ElementTree

import bounded_process
import pytest
import warm_processes
import warm_workers

from pytest_taskgraph.families.understanding.baselines import read_back
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.results import record
from pytest_taskgraph.scoring.forms import FORMS

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair", "parallel_block"], instances=2)
def test_graph(trial):
    trial.check()
"""
# A pattern with an open answer.
OWN = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding

@pattern("In {{ place }}, what is {{ task }} for?", form="text")
def purpose(workflow: Workflow) -> Cases:
    """Check that the model states the purpose of a task."""
    task = workflow.task_names[0]
    yield case(f"It makes {task} ready.", task=task)

@suite(understanding, patterns=purpose, instances=2)
def test_own(trial):
    trial.check()
'''
IDS = tuple(f"{name}-wadl-n012-s0-00{n}" for name in ("parallel_pair", "parallel_block") for n in (0, 1))
ITEMS = tuple(f"test_graph.py::test_graph[{id_}]" for id_ in IDS)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Ran:
    """What a run of pytest came to."""

    code: int
    output: str  # standard output, then standard error
    counts: dict[str, int] = field(default_factory=dict)  # of the last line: passed, failed, errors, wrong, …

    @property
    def clean(self) -> bool:
        """Whether nothing broke: no traceback of Python, no internal error of pytest, no line of our own code."""
        return not re.search(r"Traceback|INTERNALERROR|pytest_taskgraph/\w+/\w+\.py:\d+", self.output)

    @property
    def table(self) -> list[str]:
        """The lines from the section of taskgraph on, without pytest's last one and those on written files."""
        _, heading, rest = self.output.partition("= taskgraph =")
        assert heading, self.output
        return [line for line in rest.splitlines()[1:] if not re.match("=|taskgraph: [a-z]+ report: ", line)]


class Project:
    """A folder with `test_graph.py`; only pytest's own plugins, ours and those that are named are loaded."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.path = pytester.path
        self.write("test_graph.py", SUITE)
        self.write("pytest.ini", "[pytest]\n")

    def write(self, name: str, text: str) -> Path:
        """The path of the file, which now holds the text."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *args: str | Path, plugins: tuple[str, ...] = ("taskgraph",)) -> Ran:
        """A run in this process."""
        done = self._pytester.runpytest_inprocess(*_loading(plugins), *args, no_reraise_ctrlc=True)
        return _ran(int(done.ret), str(done.stdout) + "\n" + str(done.stderr))

    def spawn(
        self, *args: str | Path, plugins: tuple[str, ...] = ("taskgraph",), stdin: str = "", fresh: bool = True
    ) -> Ran:
        """A run in a process of its own; only a fresh one imports anew, heeds `PYTHON…` and exits as ever."""
        arguments = [*_loading(plugins), *map(str, args)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(self.path), *sys.path])}
        if fresh or not warm_processes.CAN_FORK:
            command = [sys.executable, "-m", "pytest", *arguments]
            done = bounded_process.run(command, cwd=self.path, env=environment, stdin=stdin)
        else:
            done = warm_processes.run(arguments, self.path, environment, stdin)
        return _ran(done.returncode, done.stdout + "\n" + done.stderr)

    def spread(
        self, *args: str | Path, plugins: tuple[str, ...] = ("taskgraph",), workers: int = 2, fresh: bool = False
    ) -> Ran:
        """A run over workers of pytest-xdist, whose controller is in this process; only fresh ones import anew."""
        with TemporaryFile() as file:
            with _standard_error(file.fileno()), nullcontext() if fresh else warm_workers.forked():
                ran = self.run("-n", str(workers), *args, plugins=(*plugins, "xdist"))
            file.seek(0)
            return Ran(ran.code, ran.output + file.read().decode(), ran.counts)

    def record(self, name: str = "record.json") -> dict[str, Any]:
        """The record that a run wrote."""
        return record.load(self.path / name)

    def junit(self, name: str = "junit.xml") -> ElementTree.Element:
        """The test suite of the JUnit file that a run wrote."""
        suite = ElementTree.parse(self.path / name).getroot().find("testsuite")
        assert suite is not None
        return suite


def properties(element: ElementTree.Element) -> list[tuple[str, str]]:
    """The properties of a test suite or a test case in a JUnit file."""
    return [
        (property_.attrib["name"], property_.attrib["value"]) for property_ in element.findall("properties/property")
    ]


def asking(url: str, key: str = "sk-test-123456", model: str = "openai/any") -> list[str]:
    """The arguments that put questions to the server at `url`."""
    option = "--taskgraph-model-option"
    return ["--model", model, option, f"api_base={url}", option, f"api_key={key}"]


SCORING_CLIENTS = ("provider", "address")
"""The clients that score texts behind a context."""


def asking_through(client: str, url: str) -> list[str]:
    """The arguments that put questions to the server at `url` through one of the clients."""
    names = {"litellm": "litellm:openai/any", "provider": "openai/any"}
    return asking(url, model=names[client]) if client in names else [f"--model={url}#any"]


def block() -> list[str]:
    """The names that the first question about a parallel block asks for."""
    settings = UnderstandingSettings(instances=2)
    first = understanding.references(settings, {"patterns": "parallel_block"})[0]
    reference = understanding.question(first, settings).reference
    assert isinstance(reference, list)
    return [str(name) for name in reference]


@cache
def right(prompt: str) -> str:
    """The right reply to a prompt of the default template."""
    form, answer = read_back(prompt)
    return f"Final answer: {FORMS[form].write(answer, [])}"


@cache
def wrong(prompt: str) -> str:
    """A reply that can be read and is wrong."""
    form, answer = read_back(prompt)
    return f"Final answer: { ({'yes': 'no', 'no': 'yes'}[str(answer)] if form == 'yes-no' else 'Nobody') }"


def rows(record: dict[str, Any], reply: Any = right) -> str:  # noqa: ANN401 - a function of the prompt
    """The lines of a file of recorded replies to the questions of a record."""
    prompts = ["".join(record["texts"][part] for part in trial["question"]["prompt"]) for trial in record["trials"]]
    return "".join(json.dumps({"prompt": prompt, "reply": reply(prompt)}) + "\n" for prompt in prompts)


@contextmanager
def _standard_error(number: int) -> Iterator[None]:
    """Standard error, of this process and of those that it starts meanwhile, is what is open under that number."""
    duplicate = os.dup(2)
    os.dup2(number, 2)
    try:
        yield
    finally:
        os.dup2(duplicate, 2)
        os.close(duplicate)


def _loading(plugins: tuple[str, ...]) -> list[str]:
    # Those that this process has imported cannot be rewritten, which pytest warns of.
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    return [*quiet, *(word for name in plugins for word in ("-p", name))]


def _ran(code: int, output: str) -> Ran:
    plain = _ANSI.sub("", output)
    last = next((line for line in reversed(plain.splitlines()) if re.search(r" in \d+\.\d+s", line)), "")
    return Ran(code, plain, {what.rstrip("s,"): int(n) for n, what in re.findall(r"(\d+) ([a-z]+)", last)})
