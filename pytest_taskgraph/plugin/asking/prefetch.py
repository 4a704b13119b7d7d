"""Prefetch: while pytest runs one item, the questions of those to come are on their way.

Questions are built in the main thread, one at a time while it has nothing else to do, and asked in the loop. There is
no bound on how far ahead, for all items will run; but where the first failure may end the run, only as many are asked
ahead as may be in flight.

Under xdist worker w of W asks the items i with i mod W = w ahead, and then the others: the store's claims see to it
that nobody asks twice, and whoever runs an item waits there for the reply. What was asked ahead for items that others
ran meanwhile is let go: workers run their items in about the order of collection, and should one of them come after
all, the store has the reply. Where the workers do not share a store, or a model's replies are not stored, each asks
ahead only what it has been sent.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from .. import pytest_compat
from ..suites import asks
from .ask import AskResult, ask

if TYPE_CHECKING:
    from ...trial import Question
    from ..models_under_test import ModelsUnderTest, ModelUnderTest
    from ..output.drawings import Drawings
    from ..suites import CollectedQuestion
    from .loop import EventLoopThread
    from .measuring import MeasuringModels
    from .pipeline import Pipeline


_THRESHOLDS = (20_000, 20, 50)


class GarbageCollection:
    """Changes the settings of the collector for as long as a live run asks."""

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None

    def collect_rarely(self) -> None:
        """Nothing; garbage is looked for less often and among less.

        What is there by now, litellm above all, stays to the end, and no collection need look at it again, nor those
        that Python makes when the process ends: with litellm they take two seconds, and those in between a fifth of
        the run.
        """
        if self._before is not None:
            return
        self._before = gc.get_threshold()
        gc.freeze()
        atexit.register(gc.freeze)
        if self._before[0]:
            gc.set_threshold(max(self._before[0], _THRESHOLDS[0]), *_THRESHOLDS[1:])

    def restore(self) -> None:
        """Nothing; the settings are again as they were.

        What the run made stays to the end too, and pytest looks for garbage five times before it ends: here it is
        looked for once, and what is left is not looked at again.
        """
        if self._before is not None:
            gc.collect()
            gc.freeze()
            gc.set_threshold(*self._before)
            self._before = None


_FIXTURES = ("trial", "taskgraph_question", "taskgraph_model", "taskgraph_reference")
_FIXTURES_MODULE = "pytest_taskgraph.plugin.fixtures"
_QUEUED = 2  # requests that wait for a slot, a slot
_SWEEP = 64  # items after which a worker looks for what others ran


@dataclass(frozen=True)
class AskingParts:
    """What it takes to ask the questions of a run."""

    config: pytest.Config
    models: ModelsUnderTest
    pipeline: Pipeline
    measuring: MeasuringModels
    loop: EventLoopThread
    garbage: GarbageCollection
    drawings: Drawings | None  # None where no report draws

    @cached_property
    def shares_replies(self) -> bool:
        """Whether the workers of the run give one another the replies that they got, through the store."""
        return not self.pipeline.has_remote_workers and (self.models.storable or self.pipeline.workers == 1)


def may_stop(config: pytest.Config) -> bool:
    """Return True if the first wrong answers may end the run, so that asking far ahead could be for nothing."""
    return bool(config.getoption("maxfail", 0) or config.getoption("stepwise", False))


class Prefetcher:
    """What is being asked, by item; and what is to be asked next.

    `tick` is called a few times a second while an item waits for its reply, `hide_progress` when the wait ends.
    """

    def __init__(self, parts: AskingParts, tick: Callable[[], None], hide_progress: Callable[[], None]) -> None:
        self._parts, self._tick, self._hide_progress = parts, tick, hide_progress
        self._may_stop = may_stop(parts.config)
        self._items: dict[int, pytest.Item] = {}  # by their place among all
        self._places: dict[str, int] = {}
        self._next: Iterator[tuple[int, pytest.Item]] = iter(())
        self._jobs: dict[str, tuple[Question, Future[AskResult]]] = {}
        self._taken: set[str] = set()
        self._submitted = self._finished = 0  # each is written by one thread only

    def plan(self, items: Iterable[pytest.Item]) -> None:
        """Remembers which items will ask a model that is live; asks nothing yet."""
        self._items = {at: item for at, item in enumerate(items) if self._asks(item)}
        self._places = {item.nodeid: at for at, item in self._items.items()}
        self._next = self._order()

    @property
    def planned(self) -> int:
        """How many items will ask a model that is live."""
        return len(self._items)

    @property
    def finished(self) -> int:
        """How many questions have come to an end, also ahead of their items."""
        return self._finished

    def advance(self) -> None:
        """Sees to it that enough is on its way; called before each item runs."""
        while self._open(1) and self._one():
            pass

    def question(self, item: pytest.Item) -> Question | None:
        """The question of an item that is being asked already, or None."""
        return self._jobs[item.nodeid][0] if item.nodeid in self._jobs else None

    def result_of(
        self, item: pytest.Item, question: Question, subject: ModelUnderTest, collected: CollectedQuestion
    ) -> AskResult:
        """Return the result of the item's question once it arrives; ask now if that is not under way, as in a rerun."""
        if item.nodeid in self._jobs:
            _, future = self._jobs.pop(item.nodeid)
        else:
            future = self._submit(0, question, subject, collected)
        self._taken.add(item.nodeid)
        self._let_go(self._places.get(item.nodeid, 0))
        try:
            return self._parts.loop.wait(future, self._work, self._tick)
        finally:
            self._hide_progress()
            if self._items:  # also where the first is interrupted: it is to end fast
                self._parts.garbage.collect_rarely()

    def forget(self) -> None:
        """Prefetch no further item."""
        self._next = iter(())

    def _work(self) -> bool:
        """Builds and submits one more question, if there is one and it would not only wait."""
        return self._open(_QUEUED) and self._one()

    def _open(self, times: int) -> bool:
        """Whether fewer are on their way than `times` as many as may be in flight; once, if the run may end early."""
        if self._may_stop:
            return len(self._jobs) < self._parts.pipeline.capacity
        return self._submitted - self._finished < times * self._parts.pipeline.capacity

    def _one(self) -> bool:
        for at, item in self._next if self._parts.shares_replies else self._queued():
            if item.nodeid in self._jobs or item.nodeid in self._taken:
                continue
            params = pytest_compat.params(item)
            collected, subject = params["taskgraph_reference"], self._parts.models.of_item(params)
            try:
                question = collected.question()
                if self._parts.drawings is not None:
                    self._parts.drawings.draw(question, collected)
                self._jobs[item.nodeid] = (question, self._submit(at + 1, question, subject, collected))
            except Exception:
                continue
            return True
        return False

    def _submit(
        self, position: int, question: Question, subject: ModelUnderTest, collected: CollectedQuestion
    ) -> Future[AskResult]:
        parts, model = self._parts, self._parts.pipeline.wrap(subject.model(collected.family))
        subject.learn_answer(question)
        episode = collected.family.episode(question.episode)

        async def asked() -> AskResult:
            from ...models.middleware.limits import POSITION

            POSITION.set(position)
            return await ask(question, episode, model, parts.measuring, parts.pipeline.seconds)

        future = parts.loop.submit(asked())
        self._submitted += 1
        future.add_done_callback(self._count)
        return future

    def _count(self, future: Future[AskResult]) -> None:
        self._finished += 1
        if self._submitted - self._finished < _QUEUED * self._parts.pipeline.capacity:
            self._parts.loop.wake_waiter()

    def _asks(self, item: pytest.Item) -> bool:
        """Whether the item will ask a live model, through our fixtures, and is not skipped."""
        if not asks(item) or not pytest_compat.uses_own_fixtures(item, _FIXTURES, _FIXTURES_MODULE):
            return False
        return self._parts.models.of_item(pytest_compat.params(item)).live and not pytest_compat.is_skipped(item)

    def _order(self) -> Iterator[tuple[int, pytest.Item]]:
        """Of several workers, the own share first."""
        number, workers = self._parts.pipeline.number, self._parts.pipeline.workers
        yield from (one for one in self._items.items() if one[0] % workers == number)
        if not self._may_stop:
            yield from (one for one in self._items.items() if one[0] % workers != number)

    def _queued(self) -> Iterator[tuple[int, pytest.Item]]:
        """Where replies are not shared: only what this worker is sure to run, for there are no claims between them."""
        return ((at, self._items[at]) for at in pytest_compat.queued_places(self._parts.config) if at in self._items)

    def _let_go(self, place: int) -> None:
        """Under xdist: forgets what was asked for items before the place that this worker has not been sent."""
        if self._parts.pipeline.workers == 1 or (len(self._taken) % _SWEEP and not self._may_stop):
            return
        own = set(pytest_compat.queued_places(self._parts.config))
        for nodeid in [one for one in self._jobs if self._places[one] < place and self._places[one] not in own]:
            del self._jobs[nodeid]
