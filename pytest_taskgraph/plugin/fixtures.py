"""The fixtures. The question is asked in the setup of `trial`, so that pytest reports a missing reply as an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..trial import Question, Trial
    from .models_under_test import ModelUnderTest
    from .suites import CollectedQuestion

TRIAL = pytest.StashKey["Trial"]()


@pytest.fixture
def taskgraph_reference(request: pytest.FixtureRequest) -> CollectedQuestion:
    """Return the question that an item of a suite will ask, before it is built."""
    if not hasattr(request, "param"):
        pytest.fail(
            f"{request.node.nodeid}: the fixtures of taskgraph need a test function with @suite(...)", pytrace=False
        )
    collected: CollectedQuestion | str = request.param
    if isinstance(collected, str):
        pytest.fail(collected, pytrace=False)
    return collected


@pytest.fixture
def taskgraph_question(request: pytest.FixtureRequest, taskgraph_reference: CollectedQuestion) -> Question:
    """Return the question of the item, built now unless it was prefetched."""
    if request.config.pluginmanager.has_plugin("taskgraph-snapshots"):
        with _without_traceback():
            return taskgraph_reference.question()
    from .session import run_of

    with _without_traceback():
        return run_of(request.config).prefetcher.question(request.node, taskgraph_reference)


@pytest.fixture
def taskgraph_model(request: pytest.FixtureRequest) -> ModelUnderTest:
    """Return the model under test of the item."""
    if request.config.pluginmanager.has_plugin("taskgraph-snapshots"):
        pytest.skip("no model is asked under --taskgraph-prompt-snapshots")
    from .pytest_compat import params
    from .session import run_of

    run = run_of(request.config)
    return run.models.of_item(params(request.node))


@pytest.fixture
def trial(
    request: pytest.FixtureRequest,
    taskgraph_reference: CollectedQuestion,
    taskgraph_question: Question,
    taskgraph_model: ModelUnderTest,
) -> Trial:
    """Ask the question, and return it with the reply and its score.

    The item is an error if no reply arrived, and skipped if the question was not asked.
    """
    from ..errors import NotAskedError
    from ..reports.escape import one_line
    from .asking.ask import trial_of
    from .session import run_of

    run = run_of(request.config)
    if request.config.getoption("setuponly", False):  # scores without tests make no run, and decide no gate
        pytest.skip("nothing is asked under --setup-only")
    with _without_traceback():  # of an episode or a metric that returns a wrong type
        result = run.prefetcher.result_of(request.node, taskgraph_question, taskgraph_model, taskgraph_reference)
        trial_, error = trial_of(taskgraph_question, taskgraph_model.name, result)
    request.node.stash[TRIAL] = trial_  # kept also if a family cannot draw it
    if run.reporting.draws:
        trial_ = run.drawings.attach(trial_, taskgraph_reference, again=getattr(request.node, "execution_count", 1) > 1)
    request.node.stash[TRIAL] = trial_
    _add_junit_properties(request.node, trial_)
    if isinstance(error, NotAskedError):
        pytest.skip(one_line(trial_.failure_text))
    if error is not None:
        raise error
    return trial_


@contextmanager
def _without_traceback() -> Iterator[None]:
    """Report a UsageError as a failure of the setup, without a traceback."""
    from ..errors import UsageError

    try:
        yield
    except UsageError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _add_junit_properties(item: pytest.Item, trial: Trial) -> None:
    """Add the properties of the test case if a JUnit report will show them.

    A rerun replaces those of the attempt before.
    """
    from ..reports.junit import properties
    from . import options
    from .session import run_of

    if not item.config.getoption("xmlpath", None) or options.value(item.config, "junit-properties") == "false":
        return

    item.user_properties[:] = [p for p in item.user_properties if not p[0].startswith("taskgraph.")]
    item.user_properties.extend(properties(trial, run_of(item.config).descriptions[trial.question.family]))
