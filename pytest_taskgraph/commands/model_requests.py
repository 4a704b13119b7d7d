"""Requests that commands send to the model of `--model`, with store, limits, retries and budget as in a run."""

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
from ..benchmarks.asked_models import Ask, AskResults, with_command_options
from ..errors import NotAskedError, ProviderError, TaskgraphError, UnparseableError, UsageError

if TYPE_CHECKING:
    from ..asking import Model
    from ..models.middleware.layer import LiveModel
    from ..models.middleware.limits import Limits
    from ..models.middleware.request_counters import RequestCounters
    from ..models.store import Store
    from ..trial import Json

T = TypeVar("T")
GRACE: Final = 30.0
"""Seconds to wait for requests in flight after an interruption, because they are billed."""
PROGRESS_INTERVAL: Final = 10.0  # seconds between two progress lines
_SCRIPTED: Final = ("simulated", "baseline")


def ask_model(options: argparse.Namespace, asks: Sequence[Ask[T]]) -> AskResults[T]:
    """Ask the model of the options; see `AskModel`."""
    try:
        client = _open_stated_model(options)
        session = _session(options, client)
    except UsageError as error:
        raise UsageError(with_command_options(str(error))) from None
    try:
        results = asyncio.run(session.answer_all(asks))
    except KeyboardInterrupt:
        stored_note = f"; replies that arrived are kept in {options.store}, and are not asked for again" * bool(
            session.store
        )
        print(f"interrupted: {session.usage}{stored_note}", file=sys.stderr)
        raise
    finally:
        session.close()
    return AskResults(tuple(results), session.usage)


def _open_stated_model(options: argparse.Namespace) -> Model:
    """Return the model that the options state.

    Raises:
        UsageError: if the model cannot be opened, or only answers the questions of a run.
    """
    from ..models import check_installed, open_model, registered_name
    from ..models.clients.schemes import PYTHON, VERSION

    spec: str = options.model.strip()
    scheme = spec.partition(":")[0]
    if scheme in _SCRIPTED:
        raise UsageError(
            f"--model={redaction.public_name(spec)}: a {scheme} model only answers questions of a run; name a model "
            "that writes text"
        )
    is_application = scheme == PYTHON or bool(registered_name(spec))
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
    """A model with its store, limits and counters, while a command asks it."""

    model: Model
    counters: RequestCounters
    store: Store | None = None
    limits: Limits | None = None
    printed_at: float = field(default_factory=time.monotonic)
    done: int = 0

    @property
    def usage(self) -> str:
        """Return a line with the numbers of requests and replies, tokens and cost."""
        counters = self.counters
        parts = [f"requests sent: {counters.sent}", f"replies from the store: {counters.stored}"]
        parts += [f"retries: {counters.retries}"] if counters.retries else []
        usage = counters.usage
        reasoning = f" (of them reasoning: {usage.tokens_reasoning})" if usage.tokens_reasoning else ""
        tokens = f"tokens in: {usage.tokens_in or 0}, out: {usage.tokens_out or 0}{reasoning}"
        parts += [tokens] if usage.replies else []
        parts += [] if usage.cost is None else [f"cost: {usage.cost:.4f} US$"]
        parts += [f"replies at an unknown price: {usage.unpriced}"] if usage.unpriced else []
        return ", ".join(parts)

    async def answer_all(self, asks: Sequence[Ask[T]]) -> list[T | TaskgraphError]:
        """Return the result of each ask; after a cancellation, send no request and wait for those in flight."""
        from ..models import close

        tasks = [asyncio.ensure_future(self._result(ask, position, len(asks))) for position, ask in enumerate(asks)]
        try:
            if tasks:
                await asyncio.wait(tasks)
            return [task.result() for task in tasks]
        except asyncio.CancelledError:
            if self.limits is not None:
                self.limits.end()
            if self.counters.in_flight:
                message = f"interrupted: waiting up to {GRACE:g} s for requests under way; Ctrl-C again ends at once"
                print(message, file=sys.stderr, flush=True)
                await asyncio.wait(tasks, timeout=GRACE)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await close()

    async def _result(self, ask: Ask[T], position: int, number: int) -> T | TaskgraphError:
        from ..models.middleware.limits import POSITION

        POSITION.set(position)  # in this task only: requests of lower positions are sent first
        try:
            return await ask(self.model)
        except (ProviderError, NotAskedError, UnparseableError) as error:
            return error
        finally:
            self.done += 1
            if time.monotonic() - self.printed_at >= PROGRESS_INTERVAL:
                self.printed_at = time.monotonic()
                print(f"asked: {self.done} of {number}; {self.usage}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Close the store, if there is one."""
        if self.store is not None:
            self.store.close()


def _session(options: argparse.Namespace, client: Model) -> _ModelSession:
    """Return the client with store, limits and budget around it; a client that is not live has none of them.

    Raises:
        UsageError: if the store cannot be used, or the budget cannot be enforced.
    """
    from ..models.middleware.request_counters import RequestCounters

    if options.replay and options.refresh:
        raise UsageError("--replay takes all replies from the store, --refresh none: choose one")
    counters = RequestCounters()
    if not getattr(client, "live", False):
        return _ModelSession(client, counters)
    live = cast("LiveModel", client)
    return _replay_session(options, live, counters) if options.replay else _live_session(options, live, counters)


def _replay_session(options: argparse.Namespace, client: LiveModel, counters: RequestCounters) -> _ModelSession:
    from ..models.middleware.stored import ReplayModel

    store = _open_store(options, read_only=True)
    return _ModelSession(ReplayModel(client.name, client.settings, store, counters), counters, store)


def _live_session(options: argparse.Namespace, client: LiveModel, counters: RequestCounters) -> _ModelSession:
    from ..models.middleware.budget import check_budget
    from ..models.middleware.chain import Budget, chain
    from ..models.middleware.limits import Limits
    from ..models.prices import check_prices, price_of

    check_prices(options.price)
    price = price_of(client.name, options.price)
    check_budget(client.name, price, options.max_cost, client.settings)
    keep_replies = bool(getattr(client, "storable", True))
    is_limited = options.max_calls is not None or options.max_cost is not None
    store = _open_store(options) if keep_replies or is_limited else None
    in_flight: int | None = getattr(client, "in_flight", None)
    limits = Limits(in_flight or options.concurrency, options.rpm, None, counters)
    budget = Budget(price, options.max_calls, options.max_cost)
    model = chain(
        client,
        store,
        limits,
        counters,
        budget,
        keep_replies=keep_replies,
        retries=options.retries,
        timeout=options.timeout,
    )
    return _ModelSession(model, counters, store, limits)


def _open_store(options: argparse.Namespace, read_only: bool = False) -> Store:
    from uuid import uuid4

    from ..models.store import Store

    return Store(options.store, uuid4().hex, options.refresh, read_only=read_only)
