"""The fixtures. The question is asked in the setup of `trial`, so that pytest reports a missing reply as an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from .pytest_compat import params
from .verdicts.gathering import current_run

if TYPE_CHECKING:
    from ..trial import Question, Trial
    from .models_under_test import ModelUnderTest
    from .suites import CollectedQuestion

TRIAL = pytest.StashKey["Trial"]()
# The item that runs. No fixture here takes `request`, which costs more than a fixture: pytest inspects a signature for
# each use, three times in an item.
RUNNING_ITEM: ContextVar[pytest.Item] = ContextVar("RUNNING_ITEM")


@pytest.fixture
def taskgraph_reference() -> CollectedQuestion:
    """Return the question that an item of a suite will ask, before it is built."""
    item = RUNNING_ITEM.get()
    collected: CollectedQuestion | str | None = params(item).get("taskgraph_reference")
    if collected is None:
        pytest.fail(f"{item.nodeid}: the fixtures of taskgraph need a test function with @suite(...)", pytrace=False)
    if isinstance(collected, str):
        pytest.fail(collected, pytrace=False)
    return collected


@pytest.fixture
def taskgraph_question(taskgraph_reference: CollectedQuestion) -> Question:
    """Return the question of the item, built now unless it was prefetched. It is asked only by the fixture `trial`."""
    item = RUNNING_ITEM.get()
    with _without_traceback():
        return current_run(item.config).prefetcher.question(item, taskgraph_reference)


@pytest.fixture
def taskgraph_model() -> ModelUnderTest:
    """Return the model under test of the item."""
    item = RUNNING_ITEM.get()
    models = current_run(item.config).models
    if len(models.labels) > 1 and "taskgraph_model" not in params(item):
        pytest.fail(f"{item.nodeid}: with several models, take `trial` as an argument of the test", pytrace=False)
    return models.of_item(params(item))


@pytest.fixture
def trial(
    taskgraph_reference: CollectedQuestion,
    taskgraph_question: Question,
    taskgraph_model: ModelUnderTest,
) -> Trial:
    """Ask the question, and return it with the reply and its score.

    The item is an error if no reply arrived, and skipped if the question was not asked.
    """
    from .asking.ask import trial_of

    item = RUNNING_ITEM.get()
    run = current_run(item.config)
    if item.config.getoption("setuponly", False):  # scores without tests make no run, and decide no gate
        pytest.skip("nothing is asked under --setup-only")
    with _without_traceback():  # of an episode or a metric that returns a wrong type
        result = run.prefetcher.result_of(item, taskgraph_question, taskgraph_model, taskgraph_reference)
        trial_, error = trial_of(taskgraph_question, taskgraph_model.name, result)
    item.stash[TRIAL] = trial_  # kept also if a family cannot draw it
    if run.reporting.draws:
        trial_ = run.drawings.attach(trial_, taskgraph_reference, again=getattr(item, "execution_count", 1) > 1)
        item.stash[TRIAL] = trial_
    _add_junit_properties(item, trial_)
    if error is not None:
        _skip_if_not_asked(trial_, error)
        raise error
    return trial_


def _skip_if_not_asked(trial: Trial, error: Exception) -> None:
    """Skip the item if the question was not asked."""
    from ..errors import NotAskedError
    from ..reports.escape import one_line

    if isinstance(error, NotAskedError):
        pytest.skip(one_line(trial.failure_text))


@contextmanager
def _without_traceback() -> Iterator[None]:
    """Report a UsageError as a failure of the setup, without a traceback."""
    try:
        yield
    except Exception as error:
        from ..errors import UsageError

        if not isinstance(error, UsageError):
            raise
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _add_junit_properties(item: pytest.Item, trial: Trial) -> None:
    """Add the properties of the test case if a JUnit report will show them.

    A rerun replaces those of the attempt before.
    """
    if not item.config.getoption("xmlpath", None):
        return
    from ..reports.junit import properties
    from . import options

    if options.value(item.config, "junit-properties") == "false":
        return
    item.user_properties[:] = [p for p in item.user_properties if not p[0].startswith("taskgraph.")]
    item.user_properties.extend(properties(trial, current_run(item.config).descriptions[trial.question.family]))
