"""A store that nobody may write to: strict replay and plan work as ever, a live run is refused before it asks."""

from __future__ import annotations

import pytest
import warm_processes
from closed_folder import bind, closed
from loopback import Loopback
from plugin_project import Project, right, wrong

PLUGINS = ("taskgraph", "xdist")
LOADED = ("-p", "taskgraph", "-p", "xdist", "-p", "no:cacheprovider")


def ran(project: Project, url: str, *args: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines, without times, of a run that permissions bind."""
    done = warm_processes.run([*LOADED, f"--model={url}#any", *args], project.path, prepare=bind)
    return done.returncode, without_times(done.stdout + done.stderr)


def ran_free(project: Project, url: str, *args: str) -> tuple[int, list[str]]:
    """Return the same of a run in this process, before the folder is closed."""
    done = project.run("-p", "no:cacheprovider", f"--model={url}#any", *args, plugins=PLUGINS)
    return done.code, without_times(done.output)


def without_times(output: str) -> list[str]:
    return [line.partition(" in ")[0] for line in output.splitlines() if line]


def table(lines: list[str]) -> list[str]:
    return lines[next(number for number, line in enumerate(lines) if "= taskgraph =" in line) :]


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.exhaustive)], ids=["alone", "workers"]
)
def test_replay_gives_same_table(project: Project, server: Loopback, workers: tuple[str, ...]) -> None:
    server.answer = lambda prompt: right(prompt) if len(prompt) % 2 else wrong(prompt)
    ran_free(project, server.url)
    code, lines = ran_free(project, server.url, "--taskgraph-replay")
    sent = len(server.requests)
    with closed(project.path / ".taskgraph"):
        again, replayed = ran(project, server.url, "--taskgraph-replay", *workers)
    assert (again, table(replayed)) == (code, table(lines))
    assert len(server.requests) == sent


def test_miss_shows_nearest_request(project: Project, server: Loopback) -> None:
    ran_free(project, server.url)
    with closed(project.path / ".taskgraph"):
        code, lines = ran(project, server.url, "--taskgraph-replay", "--taskgraph-seed=5")
    assert code == 1
    assert "the nearest stored one (-)" in "\n".join(lines)


def test_replay_can_be_compared_where_nothing_can_be_kept(project: Project, server: Loopback) -> None:
    server.answer = right
    ran_free(project, server.url, "--taskgraph-report=json=base.json")
    with closed(project.path / ".taskgraph"):
        code, lines = ran(project, server.url, "--taskgraph-replay", "--taskgraph-compare=./base.json")
    assert (code, [line for line in lines if "Exit" in line]) == (0, [])


@pytest.mark.parametrize(
    "option", ["--taskgraph-dry-run", pytest.param("--collect-only", marks=pytest.mark.exhaustive)]
)
def test_plan_knows_what_is_stored(project: Project, server: Loopback, option: str) -> None:
    ran_free(project, server.url)
    code, lines = ran_free(project, server.url, option)
    with closed(project.path / ".taskgraph"):
        assert ran(project, server.url, option) == (code, lines)
    assert code == 0


def test_replay_that_cannot_be_kept_as_last_run_is_reported_as_ever(project: Project, server: Loopback) -> None:
    server.answer = right
    ran_free(project, server.url, "--taskgraph-save=main")
    code, lines = ran_free(project, server.url, "--taskgraph-replay")
    with closed(project.path / ".taskgraph" / "runs"), closed(project.path / ".taskgraph"):
        again, replayed = ran(project, server.url, "--taskgraph-replay")
        refused, _ = ran(project, server.url, "--taskgraph-replay", "--taskgraph-save=other")
    assert (code, again, table(replayed)) == (0, 0, table(lines))
    assert refused == 4, "what is asked for must be made"


def test_live_run_asks_nothing_that_it_could_not_keep(project: Project, server: Loopback) -> None:
    ran_free(project, server.url)
    sent = len(server.requests)
    with closed(project.path / ".taskgraph"):
        code, lines = ran(project, server.url, "--taskgraph-seed=5")
    assert code == 4
    assert "cannot be written to; name another folder" in "\n".join(lines)
    assert len(server.requests) == sent
