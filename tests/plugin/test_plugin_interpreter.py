from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from pytest_taskgraph.plugin.interpreter import Interpreter


def settings() -> tuple[tuple[int, int, int], float]:
    return gc.get_threshold(), round(sys.getswitchinterval(), 5)  # kept in whole microseconds


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    """Leaves the process as it was."""
    thresholds, interval = settings()
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)
    gc.unfreeze()


def test_settings_of_the_process_change_for_a_while_and_are_as_they_were_again() -> None:
    before, interpreter = settings(), Interpreter()
    interpreter.hurry()
    interpreter.hurry()
    assert settings() == ((20_000, 20, 50), 0.0002)
    interpreter.calm()
    interpreter.calm()
    assert settings() == before


def test_nothing_is_changed_that_was_never_asked_for() -> None:
    before = settings()
    Interpreter().calm()
    assert settings() == before


def test_a_process_whose_user_chose_more_keeps_it() -> None:
    gc.set_threshold(0)
    sys.setswitchinterval(0.0001)
    before, interpreter = settings(), Interpreter()
    interpreter.hurry()
    assert settings() == before
    interpreter.calm()
    assert settings() == before


def test_a_higher_threshold_of_the_user_stays() -> None:
    gc.set_threshold(1_000_000, 10, 10)
    interpreter = Interpreter()
    interpreter.hurry()
    assert gc.get_threshold()[0] == 1_000_000
