"""A second process builds the questions of a long run that were not kept; the run is the same without it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import bounded_process
import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="a second process needs Linux and a second core"
)

MANY = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair", "next_tasks", "task_list"], instances={instances})
def test_graph(trial):
    trial.check()
"""
# Notes which process builds which question; `before` runs before each question is built.
CONFTEST = """
import os
from pytest_taskgraph.benchmarks.understanding import Understanding

MAIN, BUILT = os.getpid(), []
build = Understanding.question

def question(family, reference, settings):
    {before}
    question = build(family, reference, settings)
    BUILT.append(question.id)
    with open("built.txt", "a") as file:
        file.write(f"{{os.getpid() == MAIN}} {{os.getpid()}} {{question.id}}\\n")
    return question

Understanding.question = question
{further}
"""
ALONE = """
from pytest_taskgraph.plugin.asking import builder_process
builder_process.can_start = lambda: False
"""
THREAD = """
import threading
from pytest_taskgraph.plugin.asking.builder_process import can_start

threading.Thread(target={target}, daemon=True).start()
print(any(can_start() for _ in range(1_000)))  # a thread that was just started may not wait yet
"""


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A project with 102 questions, and a server that answers them correctly."""
    server.answer = right
    project.write("test_graph.py", MANY.format(instances=34))
    note_builders(project)
    return project


def note_builders(project: Project, before: str = "pass", further: str = "") -> None:
    """Make the next run note in built.txt who builds each question."""
    project.write("conftest.py", CONFTEST.format(before=before, further=further))
    (project.path / "built.txt").unlink(missing_ok=True)


def built(project: Project) -> tuple[list[str], list[str]]:
    """The ids of the questions that the process of the run built, and of those that another one built."""
    path = project.path / "built.txt"
    lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    own, others = ([id_ for is_own, _, id_ in lines if is_own == str(wanted)] for wanted in (True, False))
    return own, others


def run(project: Project, server: Loopback, store: str, *options: str) -> dict[str, object]:
    """The questions with their scores, by id, after a run in a process of its own."""
    model = [] if any("--model" in option for option in options) else asking(server.url)
    record = "--taskgraph-report=json=record.json"
    ran = project.spawn(*model, record, f"--taskgraph-store={store}", *options)
    assert ran.clean, ran.output
    content = project.record()
    trials = {trial["question"]["id"]: (trial["question"], trial["score"]) for trial in content["trials"]}
    return {**trials, "texts": content["texts"]}


def ids(ran: dict[str, object]) -> list[str]:
    return sorted(ran.keys() - {"texts"})


def test_builder_process_builds_each_question_of_long_run_once(many: Project, server: Loopback) -> None:
    trials = run(many, server, "first")
    own, others = built(many)
    assert (own, sorted(others)) == ([], ids(trials))
    assert len(ids(trials)) == 102
    note_builders(many)
    assert run(many, server, "first", "--taskgraph-refresh") == trials
    assert built(many) == ([], [])  # they were kept
    note_builders(many, further=ALONE)
    assert run(many, server, "second") == trials
    own, others = built(many)
    assert (sorted(own), others) == (ids(trials), [])


@pytest.mark.parametrize(("options", "instances"), [((), 33), (("--model=simulated:1",), 34), (("-n2", "-pxdist"), 34)])
def test_builder_process_is_not_started_without_need(
    many: Project, server: Loopback, options: tuple[str, ...], instances: int
) -> None:
    many.write("test_graph.py", MANY.format(instances=instances))
    further = "import multiprocessing.context as c\nc.ForkProcess._Popen = None"  # an attempt would raise an error
    note_builders(many, further=further)
    assert len(ids(run(many, server, "store", *options))) == 3 * instances


@pytest.mark.parametrize("fault", ["os._exit(1)", "raise ValueError"])
def test_run_builds_what_failed_process_does_not(many: Project, server: Loopback, fault: str) -> None:
    expected = run(many, server, "first")
    note_builders(many, before=f"if os.getpid() != MAIN and len(BUILT) >= 30: {fault}")
    assert run(many, server, "second") == expected
    own, others = built(many)
    assert len(others) == 30
    assert sorted(own + others) == ids(expected)


def test_question_that_cannot_be_built_is_error_of_its_item(many: Project, server: Loopback) -> None:
    note_builders(many, before="if reference.id == 'next_tasks-wadl-n012-s0-007': raise ValueError('no luck')")
    ran = many.spawn(*asking(server.url))
    assert ran.counts == {"passed": 101, "error": 1}
    assert "no luck" in ran.output


def test_question_without_identity_is_error_of_its_item(many: Project, server: Loopback) -> None:
    note_builders(many, further="Understanding.question_identity = lambda *_: 1 / 0")
    ran = many.spawn(*asking(server.url))
    assert ran.counts == {"error": 102}
    assert "INTERNALERROR" not in ran.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_builder_process_ends_with_interrupted_run(many: Project, server: Loopback, number: int) -> None:
    many.write("test_graph.py", MANY.format(instances=340))  # more than the pipe between the processes holds
    os.mkfifo(many.path / "fifo")
    note_builders(
        many,
        before="if os.getpid() != MAIN and len(BUILT) == 30: FIFO.write('30'), FIFO.flush()",
        further="FIFO = open('fifo', 'w')",
    )
    command = [sys.executable, "-m", "pytest", "-p", "pytest_taskgraph.plugin.hooks", *asking(server.url)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with (
        bounded_process.start(command, cwd=many.path, env=environment) as process,
        open(many.path / "fifo") as fifo,
    ):
        assert fifo.read(2) == "30"
        os.kill(process.pid, number)
        assert fifo.read() == ""  # the end of the file comes once both processes have ended
        process.communicate()
    assert process.returncode == (2 if number == signal.SIGINT else -signal.SIGKILL)


@pytest.mark.parametrize(
    ("target", "expected"), [("threading.Event().wait", True), ("lambda: exec('while True: pass')", False)]
)
def test_can_start_beside_thread_only_if_it_waits(tmp_path: Path, target: str, expected: bool) -> None:
    command = [sys.executable, "-c", THREAD.format(target=target)]
    assert bounded_process.run(command, cwd=tmp_path).stdout == f"{expected}\n"


def test_receive_returns_questions_in_any_order_once(tmp_path: Path) -> None:
    script = """
from pytest_taskgraph.plugin.asking.builder_process import BuilderProcess

questions = ["first", "second", "third", "fourth"]
process = BuilderProcess(lambda question: b"" if question == "second" else question.encode(), questions)
other = "".join(["fir", "st"])  # equal, but another object
print([process.receive(each).decode() for each in (questions[2], questions[0], questions[1], other, questions[2])])
process.close()
process.close()
print(process.receive(questions[3]))
"""
    ran = bounded_process.run([sys.executable, "-c", script], cwd=tmp_path)
    assert ran.stdout == "['third', 'first', '', '', '']\nb''\n", ran.stderr
