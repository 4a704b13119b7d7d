"""Requests of commands to the model that their options state, through store, limits, retries and budget as in a run."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, cast

from .. import redaction
from ..benchmarks.asked_models import Ask, AskedResults, in_command_words
from ..errors import NotAskedError, ProviderError, TaskgraphError, UnparseableError, UsageError

if TYPE_CHECKING:
    from ..asking import Model
    from ..models.middleware.layer import Live
    from ..models.middleware.limits import Limits
    from ..models.middleware.request_counters import RequestCounters
    from ..models.store import Store
    from ..trial import Json

T = TypeVar("T")
GRACE: Final = 30.0
"""Seconds that requests under way get after an interruption, for they are billed."""
NEWS: Final = 10.0  # seconds between two lines on how far it is
_SCRIPTED: Final = ("simulated", "baseline")


def ask_model(options: argparse.Namespace, asks: Sequence[Ask[T]]) -> AskedResults[T]:
    """Ask the stated model; see `AskModel`."""
    try:
        client = _open_stated_model(options)
        session = _session(options, client)
    except UsageError as error:
        raise UsageError(in_command_words(str(error))) from None
    try:
        results = asyncio.run(session.answer_all(asks))
    except KeyboardInterrupt:
        where = f"; replies that arrived are kept in {options.store}, and are not asked for again" * bool(session.store)
        print(f"interrupted: {session.usage}{where}", file=sys.stderr)
        raise
    finally:
        session.close()
    return AskedResults(tuple(results), session.usage)


def _open_stated_model(options: argparse.Namespace) -> Model:
    """Return the model that the options state. Raises UsageError."""
    from ..models import check_installed, open_model, registered_name
    from ..models.clients.python_callable import SCHEME, VERSION

    spec: str = options.model.strip()
    scheme = spec.partition(":")[0]
    if scheme in _SCRIPTED:
        raise UsageError(
            f"--model={redaction.public_name(spec)}: a {scheme} model only answers questions of a run; name one that "
            "writes text"
        )
    is_application = scheme == SCHEME or bool(registered_name(spec))
    settings: dict[str, Json] = {
        name: text if is_application and name == VERSION else _plain(text) for name, text in options.model_option
    }
    redaction.register([spec, settings])
    redaction.register_environment()
    client = open_model(spec, settings)
    check_installed([client])
    return client


def _plain(text: str) -> Json:
    """Return the JSON value of a text; the text itself if it is not JSON."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


@dataclass(slots=True)
class _ModelSession:
    """A model with all that stands around it, for as long as a command asks it."""

    model: Model
    watch: RequestCounters
    store: Store | None = None
    limits: Limits | None = None
    said_at: float = field(default_factory=time.monotonic)
    done: int = 0

    @property
    def usage(self) -> str:
        """A line on what was sent and what it cost."""
        watch = self.watch
        parts = [f"requests sent: {watch.sent}", f"replies from the store: {watch.stored}"]
        parts += [f"retries: {watch.retries}"] if watch.retries else []
        parts += [f"tokens in: {watch.tokens_in}, out: {watch.tokens_out}"] if watch.answered else []
        parts += [f"cost: {watch.cost:.4f} US$"] if watch.answered > watch.unpriced else []
        parts += [f"replies at an unknown price: {watch.unpriced}"] if watch.unpriced else []
        return ", ".join(parts)

    async def answer_all(self, asks: Sequence[Ask[T]]) -> list[T | TaskgraphError]:
        """Return what came of each ask. Cancelled, it sends no more and waits for what is under way."""
        from ..models import close

        tasks = [asyncio.ensure_future(self._result(ask, at, len(asks))) for at, ask in enumerate(asks)]
        try:
            if tasks:
                await asyncio.wait(tasks)
            return [task.result() for task in tasks]
        except asyncio.CancelledError:
            if self.limits is not None:
                self.limits.end()
            if self.watch.in_flight:
                words = f"interrupted: waiting up to {GRACE:g} s for requests under way; Ctrl-C again ends at once"
                print(words, file=sys.stderr, flush=True)
                await asyncio.wait(tasks, timeout=GRACE)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await close()

    async def _result(self, ask: Ask[T], position: int, number: int) -> T | TaskgraphError:
        from ..models.middleware.limits import POSITION

        POSITION.set(position)  # of the task alone: the first items go first
        try:
            return await ask(self.model)
        except (ProviderError, NotAskedError, UnparseableError) as error:
            return error
        finally:
            self.done += 1
            if time.monotonic() - self.said_at >= NEWS:
                self.said_at = time.monotonic()
                print(f"asked: {self.done} of {number}; {self.usage}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Close the store, if there is one."""
        if self.store is not None:
            self.store.close()


def _session(options: argparse.Namespace, client: Model) -> _ModelSession:
    """Return the client with store, limits and budget around it; one that is not live is asked as it is.

    Raises:
        UsageError: if the store cannot be used, or the budget not be kept.
    """
    from ..models.middleware.request_counters import RequestCounters

    if options.replay and options.refresh:
        raise UsageError("--replay takes all replies from the store, --refresh none: choose one")
    watch = RequestCounters()
    if not getattr(client, "live", False):
        return _ModelSession(client, watch)
    live = cast("Live", client)
    return _replay_session(options, live, watch) if options.replay else _live_session(options, live, watch)


def _replay_session(options: argparse.Namespace, client: Live, watch: RequestCounters) -> _ModelSession:
    from ..models.middleware.stored import Replayed

    store = _open_store(options, read_only=True)
    return _ModelSession(Replayed(client.name, client.settings, store, watch), watch, store)


def _live_session(options: argparse.Namespace, client: Live, watch: RequestCounters) -> _ModelSession:
    from ..models.middleware.budget import check_budget
    from ..models.middleware.chain import Budget, chain
    from ..models.middleware.limits import Limits
    from ..models.prices import check_prices, price_of

    check_prices(options.price)
    price = price_of(client.name, options.price)
    check_budget(client.name, price, options.max_cost, client.settings)
    is_kept = bool(getattr(client, "storable", True))
    is_limited = options.max_calls is not None or options.max_cost is not None
    store = _open_store(options) if is_kept or is_limited else None
    own: int | None = getattr(client, "in_flight", None)
    limits = Limits(own or options.concurrency, options.rpm, None, watch)
    budget = Budget(price, options.max_calls, options.max_cost)
    model = chain(
        client, store, limits, watch, budget, is_kept=is_kept, retries=options.retries, timeout=options.timeout
    )
    return _ModelSession(model, watch, store, limits)


def _open_store(options: argparse.Namespace, read_only: bool = False) -> Store:
    from uuid import uuid4

    from ..models.store import Store

    return Store(options.store, uuid4().hex, options.refresh, read_only=read_only)
