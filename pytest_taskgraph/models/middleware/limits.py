"""How many requests to one model are in flight, whose turn it is, and the layer that waits for it."""

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

from ...errors import NotAskedError, ProviderError, ProviderErrorKind
from ...trial import Reply, Request
from ..prices import estimate_tokens
from .layer import Attempt, Layer, WrappingLayer
from .request_counters import RequestCounters

WINDOW = 60.1  # seconds; a little more than a minute, for the provider counts when it receives, not when we send
SLACK = 1.0  # seconds by which what is sent may run ahead of an even pace, or a late timer would cost throughput
NEAR, BEYOND = 0.9, 1.25  # between these shares of where the provider last refused, growth is slow


@dataclass(slots=True)
class Sent:
    """What was sent at one time; `amount` is corrected when the true one is known."""

    at: float
    amount: float


class RequestPace:
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


class InFlightLimit:
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


POSITION: ContextVar[int] = ContextVar("POSITION", default=0)  # of the item that asks; the lowest goes first

START, MOST = 20, 200  # in flight, where no number is set: at first, and at last
STRIKES = 3
LONGEST_WAIT = 600.0  # seconds; a provider that wants more has a quota that is spent, not a rate that is too high

_SOONEST = 0.001  # seconds; a timer of less may not move the clock at all
_LONGEST_PAUSE = 60.0
_DO: dict[ProviderErrorKind, str] = {
    "authentication": "check the key of the model",
    "payment": "check the billing of the account",
    "not-found": "check the name and the address of the model",
    "rate-limit": "check the quota and the billing of the account",
}
_UNTOUCHED = {"rate-limit", "timeout", "connection", "server"}  # tell nothing of whether key and name are right
_QUOTA = re.compile(
    r"insufficient_quota|insufficient (?:quota|balance|credits?|funds)|exceeded your current quota"
    r"|billing|payment required|credit balance",
    re.IGNORECASE,
)
_RATE = re.compile(r"per[ _-](?:second|minute)|retry in|resource_exhausted|google", re.IGNORECASE)


def quota_spent(error: ProviderError) -> bool:
    """Whether a rate limit is one that waiting does not lift: a quota, a balance, or more than 10 minutes to wait.

    Told by the words of providers. Google says "quota" for rates too, so its words alone do not count.
    """
    if error.kind != "rate-limit":
        return False
    if error.retry_after is not None:
        return error.retry_after > LONGEST_WAIT
    words = str(error)
    return bool(_QUOTA.search(words)) and not _RATE.search(words)


class Limits:
    """The limits of one model: requests in flight, requests and tokens a minute, pauses that the provider asks for.

    `concurrency` None adapts: 20 at first, up to 200. Of a run of several `workers` each has its share, but at least
    one request in flight. Used in one event loop, whose time `clock` tells. `broken` is set for good after three
    failures in a row that repeating cannot mend; every request, those that wait included, then raises it unsent.
    """

    def __init__(
        self,
        concurrency: int | None,
        rpm: float | None,
        tpm: float | None,
        counters: RequestCounters,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        start, most = (START, MOST) if concurrency is None else (concurrency, concurrency)
        self._allowed = InFlightLimit(max(1, start // workers), max(1, most // workers))
        self._requests = RequestPace(max(min(rpm, 1.0), rpm / workers)) if rpm else None
        self._tokens = RequestPace(max(min(tpm, 1.0), tpm / workers)) if tpm else None
        self._counters, self._clock = counters, clock
        self.in_flight = 0
        self.broken: ProviderError | None = None
        self.ended = False  # nothing more is sent; what is in flight may arrive
        self._queue: list[tuple[int, int, RequestSlot, asyncio.Future[bool]]] = []  # a heap; true: it may go
        self._order = 0  # of arrival, and of sending
        self._last_halved = -1  # what was sent up to here belongs to the burst that halved the limit
        self._refusals = 0  # bursts of them since the last success
        self._strikes: list[ProviderErrorKind] = []  # of one kind, since the last success
        self._paused_until, self._shown = -inf, ("", -inf)
        self._timer: asyncio.TimerHandle | None = None
        self._wake_at = inf

    @property
    def now(self) -> int:
        """How many requests may be in flight at the moment, 1 or more."""
        return self._allowed.now

    @property
    def counts_tokens(self) -> bool:
        """Whether `slot` wants to know how many tokens a request is expected to take."""
        return self._tokens is not None

    def slot(self, tokens: float = 0.0) -> RequestSlot:
        """A turn to send one request of so many tokens: `async with limits.slot() as slot`, held for one attempt.

        Waits until fewer than `now` are in flight, the pace allows it and no pause is on; of those that wait the one
        with the lowest POSITION goes first, then who came first. Raises ProviderError once the model is broken, and
        NotAskedError after `end`.
        """
        return RequestSlot(self, tokens)

    def end(self) -> None:
        """Nothing; no more is sent, and those that wait raise NotAskedError. What is in flight may arrive."""
        self.ended = True
        self._send_away()

    def note_reply(self, reply: Reply, slot: RequestSlot) -> None:
        """Nothing; a reply came, while the slot is still held: the limit may grow, the tokens are counted as told."""
        self._refusals = 0
        self._strikes.clear()
        if self.in_flight >= self._allowed.now:  # a limit that nobody reaches says nothing
            self._allowed.grow()
        if self._tokens and slot.counted and reply.tokens_in is not None:
            self._tokens.correct(slot.counted, reply.tokens_in + (reply.tokens_out or 0))

    def note_failure(self, error: ProviderError, slot: RequestSlot) -> None:
        """Nothing; a failure came, while the slot is still held: the limit halves, growth waits, or all wait."""
        if error.kind == "rate-limit":
            self._refused(error, slot)
        elif error.kind in _UNTOUCHED:
            self._allowed.hold(self.in_flight)
        if error.kind in _UNTOUCHED and 0 < (error.retry_after or 0) <= LONGEST_WAIT:
            self._pause("rate limit" if error.kind == "rate-limit" else "server", error.retry_after or 0)
        self._strike(error)

    def _refused(self, error: ProviderError, slot: RequestSlot) -> None:
        if slot.order <= self._last_halved:
            return
        self._allowed.halve(self.in_flight)
        self._last_halved = self._order
        self._refusals += 1
        if self._refusals > 1 and error.retry_after is None:  # or all that wait would be refused one after the other
            self._pause("rate limit", min(_LONGEST_PAUSE, 2.0 ** min(self._refusals - 2, 10)))

    def _strike(self, error: ProviderError) -> None:
        if error.kind in ("authentication", "payment", "not-found") or quota_spent(error):
            self._strikes = [kind for kind in self._strikes if kind == error.kind] + [error.kind]
            if len(self._strikes) >= STRIKES and self.broken is None:
                self._break(error)
        elif error.kind not in _UNTOUCHED:
            self._strikes.clear()

    def _break(self, error: ProviderError) -> None:
        said = error.message
        self.broken = ProviderError(
            error.kind,
            f"{STRIKES} requests in a row failed like this and none succeeded, so no more is sent to this model; "
            f"{_DO[error.kind]}; the provider said: {said}",
            attempts=0,
        )
        self._send_away()

    def _send_away(self) -> None:
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
        """Looks at the queue again in so many seconds; whoever shows progress is told what is waited for."""
        if self._timer:
            self._timer.cancel()
            self._counters.end_wait(*self._shown)
        self._wake_at = self._clock() + seconds
        self._timer = asyncio.get_running_loop().call_later(max(seconds, _SOONEST), self._woken)
        if seconds >= 1.0:  # shorter waits would only flicker
            self._shown = (why, self._wake_at)
            self._counters.begin_wait(*self._shown)

    def _woken(self) -> None:
        self._timer = None
        self._counters.end_wait(*self._shown)
        self._admit()

    def _hindrance(self, tokens: float, now: float) -> tuple[float, str]:
        """Seconds until a request of so many tokens may be sent, and why not before."""
        waits = [(self._paused_until - now, "rate limit")]
        if self._requests:
            waits.append((self._requests.wait(1.0, now), "requests a minute"))
        if self._tokens:
            waits.append((self._tokens.wait(tokens, now), "tokens a minute"))
        return max(waits)

    def _admit(self) -> None:
        """Lets in whoever may go, the lowest position first; a timer calls again where only time is wanting."""
        queue, free_of_time = self._queue, not (self._requests or self._tokens)
        while queue and self.in_flight < self._allowed.now:
            _, _, slot, waiting = queue[0]
            if not waiting.done():
                now = self._clock()
                if not free_of_time or self._paused_until > now:
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
            self._requests.sent(1.0, now)
        if self._tokens:
            slot.counted = self._tokens.sent(slot.tokens, now)

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
    """A turn to send one request; see `Limits.slot`. `order`: how many were sent before it, and it."""

    __slots__ = ("_limits", "counted", "order", "tokens")

    def __init__(self, limits: Limits, tokens: float) -> None:
        self._limits, self.tokens = limits, tokens
        self.order = 0
        self.counted: Sent | None = None

    async def __aenter__(self) -> RequestSlot:
        await self._limits._enter(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limits._leave()


class LimitLayer(WrappingLayer):
    """A model whose attempts wait for a slot of its limits, which learn what came of each.

    What the inner attempt needs is taken before the slot: waiting for a budget takes no place of those in flight.
    `count` tells how many tokens a request will take; it is only asked where tokens a minute are limited.
    """

    def __init__(self, inner: Layer, limits: Limits, count: Callable[[Request], float] = estimate_tokens) -> None:
        super().__init__(inner)
        self._limits, self._count_tokens = limits, count

    @property
    def ended(self) -> bool:
        """Return True if nothing more is sent."""
        return self._limits.ended

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Wait for a slot, which is held until the context ends.

        Raises:
            ProviderError: that of `Limits.broken`, if the model is known to be broken.
            NotAskedError: if the run ended.
        """
        tokens = self._count_tokens(request) if self._limits.counts_tokens else 0.0
        async with self.inner.attempt(request) as attempt, self._limits.slot(tokens) as slot:
            yield _Slotted(attempt, self._limits, slot)


class _Slotted:
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
