"""A store that nobody may write to: strict replay and plan work as ever, a live run is refused before it asks."""

from __future__ import annotations

import sys

import bounded_process
import pytest
from closed_folder import BOUND, closed
from loopback import Loopback
from plugin_project import Project, right, wrong

LOADED = ("-m", "pytest", "-p", "taskgraph", "-p", "no:cacheprovider")


def ran(pytester: pytest.Pytester, url: str, *args: str, python: tuple[str, ...] = BOUND) -> tuple[int, list[str]]:
    """The exit code and the lines of a run, without times."""
    done = bounded_process.run([*python, *LOADED, f"--model={url}#any", *args], cwd=pytester.path)
    return done.returncode, [line.partition(" in ")[0] for line in (done.stdout + done.stderr).splitlines()]


def table(lines: list[str]) -> list[str]:
    return lines[next(number for number, line in enumerate(lines) if "= taskgraph =" in line) :]


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_replay_gives_same_table(
    project: Project, server: Loopback, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    server.answer = lambda prompt: right(prompt) if len(prompt) % 2 else wrong(prompt)
    ran(pytester, server.url, python=(sys.executable,))
    code, lines = ran(pytester, server.url, "--taskgraph-replay", *workers, python=(sys.executable,))
    sent = len(server.requests)
    with closed(project.path / ".taskgraph"):
        again, replayed = ran(pytester, server.url, "--taskgraph-replay", *workers)
    assert (again, table(replayed)) == (code, table(lines))
    assert len(server.requests) == sent


def test_miss_shows_nearest_request(project: Project, server: Loopback, pytester: pytest.Pytester) -> None:
    ran(pytester, server.url, python=(sys.executable,))
    with closed(project.path / ".taskgraph"):
        code, lines = ran(pytester, server.url, "--taskgraph-replay", "--taskgraph-seed=5")
    assert code == 1
    assert "the nearest stored one (-)" in "\n".join(lines)


def test_replay_can_be_compared_where_nothing_can_be_kept(
    project: Project, server: Loopback, pytester: pytest.Pytester
) -> None:
    server.answer = right
    ran(pytester, server.url, "--taskgraph-report=json=base.json", python=(sys.executable,))
    with closed(project.path / ".taskgraph"):
        code, lines = ran(pytester, server.url, "--taskgraph-replay", "--taskgraph-compare=./base.json")
    assert (code, [line for line in lines if "Exit" in line]) == (0, [])


@pytest.mark.parametrize("option", ["--taskgraph-dry-run", "--collect-only"])
def test_plan_knows_what_is_stored(project: Project, server: Loopback, pytester: pytest.Pytester, option: str) -> None:
    ran(pytester, server.url, python=(sys.executable,))
    code, lines = ran(pytester, server.url, option, python=(sys.executable,))
    with closed(project.path / ".taskgraph"):
        assert ran(pytester, server.url, option) == (code, lines)
    assert code == 0


def test_replay_that_cannot_be_kept_as_last_run_is_reported_as_ever(
    project: Project, server: Loopback, pytester: pytest.Pytester
) -> None:
    server.answer = right
    ran(pytester, server.url, "--taskgraph-save=main", python=(sys.executable,))
    code, lines = ran(pytester, server.url, "--taskgraph-replay", python=(sys.executable,))
    with closed(project.path / ".taskgraph" / "runs"), closed(project.path / ".taskgraph"):
        again, replayed = ran(pytester, server.url, "--taskgraph-replay")
        refused, _ = ran(pytester, server.url, "--taskgraph-replay", "--taskgraph-save=other")
    assert (code, again, table(replayed)) == (0, 0, table(lines))
    assert refused == 4, "what is asked for must be made"


def test_live_run_asks_nothing_that_it_could_not_keep(
    project: Project, server: Loopback, pytester: pytest.Pytester
) -> None:
    ran(pytester, server.url, python=(sys.executable,))
    sent = len(server.requests)
    with closed(project.path / ".taskgraph"):
        code, lines = ran(pytester, server.url, "--taskgraph-seed=5")
    assert code == 4
    assert "cannot be written to; name another folder" in "\n".join(lines)
    assert len(server.requests) == sent
