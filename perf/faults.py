"""Sweep faults of providers through both clients (by address, and litellm), and check each outcome.

    python perf/faults.py                a table of outcome, requests sent and replies stored, by fault and client
    python perf/faults.py --only gzip    the faults whose names hold a word

A fault is the answer of a server on 127.0.0.1 to every request of a model with all layers of a run: store, retries,
limits and budget. The rules for all faults are in `check`; broken rules are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import resource
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from loopback import HANG, RESET, Loopback, Raw, as_json, refuse, reply  # noqa: E402 - the tests' directory is no package

from pytest_taskgraph.asking import Model  # noqa: E402
from pytest_taskgraph.errors import NotAskedError, ProviderError  # noqa: E402
from pytest_taskgraph.models import close, open_model  # noqa: E402
from pytest_taskgraph.models.clients.transport import LARGEST  # noqa: E402
from pytest_taskgraph.models.middleware.chain import Budget, chain  # noqa: E402
from pytest_taskgraph.models.middleware.limits import Limits  # noqa: E402
from pytest_taskgraph.models.middleware.request_counters import RequestCounters  # noqa: E402
from pytest_taskgraph.models.middleware.retries import EMPTY_RETRIES, PATIENCE, RETRIED  # noqa: E402
from pytest_taskgraph.models.prices import price_of  # noqa: E402
from pytest_taskgraph.models.store import Store, stored_keys  # noqa: E402
from pytest_taskgraph.scoring.forms import form  # noqa: E402
from pytest_taskgraph.scoring.grade import score_reply  # noqa: E402
from pytest_taskgraph.trial import Json, Question, Request  # noqa: E402

KEY = "fault/key+0123456789"
RETRIES = 1  # rate limits are repeated three times as often, after real pauses
CLIENTS = {"litellm": "litellm:openai/any", "address": "{url}#any"}
QUESTION = Question(
    id="q", family="understanding", group="p", section="structure", text="Is it so?", prompt="Is it so?",
    form="yes-no", reference="yes", metric=form("yes-no").metric,
)  # fmt: skip
GOOD = reply("Final answer: yes")
WORDS = {
    "quota": "You exceeded your current quota, please check your plan and billing details",
    "filtered": "Filtered by the content management policy",
    "window": "This model's maximum context length is 10 tokens",
    "rate": "Rate limit exceeded",
    "key": f"Incorrect API key provided: {KEY}",
}


@dataclass(frozen=True)
class ProviderFault:
    """An answer of the server, and the kinds of error that it may lead to; "" allows a reply."""

    name: str
    answer: Raw
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class FaultOutcome:
    """Outcome of one fault through one client."""

    kind: str  # of the error; "" for a reply
    words: str
    trial_outcome: str  # error, right, wrong, ...
    requests: int
    stored: int
    recovered: bool  # whether the next good reply arrived, and was stored

    @property
    def outcome(self) -> str:
        """Return the outcome in a word."""
        return self.kind or f"reply: {self.trial_outcome}"


def statuses() -> Iterator[ProviderFault]:
    """Yield errors by their status, as JSON, HTML, text and nothing."""
    kinds = {
        400: "bad-request", 401: "authentication", 402: "payment", 403: "authentication", 404: "not-found",
        405: "bad-request", 406: "bad-request", 408: "timeout", 409: "bad-request", 410: "bad-request",
        413: "bad-request", 415: "bad-request", 418: "bad-request", 422: "bad-request", 425: "bad-request",
        429: "rate-limit", 451: "bad-request", 500: "server", 501: "server", 502: "server", 503: "server",
        504: "timeout", 507: "server", 520: "server", 524: "timeout", 529: "server",
    }  # fmt: skip
    for status, kind in kinds.items():
        yield ProviderFault(f"{status} JSON", refuse(status, "no"), (kind,))
    for status in (401, 402, 404, 429, 500, 503):
        yield ProviderFault(f"{status} empty", Raw(status), (kinds[status],))
        yield ProviderFault(f"{status} HTML", Raw(status, b"<html>no</html>", "text/html"), (kinds[status],))
    for status, words, kind in (
        (429, "quota", "rate-limit"), (403, "rate", "rate-limit"), (503, "rate", "rate-limit"),
        (500, "rate", "rate-limit"), (400, "filtered", "content-filter"), (400, "window", "context-too-long"),
        (413, "window", "context-too-long"), (500, "window", "context-too-long"), (401, "key", "authentication"),
        (400, "key", "bad-request"),
    ):  # fmt: skip
        yield ProviderFault(f"{status} {words}", refuse(status, WORDS[words]), (kind,))
    yield ProviderFault(
        "429 Retry-After 0", replace(refuse(429, "slow"), headers={"Retry-After": "0"}), ("rate-limit",)
    )
    yield ProviderFault(
        "429 Retry-After 1 h", replace(refuse(429, "slow"), headers={"Retry-After": "3600"}), ("rate-limit",)
    )
    yield ProviderFault(
        "503 Retry-After odd", replace(refuse(503, "slow"), headers={"Retry-After": "soon"}), ("server",)
    )
    yield ProviderFault("500 of 200 kB", refuse(500, "word " * 40_000), ("server",))
    yield ProviderFault("307 without a place", Raw(307), ("bad-request",))


def failures_within_replies() -> Iterator[ProviderFault]:
    """Yield failures under a status of success."""
    for code, kind in ((400, "bad-request"), (401, "authentication"), (402, "payment"), (404, "not-found"),
                       (429, "rate-limit"), (500, "server"), (502, "server"), (504, "timeout")):  # fmt: skip
        error = {"message": "no", "code": code}
        yield ProviderFault(f"200, error {code}", as_json({"error": error}), (kind,))
        yield ProviderFault(f"200, error {code} in the choice", reply("half", error=error), (kind,))
    yield ProviderFault("200, error as a text", as_json({"error": "no"}), ("bad-request",))
    yield ProviderFault("200, error of no code", as_json({"error": {"message": "no"}}), ("bad-request",))
    yield ProviderFault("200, error of a word", as_json({"error": {"message": "no", "code": "upstream"}}), ("server",))
    for end in ("error", "ERROR", "network_error", "insufficient_system_resource", "abort", "cancelled", "TIMEOUT",
                "ERROR_LIMIT", "error_upstream"):  # fmt: skip
        yield ProviderFault(f"200, finish_reason {end}", reply("half an answer", finish_reason=end), ("server",))
    for end in ("content_filter", "SAFETY", "PROHIBITED_CONTENT", "sensitive"):
        yield ProviderFault(f"200, {end} with text", reply("Final answer: yes", finish_reason=end), ("content-filter",))
        yield ProviderFault(f"200, {end} without text", reply(None, finish_reason=end), ("content-filter",))
    for name, empty in (
        ("null", reply(None)), ("no text", reply("")), ("blanks", reply(" \n\t")), ("no message", choice({})),
        ("thoughts", reply(None, message={"reasoning_content": "so"})),
        ("thoughts in tags", reply("<think>so</think>")), ("empty refusal", reply(None, message={"refusal": ""})),
        ("empty calls", reply(None, message={"tool_calls": []})), ("end unknown", reply("", finish_reason="eos")),
    ):  # fmt: skip
        yield ProviderFault(f"200, empty: {name}", empty, ("empty", "malformed"))
    yield ProviderFault("200, cut off at once", reply("", finish_reason="length"), ("truncated",))
    yield ProviderFault("200, cut off midway", reply("Final ans", finish_reason="length"), ("truncated",))
    yield ProviderFault("200, cut off: model_length", reply("Final ans", finish_reason="model_length"), ("truncated",))


def choice(message: Any) -> Raw:  # noqa: ANN401 - any JSON value
    return as_json({"model": "any", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})


def shapes() -> Iterator[ProviderFault]:
    """Yield bodies that are no reply."""
    bodies: dict[str, bytes] = {
        "nothing": b"", "cut off": b'{"choices": [{"mess', "HTML": b"<html>log in</html>", "no UTF-8": b"\xff\xfe",
        "a stream": b"data: {}\n\n", "blanks": b" \n", "deep": b"[" * 100_000, "NaN": b"NaN",
        "two values": GOOD.body * 2,
        "a number of 5000 digits": b'{"choices": ' + b"9" * 5_000 + b"}",
    }  # fmt: skip
    for name, body in bodies.items():
        yield ProviderFault(f"body: {name}", Raw(body=body), ("malformed",))
    for value in ([], None, "yes", 5, {}, {"choices": {}}, {"choices": []}, {"choices": [None]}, {"choices": ["yes"]},
                  {"choices": [{}]}, {"choices": [{"message": None}]}):  # fmt: skip
        yield ProviderFault(f"JSON: {json.dumps(value)}", as_json(value), ("malformed",))
    for content in (5, False, [], {}, ["yes"]):
        message = {"role": "assistant", "content": content}
        yield ProviderFault(f"content: {json.dumps(content)}", choice(message), ("malformed",))
    for calls in ("f", ["f"], [{}], [{"function": None}]):
        yield ProviderFault(f"calls: {json.dumps(calls)}", reply(None, message={"tool_calls": calls}), ("malformed",))
    for usage in ([], "x", {"prompt_tokens": "x"}, {"prompt_tokens": 3.5}, {"prompt_tokens": -5000},
                  {"prompt_tokens": 3, "completion_tokens": -5000}, {"prompt_tokens": 10**12}):  # fmt: skip
        content_json = json.loads(GOOD.body) | {"usage": usage}
        yield ProviderFault(f"usage: {json.dumps(usage)}", as_json(content_json), ("malformed",))
    yield ProviderFault("role: bot", choice({"role": "bot", "content": "yes"}), ("malformed",))


def transfers() -> Iterator[ProviderFault]:
    """Yield connections that break, and contents that are too large or compressed in unusual ways."""
    yield ProviderFault("reset", RESET, ("connection",))
    yield ProviderFault("no HTTP", Raw(plain=b"SSH-2.0-OpenSSH"), ("connection",))
    yield ProviderFault("half the headers", Raw(plain=b"HTTP/1.1 200 OK\r\nContent-Ty"), ("connection",))
    yield ProviderFault("20 bytes lack", replace(GOOD, lacks=20), ("connection",))
    yield ProviderFault("20 bytes lack, reset", replace(GOOD, lacks=20, resets=True), ("connection",))
    yield ProviderFault("no answer", HANG, ("timeout",))
    squeezed = {"gzip": gzip.compress, "deflate": zlib.compress}
    for encoding, compress in squeezed.items():
        bomb = compress(b" " * 100_000_000)
        yield ProviderFault(f"{encoding}, good", encoded(compress(GOOD.body), encoding), ("",))
        yield ProviderFault(f"{encoding}, bomb of 100 MB", encoded(bomb, encoding), ("too-large",))
        yield ProviderFault(f"{encoding}, bomb under 500", replace(encoded(bomb, encoding), status=500), ("server",))
        yield ProviderFault(f"{encoding}, none", encoded(GOOD.body, encoding), ("malformed",))
        yield ProviderFault(f"{encoding}, cut off", encoded(compress(GOOD.body)[:-60], encoding), ("malformed",))
    yield ProviderFault(
        "gzip, bomb in a bomb", encoded(gzip.compress(gzip.compress(b" " * 10**8)), "gzip"), ("malformed",)
    )
    yield ProviderFault("gzip, 10,000 members", encoded(gzip.compress(b"") * 10_000, "gzip"), ("malformed",))
    for encoding in ("br", "zstd", "compress", "gzip, gzip"):
        yield ProviderFault(f"{encoding}, not accepted", encoded(b"any", encoding), ("malformed",))
    yield ProviderFault("9 MB of text", reply("x" * 9_000_000), ("too-large",))
    yield ProviderFault("9 MB of blanks", Raw(body=b" " * 9_000_000), ("too-large",))
    yield ProviderFault("7 MB of text", reply(f"{'x' * 7_000_000}\nFinal answer: yes"), ("",))


def encoded(body: bytes, encoding: str) -> Raw:
    return Raw(body=body, headers={"Content-Encoding": encoding})


def unusual_replies() -> Iterator[ProviderFault]:
    """Yield replies that are unusual and complete: they are stored and scored."""
    yes = "Final answer: yes"
    replies = {
        "good": GOOD,
        "wrong": reply("Final answer: no"),
        "no usage": reply(yes, usage=None),
        "no tokens": reply(yes, usage=(0, 0)),
        "no end": reply(yes, finish_reason=None),
        "end of another word": reply(yes, finish_reason="eos"),
        "end unknown": reply(yes, finish_reason="tired"),
        "sent twice": replace(GOOD, again=True),
        "cut off behind": reply(yes, finish_reason="length"),
        "refusal": reply(None, message={"refusal": "I can't say."}),
        "null error": reply(yes, error=None),
        "key as the model": reply(yes, model=KEY),
        "key in the text": reply(f"{KEY}\n{yes}"),
        "control characters": reply(f"\x1b[31m\x00{yes}\ud800"),
        "status 201": replace(GOOD, status=201),
    }
    for name, answer in replies.items():
        yield ProviderFault(f"reply: {name}", answer, ("",))


def ask(server: Loopback, client: str, fault: ProviderFault) -> FaultOutcome:
    """Ask a question while the server fails in this way, then another one while it does not."""
    server.answer = fault.answer
    seen = len(server.requests)
    settings: dict[str, Json] = {"api_key": KEY, "max_tokens": 10}
    if "#" not in CLIENTS[client]:
        settings["api_base"] = server.url

    async def run(folder: Path) -> FaultOutcome:
        counters = RequestCounters()
        with closing(Store(folder, "run")) as store:
            inner: Any = open_model(CLIENTS[client].format(url=server.url), settings)

            def around() -> Model:
                return chain(
                    inner,
                    store,
                    Limits(4, None, None, counters),
                    counters,
                    Budget(price_of("any", ["1/2"]), 100, 1.0),
                    retries=RETRIES,
                    timeout=0.5 if fault.answer.hangs else 30.0,
                    sleep=lambda seconds: asyncio.sleep(0),
                )

            kind, words, outcome = await score_answer(around(), "Is it so?")
            requests, stored = len(server.requests) - seen, len(stored_keys(folder))
            server.answer = GOOD
            again = await score_answer(around(), "And now?")
            await close()
        return FaultOutcome(
            kind, words, outcome, requests, stored, again[2] == "right" and len(stored_keys(folder)) == stored + 1
        )

    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(run(Path(folder)))
        stored_bytes = b"".join(path.read_bytes() for path in Path(folder).iterdir())
        if KEY.encode() in stored_bytes:
            raise SystemExit(f"{fault.name}: the key stands in the store")
    return outcome


async def score_answer(model: Model, prompt: str) -> tuple[str, str, str]:
    """Return the kind of the error or "", its message, and the outcome of the trial."""
    try:
        answer = await model.answer(Request([{"role": "user", "content": prompt}]))
    except (ProviderError, NotAskedError) as error:
        return error.kind, str(error), "error"
    trial, stopped = score_reply(QUESTION, answer, "any")
    return getattr(stopped, "kind", ""), str(stopped or ""), trial.outcome


def check(fault: ProviderFault, outcome: FaultOutcome) -> Iterator[str]:
    """Yield the rules that a fault broke."""
    if outcome.kind not in fault.kinds:
        yield f"expected {' or '.join(fault.kinds) or 'a reply'}"
    scored = outcome.trial_outcome != "error"
    if scored == bool(outcome.kind):
        yield "an error is scored" if scored else "a reply is not scored"
    if outcome.stored != (
        not outcome.kind or outcome.kind == "truncated"
    ):  # a reply that was cut off is stored, since it is paid for
        yield f"{outcome.stored} replies stored"
    most = 1
    if outcome.kind in RETRIED:
        most += (
            EMPTY_RETRIES if outcome.kind == "empty" else RETRIES * (PATIENCE if outcome.kind == "rate-limit" else 1)
        )
    if not 1 <= outcome.requests <= most:
        yield f"{outcome.requests} requests, expected 1 to {most}"
    if KEY in outcome.words or "\n" in outcome.words or len(outcome.words) > 400:
        yield "the message holds a key, or is not one short line"
    if not outcome.recovered:
        yield "the next question got no answer"


def main() -> int:
    """Print the table; the exit code is 1 where a rule is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of the faults")
    only = parser.parse_args().only
    every = [*statuses(), *failures_within_replies(), *shapes(), *transfers(), *unusual_replies()]
    faults = [fault for fault in every if only in fault.name]
    broken = 0
    print(f"{'fault':<40} {'client':<8} {'outcome':<18} requests stored")
    with Loopback() as server, suppress(KeyboardInterrupt):
        ask(server, "litellm", ProviderFault("", GOOD, ("",)))  # imports
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for fault in faults:
            outcomes = {client: ask(server, client, fault) for client in CLIENTS}
            for client, outcome in outcomes.items():
                problems = list(check(fault, outcome))
                broken += bool(problems)
                line = (
                    f"{fault.name[:40]:<40} {client:<8} {outcome.outcome:<18} {outcome.requests:>8} {outcome.stored:>6}"
                )
                print(f"{line}  {'; '.join(problems)}".rstrip())
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000
    print(f"{len(faults)} faults through {len(CLIENTS)} clients, {broken} rules broken; "
          f"memory grew by {grown} MB at most (limit of a reply: {LARGEST // 1_000_000} MB)")  # fmt: skip
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
