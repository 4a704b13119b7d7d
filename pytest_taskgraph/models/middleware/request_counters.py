"""What is going on in one process: the wrappers count here, whoever shows progress reads here."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import ProviderError


@dataclass(slots=True)
class RequestCounters:
    """Counts of one process, since it began. Written in the event loop's thread only; reading them is safe anywhere."""

    sent: int = 0  # attempts, answered or not
    in_flight: int = 0
    answered: int = 0  # requests that a provider answered
    stored: int = 0  # requests that the store answered
    failed: int = 0  # requests given up
    retries: int = 0
    cost: float = 0.0  # US dollars, of what was answered and whose cost is known
    unpriced: int = 0  # answered, at a cost that is not known
    tokens_in: int = 0  # of what was answered, as far as it tells
    tokens_out: int = 0
    untold: int = 0  # answered, without the number of tokens
    store_error: ProviderError | None = None  # the first of the store, which the questions to come would meet as well
    waiting: dict[str, float] = field(default_factory=dict)  # why -> time.monotonic() until which nothing is sent

    def begin_wait(self, why: str, until: float) -> None:
        """Nothing; `waiting` tells that nothing is sent until then. Where several models wait, the latest counts."""
        if until > self.waiting.get(why, 0.0):
            self.waiting = self.waiting | {why: until}  # a new one: another thread may be reading the old one

    def end_wait(self, why: str, until: float) -> None:
        """Nothing; the wait that was announced with the same words is over, unless somebody waits longer."""
        if self.waiting.get(why, 0.0) <= until:
            self.waiting = {reason: then for reason, then in self.waiting.items() if reason != why}
