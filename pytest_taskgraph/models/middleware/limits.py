"""Limits of the requests to one model: how many are in flight, which is next, and the layer that waits for its turn."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from types import TracebackType

from ...errors import NotAskedError, ProviderError, ProviderErrorKind, UnsentError
from ...trial import Reply, Request
from ..prices import estimate_tokens
from .layer import Attempt, Layer, WrappingLayer
from .request_counters import RequestCounters

WINDOW = 60.1  # seconds; a little more than a minute, since the provider counts arrivals, not departures
SLACK = 1.0  # seconds that requests may be ahead of an even pace, so that a late timer costs no throughput
NEAR, BEYOND = 0.9, 1.25  # between these multiples of the number at which the provider last refused, growth is slow


@dataclass(slots=True)
class SentAmount:
    """The amount sent at one time; `amount` is corrected when the actual one is known."""

    at: float
    amount: float


class RequestPace:
    """A pace of at most `per_minute` in any window of 60 s, spread evenly: at most one second's share ahead.

    The caller calls `wait` and then `send`, both with its clock's time in seconds, which never goes back.
    """

    def __init__(self, per_minute: float) -> None:
        self._most = per_minute
        self._sent: deque[SentAmount] = deque()
        self._total = 0.0  # of the window
        self._due = -inf  # when everything sent so far is through, at an even pace

    def wait(self, amount: float, now: float) -> float:
        """Return the seconds until `amount` more may be sent; 0.0 for at once.

        An amount above a minute's share is sent when the window is empty, since it never fits.
        """
        sent = self._sent
        while sent and sent[0].at <= now - WINDOW:
            self._total -= sent.popleft().amount
        evenly = max(0.0, self._due - SLACK - now)
        over = self._total + amount - self._most
        return max(evenly, self._until_free(over) - now) if over > 0 and sent else evenly

    def _until_free(self, over: float) -> float:
        """Return the time when at least `over` has left the window, or all of it."""
        last = 0.0
        for entry in self._sent:
            last, over = entry.at, over - entry.amount
            if over <= 0:
                break
        return last + WINDOW

    def send(self, amount: float, now: float) -> SentAmount:
        """Count an amount that is sent now, and return it for `correct`."""
        entry = SentAmount(now, amount)
        self._sent.append(entry)
        self._total += amount
        self._due = max(now, self._due) + amount * 60 / self._most
        return entry

    def correct(self, entry: SentAmount, amount: float) -> None:
        """Correct the amount of an entry; one that has left the window only shifts the pace."""
        more = amount - entry.amount
        if self._sent and entry.at >= self._sent[0].at:
            self._total += more
        entry.amount = amount
        self._due += more * 60 / self._most


class InFlightLimit:
    """The number of requests that may be in flight, `now`: `start` at first, 1 to `most`; fixed if both are equal.

    With `heeds_latency`, it grows only while replies take as long as the first ones did, and shrinks again if they take
    twice as long: a server with few slots lets requests wait, where their time limit runs, rather than refuse them.
    """

    def __init__(self, start: int, most: int, heeds_latency: bool = False) -> None:
        self._allowed, self._most, self._fixed = float(start), most, start == most
        self._start = start
        self._first: list[float] | None = [] if heeds_latency else None  # seconds that the first replies took
        self._refused_at = inf
        self._held = 0  # good replies until it grows again
        self.now = start

    def _set(self, allowed: float) -> None:
        if not self._fixed:
            self._allowed = min(float(self._most), max(1.0, allowed))
            self.now = int(self._allowed)

    def grow(self, latency: float | None = None) -> None:
        """Raise the limit by one after a good reply.

        Near the number at which the provider last refused, this takes as many good replies as may be in flight.

        Args:
            latency: The seconds that the reply took; None if unknown.
        """
        slower = self._slower(latency)
        if slower >= SATURATED and self._allowed > self._start:
            self._set(self._allowed - 1)
        elif self._held:
            self._held -= 1
        elif slower <= STEADY:
            near = NEAR * self._refused_at <= self._allowed <= BEYOND * self._refused_at
            self._set(self._allowed + (1 / self._allowed if near else 1.0))

    def _slower(self, latency: float | None) -> float:
        """Return the latency as a multiple of that of the first replies; 1.0 if latencies do not matter yet."""
        if self._first is None or latency is None:
            return 1.0
        if len(self._first) < self._start:
            self._first.append(latency)
            return STEADY + SATURATED  # it is not known yet whether more would be too many
        return latency / max(sum(self._first) / len(self._first), 1e-9)

    def halve(self, in_flight: int) -> None:
        """Halve the limit, to at least one, after a refusal while so many requests were in flight."""
        self._refused_at = min(self._allowed, max(1, in_flight))
        self._set(self._refused_at / 2)

    def hold(self, in_flight: int) -> None:
        """Stop growth for as many good replies as requests are in flight, after a failure of the server."""
        self._held = in_flight


POSITION: ContextVar[int] = ContextVar("POSITION", default=0)  # of the item that sends requests; the lowest goes first

START, MOST = 20, 200  # in flight, if no number is set: at first, and at most
LOCAL_START = 2  # at first, to a server on this machine or in a private network, which has few slots
STEADY, SATURATED = 1.25, 2.0  # multiples of the first latencies up to which a limit grows, and from which it shrinks
STRIKES = 3
LONGEST_WAIT = 600.0  # seconds; a longer delay means a spent quota, not a rate limit

_SOONEST = 0.001  # seconds; a shorter timer may not move the clock at all
_LONGEST_PAUSE = 60.0
_REMEDIES: dict[ProviderErrorKind, str] = {
    "authentication": "check the key of the model",
    "payment": "check the billing of the account",
    "not-found": "check the name and the address of the model",
    "rate-limit": "check the quota and the billing of the account",
    "connection": "check that the server runs at the address of the model",
}
_UNTOUCHED = {"rate-limit", "timeout", "connection", "server"}  # these failures say nothing about key and name
_QUOTA = re.compile(
    r"insufficient_quota|insufficient (?:quota|balance|credits?|funds)|exceeded your current quota"
    r"|billing|payment required|credit balance",
    re.IGNORECASE,
)
_RATE = re.compile(r"per[ _-](?:second|minute)|retry in|resource_exhausted|google", re.IGNORECASE)


def quota_spent(error: ProviderError) -> bool:
    """Return True if a rate limit does not pass soon: a spent quota or balance, or a delay of more than 10 minutes.

    Recognised by the messages of providers. Google uses "quota" for rates too, so its messages alone do not count.
    """
    if error.kind != "rate-limit":
        return False
    if error.retry_after is not None:
        return error.retry_after > LONGEST_WAIT
    words = str(error)
    return bool(_QUOTA.search(words)) and not _RATE.search(words)


class Limits:
    """The limits of one model: requests in flight, requests and tokens per minute, pauses that the provider asks for.

    All methods are used in one event loop. `broken` is set for good after three failures in a row that a retry cannot
    mend, or once a request and its retries have not reached a server that no request has reached yet; every request,
    including those that wait, then raises it unsent.

    Args:
        concurrency: Requests in flight; None adapts: 20 at first, up to 200.
        rpm: Requests per minute; None for no limit.
        tpm: Tokens per minute; None for no limit.
        counters: Counts the waits.
        workers: Workers of the run, each of which has its share, but at least one request in flight.
        clock: The time in seconds.
        local: True for a server on this machine or in a private network: without a number, 2 are in flight at first,
            and more only while replies do not become slower.
    """

    def __init__(
        self,
        concurrency: int | None,
        rpm: float | None,
        tpm: float | None,
        counters: RequestCounters,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
        local: bool = False,
    ) -> None:
        adaptive = (LOCAL_START if local else START), MOST
        start, most = adaptive if concurrency is None else (concurrency, concurrency)
        self._allowed = InFlightLimit(max(1, start // workers), max(1, most // workers), local)
        self._requests = RequestPace(max(min(rpm, 1.0), rpm / workers)) if rpm else None
        self._tokens = RequestPace(max(min(tpm, 1.0), tpm / workers)) if tpm else None
        self._counters, self._clock = counters, clock
        self.in_flight = 0
        self.broken: ProviderError | None = None
        self.ended = False  # nothing more is sent; what is in flight may arrive
        # A heap of the requests that wait; True as the future's result: it may be sent.
        self._queue: list[tuple[int, int, RequestSlot, asyncio.Future[bool]]] = []
        self._order = 0  # of arrival, and of sending
        self._last_halved = -1  # requests up to this one belong to the burst that halved the limit
        self._replied = False
        self._refusals = 0  # bursts of refusals since the last success
        self._strikes: list[ProviderErrorKind] = []  # of one kind, since the last success
        self._paused_until, self._noted_wait = -inf, ("", -inf)
        self._timer: asyncio.TimerHandle | None = None
        self._wake_at = inf

    @property
    def now(self) -> int:
        """Return how many requests may be in flight at the moment, 1 or more."""
        return self._allowed.now

    @property
    def counts_tokens(self) -> bool:
        """Return True if `slot` needs the expected number of tokens of a request."""
        return self._tokens is not None

    def slot(self, tokens: float = 0.0) -> RequestSlot:
        """Return a turn to send one request of so many tokens, held for one attempt: `async with limits.slot()`.

        Entering it waits until fewer than `now` are in flight, the pace allows it and there is no pause; of those that
        wait, the lowest POSITION goes first, then the first to arrive. It raises ProviderError once the model is
        broken, and NotAskedError after `end`.
        """
        return RequestSlot(self, tokens)

    def end(self) -> None:
        """End sending: requests that wait raise NotAskedError, requests in flight may arrive."""
        self.ended = True
        self._reject_waiting()

    def note_reply(self, reply: Reply, slot: RequestSlot) -> None:
        """Note a reply while its slot is still held: the limit may grow, and its tokens are corrected."""
        self._replied = True
        self._refusals = 0
        self._strikes.clear()
        if self.in_flight >= self._allowed.now:  # a limit that is not reached gives no evidence
            self._allowed.grow(reply.latency)
        if self._tokens and slot.counted and reply.tokens_in is not None:
            self._tokens.correct(slot.counted, reply.tokens_in + (reply.tokens_out or 0))

    def note_failure(self, error: ProviderError, slot: RequestSlot) -> None:
        """Note a failure while its slot is still held: the limit halves, growth stops, or all requests pause."""
        if error.kind == "rate-limit":
            self._handle_refusal(error, slot)
        elif error.kind == "timeout":
            self._halve(slot)
        elif error.kind in _UNTOUCHED:
            self._allowed.hold(self.in_flight)
        if error.kind in _UNTOUCHED and 0 < (error.retry_after or 0) <= LONGEST_WAIT:
            self._pause("rate limit" if error.kind == "rate-limit" else "server", error.retry_after or 0)
        self._strike(error)

    def _halve(self, slot: RequestSlot) -> bool:
        """Halve the limit, unless the request was sent before it was last halved; return True if it was halved."""
        if slot.order <= self._last_halved:
            return False
        self._allowed.halve(self.in_flight)
        self._last_halved = self._order
        return True

    def _handle_refusal(self, error: ProviderError, slot: RequestSlot) -> None:
        if not self._halve(slot):
            return
        self._refusals += 1
        if (
            self._refusals > 1 and error.retry_after is None
        ):  # otherwise all waiting requests are refused one after the other
            self._pause("rate limit", min(_LONGEST_PAUSE, 2.0 ** min(self._refusals - 2, 10)))

    def note_given_up(self, error: ProviderError) -> None:
        """Note the last failure of a request that is not repeated any more."""
        if error.kind == "connection" and not self._replied and self.broken is None:
            self._break(error, "a request and its retries did not reach the server, and no other request has")

    def _strike(self, error: ProviderError) -> None:
        if error.kind in ("authentication", "payment", "not-found") or quota_spent(error):
            self._strikes = [kind for kind in self._strikes if kind == error.kind] + [error.kind]
            if (len(self._strikes) >= STRIKES or isinstance(error, UnsentError)) and self.broken is None:
                self._break(error, f"{STRIKES} requests in a row failed like this and none succeeded")
        elif error.kind not in _UNTOUCHED:
            self._strikes.clear()

    def _break(self, error: ProviderError, why: str) -> None:
        message = error.message
        if not isinstance(error, UnsentError):
            remedy = _REMEDIES[error.kind]
            message = f"{why}, so no more is sent to this model; {remedy}; the provider said: {message}"
        self.broken = ProviderError(error.kind, message, attempts=0)
        self._reject_waiting()

    def _reject_waiting(self) -> None:
        for _, _, _, waiting in self._queue:
            if not waiting.done():
                waiting.set_result(False)
        self._queue.clear()

    def _pause(self, why: str, seconds: float) -> None:
        until = self._clock() + seconds
        if until > self._paused_until:
            self._paused_until = until
            self._wake(why, seconds)

    def _wake(self, why: str, seconds: float) -> None:
        """Look at the queue again in so many seconds, and note in the counters what is waited for."""
        if self._timer:
            self._timer.cancel()
            self._counters.end_wait(*self._noted_wait)
        self._wake_at = self._clock() + seconds
        self._timer = asyncio.get_running_loop().call_later(max(seconds, _SOONEST), self._resume)
        if seconds >= 1.0:  # shorter waits only flicker in the progress output
            self._noted_wait = (why, self._wake_at)
            self._counters.begin_wait(*self._noted_wait)

    def _resume(self) -> None:
        self._timer = None
        self._counters.end_wait(*self._noted_wait)
        self._admit()

    def _hindrance(self, tokens: float, now: float) -> tuple[float, str]:
        """Return the seconds until a request of so many tokens may be sent, and what it waits for."""
        waits = [(self._paused_until - now, "rate limit")]
        if self._requests:
            waits.append((self._requests.wait(1.0, now), "requests a minute"))
        if self._tokens:
            waits.append((self._tokens.wait(tokens, now), "tokens a minute"))
        return max(waits)

    def _admit(self) -> None:
        """Admit waiting requests, the lowest position first; a timer calls again if only time is missing."""
        queue, is_unpaced = self._queue, not (self._requests or self._tokens)
        while queue and self.in_flight < self._allowed.now:
            _, _, slot, waiting = queue[0]
            if not waiting.done():
                now = self._clock()
                if not is_unpaced or self._paused_until > now:
                    seconds, why = self._hindrance(slot.tokens, now)
                    if seconds > 0:
                        if self._timer is None or now + seconds < self._wake_at - _SOONEST:
                            self._wake(why, seconds)
                        return
                self._send(slot, now)
                waiting.set_result(True)
            heappop(queue)

    def _send(self, slot: RequestSlot, now: float) -> None:
        self.in_flight += 1
        self._order += 1
        slot.order = self._order
        if self._requests:
            self._requests.send(1.0, now)
        if self._tokens:
            slot.counted = self._tokens.send(slot.tokens, now)

    async def _enter(self, slot: RequestSlot) -> None:
        if self.broken is None and not self.ended:
            waiting = asyncio.get_running_loop().create_future()
            self._order += 1
            heappush(self._queue, (POSITION.get(), self._order, slot, waiting))
            self._admit()
            try:
                await waiting
            except asyncio.CancelledError:
                if waiting.done() and not waiting.cancelled() and waiting.result():
                    self._leave()
                raise
            if waiting.result():
                return
        if self.broken is None:
            raise NotAskedError("the run ended before the question was asked")
        raise ProviderError(self.broken.kind, self.broken.message, attempts=0)

    def _leave(self) -> None:
        self.in_flight -= 1
        self._admit()


class RequestSlot:
    """A turn to send one request, from `Limits.slot`; `order` is the number of requests sent up to it."""

    __slots__ = ("_limits", "counted", "order", "tokens")

    def __init__(self, limits: Limits, tokens: float) -> None:
        self._limits, self.tokens = limits, tokens
        self.order = 0
        self.counted: SentAmount | None = None

    async def __aenter__(self) -> RequestSlot:
        await self._limits._enter(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limits._leave()


class LimitLayer(WrappingLayer):
    """A layer whose attempts wait for a slot of its limits, which adapt to the outcome of each.

    What the inner attempt needs is taken before the slot, so waiting for a budget occupies no slot.

    Args:
        inner: The inner layer.
        limits: The limits of the model.
        count: Returns the expected tokens of a request; called only if tokens per minute are limited.
    """

    def __init__(self, inner: Layer, limits: Limits, count: Callable[[Request], float] = estimate_tokens) -> None:
        super().__init__(inner)
        self._limits, self._count_tokens = limits, count

    @property
    def ended(self) -> bool:
        """Return True if no more requests are sent."""
        return self._limits.ended

    def note_given_up(self, error: ProviderError) -> None:
        """Note the last failure of a request that is not repeated any more."""
        self._limits.note_given_up(error)

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Wait for a slot, which is held until the context ends.

        Raises:
            ProviderError: that of `Limits.broken`, if the model is broken.
            NotAskedError: if the run ended.
        """
        tokens = self._count_tokens(request) if self._limits.counts_tokens else 0.0
        async with self.inner.attempt(request) as attempt, self._limits.slot(tokens) as slot:
            yield _SlotAttempt(attempt, self._limits, slot)


class _SlotAttempt:
    def __init__(self, attempt: Attempt, limits: Limits, slot: RequestSlot) -> None:
        self._attempt, self._limits, self._slot = attempt, limits, slot

    async def send(self) -> Reply:
        try:
            reply = await self._attempt.send()
        except ProviderError as error:
            self._limits.note_failure(error, self._slot)
            raise
        self._limits.note_reply(reply, self._slot)
        return reply
