"""Law 8: an idle plugin imports nothing heavy, writes nothing, prints nothing, starts no thread."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import bounded_process
import pytest

import pytest_taskgraph

HEAVY = {
    *("litellm", "scipy", "numpy", "networkx", "hypothesis", "jinja2", "lark", "asyncio", "sqlite3", "pydantic"),
    *("torch", "transformers"),
}
GROUND = {
    "pytest_taskgraph",
    "pytest_taskgraph.errors",
    "pytest_taskgraph.installation",
    "pytest_taskgraph.plugin.hooks",
}
DECLARING = {
    *("benchmarks", "benchmarks.option", "families"),
    *("families.understanding", "families.understanding.family_options"),
    *("families.tasklama", "families.tasklama.tasklama_options", "families.steps", "families.steps.steps_options"),
    *("families.paged", "families.paged.paged_options"),
}
LIGHT = {
    "pytest_taskgraph.version",
    *GROUND,
    "pytest_taskgraph.catalog",
    "pytest_taskgraph.registry",
    "pytest_taskgraph.hookspec",
    *(f"pytest_taskgraph.{name}" for name in DECLARING),
}

TRIVIAL = """
def test_it_passes():
    assert True

def test_it_fails():
    assert [1] == [2]
"""

# Loaded before the plugin; tells at the end of the run what the process came to hold.
WITNESS = """
import json, os, sys, threading

started = []
start = threading.Thread.start

def noted_start(thread):
    started.append(thread.name)
    start(thread)

threading.Thread.start = noted_start

def pytest_unconfigure(config):
    plugins = config.pluginmanager.get_plugins()
    ours = [p for p in plugins if getattr(p, "__name__", "") == "pytest_taskgraph.plugin.hooks"]
    seen = {
        "modules": sorted(sys.modules),
        "threads": started,
        "active": any(hasattr(plugin, "pytest_addoption") for plugin in ours),
    }
    with open(os.environ["WITNESS_FILE"], "w") as file:
        json.dump(seen, file)
"""


@dataclass(frozen=True)
class Run:
    """What a run of pytest over the trivial tests came to."""

    returncode: int
    output: str
    files: frozenset[str]  # in the project, the home and the folder for temporary files
    modules: frozenset[str]
    threads: tuple[str, ...]
    active: bool


def installed() -> bool:
    """Whether pytest finds the plugin by its entry point."""
    return any(point.name == "taskgraph" for point in entry_points(group="pytest11"))


def environment(top: Path) -> dict[str, str]:
    """The environment without pytest's own variables and ours; home and temporary files are below `top`."""
    remaining = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "TASKGRAPH_", "XDG_"))}
    ours = str(Path(pytest_taskgraph.__file__).parents[1])
    return remaining | {
        "HOME": str(top / "home"),
        "TMPDIR": str(top / "tmp"),
        "PYTHONPATH": os.pathsep.join([str(top / "witness"), ours]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # Hypothesis's own plugin would import Hypothesis
        "WITNESS_FILE": str(top / "seen.json"),
    }


def run(top: Path, *plugins: str) -> Run:
    """A run in a project of one file, below `top`."""
    for folder in ("project", "home", "tmp", "witness"):
        (top / folder).mkdir(parents=True)
    (top / "project" / "test_trivial.py").write_text(TRIVIAL)
    (top / "project" / "pytest.ini").write_text("[pytest]\n")
    (top / "witness" / "witness.py").write_text(WITNESS)
    command = [sys.executable, "-m", "pytest", "-p", "witness", *plugins, "-p", "no:cacheprovider"]
    done = bounded_process.run(command, cwd=top / "project", env=environment(top))
    assert (top / "seen.json").exists(), done.stdout + done.stderr
    seen: dict[str, Any] = json.loads((top / "seen.json").read_text())
    output = mask_paths(done.stdout + done.stderr, top)
    remaining = [path for folder in ("project", "home", "tmp") for path in (top / folder).rglob("*")]
    files = frozenset(path.relative_to(top).as_posix() for path in remaining)
    return Run(done.returncode, output, files, frozenset(seen["modules"]), tuple(seen["threads"]), seen["active"])


def mask_paths(output: str, top: Path) -> str:
    """The output without what differs from run to run: the time taken, the folder, the line that names the plugins."""
    lines = [line for line in output.replace(str(top), "TOP").splitlines() if not line.startswith("plugins:")]
    return "\n".join(re.sub(r"in \d+\.\d+s", "in TIME", line).strip("= ") for line in lines)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with the plugin active."""
    return run(
        tmp_path_factory.mktemp("idle") / "run", "-p", "taskgraph" if installed() else "pytest_taskgraph.plugin.hooks"
    )


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run without the plugin."""
    return run(tmp_path_factory.mktemp("without") / "run", "-p", "no:taskgraph")


def test_idle_runs_differ_by_plugin(idle: Run, without: Run) -> None:
    assert idle.active
    assert not without.active
    assert not any(name.split(".")[0] == "pytest_taskgraph" for name in without.modules)


def test_idle_plugin_imports_nothing_heavy(idle: Run, without: Run) -> None:
    assert {name.split(".")[0] for name in idle.modules - without.modules} & HEAVY == set()


def test_idle_plugin_loads_only_itself_ground_and_what_families_declare(idle: Run) -> None:
    ours = {name for name in idle.modules if name.split(".")[0] == "pytest_taskgraph"}
    assert {name for name in ours if not f"{name}.".startswith("pytest_taskgraph.plugin.")} <= LIGHT


def test_idle_plugin_writes_nothing(idle: Run) -> None:
    assert idle.files == {"project/test_trivial.py", "project/pytest.ini"}


def test_idle_plugin_prints_nothing(idle: Run, without: Run) -> None:
    assert "1 failed, 1 passed in TIME" in without.output
    assert idle.output == without.output


def test_idle_plugin_starts_no_thread(idle: Run) -> None:
    assert idle.threads == ()


def test_idle_plugin_leaves_exit_code_alone(idle: Run, without: Run) -> None:
    assert idle.returncode == without.returncode == pytest.ExitCode.TESTS_FAILED
