"""A real server of the OpenAI chat protocol on 127.0.0.1, for tests: it sends given answers, and records requests.

with Loopback("Final answer: yes") as server:       # or a function of the prompt
    server.script(refuse(429, "slow down"))         # the next request; the script goes before the answer
    ...
    assert server.requests[0].body["model"] == "any"
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

# The context of the check of log-probabilities. .ci/readme.py runs this server where the package is not installed.
CHECKED = "a b c d e f g h\n" * 4 + "a b c"


@dataclass(frozen=True)
class Raw:
    """Raw response: a status and bytes; a hanging response is sent when the server ends.

    `lacks`: number of announced bytes that are not sent. `resets`: reset the connection after the bytes.
    """

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    lacks: int = 0
    resets: bool = False
    plain: bytes = b""  # sent in place of a response of HTTP
    again: bool = False  # sent once more on the same connection: at the next request, or by `send_again`


@dataclass(frozen=True)
class Received:
    """What came over the wire."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def prompts(self) -> list[str]:
        """The texts of a request for completions; none of another."""
        sent = self.body.get("prompt", []) if self.path.endswith("/v1/completions") else []
        return [sent] if isinstance(sent, str) else sent


Answer = str | Raw
HANG = Raw(hangs=True)
RESET = Raw(resets=True, plain=b" ")
BROKEN_JSON = Raw(body=b'{"choices": [{"mess')


def reply(text: str | None, *, model: str = "any", usage: tuple[int, int] | None = (3, 2), **choice: Any) -> Raw:  # noqa: ANN401
    """A chat completion. Further arguments: `finish_reason`, `message` (fields of the message beside its text)."""
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    body: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": model}
    body["choices"] = [{"index": 0, "finish_reason": "stop", "message": message, **choice}]
    if usage:
        body["usage"] = dict(
            zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*usage, sum(usage)), strict=True)
        )
    return as_json(body)


Token = tuple[str, float | None]


def echoed(
    *texts: Sequence[Token],
    written: Token = (" and", -0.5),
    opening: str | None = None,
    offsets: Callable[[int], int] = int,
    tops: Callable[[str, float], dict[str, float]] = lambda token, value: {token: value},
    usage: tuple[int, int] = (9, 2),
) -> Raw:
    """Completions that repeat their prompts, with the tokens and log-probabilities of each and of what is written.

    Args:
        texts: the tokens of each prompt.
        written: the token that follows each of them.
        opening: a token at the start of each that the text does not show, as vLLM has it.
        offsets: what a server makes of the offset of a token.
        tops: the most probable tokens at a place, from the token that stands there.
        usage: tokens in and out.
    """
    choices = []
    for index, given in enumerate(texts):
        tokens = [*([(opening, None)] if opening else []), *given, written]
        starts = [sum(len(token) for token, _ in tokens[:at]) for at in range(len(tokens))]
        logprobs = {
            "tokens": [token for token, _ in tokens],
            "token_logprobs": [value for _, value in tokens],
            "top_logprobs": [None if value is None else tops(token, value) for token, value in tokens],
            "text_offset": [offsets(start) for start in starts],
        }
        text = "".join(token for token, _ in [*given, written])
        choices.append({"index": index, "text": text, "finish_reason": "length", "logprobs": logprobs})
    body = {"id": "cmpl-1", "object": "text_completion", "created": 1700000000, "model": "any", "choices": choices}
    counted = dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*usage, sum(usage)), strict=True))
    return as_json(body | {"usage": counted})


def as_json(value: Any, status: int = 200) -> Raw:  # noqa: ANN401 - any JSON value
    """The value as the body; lone surrogates travel as escapes."""
    return Raw(status, json.dumps(value).encode())


def refuse(status: int, message: str, code: str | None = None) -> Raw:
    """An error as OpenAI words it."""
    return as_json({"error": {"message": message, "type": "refused", "param": None, "code": code}}, status)


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def induced(prompt: str, shift: int = 0) -> list[Token]:
    """The tokens of a text, a word or a line break each, with values that are `shift` places late.

    A token that followed the one before it already is probable, all others are not, and what follows such a surprise
    is less certain.
    """
    tokens = re.findall(r" ?[^\s]+|\n", prompt)
    values: list[float | None] = [None]
    pairs: set[tuple[str, str]] = set()
    for before, token in pairwise(tokens):
        known = (before.strip(" "), token.strip(" ")) in pairs
        surprised = values[-1] is not None and values[-1] < -5
        values.append((-3.0 if surprised else -0.1) if known else -8.0)
        pairs.add((before.strip(" "), token.strip(" ")))
    late = [*[None] * shift, *values[: len(values) - shift]]
    shifted = late if shift >= 0 else [*values[-shift:], *[-0.5] * -shift]
    return list(zip(tokens, shifted, strict=True))


class _Server(ThreadingHTTPServer):
    """A server that says nothing of clients that hang up before all was sent, and ends without an interval of polls."""

    request_queue_size = 128  # with the default of 5, more connections at once wait a second for the next SYN
    stopped = False

    def serve(self) -> None:
        """Accept connections until `stop_serving`."""
        while not self.stopped:
            self.handle_request()

    def stop_serving(self) -> None:
        """Let `serve` return, which waits for a connection until then."""
        self.stopped = True
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.server_port), timeout=1).close()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401 - of the standard library
        return not self.stopped

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - of the standard library
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Loopback:
    """The server; a context manager. `url` is its api_base, `requests` all that came, in the order of arrival.

    Completions echo their prompts: a token is a word with the white space before it, `logprob` returns its value.
    The checks of `models/middleware/probes.py` are answered apart from the script, as `shift`, `tools`, `forced`,
    `several` and `completions` state, and listed in `probes`; with `completions` in `requests`.
    """

    def __init__(self, answer: Answer | Callable[[str], Answer] = "Final answer: yes") -> None:
        self.answer = answer
        self.asked: Callable[[Received], str] = lambda received: received.prompt  # what the answer is a function of
        self.logprob: Callable[[str], float] = lambda token: -float(len(token))
        self.completions: Raw | None = None  # what completions get instead
        self.requests: list[Received] = []
        self.probes: list[Received] = []  # checks that were answered
        self.shift = 0  # places by which log-probabilities in reply to a check are late; negative: early
        self.tools = True  # False: tools are ignored
        self.forced: Answer | None = None  # what a request gets that forces a call
        self.several: Raw | None = None  # what completions of several prompts get
        self.connections = 0  # number of connections that were opened
        self._script: deque[Answer] = deque()
        self._owed: list[tuple[Any, bytes]] = []  # responses to be sent again, with the files of their connections
        self._ended = threading.Event()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve, daemon=True)

    @property
    def url(self) -> str:
        """The base of the API, to be given as api_base."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def script(self, *answers: Answer) -> None:
        """Answer the next requests with these answers, one each."""
        self._script.extend(answers)

    def end_hanging(self) -> None:
        """End requests that hang without an answer."""
        self._ended.set()

    def send_again(self) -> None:
        """Send each response with `again` once more, though nobody asked."""
        with self._lock:
            owed, self._owed = self._owed, []
        for file, response in owed:
            with suppress(OSError, ValueError):  # the client has closed the connection
                file.write(response)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end_hanging()
        self._server.stop_serving()
        self._thread.join()
        with self._lock:
            for connection in self._connections:  # wakes the threads that wait for another request on them
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    def _next(self, received: Received) -> Raw:
        self.send_again()
        with self._lock:
            if (checked := self._checked(received)) is not None:
                self.probes.append(received)
                return checked
            self.requests.append(received)
            answer = self._script.popleft() if self._script else self.answer
            if received.prompts and answer is self.answer:
                if self.completions is not None:
                    return self.completions
                if self.several is not None and len(received.prompts) > 1:
                    return self.several
                return echoed(*map(self._spelled, received.prompts))
        if callable(answer):
            answer = answer(self.asked(received))
        return reply(answer) if isinstance(answer, str) else answer

    def _checked(self, received: Received) -> Raw | None:
        """What the server replies to a check of its log-probabilities or tools; None if the request is none."""
        if received.body.get("tool_choice") == "required":
            name = received.body["tools"][0]["function"]["name"]
            call = {"id": "c0", "type": "function", "function": {"name": name, "arguments": "{}"}}
            called = reply(None, finish_reason="tool_calls", message={"tool_calls": [call]})
            answer = self.forced or (called if self.tools else "I am ready.")
            return reply(answer) if isinstance(answer, str) else answer
        prompts = received.prompts
        if not prompts or self.completions or not all(prompt.startswith(CHECKED) for prompt in prompts):
            return None
        if self.several is not None and len(prompts) > 1:
            return self.several
        return echoed(*(induced(prompt, self.shift) for prompt in prompts))

    def _spelled(self, prompt: str) -> list[Token]:
        tokens = re.findall(r"\s*\S+|\s+$", prompt)
        return [(token, self.logprob(token) if at else None) for at, token in enumerate(tokens)]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # connections are kept, as with real providers

            def setup(self) -> None:
                super().setup()
                with loopback._lock:
                    loopback._connections.add(self.connection)
                    loopback.connections += 1

            def finish(self) -> None:
                with loopback._lock:
                    loopback._connections.discard(self.connection)
                super().finish()

            def do_GET(self) -> None:
                self._send(as_json({"object": "list", "data": [{"id": "any", "object": "model"}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = loopback._next(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if answer.hangs:
                    loopback._ended.wait()
                    self.close_connection = True
                elif answer.plain:
                    self.wfile.write(answer.plain.strip())
                    self._end(answer.resets)
                else:
                    self._send(answer)

            def _end(self, reset: bool) -> None:
                self.close_connection = True
                if reset:  # a close without lingering is a reset
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

            def _send(self, answer: Raw) -> None:
                self.send_response(answer.status)
                fixed = {"Content-Type": answer.kind, "Content-Length": str(len(answer.body))}
                for name, value in (fixed | answer.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                with loopback._lock if answer.again else nullcontext():  # who has the answer finds what is owed
                    self.wfile.write(answer.body[: len(answer.body) - answer.lacks])
                    if answer.again:
                        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer.body)}\r\n\r\n"
                        loopback._owed.append((self.wfile, head.encode() + answer.body))
                if answer.lacks or answer.resets:
                    self._end(answer.resets)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the standard library
                pass

        return Handler
