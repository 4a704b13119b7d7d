"""What holds when the items of a run are spread over workers of pytest-xdist, seen from the provider's side."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bounded_process
import pytest
import warm_workers
from loopback import Loopback
from plugin_project import Project, Ran, right, wrong

SUITE = """
import pytest
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances={instances})
def {name}(trial):
    trial.check()
"""
LOST = "flow_start-wadl-n012-s0-004"
CRASH = f"""
import os, pathlib, pytest

@pytest.fixture(autouse=True)
def crash(request):
    marker = pathlib.Path(__file__).with_name("crashed")
    if "{LOST}" in request.node.nodeid and not marker.exists():
        marker.touch()
        os._exit(1)
"""
DISTRIBUTIONS = (
    "each",
    *(
        pytest.param(name, marks=pytest.mark.exhaustive)
        for name in ("load", "worksteal", "loadscope", "loadfile", "loadgroup")
    ),
)
FLIGHT = "--taskgraph-concurrency=4"
RECORD = "--taskgraph-report=json=record.json"
PLUGINS = ("taskgraph", "xdist")


class Counting:
    """A provider's answer that counts the requests that are in flight, each as long as `hold` takes."""

    def __init__(self, reply: Any = right, hold: Any = lambda: None) -> None:  # noqa: ANN401 - functions
        self.reply, self.hold = reply, hold
        self.now = self.most = 0
        self.times: list[float] = []
        self._lock = threading.Lock()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.times.append(time.monotonic())
        self.hold()
        with self._lock:
            self.now -= 1
        return str(self.reply(prompt))


def lean(server: Loopback) -> str:
    return f"--model={server.url}#any"


def twice(server: Loopback) -> list[int]:
    """How often prompts were asked that were asked more than once."""
    return [times for times in Counter(request.prompt for request in server.requests).values() if times > 1]


def outcomes(project: Project) -> Counter[str]:
    return Counter(trial["outcome"] for trial in project.record()["trials"])


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of twenty questions; every third answer is wrong."""
    project.write("test_graph.py", SUITE.format(name="test_graph", instances=10))
    server.answer = Counting(some_right)
    return project


def some_right(prompt: str) -> str:
    return wrong(prompt) if len(prompt) % 3 == 0 else right(prompt)


@pytest.mark.parametrize("dist", DISTRIBUTIONS)
def test_whatever_distribution_each_question_is_asked_once(many: Project, server: Loopback, dist: str) -> None:
    many.write("test_twins.py", SUITE.format(name="test_twins", instances=10))  # the same twenty
    ran = many.spread(
        lean(server), FLIGHT, "--dist", dist, RECORD, "--taskgraph-fail-on=nothing", "--taskgraph-max-calls=20"
    )
    assert (len(server.requests), twice(server)) == (20, []), ran.output
    assert isinstance(server.answer, Counting)
    assert server.answer.most <= 4
    trials = many.record()["trials"]
    outcomes = {prompt_of(many, trial): trial["outcome"] for trial in trials}
    assert outcomes == {
        request.prompt: "wrong" if len(request.prompt) % 3 == 0 else "right" for request in server.requests
    }
    times = 2 if dist == "each" else 1
    assert ran.counts["passed"] + ran.counts["wrong"] == 40 * times + 1, ran.output  # the budget is a case
    assert sum(trial["attempts"] for trial in trials) == 40 * times


def prompt_of(project: Project, trial: dict[str, Any]) -> str:
    texts = project.record()["texts"]
    return "".join(texts[part] for part in trial["question"]["prompt"])


@pytest.mark.exhaustive
def test_budget_is_exact_where_each_worker_runs_all(many: Project, server: Loopback) -> None:
    ran = many.spread(lean(server), FLIGHT, "--taskgraph-max-calls=7", "--dist=each", RECORD)
    assert len(server.requests) == 7, ran.output
    assert outcomes(many)["skipped"] == 13


def test_requests_in_flight_are_shared_out_to_workers_of_any_name(many: Project, server: Loopback) -> None:
    together, first = threading.Barrier(4, timeout=bounded_process.LIMIT), iter(range(4))
    server.answer = Counting(right, lambda: next(first, None) is None or together.wait())
    options = ("--dist=load", "--tx=popen//id=left", "--tx=popen//id=right")
    with warm_workers.forked():
        ran = many.run(lean(server), FLIGHT, *options, plugins=PLUGINS)
    assert (ran.code, ran.counts, server.answer.most) == (0, {"passed": 20}, 4), ran.output


def test_requests_minute_are_shared_out(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", SUITE.format(name="test_graph", instances=2))
    project.write("conftest.py", "import aiohttp")  # else the first request is let go, and sent when that is imported
    server.answer = Counting()
    ran = project.spread(lean(server), "--taskgraph-rpm=60")
    assert (ran.counts, len(server.requests)) == ({"passed": 4}, 4), ran.output
    # Two of each worker's thirty a minute: one at once, the next after a second at the earliest.
    assert server.answer.times[-1] - server.answer.times[0] > 0.7


@pytest.mark.parametrize("limit", ["concurrency", "rpm"])
@pytest.mark.parametrize("workers", [("-n", "3"), ("--dist=load", "--tx=2*popen", "--tx=popen")])
def test_fewer_requests_than_workers_are_mistake_of_usage(
    many: Project, server: Loopback, limit: str, workers: tuple[str, ...]
) -> None:
    ran = many.run(lean(server), f"--taskgraph-{limit}=2", *workers, plugins=PLUGINS)
    assert ran.code == pytest.ExitCode.USAGE_ERROR, ran.output
    assert f"--taskgraph-{limit}=2 is less than a request" in ran.output
    assert server.requests == []


def test_when_worker_dies_all_but_item_are_in_record_and_gate_fails(many: Project, server: Loopback) -> None:
    many.write("conftest.py", CRASH)
    ran = many.spread(lean(server), FLIGHT, RECORD, "--taskgraph-gate=structure>=0.1")
    assert ran.counts["failed"] == 2, ran.output
    reason = "not decided: 1 of 20 questions were lost with their worker"
    assert [(gate["outcome"], gate["reason"]) for gate in many.record()["gates"]] == [("failed", reason)]
    assert many.record()["lost"] == [LOST]
    assert "1 question lost because the worker that asked died" in ran.output
    assert re.search(r"this run sent at least \d+ requests", " ".join(ran.output.split())), ran.output
    assert many.record()["usage"]["complete"] is False
    ids = [trial["question"]["id"] for trial in many.record()["trials"]]
    assert (len(ids), LOST in ids) == (19, False), ran.output
    # Two were in flight; and a provider that answers at once has told more before the first of them are kept.
    assert len(server.requests) <= 26, "only what the dead one had in flight, or had not kept yet, is asked again"
    assert f"crashed while running 'test_graph.py::test_graph[{LOST}]'" in " ".join(ran.output.split()), ran.output
    assert ran.code == 1


def test_workers_with_maxfail_send_few_requests_and_decide_no_gate(many: Project, server: Loopback) -> None:
    server.answer = Counting(wrong)
    ran = many.spread(
        lean(server), FLIGHT, "-x", "--taskgraph-gate=structure>=0.8", "--taskgraph-fail-on=answers,gates"
    )
    assert ran.counts["failed"] <= 4, ran.output
    assert ran.counts["skipped"] == 1, ran.output
    assert "skipped gates::structure: not decided: " in ran.output
    assert len(server.requests) <= 10
    assert ran.code == 2


@contextmanager
def machine(folder: Path) -> Iterator[str]:
    """A socket server of execnet, which stands for another machine; its address."""
    folder.mkdir()
    command = [sys.executable, "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"]
    with bounded_process.start(command, cwd=folder) as process:
        assert process.stdout is not None
        host, port = process.stdout.readline().rpartition("(")[2].strip(")\n").replace("'", "").split(", ")
        yield f"--tx=socket={host}:{port}//chdir={folder}"


def apart(project: Project, folder: Path, *args: str) -> Ran:
    """A run over two machines, each with a folder of its own."""
    with ExitStack() as machines:
        addresses = [machines.enter_context(machine(folder / name)) for name in ("one", "two")]
        return project.spawn(
            *addresses, "--dist=load", "--max-worker-restart=0", f"--rsyncdir={project.path}", project.path, *args,
            plugins=PLUGINS, fresh=False,
        )  # fmt: skip


@pytest.mark.filterwarnings("default")
def test_workers_of_other_machines_ask_what_they_run_and_share_budget(
    project: Project, server: Loopback, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project.write("test_graph.py", SUITE.format(name="test_graph", instances=10))
    server.answer = right
    folder = tmp_path_factory.mktemp("machines")
    ran = apart(project, folder, lean(server), FLIGHT, "--taskgraph-max-calls=7", RECORD)
    assert len(server.requests) <= 7, ran.output
    assert twice(server) == []
    assert outcomes(project) == {"right": len(server.requests), "skipped": 20 - len(server.requests)}
    stores = [folder / name / project.path.name / ".taskgraph" / "replies.sqlite" for name in ("one", "two")]
    assert all(store.exists() for store in stores)
    assert sorted(path.name for path in (project.path / ".taskgraph").iterdir()) == [".gitignore", "runs"]


def test_worker_done_lets_arrive_what_others_wait_for(project: Project, server: Loopback) -> None:
    again, seen = threading.Event(), Counter[str]()

    def answer(prompt: str) -> str:
        seen[prompt] += 1
        if "parallel block" in prompt:
            if seen[prompt] > 1:
                again.set()
            again.wait(1)  # longer than the worker that asks ahead has items of its own to run
        return right(prompt)

    server.answer = answer
    ran = project.spread(lean(server), "--taskgraph-max-calls=4", "--taskgraph-fail-on=answers")
    assert (ran.code, ran.counts, sorted(seen.values())) == (0, {"passed": 5}, [1] * 4), ran.output
