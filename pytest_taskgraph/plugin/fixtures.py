"""The fixtures. Asking happens in the set-up of `trial`, so that pytest's own words keep their meaning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..trial import Question, Trial
    from .models_under_test import ModelUnderTest
    from .suites import Collected

TRIAL = pytest.StashKey["Trial"]()


@pytest.fixture
def taskgraph_reference(request: pytest.FixtureRequest) -> Collected:
    """What an item of a suite will ask."""
    if not hasattr(request, "param"):
        pytest.fail(
            f"{request.node.nodeid}: the fixtures of taskgraph belong to a function with @suite(...)", pytrace=False
        )
    collected: Collected | str = request.param
    if isinstance(collected, str):
        pytest.fail(collected, pytrace=False)
    return collected


@pytest.fixture
def taskgraph_question(request: pytest.FixtureRequest, taskgraph_reference: Collected) -> Question:
    """The question of the item, built now unless it was prefetched."""
    if request.config.pluginmanager.has_plugin("taskgraph-snapshots"):
        with _without_traceback():
            return taskgraph_reference.question()
    from .session import run_of

    with _without_traceback():
        return run_of(request.config).prefetcher.question(request.node) or taskgraph_reference.question()


@pytest.fixture
def taskgraph_model(request: pytest.FixtureRequest) -> ModelUnderTest:
    """Who is asked."""
    if request.config.pluginmanager.has_plugin("taskgraph-snapshots"):
        pytest.skip("no model is asked under --taskgraph-prompt-snapshots")
    from .pytest_compat import params
    from .session import run_of

    run = run_of(request.config)
    return run.models.of_item(params(request.node))


@pytest.fixture
def trial(
    request: pytest.FixtureRequest,
    taskgraph_reference: Collected,
    taskgraph_question: Question,
    taskgraph_model: ModelUnderTest,
) -> Trial:
    """The question, the reply and its score. An error where no reply came; skipped where it was not asked."""
    from ..errors import NotAskedError
    from ..reports.escape import one_line
    from .asking.ask import trial_of
    from .session import run_of

    run = run_of(request.config)
    if request.config.getoption("setuponly", False):  # scores without tests are no run, and decide no gate
        pytest.skip("nothing is asked under --setup-only")
    with _without_traceback():  # of an episode or a metric that returns what it should not
        result = run.prefetcher.result_of(request.node, taskgraph_question, taskgraph_model, taskgraph_reference)
        made, stopped = trial_of(taskgraph_question, taskgraph_model.name, result)
    request.node.stash[TRIAL] = made  # kept also if a family cannot draw it
    if run.reporting.draws:
        made = run.drawings.attach(made, taskgraph_reference, again=getattr(request.node, "execution_count", 1) > 1)
    request.node.stash[TRIAL] = made
    _tell_junit(request.node, made)
    if isinstance(stopped, NotAskedError):
        pytest.skip(one_line(made.failure_text))
    if stopped is not None:
        raise stopped
    return made


@contextmanager
def _without_traceback() -> Iterator[None]:
    """Report a mistake of the user as a failure of the set-up, in its own words."""
    from ..errors import UsageError

    try:
        yield
    except UsageError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _tell_junit(item: pytest.Item, made: Trial) -> None:
    """Properties of the test case, unless they are turned off; a rerun replaces those of the attempt before."""
    from ..reports.junit import properties
    from . import options
    from .session import run_of

    if options.value(item.config, "junit-properties") == "false":
        return

    item.user_properties[:] = [p for p in item.user_properties if not p[0].startswith("taskgraph.")]
    item.user_properties.extend(properties(made, run_of(item.config).descriptions[made.question.family]))
