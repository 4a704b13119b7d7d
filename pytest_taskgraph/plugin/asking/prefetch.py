"""Prefetching: while pytest runs one item, the requests of the next items are in flight.

Questions are built in the main thread, one at a time while it is idle, and asked in the event loop. The number of
prefetched items is not bounded, because all items will run. If the first failure may end the run, the number of
prefetched items is limited to the number of requests in flight.

Under xdist, worker w of W prefetches the items i with i mod W = w first, then the others. The claims of the store
prevent two workers from asking the same question; the worker that runs an item waits for the reply in the store. A
worker drops its prefetched results of items that other workers have run: workers run their items in about the order of
collection, and if such an item runs here later, the store has its reply. If the workers do not share a store, or the
replies of a model are not stored, each worker prefetches only the items that it has been sent.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pytest

from ...errors import UsageError
from .. import pytest_compat
from ..suites import asks
from .ask import AskResult, ask, may_wait
from .loop import UnexpectedWaitError

if TYPE_CHECKING:
    from ...trial import Question
    from ..models_under_test import ModelsUnderTest, ModelUnderTest
    from ..output.drawings import Drawings
    from ..suites import CollectedQuestion
    from .kept_questions import KeptQuestions
    from .loop import EventLoopThread
    from .measuring import MeasuringModels
    from .pipeline import Pipeline


_FIXTURES = ("trial", "taskgraph_question", "taskgraph_model", "taskgraph_reference")
_FIXTURES_MODULE = "pytest_taskgraph.plugin.fixtures"
_QUEUED = 2  # questions submitted for each slot
_SWEEP = 64  # items after which a worker drops the results of items that other workers ran


@dataclass(frozen=True)
class AskingParts:
    """The objects that ask the questions of a run."""

    config: pytest.Config
    models: ModelsUnderTest
    pipeline: Pipeline
    measuring: MeasuringModels
    loop: EventLoopThread
    drawings: Drawings | None  # None if no report shows diagrams
    kept: KeptQuestions

    @cached_property
    def shares_replies(self) -> bool:
        """Return True if the workers of the run share replies through the store."""
        return not self.pipeline.has_remote_workers and (self.models.storable or self.pipeline.workers == 1)

    @cached_property
    def measures_replies(self) -> bool:
        """Return True if models measure replies."""
        return bool(self.measuring.clients)


def may_stop(config: pytest.Config) -> bool:
    """Return True if the first wrong answers may end the run, so that prefetched replies might not be used."""
    return bool(config.getoption("maxfail", 0) or config.getoption("stepwise", False))


class Prefetcher:
    """Questions in flight by item, and the items to prefetch next.

    Args:
        parts: The objects that ask.
        tick: Function that is called a few times a second while an item waits for its reply.
        hide_progress: Function that is called when the wait ends.
    """

    def __init__(self, parts: AskingParts, tick: Callable[[], None], hide_progress: Callable[[], None]) -> None:
        self._parts, self._tick, self._hide_progress = parts, tick, hide_progress
        self._may_stop = may_stop(parts.config)
        self._items: dict[int, pytest.Item] = {}  # by position among all items
        self._positions: dict[str, int] = {}  # by node id
        self._next: Iterator[tuple[int, pytest.Item]] = iter(())
        self._jobs: dict[str, tuple[Question, Future[AskResult]]] = {}
        self._taken: set[str] = set()
        self._submitted = self._finished = 0  # each is written by one thread only

    def plan(self, items: Iterable[pytest.Item]) -> None:
        """Determine which items will ask a live model, without sending requests yet."""
        self._items = {position: item for position, item in enumerate(items) if self._asks_live_model(item)}
        self._positions = {item.nodeid: position for position, item in self._items.items()}
        self._next = self._items_in_order()

    @property
    def planned(self) -> int:
        """Return the number of items that will ask a live model."""
        return len(self._items)

    @property
    def finished(self) -> int:
        """Return the number of questions that have a result, including those of later items."""
        return self._finished

    def advance(self) -> None:
        """Prefetch until all slots are in use; called before each item runs."""
        while self._has_room(1) and self._prefetch_next():
            pass

    def question(self, item: pytest.Item, collected: CollectedQuestion) -> Question:
        """Return the question of an item: the one that is being asked already, else as it was kept, else built now.

        Raises:
            UsageError: if it cannot be built.
        """
        return self._jobs[item.nodeid][0] if item.nodeid in self._jobs else self._parts.kept.question(collected)

    def result_of(
        self, item: pytest.Item, question: Question, model: ModelUnderTest, collected: CollectedQuestion
    ) -> AskResult:
        """Wait for the result of the item's question; ask it now if it was not prefetched, as in a rerun."""
        if not (model.live or self._parts.measures_replies):
            asking, waits = self._asking(question, model, collected)
            try:
                return self._parts.loop.run_here(asking(), waits)
            except UnexpectedWaitError:
                raise UsageError(
                    f"the model {model.name!r} has the attribute immediate = True, but its answer waits; remove it"
                ) from None
        if item.nodeid in self._jobs:
            _, future = self._jobs.pop(item.nodeid)
        else:
            future = self._submit(0, question, model, collected)
        self._taken.add(item.nodeid)
        self._drop_results_before(self._positions.get(item.nodeid, 0))
        try:
            return self._parts.loop.wait(future, self._prefetch_while_waiting, self._tick)
        finally:
            self._hide_progress()

    def stop(self) -> None:
        """Prefetch no further item."""
        self._next = iter(())

    def _prefetch_while_waiting(self) -> bool:
        """Build and submit one more question unless the queue is full; return True if there was one."""
        return self._has_room(_QUEUED) and self._prefetch_next()

    def _has_room(self, times: int) -> bool:
        """Return True if fewer than `times` the capacity are submitted; `times` is 1 if the run may end early."""
        if self._may_stop:
            return len(self._jobs) < self._parts.pipeline.capacity
        return self._submitted - self._finished < times * self._parts.pipeline.capacity

    def _prefetch_next(self) -> bool:
        for position, item in self._next if self._parts.shares_replies else self._sent_items():
            if item.nodeid in self._jobs or item.nodeid in self._taken:
                continue
            params = pytest_compat.params(item)
            collected, model = params["taskgraph_reference"], self._parts.models.of_item(params)
            try:
                question = self._parts.kept.question(collected)
                if self._parts.drawings is not None:
                    self._parts.drawings.draw(question, collected)
                self._jobs[item.nodeid] = (question, self._submit(position + 1, question, model, collected))
            except Exception:  # the item itself builds the question again, and reports the error
                continue
            return True
        return False

    def _submit(
        self, position: int, question: Question, model: ModelUnderTest, collected: CollectedQuestion
    ) -> Future[AskResult]:
        asking, _ = self._asking(question, model, collected)

        async def ask_at_position() -> AskResult:
            from ...models.middleware.limits import POSITION

            POSITION.set(position)
            return await asking()

        future = self._parts.loop.submit(ask_at_position())
        self._submitted += 1
        future.add_done_callback(self._count_finished)
        return future

    def _asking(
        self, question: Question, model: ModelUnderTest, collected: CollectedQuestion
    ) -> tuple[Callable[[], Coroutine[object, object, AskResult]], bool]:
        """Return the function that asks a question, and whether it may wait."""
        parts, client = self._parts, self._parts.pipeline.wrap(model.model(collected.family))
        model.learn_answer(question)
        episode = collected.family.episode(question.episode)
        waits = may_wait(question, episode, client, parts.measuring)
        return partial(ask, question, episode, client, parts.measuring, parts.pipeline.seconds, waits), waits

    def _count_finished(self, future: Future[AskResult]) -> None:
        self._finished += 1
        if self._submitted - self._finished < _QUEUED * self._parts.pipeline.capacity:
            self._parts.loop.wake_waiter()

    def _asks_live_model(self, item: pytest.Item) -> bool:
        """Return True if the item will ask a live model through this plugin's fixtures, and is not skipped."""
        if not asks(item) or not pytest_compat.uses_own_fixtures(item, _FIXTURES, _FIXTURES_MODULE):
            return False
        return self._parts.models.of_item(pytest_compat.params(item)).live and not pytest_compat.is_skipped(item)

    def _items_in_order(self) -> Iterator[tuple[int, pytest.Item]]:
        """Yield the items to prefetch with their positions, the share of this worker first."""
        number, workers = self._parts.pipeline.number, self._parts.pipeline.workers
        yield from ((position, item) for position, item in self._items.items() if position % workers == number)
        if not self._may_stop:
            yield from ((position, item) for position, item in self._items.items() if position % workers != number)

    def _sent_items(self) -> Iterator[tuple[int, pytest.Item]]:
        """Yield the items that this worker is certain to run; workers that share no replies have no claims."""
        queued = pytest_compat.queued_positions(self._parts.config)
        return ((position, self._items[position]) for position in queued if position in self._items)

    def _drop_results_before(self, position: int) -> None:
        """Under xdist, drop the results of earlier items that this worker has not been sent."""
        if self._parts.pipeline.workers == 1 or (len(self._taken) % _SWEEP and not self._may_stop):
            return
        queued = set(pytest_compat.queued_positions(self._parts.config))
        for nodeid in list(self._jobs):
            if self._positions[nodeid] < position and self._positions[nodeid] not in queued:
                del self._jobs[nodeid]
