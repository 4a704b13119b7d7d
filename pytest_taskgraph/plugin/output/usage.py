"""The usage of a run: each process counts its requests, and workers send their counts to the controller at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...models.middleware.request_counters import RequestCounters
    from ...results.record.facts import Usage
    from ...trial import Trial

OUTPUT_KEY = "taskgraph_usage"  # in the output of a worker


class UsageTotal:
    """The usage of this process and of the workers that have ended."""

    def __init__(self, counters: RequestCounters) -> None:
        self._counters = counters
        self._workers: list[Usage] = []

    def pack(self) -> str:
        """Return the usage of this process as text for the controller."""
        return json.dumps(asdict(self._own()))

    def unpack(self, text: str | None) -> None:
        """Add the usage of a worker; None for a worker that crashed and sent none."""
        from ...results.record.facts import Usage

        self._workers.append(Usage(**json.loads(text)) if text else Usage(complete=False))

    def of_run(self, trials: Iterable[Trial]) -> Usage:
        """Return the usage of the run, with the stored replies that its trials hold."""
        from ...results.record.facts import add_stored, add_usages

        return add_stored(add_usages([self._own(), *self._workers]), trials)

    def _own(self) -> Usage:
        from ...results.record.facts import Usage

        counters = self._counters
        tokens = ("tokens_in", "tokens_out", "tokens_reasoning", "untold")
        names = ("sent", "answered", "retries", *tokens, "cost", "unpriced")
        counts: dict[str, Any] = {name: getattr(counters, name) for name in names}
        return Usage(**counts)
