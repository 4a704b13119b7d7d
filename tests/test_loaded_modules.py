"""A run loads the modules of the families that it asks, and only once their questions are built what builds them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import bounded_process
import pytest

import pytest_taskgraph
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.family_description import FamilyDescription
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.results.descriptions import Descriptions
from pytest_taskgraph.scoring.forms import FORMS

OURS = "pytest_taskgraph"
BUILDERS = {"jinja2", "lark", "networkx", f"{OURS}.scoring.letter_verdicts", f"{OURS}.results.comparison"}
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["task_list", "parallel_pair"], instances=2)
def test_questions(trial):
    trial.check()
"""
CONFTEST = """
import json, sys

def pytest_unconfigure(config):
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one suite about workflows."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "conftest.py").write_text(CONFTEST)
    return folder


@pytest.fixture(scope="module")
def of_simulated_model(project: Path) -> set[str]:
    """The modules that a run of the simulated model has loaded at its end."""
    options = ("--taskgraph-store=none", "--taskgraph-seed=3", "--taskgraph-instances=1")
    return loaded(project, "--model=simulated:1", *options)


def loaded(project: Path, *options: str) -> set[str]:
    """The modules that a run of the suite has loaded at its end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TASKGRAPH_"))}
    environment |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(Path(pytest_taskgraph.__file__).parents[1]),
    }
    command = [sys.executable, "-m", "pytest", "-p", f"{OURS}.plugin.hooks", "test_suite.py", *options]
    done = bounded_process.run(command, cwd=project, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads((project / "modules.json").read_text()))


def of_family(name: str, modules: set[str]) -> set[str]:
    """The modules of a family, without those that say what it is, such as its options."""
    place = f"{OURS}.families.{name}"
    declaring = {place, *(f"{place}.{name}_{part}" for part in ("family", "options", "settings"))}
    return {module for module in modules if module.startswith(place)} - declaring


def test_run_of_one_family_loads_no_other(of_simulated_model: set[str]) -> None:
    assert of_family("understanding", of_simulated_model)
    assert set().union(*(of_family(name, of_simulated_model) for name in ("tasklama", "steps", "paged"))) == set()


def test_run_without_live_model_loads_no_layer_around_one(of_simulated_model: set[str]) -> None:
    layers = {f"{OURS}.models.middleware.{name}" for name in ("budget", "chain", "limits", "stored")}
    assert not {*layers, f"{OURS}.models.store"} & of_simulated_model


def test_run_of_simulated_model_loads_no_other_client(of_simulated_model: set[str]) -> None:
    clients = f"{OURS}.models.clients."
    loaded_clients = {name.removeprefix(clients) for name in of_simulated_model if clients in name}
    assert loaded_clients == {"schemes", "simulated", "request_warnings"}


def test_run_of_one_family_checks_options_of_others(project: Path) -> None:
    with pytest.raises(AssertionError, match="expected at most"):
        loaded(project, "--model=simulated:1", "--taskgraph-paged-rounds=1000000")


def test_run_with_kept_questions_loads_nothing_that_builds_them(project: Path) -> None:
    assert loaded(project, "--model=http://127.0.0.1:9/v1#none", "--taskgraph-dry-run") & {"jinja2", "networkx"}
    kept = loaded(project, "--model=simulated:1", "--taskgraph-store=.taskgraph")
    assert kept & BUILDERS == set()


def test_catalogs_load_deferred_objects_under_their_own_names() -> None:
    assert {name: form.name for name, form in FORMS.items()} == {name: name for name in FORMS}
    assert {name: notation.name for name, notation in NOTATIONS.items()} == {name: name for name in NOTATIONS}


def test_descriptions_load_a_deferred_family_once_when_needed() -> None:
    calls: list[str] = []

    def load() -> FamilyDescription:
        calls.append("steps")
        return FamilyDescription("steps", groups=("second", "first"))

    described = Descriptions([FamilyDescription("paged")])
    described.defer("steps", load)
    described.add(FamilyDescription("tasklama"))
    assert "steps" in described
    assert calls == []
    assert described.group_place("steps", "first") == (1, "first")
    assert [family.name for family in described] == described.names == ["paged", "steps", "tasklama"]
    assert described["steps"].groups == ("second", "first")
    assert calls == ["steps"]


@pytest.mark.parametrize("name", FAMILIES)
def test_built_in_family_meets_default_settings(name: str) -> None:
    FAMILIES[name].check(Settings())
    FAMILIES[name].check(Settings(seed=7, instances=99, parsing="strict", pass_threshold=0.5))
