"""How much may be sent: requests or tokens in a minute, requests at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf

WINDOW = 60.1  # seconds; a little more than a minute, for the provider counts when it receives, not when we send
SLACK = 1.0  # seconds by which what is sent may run ahead of an even pace, or a late timer would cost throughput
NEAR, BEYOND = 0.9, 1.25  # between these shares of where the provider last refused, growth is slow


@dataclass(slots=True)
class Sent:
    """What was sent at one time; `amount` is corrected when the true one is known."""

    at: float
    amount: float


class Pace:
    """At most `per_minute` in any window of 60 s, spread evenly: never more than one second's share ahead.

    The caller asks `wait` and then tells `sent`, both with its clock's time in seconds, which never goes back.
    """

    def __init__(self, per_minute: float) -> None:
        self._most = per_minute
        self._sent: deque[Sent] = deque()
        self._total = 0.0  # of what is in the window
        self._due = -inf  # when all that was sent would be through, at an even pace

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` more may be sent; 0.0 for at once.

        More than a minute's share in one piece is sent when nothing else is in the window, for it would never fit.
        """
        sent = self._sent
        while sent and sent[0].at <= now - WINDOW:
            self._total -= sent.popleft().amount
        evenly = max(0.0, self._due - SLACK - now)
        over = self._total + amount - self._most
        return max(evenly, self._until_free(over) - now) if over > 0 and sent else evenly

    def _until_free(self, over: float) -> float:
        """The time when at least `over` has left the window, or all of it."""
        last = 0.0
        for entry in self._sent:
            last, over = entry.at, over - entry.amount
            if over <= 0:
                break
        return last + WINDOW

    def sent(self, amount: float, now: float) -> Sent:
        """What is sent now, counted from now on; to be given to `correct` once the true amount is known."""
        entry = Sent(now, amount)
        self._sent.append(entry)
        self._total += amount
        self._due = max(now, self._due) + amount * 60 / self._most
        return entry

    def correct(self, entry: Sent, amount: float) -> None:
        """Nothing; the entry counts as `amount` from now on. One that has left the window only shifts the pace."""
        more = amount - entry.amount
        if self._sent and entry.at >= self._sent[0].at:
            self._total += more
        entry.amount = amount
        self._due += more * 60 / self._most


class InFlight:
    """How many may be in flight, `now`: `start` at first, 1 to `most`; fixed where both are the same."""

    def __init__(self, start: int, most: int) -> None:
        self._allowed, self._most, self._fixed = float(start), most, start == most
        self._refused_at = inf
        self._held = 0  # good replies until it grows again
        self.now = start

    def _set(self, allowed: float) -> None:
        if not self._fixed:
            self._allowed = min(float(self._most), max(1.0, allowed))
            self.now = int(self._allowed)

    def grow(self) -> None:
        """Nothing; a good reply came: one more may be in flight.

        Near the number where the provider last refused it takes a whole round of good replies for one more.
        """
        if self._held:
            self._held -= 1
        else:
            near = NEAR * self._refused_at <= self._allowed <= BEYOND * self._refused_at
            self._set(self._allowed + (1 / self._allowed if near else 1.0))

    def halve(self, in_flight: int) -> None:
        """Nothing; the provider refused while so many were in flight: half of them may be, but at least one."""
        self._refused_at = min(self._allowed, max(1, in_flight))
        self._set(self._refused_at / 2)

    def hold(self, in_flight: int) -> None:
        """Nothing; the server failed: no growth for as many good replies as are in flight."""
        self._held = in_flight
