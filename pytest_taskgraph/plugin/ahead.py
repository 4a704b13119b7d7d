"""Asking ahead: while pytest runs one item, the questions of those to come are on their way.

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

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pytest

from . import private
from .asking import AskResult, ask
from .suites import asks

if TYPE_CHECKING:
    from ..trial import Question
    from .run import Run
    from .subject import Subject
    from .suites import Collected

_FIXTURES = ("trial", "taskgraph_question", "taskgraph_model", "taskgraph_reference")
_QUEUED = 2  # requests that wait for a slot, a slot
_SWEEP = 64  # items after which a worker looks for what others ran


class Ahead:
    """What is being asked, by item; and what is to be asked next."""

    def __init__(self, run: Run) -> None:
        self._run, self._config = run, run.config
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

    def came(self, item: pytest.Item, question: Question, subject: Subject, collected: Collected) -> AskResult:
        """What came of the item's question, waited for; asked now if it is not under way (once more, for instance)."""
        if item.nodeid in self._jobs:
            _, future = self._jobs.pop(item.nodeid)
        else:
            future = self._submit(0, question, subject, collected)
        self._taken.add(item.nodeid)
        self._let_go(self._places.get(item.nodeid, 0))
        try:
            return self._run.loop.wait(future, self._work, self._run.tick)
        finally:
            if self._items:  # also where the first is interrupted: it is to end fast
                self._run.garbage.put_off()

    def forget(self) -> None:
        """No item is to be asked ahead any more."""
        self._next = iter(())

    def _work(self) -> bool:
        """Builds and submits one more question, if there is one and it would not only wait."""
        return self._open(_QUEUED) and self._one()

    def _open(self, times: int) -> bool:
        """Whether fewer are on their way than `times` as many as may be in flight; once, if the run may end early."""
        if self._run.may_stop:
            return len(self._jobs) < self._run.pipeline.room
        return self._submitted - self._finished < times * self._run.pipeline.room

    def _one(self) -> bool:
        for at, item in self._next if self._run.shares_replies else self._queued():
            if item.nodeid in self._jobs or item.nodeid in self._taken:
                continue
            params = private.params(item)
            collected, subject = params["taskgraph_reference"], self._run.subject_of(params)
            try:
                question = collected.question()
                if self._run.reporting.draws:
                    self._run.drawings.draw(question, collected)
                self._jobs[item.nodeid] = (question, self._submit(at + 1, question, subject, collected))
            except Exception:
                continue
            return True
        return False

    def _submit(self, position: int, question: Question, subject: Subject, collected: Collected) -> Future[AskResult]:
        run, model = self._run, self._run.pipeline.reach(subject.model(collected.family))
        subject.meet(question)
        episode = collected.family.episode(question.episode)

        async def asked() -> AskResult:
            from ..models.limits import POSITION

            POSITION.set(position)
            return await ask(question, episode, model, run.measuring, run.pipeline.seconds)

        future = run.loop.submit(asked())
        self._submitted += 1
        future.add_done_callback(self._count)
        return future

    def _count(self, future: Future[AskResult]) -> None:
        self._finished += 1
        if self._submitted - self._finished < _QUEUED * self._run.pipeline.room:
            self._run.loop.stir()

    def _asks(self, item: pytest.Item) -> bool:
        """Whether the item will ask a live model, through our fixtures, and is not skipped."""
        if not asks(item) or not private.own_fixtures(item, _FIXTURES):
            return False
        return self._run.subject_of(private.params(item)).live and not private.skipped(item)

    def _order(self) -> Iterator[tuple[int, pytest.Item]]:
        """Of several workers, the own share first."""
        number, workers = self._run.pipeline.number, self._run.pipeline.workers
        yield from (one for one in self._items.items() if one[0] % workers == number)
        if not self._run.may_stop:
            yield from (one for one in self._items.items() if one[0] % workers != number)

    def _queued(self) -> Iterator[tuple[int, pytest.Item]]:
        """Where replies are not shared: only what this worker is sure to run, for there are no claims between them."""
        return ((at, self._items[at]) for at in private.queued(self._config) if at in self._items)

    def _let_go(self, place: int) -> None:
        """Under xdist: forgets what was asked for items before the place that this worker has not been sent."""
        if self._run.pipeline.workers == 1 or (len(self._taken) % _SWEEP and not self._run.may_stop):
            return
        own = set(private.queued(self._config))
        for nodeid in [one for one in self._jobs if self._places[one] < place and self._places[one] not in own]:
            del self._jobs[nodeid]
