"""The store, the limits and the budget between the questions of a run and the providers, shared by all requests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import pytest

from ...errors import ProviderError, UsageError
from ...models.middleware.request_counters import RequestCounters
from .. import options
from ..models_under_test import is_storable
from ..worker import NUMBER, REMOTE_WORKERS, STORE, workers_of

if TYPE_CHECKING:
    from ...asking import Model
    from ...models.middleware.layer import LiveModel
    from ...models.middleware.limits import Limits
    from ...models.prices import Price
    from ...models.store import Store
    from ...trial import Json, Request

LEAST_QUESTION_SECONDS = 1800.0  # time limit of a whole question: attempts, pauses and turns
ATTEMPTS_OF_QUESTION = 6  # its time limit in those of one attempt, if that is longer
_REPLAYED = 50  # stored replies that are looked up ahead in a replay, in few transactions
_POLL_INTERVAL = 0.02  # seconds between two checks of the requests in flight


class Pipeline:
    """Store, limits, retries and budget around every live model; other models are asked directly."""

    def __init__(self, config: pytest.Config) -> None:
        worker: dict[str, object] = getattr(config, "workerinput", {})
        self.workers = int(str(worker.get("workercount", 1)))
        self.number = int(str(worker.get(NUMBER, 0)))
        self.has_remote_workers = bool(worker.get(REMOTE_WORKERS))
        self.replay = options.switched(config, "replay")
        self.seconds = max(LEAST_QUESTION_SECONDS, ATTEMPTS_OF_QUESTION * (options.number(config, "timeout") or 0.0))
        self.counters = RequestCounters()
        self._controller_folder = str(worker.get(STORE, ""))
        self._run = str(worker.get("testrunuid", uuid4().hex)) + (f"-{self.number}" if self.has_remote_workers else "")
        self._refresh = options.switched(config, "refresh")
        self._config = config
        self._limits: dict[str, Limits] = {}
        self._wrapped: dict[int, Model] = {}
        self._prices: dict[str, Price | None] = {}

    @property
    def folder(self) -> Path:
        """Return the folder of the store; a worker on the controller's machine uses the controller's folder."""
        return Path(self._controller_folder) if self._controller_folder else options.store_folder(self._config)

    @cached_property
    def store(self) -> Store:
        """Open the store on first use. Raises UsageError if it cannot be used."""
        from ...models.store import Store

        return Store(self.folder, self._run, self._refresh, read_only=self.replay)

    def broken(self, model: str) -> ProviderError | None:
        """Return the error after which nothing more is sent to the model of that name, such as a wrong key, or None."""
        return self._limits[model].broken if model in self._limits else None

    def fatal_error(self, asked: Sequence[Model | None], measuring: Iterable[Model]) -> ProviderError | None:
        """Return the error after which a run cannot continue: of the store, of a measuring model, of all asked ones.

        Args:
            asked: The clients of the models under test; None for one without a client, which cannot break.
            measuring: The clients of judges and embedders.
        """
        if self.counters.store_error is not None:
            return self.counters.store_error
        if all(limits.broken is None for limits in self._limits.values()):
            return None
        if error := next(filter(None, (self.broken(client.name) for client in measuring)), None):
            return error
        broken = [None if client is None else self.broken(client.name) for client in asked]
        return broken[0] if all(broken) else None

    @property
    def capacity(self) -> int:
        """Return the number of requests that may be in flight at present, over all models."""
        return _REPLAYED if self.replay else sum(limits.now for limits in self._limits.values())

    def wrap(self, client: Model) -> Model:
        """Return the model to ask instead of the client: layers and checks around a live client, else the client."""
        if not getattr(client, "live", False):
            return client
        if id(client) not in self._wrapped:
            live = cast("LiveModel", client)
            from ...models.middleware.chain import probed

            model = self._replayed(live) if self.replay else self._chain(live)
            self._wrapped[id(client)] = probed(model, live, self.counters)
        return self._wrapped[id(client)]

    def check(self, clients: list[Model]) -> None:
        """Check the options of requests and the store against the models of the run. Raises UsageError."""
        if self.replay and self._refresh:
            raise UsageError(
                "--taskgraph-replay takes all replies from the store, --taskgraph-refresh none: choose one"
            )
        live = [cast("LiveModel", client) for client in clients if getattr(client, "live", False)]
        self._check_replayable(live)
        if self.replay and live and not self._has_replies():
            raise UsageError(
                f"--taskgraph-replay: there is no store of replies in {self.folder}; ask once without it, import one "
                "(python -m pytest_taskgraph replies import), or name its folder with --taskgraph-store"
            )
        if live and not (self.replay or options.idle(self._config)):
            from ...models import check_installed

            check_installed(live)
        if live:
            self._check_stated(live)
        for client in live:
            self._check_budget(client)
        for name in ("concurrency", "rpm", "tpm", "retries", "max-calls"):
            options.whole(self._config, name)
        for name, unit in (("concurrency", "in flight"), ("rpm", "a minute")):
            most, workers = options.whole(self._config, name), workers_of(self._config)
            if most is not None and most < workers:
                raise UsageError(
                    f"--taskgraph-{name}={most} is less than a request {unit} for each of {workers} workers; "
                    f"choose at most {most} of them, or none (-n 0)"
                )
        options.number(self._config, "timeout")

    def price(self, client: Model) -> Price | None:
        """Return the price of the client's tokens; None if it is unknown."""
        from ...models.prices import price_of

        if client.name not in self._prices:
            self._prices[client.name] = price_of(client.name, options.values(self._config, "price"))
        return self._prices[client.name]

    def key(self, client: Model, request: Request) -> str:
        """Return the key under which the store keeps the client's reply to the request."""
        from ...models.request_key import request_key

        settings: Mapping[str, Json] = getattr(client, "settings", {})
        return request_key(client.name, settings, request)

    def stored_name(self, client: Model) -> str:
        """Return the name under which the store keeps the client's replies."""
        from ...models.request_key import request_entry
        from ...trial import Request

        return str(request_entry(client.name, {}, Request())["model"])

    def holds(self, key: str) -> bool:
        """Return True if the store has a reply of this key, without creating a store."""
        return key in self._held

    @cached_property
    def _held(self) -> frozenset[str]:
        from ...models.store import stored_keys

        return frozenset() if self._refresh else stored_keys(self.folder)

    @property
    def max_calls(self) -> int | None:
        """Return the maximum number of calls of this process, or of all that share its ledger; None: no limit."""
        most = options.whole(self._config, "max-calls")
        if most is None or not self.has_remote_workers:
            return most
        return most // self.workers + (self.number < most % self.workers)

    @property
    def max_cost(self) -> float | None:
        """Return the maximum cost in US dollars, of the processes that `max_calls` is about; None: no limit."""
        most = options.number(self._config, "max-cost")
        return most / self.workers if most is not None and self.has_remote_workers else most

    async def drain(self) -> None:
        """Wait in the loop until all requests in flight have ended; queued requests are not sent any more."""
        for limits in self._limits.values():
            limits.end()
        while self.counters.in_flight:
            await asyncio.sleep(_POLL_INTERVAL)

    def close(self) -> None:
        """Close the store if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    def _has_replies(self) -> bool:
        from ...models.store_folder import FILE

        return (self.folder / FILE).exists()

    def _check_replayable(self, live: list[LiveModel]) -> None:
        unstored = [client.name for client in live if not is_storable(client)]
        if self.replay and unstored:
            raise UsageError(
                f"--taskgraph-replay: no reply of {unstored[0]} is stored, for it states no version; state the version "
                f"to replay as a model option (version=...), or leave out --taskgraph-replay"
            )

    def _check_stated(self, live: list[LiveModel]) -> None:
        """Check prices and store once, rather than with each question. Raises UsageError.

        A run without requests stores nothing.
        """
        from ...models.prices import check_prices
        from ...models.store.schema import check_store

        check_prices(options.values(self._config, "price"))
        if self._is_limited or any(map(is_storable, live)):
            check_store(self.folder, read_only=self.replay or options.idle(self._config))

    def _check_budget(self, client: LiveModel) -> None:
        from ...models.middleware.budget import check_budget

        if self.max_cost is not None and not self.replay:
            check_budget(client.name, self.price(client), self.max_cost, client.settings)

    def _replayed(self, client: LiveModel) -> Model:
        from ...models.middleware.stored import ReplayModel

        return ReplayModel(client.name, client.settings, self.store, self.counters)

    def _chain(self, client: LiveModel) -> Model:
        from ...models.middleware.chain import Budget, chain

        retries, keep_replies = options.whole(self._config, "retries"), is_storable(client)
        return chain(
            client,
            self.store if self._is_limited or keep_replies else None,
            self._limits_of(client),
            self.counters,
            Budget(self.price(client), self.max_calls, self.max_cost),
            keep_replies=keep_replies,
            retries=5 if retries is None else retries,
            timeout=options.number(self._config, "timeout") or 300.0,
        )

    @property
    def _is_limited(self) -> bool:
        """Return True if calls or cost are limited; their ledger is in the store."""
        return self.max_calls is not None or self.max_cost is not None

    def _limits_of(self, client: LiveModel) -> Limits:
        """Return the limits of a model; a client may state its own number of concurrent requests."""
        from ...models.middleware.limits import Limits

        name = client.name
        if name not in self._limits:
            concurrency, rpm, tpm = (options.whole(self._config, limit) for limit in ("concurrency", "rpm", "tpm"))
            own: int | None = getattr(client, "in_flight", None)
            concurrency = concurrency if own is None else own * self.workers
            local = bool(getattr(client, "local", False))
            self._limits[name] = Limits(concurrency, rpm, tpm, self.counters, workers=self.workers, local=local)
        return self._limits[name]
