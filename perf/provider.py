"""A provider that only waits, in a process of its own: the OpenAI chat protocol on 127.0.0.1.

    python perf/provider.py --latency 0.2 --answers answers.json      prints its port, serves until it is ended

`--answers` is a JSON file that maps the SHA-256 of a prompt to the reply; other prompts get "Final answer: none".
Faults are drawn with `--fault-rate` for each request among 429, 500, a hang, a reset and a body that is not JSON. GET
/stats reports the number of requests that arrived and that were answered, the most in flight, the faults, and the most
answers to one prompt; POST /reset resets these counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

FAULTS = ("429", "500", "hang", "reset", "malformed")


class Provider:
    """The counts and the answers of all connections."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rng = options, Random(options.seed)
        self.answers: dict[str, str] = json.loads(Path(options.answers).read_text()) if options.answers else {}
        self.reset()

    def reset(self) -> None:
        self.arrived = self.in_flight = self.most = 0
        self.first = self.last = 0.0  # time.time() of the first request and of the last answer
        self.served: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def stats(self) -> dict[str, Any]:
        return {
            "arrived": self.arrived, "served": self.served.total(), "prompts": len(self.served), "faults": self.faults,
            "most_in_flight": self.most, "most_of_one": max(self.served.values(), default=0),
            "first": self.first, "last": self.last,
        }  # fmt: skip

    def fault(self) -> str:
        is_faulty = self.rng.random() < self.options.fault_rate
        return self.rng.choice(FAULTS) if is_faulty else ""

    async def chat(self, connection: Connection, body: bytes) -> None:
        self.arrived += 1
        self.first = self.first or time.time()
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        fault = self.fault()
        try:
            await asyncio.sleep(self.options.latency)
            if fault:
                self.faults[fault] += 1
                return await connection.fail(fault)
            prompt = json.loads(body)["messages"][-1]["content"]
            digest = sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
            self.served[digest] += 1
            connection.send(200, _completion(self.answers.get(digest, "Final answer: none"), len(prompt) // 4))
        finally:
            self.in_flight -= 1
            self.last = time.time()


def _completion(text: str, tokens: int) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5},
    }  # fmt: skip


class Connection(asyncio.Protocol):
    """A connection with consecutive requests, with a content length and without trailers."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.buffer = provider, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, rest = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = next(
            (
                int(v)
                for k, _, v in (line.partition(b":") for line in head.split(b"\r\n"))
                if k.lower() == b"content-length"
            ),
            0,
        )
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        path = head.split(b" ", 2)[1]
        if path.endswith(b"/chat/completions"):
            self.task = asyncio.ensure_future(self.provider.chat(self, rest[:length]))
        elif path == b"/reset":
            self.provider.reset()
            self.send(200, {})
        else:
            self.send(200, self.provider.stats())

    def send(self, status: int, value: object, headers: str = "") -> None:
        body = json.dumps(value).encode()
        self.write(status, body, headers)

    def write(self, status: int, body: bytes, headers: str = "") -> None:
        head = f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + body)

    async def fail(self, fault: str) -> None:
        if fault == "hang":
            await asyncio.sleep(self.provider.options.hang)
        if fault in ("429", "500"):
            error = {"error": {"message": "injected", "type": "injected", "code": fault}}
            self.send(int(fault), error, "Retry-After: 0.2\r\n" if fault == "429" else "")
        elif fault == "malformed":
            self.write(200, b'{"choices": [{"mess')
        else:
            self.transport.abort()


async def serve(options: argparse.Namespace) -> None:
    provider = Provider(options)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(provider), "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--answers", default="")
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--hang", type=float, default=5.0, help="seconds of a hanging request")
    parser.add_argument("--seed", type=int, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
