"""Counts of the requests of one process: the layers write them, the progress output reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ...errors import ProviderError
from ...usage import NO_USAGE, Usage

UNSCORED: Final = "(questions are asked for text where the method allows it, else skipped)"
"""What follows from an endpoint that cannot score texts, for a remark."""


@dataclass(slots=True)
class RequestCounters:
    """Counts since the process began. Written in the event loop's thread only; reading is safe in any thread."""

    sent: int = 0  # attempts, answered or not
    in_flight: int = 0
    usage: Usage = NO_USAGE  # of the requests that a provider answered
    stored: int = 0  # requests that the store answered
    failed: int = 0  # requests given up
    retries: int = 0
    timeouts: int = 0  # attempts that took longer than their time limit
    store_error: ProviderError | None = None  # the first error of the store, which further questions would meet as well
    remarks: tuple[str, ...] = ()  # on endpoints, a line each, for the end of the run
    waiting: dict[str, float] = field(default_factory=dict)  # why -> time.monotonic() until which nothing is sent

    def add_remark(self, remark: str) -> None:
        """Add a line on an endpoint, unless it was added before."""
        if remark not in self.remarks:
            self.remarks = (*self.remarks, remark)

    def begin_wait(self, why: str, until: float) -> None:
        """Note in `waiting` that nothing is sent until then; if several models wait, the latest time counts.

        Args:
            why: The reason.
            until: A time of `time.monotonic`.
        """
        if until > self.waiting.get(why, 0.0):
            self.waiting = self.waiting | {why: until}  # a new one: another thread may be reading the old one

    def end_wait(self, why: str, until: float) -> None:
        """Remove the wait that was noted with the same arguments, unless another model waits longer."""
        if self.waiting.get(why, 0.0) <= until:
            self.waiting = {reason: then for reason, then in self.waiting.items() if reason != why}
