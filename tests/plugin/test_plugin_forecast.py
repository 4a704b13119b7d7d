"""The lines before the first request, in one process and on the controller of pytest-xdist."""

from __future__ import annotations

import re

import pytest
from loopback import Loopback
from plugin_project import Project, Ran, asking, right

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=5)
def test_graph(trial):
    trial.check()
"""
PRICED = ("--taskgraph-price=1/2", "--taskgraph-model-option=max_tokens=100")
BROKEN = """
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.plugin.suites import CollectedQuestion

build = CollectedQuestion.question

def question(self):
    if "flow_end" in self.reference.id:
        raise UsageError("it cannot be built")
    return build(self)

def pytest_configure(config):
    CollectedQuestion.question = question
    config.add_cleanup(lambda: setattr(CollectedQuestion, "question", build))
"""
IMPORTED = """
import os, pathlib, sys, threading, pytest

@pytest.fixture(autouse=True)
def first(request):
    for thread in threading.enumerate():
        if thread.name == "taskgraph-litellm":
            thread.join()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    path = pathlib.Path(__file__).with_name(f"{worker}.seen")
    if not path.exists():
        path.write_text(str("litellm" in sys.modules))
"""


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of ten questions."""
    project.write("test_graph.py", SUITE)
    server.answer = right
    return project


def lean(server: Loopback) -> str:
    return f"--model={server.url}#any"


def planned(ran: Ran) -> list[str]:
    """What taskgraph says above the first result."""
    start = re.split(r"\[ *\d+%\]|= taskgraph =", ran.output)[0]
    return [line for line in start.splitlines() if line.startswith("taskgraph")]


def test_controller_tells_what_one_process_tells(many: Project, server: Loopback) -> None:
    many.run(lean(server), *PRICED)  # what its replies took is expected of others
    alone = many.run(lean(server), *PRICED, "--taskgraph-refresh")
    spread = many.spread(lean(server), *PRICED, "--taskgraph-refresh", workers=1)
    assert re.fullmatch(r"taskgraph: 10 requests, about \$0\.\d+, at most \$0\.\d+", planned(alone)[0]), alone.output
    assert planned(spread) == planned(alone)
    assert len(planned(spread)) == 2
    assert planned(spread)[1].endswith("10 questions")
    stored = many.spread(lean(server), *PRICED, workers=1)
    assert planned(stored)[0] == "taskgraph: 0 requests, 10 replies from the store"


def test_forecast_and_notices_are_printed_once_before_first_item(many: Project, server: Loopback) -> None:
    options = ("--taskgraph-max-calls=4", "--taskgraph-compare=nightly", "--taskgraph-fail-on=answers")
    ran = many.spread(lean(server), "-v", *options)
    assert ran.output.count("taskgraph: 4 of 10 requests, cost unknown") == 1, ran.output
    assert ran.output.index("4 of 10 requests") < ran.output.index("test_graph.py::test_graph[")
    assert any("there is no run named 'nightly'" in line for line in planned(ran)), ran.output


def test_questions_that_each_worker_runs_are_counted_once(many: Project, server: Loopback) -> None:
    ran = many.spread(lean(server), "--dist=each")
    assert planned(ran)[0] == "taskgraph: 10 requests, cost unknown"
    assert len(server.requests) == 10


def test_replay_says_that_nothing_is_sent(many: Project, server: Loopback) -> None:
    many.run(lean(server), "-k", "flow_start")
    expected = "a replay, nothing is sent: 5 replies from the store, 5 missing in it"
    assert planned(many.run(lean(server), "--taskgraph-replay"))[0] == f"taskgraph: {expected}"
    plan = many.run(lean(server), "--taskgraph-replay", "--taskgraph-dry-run").output
    assert f"taskgraph plan: {expected}; no request was sent" in plan
    assert "cost" not in plan.partition("pattern ")[2]


def test_quiet_it_tells_nothing(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "-q")
    assert (planned(ran), ran.counts) == ([], {"passed": 10})


@pytest.mark.parametrize("quiet", [("-q",), pytest.param(("-p", "no:terminal"), marks=pytest.mark.exhaustive)])
def test_quiet_or_without_reporter_controller_tells_nothing(
    many: Project, server: Loopback, quiet: tuple[str, ...]
) -> None:
    ran = many.spread(lean(server), *quiet, workers=1)
    assert (ran.code, planned(ran), len(server.requests)) == (0, [], 10), ran.output


def test_controller_without_suite_prints_nothing(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", "def test_plain(): pass")
    ran = project.spread(lean(server), workers=1)
    assert (ran.counts, planned(ran)) == ({"passed": 1}, []), ran.output


@pytest.mark.parametrize("spread", [False, True], ids=["one process", "workers"])
def test_question_that_cannot_be_built_is_reported_by_item(many: Project, server: Loopback, spread: bool) -> None:
    many.write("conftest.py", BROKEN)
    ran = many.spread(lean(server), workers=1) if spread else many.run(lean(server))
    assert (ran.counts, ran.clean) == ({"passed": 5, "error": 5}, True), ran.output
    assert "it cannot be built" in ran.output
    assert not any("10 requests" in line for line in planned(ran))  # no forecast


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("workers", "imported"),
    [
        (("-n", "0"), {"alone": "True"}),
        (("-n", "1"), {"gw0": "True"}),
    ],
)
def test_litellm_import_during_collection_hides_warnings(
    many: Project, server: Loopback, workers: tuple[str, ...], imported: dict[str, str]
) -> None:
    many.write("conftest.py", IMPORTED)
    many.write("test_before.py", "def test_plain(): pass")
    ran = many.spawn(
        *asking(server.url, model="litellm:openai/any"), *workers, "-W", "always", plugins=("taskgraph", "xdist")
    )
    assert (ran.counts, seen(many)) == ({"passed": 11}, imported), ran.output
    assert "Warning" not in ran.output


def test_worker_lean_client_or_replay_imports_no_litellm(many: Project, server: Loopback) -> None:
    many.write("conftest.py", IMPORTED)
    ran = many.spread(*asking(server.url), workers=1)
    assert (ran.counts, seen(many)) == ({"passed": 10}, {"gw0": "False"}), ran.output
    many.spread(*asking(server.url, model="litellm:openai/any"), "--taskgraph-replay", workers=1)
    assert seen(many) == {"gw0": "False"}


def seen(project: Project) -> dict[str, str]:
    """Whether litellm was there before a worker's first item asked, by worker; forgotten once it is read."""
    texts = {path.stem: path.read_text() for path in sorted(project.path.glob("*.seen"))}
    for name in texts:
        (project.path / f"{name}.seen").unlink()
    return texts
