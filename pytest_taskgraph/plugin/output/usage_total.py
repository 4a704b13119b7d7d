"""The usage of a run: each process counts its requests, and workers send their counts to the controller at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...models.middleware.request_counters import RequestCounters
    from ...results.record.facts import RunUsage
    from ...trial import Trial

OUTPUT_KEY = "taskgraph_usage"  # in the output of a worker


class UsageTotal:
    """The usage of this process and of the workers that have ended."""

    def __init__(self, counters: RequestCounters) -> None:
        self._counters = counters
        self._workers: list[RunUsage] = []

    def pack(self) -> str:
        """Return the usage of this process, and its remarks on endpoints, as text for the controller."""
        return json.dumps({"usage": self._own().to_json(), "remarks": self._counters.remarks})

    def unpack(self, text: str | None) -> None:
        """Add the usage and the remarks of a worker; None for a worker that crashed and sent none."""
        from ...results.record.facts import RunUsage

        if not text:
            self._workers.append(RunUsage(complete=False))
            return
        packed = json.loads(text)
        self._workers.append(RunUsage.from_json(packed["usage"]))
        for remark in packed["remarks"]:
            self._counters.add_remark(remark)

    def of_run(self, trials: Iterable[Trial]) -> RunUsage:
        """Return the usage of the run, with the stored replies that its trials hold."""
        from ...results.record.facts import add_stored, sum_run_usages

        return add_stored(sum_run_usages([self._own(), *self._workers]), trials)

    def _own(self) -> RunUsage:
        from ...results.record.facts import RunUsage

        counters = self._counters
        return RunUsage(counters.sent, counters.retries, counters.usage)
