"""Runs where litellm is not installed: baselines and endpoints work, a litellm name is refused before the run."""

from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

HIDDEN = "import sys\n\nsys.modules['litellm'] = None  # as if it were not installed\n"
INSTALL = "install it (python -m pip install litellm)"


@pytest.fixture
def bare(project: Project) -> Project:
    """A project whose processes find no litellm."""
    project.write("conftest.py", HIDDEN)
    return project


@pytest.mark.parametrize("name", ["gpt-4o", "litellm:openai/gpt-4o"])
def test_litellm_name_is_refused_before_anything_is_sent(bare: Project, server: Loopback, name: str) -> None:
    ran = bare.run(f"--model={name}", "--taskgraph-model-option", f"api_base={server.url}")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"the model {name.removeprefix('litellm:')} is asked through litellm, which is not installed" in ran.output
    assert INSTALL in ran.output
    assert ran.clean
    assert not server.requests


def test_judge_by_litellm_name_is_refused(bare: Project) -> None:
    ran = bare.run("--taskgraph-text-metric=judge", "--taskgraph-judge-model=gpt-4o")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert INSTALL in ran.output


@pytest.mark.exhaustive
def test_endpoint_is_asked_and_answers_are_scored(bare: Project) -> None:
    with Loopback(right) as server:
        ran = bare.spawn(f"--model={server.url}#any", "--taskgraph-model-option", "api_key=sk-test-123456")
    assert ran.counts == {"passed": 4}, ran.output
    assert len(server.requests) == 4


def test_provider_is_asked_and_answers_are_scored(bare: Project) -> None:
    with Loopback(right) as server:
        ran = bare.spawn(*asking(server.url), "--taskgraph-max-cost=1", "--taskgraph-price=openai/any=1/2")
    assert ran.counts == {"passed": 5}, ran.output  # the four questions, and the budget
    assert len(server.requests) == 4


def test_stored_replies_of_litellm_name_are_replayed(project: Project) -> None:
    with Loopback(right) as server:
        stored = asking(server.url, model="litellm:openai/any")
        assert project.run(*stored).counts == {"passed": 4}
    project.write("conftest.py", HIDDEN)
    for model in ("litellm:openai/any", "openai/any"):
        ran = project.spawn(*asking(server.url, model=model), "--taskgraph-replay", fresh=False)
        assert ran.counts == {"passed": 4}, ran.output


def test_dry_run_of_litellm_name_states_unknown_price(bare: Project) -> None:
    ran = bare.spawn("--model=openai/gpt-4o", "--taskgraph-dry-run", fresh=False)
    assert ran.code == pytest.ExitCode.OK
    assert "4 requests, cost unknown" in ran.output
    assert ran.clean
