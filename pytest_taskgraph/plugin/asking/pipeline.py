"""What stands between the questions of a run and the providers: one of each for everything that the run asks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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

_LOOK = 0.02  # seconds between two looks at what is still in flight


class Pipeline:
    """Store, limits, retries and budget around every model that is live; other models are asked as they are."""

    def __init__(self, config: pytest.Config) -> None:
        worker: dict[str, object] = getattr(config, "workerinput", {})
        self.workers = int(str(worker.get("workercount", 1)))
        self.number = int(str(worker.get(NUMBER, 0)))
        self.has_remote_workers = bool(worker.get(REMOTE_WORKERS))
        self.replay = options.switched(config, "replay")
        self.seconds = options.number(config, "question-timeout")
        self.counters = RequestCounters()
        self._told = str(worker.get(STORE, ""))
        self._run = str(worker.get("testrunuid", uuid4().hex)) + (f"-{self.number}" if self.has_remote_workers else "")
        self._refresh = options.switched(config, "refresh")
        self._config = config
        self._limits: dict[str, Limits] = {}
        self._reached: dict[int, Model] = {}
        self._prices: dict[str, Price | None] = {}

    @property
    def folder(self) -> Path:
        """Where the store is; on a worker of the controller's machine, where the controller has it."""
        return Path(self._told) if self._told else options.store_folder(self._config)

    @cached_property
    def store(self) -> Store:
        """The store, opened on first use. Raises UsageError for one that cannot be used."""
        from ...models.store import Store

        return Store(self.folder, self._run, self._refresh, read_only=self.replay)

    def broken(self, model: str) -> ProviderError | None:
        """Return why no more is sent to the model of that name, such as a wrong key; None while all is well."""
        return self._limits[model].broken if model in self._limits else None

    @property
    def capacity(self) -> int:
        """Requests that may be in flight at present, over all models."""
        return sum(limits.now for limits in self._limits.values())

    def wrap(self, client: Model) -> Model:
        """The model to ask in place of the client: itself, unless it is live."""
        if not getattr(client, "live", False):
            return client
        if id(client) not in self._reached:
            live = cast("LiveModel", client)
            self._reached[id(client)] = self._replayed(live) if self.replay else self._wrapped(live)
        return self._reached[id(client)]

    def check(self, clients: list[Model]) -> None:
        """Nothing, if the run can go on as it was asked for. Raises UsageError."""
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
        options.number(self._config, "progress")

    def price(self, client: Model) -> Price | None:
        """What the client's tokens cost; None where nobody knows."""
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
        """Return True if the store has a reply of this key; no store is made for it."""
        return key in self._held

    @cached_property
    def _held(self) -> frozenset[str]:
        from ...models.store import stored_keys

        return frozenset() if self._refresh else stored_keys(self.folder)

    @property
    def max_calls(self) -> int | None:
        """The calls that this process may make, or all processes together where they share a ledger."""
        most = options.whole(self._config, "max-calls")
        if most is None or not self.has_remote_workers:
            return most
        return most // self.workers + (self.number < most % self.workers)

    @property
    def max_cost(self) -> float | None:
        """US dollars, as `max_calls`."""
        most = options.number(self._config, "max-cost")
        return most / self.workers if most is not None and self.has_remote_workers else most

    async def drain(self) -> None:
        """Nothing, once all that is in flight has arrived; what was not sent is not sent any more. In the loop."""
        for limits in self._limits.values():
            limits.end()
        while self.counters.in_flight:
            await asyncio.sleep(_LOOK)

    def close(self) -> None:
        """The store is closed, if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    def _has_replies(self) -> bool:
        from ...models.store.schema import FILE

        return (self.folder / FILE).exists()

    def _check_replayable(self, live: list[LiveModel]) -> None:
        unstored = [client.name for client in live if not is_storable(client)]
        if self.replay and unstored:
            raise UsageError(
                f"--taskgraph-replay: no reply of {unstored[0]} is stored, for it states no version; state the one to "
                f"replay as a model option (version=...), or leave out --taskgraph-replay"
            )

    def _check_stated(self, live: list[LiveModel]) -> None:
        """Nothing, if prices can be read and the store can be used: said once, not of each question.

        A run that asks nobody keeps nothing either.
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

    def _wrapped(self, client: LiveModel) -> Model:
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
        """Whether calls or cost are limited, of which the store has the ledger."""
        return self.max_calls is not None or self.max_cost is not None

    def _limits_of(self, client: LiveModel) -> Limits:
        """Return the limits of a model; a client may state itself how many requests it can work on at a time."""
        from ...models.middleware.limits import Limits

        name = client.name
        if name not in self._limits:
            concurrency, rpm, tpm = (options.whole(self._config, one) for one in ("concurrency", "rpm", "tpm"))
            own: int | None = getattr(client, "in_flight", None)
            concurrency = concurrency if own is None else own * self.workers
            self._limits[name] = Limits(concurrency, rpm, tpm, self.counters, workers=self.workers)
        return self._limits[name]
