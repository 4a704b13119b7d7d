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
class PlannedQuestion:
    """A question of the plan, with its reservation, its cost and its outcome."""

    reservation: Reservation
    cost: float
    outcome: str = ""


class Process:
    """A process of the run, which enters arriving questions and settles them on request."""

    def __init__(self, connection: sqlite3.Connection, owner: str) -> None:
        self._connection, self.owner = connection, owner
        self.waiting: list[Reservation] = []
        self.in_flight: list[PlannedQuestion] = []
        self.asked: dict[int, PlannedQuestion] = {}

    def enter(self, *arrived: PlannedQuestion, settles: Sequence[Settlement] = ()) -> ledger.LedgerEntry:
        for question in arrived:
            self.asked[question.reservation.position] = question
        reservations = [*self.waiting, *(question.reservation for question in arrived)]
        entry = ledger.enter_spending(self._connection, "run", self.owner, settles, reservations)
        for reservation, refused in entry.results:
            question = self.asked[reservation.position]
            question.outcome = "refused" if refused else "asked"
            if refused is None:
                self.in_flight.append(question)
        self.waiting = entry.waiting
        return entry

    def settle(self, at: int) -> None:
        question = self.in_flight.pop(at % len(self.in_flight))
        self.enter(settles=[Settlement(NOBODY, question.reservation.cost, question.cost)])


def questions(plan: Sequence[tuple[float, float]], limit: float) -> list[PlannedQuestion]:
    return [
        PlannedQuestion(Reservation(NOBODY, 1, worst, None, limit, at), cost) for at, (worst, cost) in enumerate(plan)
    ]


def sequential_outcomes(plan: Sequence[tuple[float, float]], limit: float) -> list[str]:
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
    assert [question.outcome for question in coming] == sequential_outcomes(plan, limit)


@given(st.lists(st.tuples(costs, st.integers(0, 2)), max_size=7), limits, st.data())
def test_enter_several_processes_neither_exceeds_nor_starves(
    plan: list[tuple[tuple[float, float], int]], limit: float, data: st.DataObject
) -> None:
    with connected() as connection:
        processes = [Process(connection, name) for name in "abc"]
        coming = questions([amounts for amounts, _ in plan], limit)
        shares = [[question for question, (_, of) in zip(coming, plan, strict=True) if of == at] for at in range(3)]
        while any(shares) or any(process.in_flight or process.waiting for process in processes):
            number = data.draw(st.integers(0, 2))
            drawn_process = processes[number]
            arrives, settles = data.draw(st.tuples(st.booleans(), st.booleans()))
            if shares[number] and arrives:
                drawn_process.enter(shares[number].pop(0))
            elif drawn_process.in_flight and settles:
                drawn_process.settle(data.draw(st.integers(0, 20)))
            else:
                drawn_process.enter()
            if not any(process.in_flight for process in processes):
                waiting = [process for process in processes if process.waiting]
                for process in sorted(waiting, key=lambda process: process.waiting[0].position):
                    process.enter()
                is_flying = any(process.in_flight for process in processes)
                assert is_flying or not any(process.waiting for process in processes)
            assert held(connection) <= limit
        assert connection.execute("SELECT count(*) FROM reservations").fetchone() == (0,)
    spent = sum(question.cost for question in coming if question.outcome == "asked")
    assert {question.outcome for question in coming} <= {"asked", "refused"}
    # A question that fits beside all that was spent in the end fitted whenever its turn came.
    assert all(question.outcome == "asked" for question in coming if spent + question.reservation.cost <= limit)


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
        assert [question.outcome for question in (first, large, small)] == ["asked", "refused", "asked"]


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
        assert [question.outcome for question in (full, waits, free)] == ["asked", "", "asked"]
