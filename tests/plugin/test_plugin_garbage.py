from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pytest_taskgraph.plugin.asking.garbage_collection import GarbageCollection


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    """Leaves the process as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)


def test_thresholds_are_higher_for_while_and_as_they_were_again() -> None:
    before, garbage = gc.get_threshold(), GarbageCollection()
    garbage.collect_rarely()
    garbage.collect_rarely()
    assert gc.get_threshold() == (20_000, 20, 50)
    garbage.restore()
    garbage.restore()
    assert gc.get_threshold() == before


def test_garbage_of_run_is_collected_once() -> None:
    garbage = GarbageCollection()
    garbage.collect_rarely()
    cycle: list[object] = []
    cycle.append(cycle)
    garbage.restore()
    assert not any(object_ is cycle for object_ in gc.get_objects())


@pytest.mark.parametrize("chosen", [(0, 10, 10), (1_000_000, 20, 50)])
def test_process_whose_user_chose_no_collection_or_fewer_keeps_that(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    garbage = GarbageCollection()
    garbage.collect_rarely()
    assert gc.get_threshold() == chosen
    garbage.restore()
    assert gc.get_threshold() == chosen


def test_garbage_existing_objects_are_excluded_once_and_only_in_run() -> None:
    garbage = GarbageCollection()
    frozen = gc.get_freeze_count()
    garbage.exclude_existing()
    assert gc.get_freeze_count() == frozen
    garbage.collect_rarely()
    garbage.exclude_existing()
    excluded = gc.get_freeze_count()
    later = [[]]  # type: ignore[var-annotated]
    garbage.exclude_existing()
    assert excluded > frozen
    assert any(object_ is later for object_ in gc.get_objects())
    garbage.restore()


def test_garbage_restore_without_change_has_no_effect() -> None:
    frozen = gc.get_freeze_count()
    GarbageCollection().restore()
    assert gc.get_freeze_count() == frozen
