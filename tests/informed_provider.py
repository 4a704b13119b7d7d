"""A server that answers the questions of a benchmark family, and helpers for its records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import fsum
from typing import Any

from benchmark_families import Benchmark, simulated_run
from loopback import Answer, Loopback, Received, reply
from plugin_project import Project

PRICE = (1e-8, 20e-6)  # US dollars a token in and out
PRICED = ("--taskgraph-price=0.01/20", "--taskgraph-model-option=max_tokens=20")


def prompt_of(record: Mapping[str, Any], trial: Mapping[str, Any]) -> str:
    return "".join(record["texts"][part] for part in trial["question"]["prompt"])


def replies(project: Project, family: Benchmark, accuracy: str) -> dict[str, str]:
    """Return the simulated model's reply to each prompt of the family's suite."""
    record = simulated_run(project, family, accuracy).record
    return {prompt_of(record, trial): trial["reply"]["text"] for trial in record["trials"]}


class Provider:
    """A server that knows the answers, gives wrong answers to some questions, and records its replies."""

    def __init__(self, project: Project, family: Benchmark, server: Loopback) -> None:
        self.family, self.server, self.url = family, server, f"{server.url}#any"
        self.right, self.wrong = replies(project, family, "1"), replies(project, family, "0")
        self.served: list[tuple[str, int, int]] = []
        self.fails: Callable[[str], bool] = lambda prompt: sum(map(ord, prompt)) % 3 == 0
        server.asked, server.answer = self._prompt, self._answer

    @property
    def cost(self) -> float:
        return fsum(tokens * price for _, *took in self.served for tokens, price in zip(took, PRICE, strict=True))

    def _prompt(self, received: Received) -> str:
        contents = [str(message["content"]) for message in received.body["messages"]]
        return next(content for content in contents if content in self.right)

    def _answer(self, prompt: str) -> Answer:
        text = (self.wrong if self.fails(prompt) else self.right)[prompt]
        usage = (100 + len(text), 10 + len(prompt) % 7)
        self.served.append((text, *usage))
        return reply(text, usage=usage)

    @property
    def arguments(self) -> tuple[str, ...]:
        return (f"--model={self.url}", *PRICED, *self.family.flags)


def scores(record: Mapping[str, Any]) -> dict[str, Any]:
    return {trial["question"]["id"]: (trial["outcome"], trial["score"]) for trial in record["trials"]}


def lasting(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record without members that depend on time, the command line or the store."""
    stable = json.loads(json.dumps(record))
    del stable["provenance"]
    for part in [
        stable["usage"],
        *(part for trial in stable["trials"] for part in (trial["reply"], *trial["exchanges"])),
    ]:
        for name in [name for name in part if name in ("latency", "seconds") or name.startswith("stored")]:
            del part[name]
    return dict(stable)
