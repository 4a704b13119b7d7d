"""Runs where litellm is not installed: baselines and endpoints work, a litellm name is refused before the run."""

from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import Project, right

HIDDEN = "import sys\n\nsys.modules['litellm'] = None  # as if it were not installed\n"
INSTALL = "install it (python -m pip install litellm)"


@pytest.fixture
def bare(project: Project) -> Project:
    """A project whose processes find no litellm."""
    project.write("conftest.py", HIDDEN)
    return project


def test_litellm_name_is_refused_before_anything_is_sent(bare: Project, server: Loopback) -> None:
    ran = bare.spawn("--model=openai/gpt-4o", "--taskgraph-model-option", f"api_base={server.url}")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "the model openai/gpt-4o is asked through litellm, which is not installed" in ran.output
    assert INSTALL in ran.output
    assert ran.clean
    assert not server.requests


def test_judge_by_litellm_name_is_refused(bare: Project) -> None:
    ran = bare.spawn("--taskgraph-text-metric=judge", "--taskgraph-judge-model=openai/gpt-4o")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert INSTALL in ran.output


def test_endpoint_is_asked_and_answers_are_scored(bare: Project) -> None:
    with Loopback(right) as server:
        ran = bare.spawn(f"--model={server.url}#any", "--taskgraph-model-option", "api_key=sk-test-123456")
    assert ran.counts == {"passed": 4}, ran.output
    assert len(server.requests) == 4


def test_stored_replies_of_litellm_name_are_replayed(project: Project) -> None:
    with Loopback(right) as server:
        arguments = ["--model=openai/any", "--taskgraph-model-option", f"api_base={server.url}"]
        assert project.spawn(*arguments, "--taskgraph-model-option", "api_key=sk-test-123456").counts == {"passed": 4}
    project.write("conftest.py", HIDDEN)
    assert project.spawn(*arguments, "--taskgraph-replay").counts == {"passed": 4}


def test_dry_run_of_litellm_name_states_unknown_price(bare: Project) -> None:
    ran = bare.spawn("--model=openai/gpt-4o", "--taskgraph-dry-run")
    assert ran.code == pytest.ExitCode.OK
    assert "4 requests, cost unknown" in ran.output
    assert ran.clean
