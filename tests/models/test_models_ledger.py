"""The ledger alone, against a schedule that asks one question after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.models.store import ledger
from pytest_taskgraph.models.store.operations import Reservation, Settlement
from pytest_taskgraph.models.store.schema import MIGRATIONS

NOBODY = cast("Any", None)  # waits for what a spending comes to

# What a request may cost at worst, and what it does cost: eighths, so that sums are exact.
costs = st.integers(1, 40).flatmap(
    lambda worst: st.tuples(st.just(worst / 8), st.integers(0, worst).map(lambda n: n / 8))
)
limits = st.integers(0, 200).map(lambda number: number / 8)


@contextmanager
def connected() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in MIGRATIONS:
            for statement in step:
                connection.execute(statement)
        yield connection


@dataclass(eq=False)
class Asked:
    """A question: where it stands in the plan, and what it may and does cost."""

    spend: Reservation
    cost: float
    outcome: str = ""


class Process:
    """A process of the run, which enters what arrives and settles when it is told to."""

    def __init__(self, connection: sqlite3.Connection, owner: str) -> None:
        self._connection, self.owner = connection, owner
        self.waiting: list[Reservation] = []
        self.in_flight: list[Asked] = []
        self.asked: dict[int, Asked] = {}

    def enter(self, *arrived: Asked, settles: Sequence[Settlement] = ()) -> ledger.LedgerEntry:
        for one in arrived:
            self.asked[one.spend.position] = one
        spends = [*self.waiting, *(one.spend for one in arrived)]
        entry = ledger.enter_spending(self._connection, "run", self.owner, settles, spends)
        for spend, refused in entry.results:
            one = self.asked[spend.position]
            one.outcome = "refused" if refused else "asked"
            if refused is None:
                self.in_flight.append(one)
        self.waiting = entry.waiting
        return entry

    def settle(self, at: int) -> None:
        one = self.in_flight.pop(at % len(self.in_flight))
        self.enter(settles=[Settlement(NOBODY, one.spend.cost, one.cost)])


def questions(plan: Sequence[tuple[float, float]], limit: float) -> list[Asked]:
    return [Asked(Reservation(NOBODY, 1, worst, None, limit, at), cost) for at, (worst, cost) in enumerate(plan)]


def one_by_one(plan: Sequence[tuple[float, float]], limit: float) -> list[str]:
    """What becomes of the questions where each is settled before the next is asked."""
    spent, outcomes = 0.0, []
    for worst, cost in plan:
        fits = spent + worst <= limit
        outcomes.append("asked" if fits else "refused")
        spent += cost if fits else 0.0
    return outcomes


def held(connection: sqlite3.Connection) -> float:
    """US dollars that are spent or reserved."""
    (spent,) = connection.execute("SELECT total(cost) FROM ledger").fetchone()
    (reserved,) = connection.execute("SELECT total(reserved) FROM reservations").fetchone()
    return float(spent + reserved)


@given(st.lists(costs, max_size=14), limits, st.data())
def test_enter_any_concurrency_grants_same_as_sequential(
    plan: list[tuple[float, float]], limit: float, data: st.DataObject
) -> None:
    with connected() as connection:
        process, coming = Process(connection, "a"), questions(plan, limit)
        left = list(coming)
        while left or process.in_flight:
            arrives: bool = data.draw(st.booleans())
            if left and (arrives or not process.in_flight):
                process.enter(left.pop(0))
            else:
                process.settle(data.draw(st.integers(0, 20)))
            assert held(connection) <= limit
        assert process.waiting == []
    assert [one.outcome for one in coming] == one_by_one(plan, limit)


@given(st.lists(st.tuples(costs, st.integers(0, 2)), max_size=14), limits, st.data())
def test_enter_several_processes_neither_exceeds_nor_starves(
    plan: list[tuple[tuple[float, float], int]], limit: float, data: st.DataObject
) -> None:
    with connected() as connection:
        processes = [Process(connection, name) for name in "abc"]
        coming = questions([amounts for amounts, _ in plan], limit)
        shares = [[one for one, (_, of) in zip(coming, plan, strict=True) if of == at] for at in range(3)]
        while any(shares) or any(one.in_flight or one.waiting for one in processes):
            number = data.draw(st.integers(0, 2))
            process = processes[number]
            arrives, settles = data.draw(st.tuples(st.booleans(), st.booleans()))
            if shares[number] and arrives:
                process.enter(shares[number].pop(0))
            elif process.in_flight and settles:
                process.settle(data.draw(st.integers(0, 20)))
            else:
                process.enter()
            if not any(one.in_flight for one in processes):
                for one in sorted((one for one in processes if one.waiting), key=lambda one: one.waiting[0].position):
                    one.enter()
                assert not any(one.waiting for one in processes) or any(one.in_flight for one in processes)
            assert held(connection) <= limit
        assert connection.execute("SELECT count(*) FROM reservations").fetchone() == (0,)
    spent = sum(one.cost for one in coming if one.outcome == "asked")
    assert {one.outcome for one in coming} <= {"asked", "refused"}
    # A question that fits beside all that was spent in the end fitted whenever its turn came.
    assert all(one.outcome == "asked" for one in coming if spent + one.spend.cost <= limit)


def test_enter_small_request_waits_for_larger_of_other_process() -> None:
    with connected() as connection:
        ours, theirs = Process(connection, "a"), Process(connection, "b")
        first, large, small = questions([(4.0, 1.0), (8.0, 8.0), (1.0, 1.0)], 10.0)
        ours.enter(first)
        theirs.enter(large)
        assert ours.enter(small).contended
        assert (large.outcome, small.outcome) == ("", "")
        ours.settle(0)
        assert small.outcome == ""
        theirs.enter()
        assert large.outcome == "asked"
        theirs.settle(0)
        ours.enter()
        assert small.outcome == "asked"


def test_enter_amount_that_never_fits_is_refused_at_once() -> None:
    with connected() as connection:
        process = Process(connection, "a")
        first, large, small = questions([(4.0, 1.0), (11.0, 1.0), (1.0, 1.0)], 10.0)
        process.enter(first, large, small)
        assert [one.outcome for one in (first, large, small)] == ["asked", "refused", "asked"]


def test_drop_reservations_of_dead_process_counts_as_spent() -> None:
    with connected() as connection:
        dead, ours = Process(connection, "dead"), Process(connection, "a")
        lost, waits, fits = questions([(6.0, 1.0), (5.0, 1.0), (4.0, 1.0)], 10.0)
        dead.enter(lost)
        assert ours.enter(waits, fits).contended
        assert (waits.outcome, fits.outcome) == ("", "")
        ledger.drop_reservations(connection, ["dead"])
        assert not ours.enter().contended
        assert (waits.outcome, fits.outcome, held(connection)) == ("refused", "asked", 10.0)


def test_enter_free_request_is_granted_at_once() -> None:
    with connected() as connection:
        process = Process(connection, "a")
        full, waits, free = questions([(10.0, 10.0), (1.0, 1.0), (0.0, 0.0)], 10.5)
        process.enter(full, waits, free)
        assert [one.outcome for one in (full, waits, free)] == ["asked", "", "asked"]
