"""Sweep faults of providers through both clients, and check what comes of each.

    python perf/faults.py                a table of outcome, requests sent and replies stored, by fault and client
    python perf/faults.py --only gzip    the faults whose names hold a word

Each fault is what a server on 127.0.0.1 answers to every request of a model with all that a run puts around it: store,
retries and limits, budget. The rules that hold for every fault are those of `check`; a broken one is printed, and the
exit code is 1.
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
CLIENTS = {"litellm": "openai/any", "lean": "{url}#any"}
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
class Fault:
    """What the server answers, and the kinds of error that may come of it; "" allows a reply."""

    name: str
    answer: Raw
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Came:
    """What came of one fault through one client."""

    kind: str  # of the error; "" for a reply
    words: str
    trial_outcome: str  # error, right, wrong, ...
    requests: int
    stored: int
    recovered: bool  # whether the next good reply arrived, and was stored

    @property
    def outcome(self) -> str:
        """The outcome in a word."""
        return self.kind or f"reply: {self.trial_outcome}"


def statuses() -> Iterator[Fault]:
    """Errors by their status, as JSON, HTML, text and nothing."""
    kinds = {
        400: "bad-request", 401: "authentication", 402: "payment", 403: "authentication", 404: "not-found",
        405: "bad-request", 406: "bad-request", 408: "timeout", 409: "bad-request", 410: "bad-request",
        413: "bad-request", 415: "bad-request", 418: "bad-request", 422: "bad-request", 425: "bad-request",
        429: "rate-limit", 451: "bad-request", 500: "server", 501: "server", 502: "server", 503: "server",
        504: "timeout", 507: "server", 520: "server", 524: "timeout", 529: "server",
    }  # fmt: skip
    for status, kind in kinds.items():
        yield Fault(f"{status} JSON", refuse(status, "no"), (kind,))
    for status in (401, 402, 404, 429, 500, 503):
        yield Fault(f"{status} empty", Raw(status), (kinds[status],))
        yield Fault(f"{status} HTML", Raw(status, b"<html>no</html>", "text/html"), (kinds[status],))
    for status, words, kind in (
        (429, "quota", "rate-limit"), (403, "rate", "rate-limit"), (503, "rate", "rate-limit"),
        (500, "rate", "rate-limit"), (400, "filtered", "content-filter"), (400, "window", "context-too-long"),
        (413, "window", "context-too-long"), (500, "window", "context-too-long"), (401, "key", "authentication"),
        (400, "key", "bad-request"),
    ):  # fmt: skip
        yield Fault(f"{status} {words}", refuse(status, WORDS[words]), (kind,))
    yield Fault("429 Retry-After 0", replace(refuse(429, "slow"), headers={"Retry-After": "0"}), ("rate-limit",))
    yield Fault("429 Retry-After 1 h", replace(refuse(429, "slow"), headers={"Retry-After": "3600"}), ("rate-limit",))
    yield Fault("503 Retry-After odd", replace(refuse(503, "slow"), headers={"Retry-After": "soon"}), ("server",))
    yield Fault("500 of 200 kB", refuse(500, "word " * 40_000), ("server",))
    yield Fault("307 without a place", Raw(307), ("bad-request",))


def within() -> Iterator[Fault]:
    """Failures under a status that says all is well."""
    for code, kind in ((400, "bad-request"), (401, "authentication"), (402, "payment"), (404, "not-found"),
                       (429, "rate-limit"), (500, "server"), (502, "server"), (504, "timeout")):  # fmt: skip
        error = {"message": "no", "code": code}
        yield Fault(f"200, error {code}", as_json({"error": error}), (kind,))
        yield Fault(f"200, error {code} in the choice", reply("half", error=error), (kind,))
    yield Fault("200, error as a text", as_json({"error": "no"}), ("bad-request",))
    yield Fault("200, error of no code", as_json({"error": {"message": "no"}}), ("bad-request",))
    yield Fault("200, error of a word", as_json({"error": {"message": "no", "code": "upstream"}}), ("server",))
    for end in ("error", "ERROR", "network_error"):
        yield Fault(f"200, finish_reason {end}", reply("half an answer", finish_reason=end), ("server",))
    for end in ("content_filter", "SAFETY", "PROHIBITED_CONTENT", "sensitive"):
        yield Fault(f"200, {end} with text", reply("Final answer: yes", finish_reason=end), ("content-filter",))
        yield Fault(f"200, {end} without text", reply(None, finish_reason=end), ("content-filter",))
    for name, empty in (
        ("null", reply(None)), ("no text", reply("")), ("blanks", reply(" \n\t")), ("no message", choice({})),
        ("thoughts", reply(None, message={"reasoning_content": "so"})),
        ("thoughts in tags", reply("<think>so</think>")), ("empty refusal", reply(None, message={"refusal": ""})),
        ("empty calls", reply(None, message={"tool_calls": []})), ("end unknown", reply("", finish_reason="eos")),
    ):  # fmt: skip
        yield Fault(f"200, empty: {name}", empty, ("empty", "malformed"))
    yield Fault("200, cut off at once", reply("", finish_reason="length"), ("truncated",))
    yield Fault("200, cut off midway", reply("Final ans", finish_reason="length"), ("truncated",))


def choice(message: Any) -> Raw:  # noqa: ANN401 - any JSON value
    return as_json({"model": "any", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})


def shapes() -> Iterator[Fault]:
    """Bodies that are no reply."""
    bodies: dict[str, bytes] = {
        "nothing": b"", "cut off": b'{"choices": [{"mess', "HTML": b"<html>log in</html>", "no UTF-8": b"\xff\xfe",
        "a stream": b"data: {}\n\n", "deep": b"[" * 100_000, "NaN": b"NaN", "two values": GOOD.body * 2,
        "a number of 5000 digits": b'{"choices": ' + b"9" * 5_000 + b"}",
    }  # fmt: skip
    for name, body in bodies.items():
        yield Fault(f"body: {name}", Raw(body=body), ("malformed",))
    for value in ([], None, "yes", 5, {}, {"choices": {}}, {"choices": []}, {"choices": [None]}, {"choices": ["yes"]},
                  {"choices": [{}]}, {"choices": [{"message": None}]}):  # fmt: skip
        yield Fault(f"JSON: {json.dumps(value)}", as_json(value), ("malformed",))
    for content in (5, False, [], {}, ["yes"]):
        message = {"role": "assistant", "content": content}
        yield Fault(f"content: {json.dumps(content)}", choice(message), ("malformed",))
    for calls in ("f", ["f"], [{}], [{"function": None}]):
        yield Fault(f"calls: {json.dumps(calls)}", reply(None, message={"tool_calls": calls}), ("malformed",))
    for usage in ([], "x", {"prompt_tokens": "x"}, {"prompt_tokens": 3.5}):
        made = json.loads(GOOD.body) | {"usage": usage}
        yield Fault(f"usage: {json.dumps(usage)}", as_json(made), ("malformed",))
    yield Fault("role: bot", choice({"role": "bot", "content": "yes"}), ("malformed",))


def transfers() -> Iterator[Fault]:
    """Connections that break, and contents that are too large or compressed in odd ways."""
    yield Fault("reset", RESET, ("connection",))
    yield Fault("no HTTP", Raw(plain=b"SSH-2.0-OpenSSH"), ("connection",))
    yield Fault("20 bytes lack", replace(GOOD, lacks=20), ("connection",))
    yield Fault("20 bytes lack, reset", replace(GOOD, lacks=20, resets=True), ("connection",))
    yield Fault("no answer", HANG, ("timeout",))
    squeezed = {"gzip": gzip.compress, "deflate": zlib.compress}
    for encoding, compress in squeezed.items():
        bomb = compress(b" " * 100_000_000)
        yield Fault(f"{encoding}, good", encoded(compress(GOOD.body), encoding), ("",))
        yield Fault(f"{encoding}, bomb of 100 MB", encoded(bomb, encoding), ("too-large",))
        yield Fault(f"{encoding}, bomb under 500", replace(encoded(bomb, encoding), status=500), ("server",))
        yield Fault(f"{encoding}, none", encoded(GOOD.body, encoding), ("malformed",))
        yield Fault(f"{encoding}, cut off", encoded(compress(GOOD.body)[:-6], encoding), ("malformed",))
    yield Fault("gzip, bomb in a bomb", encoded(gzip.compress(gzip.compress(b" " * 10**8)), "gzip"), ("malformed",))
    yield Fault("gzip, 10,000 members", encoded(gzip.compress(b"") * 10_000, "gzip"), ("malformed",))
    for encoding in ("br", "zstd", "compress", "gzip, gzip"):
        yield Fault(f"{encoding}, not accepted", encoded(b"any", encoding), ("malformed",))
    yield Fault("9 MB of text", reply("x" * 9_000_000), ("too-large",))
    yield Fault("9 MB of blanks", Raw(body=b" " * 9_000_000), ("too-large",))
    yield Fault("7 MB of text", reply(f"{'x' * 7_000_000}\nFinal answer: yes"), ("",))


def encoded(body: bytes, encoding: str) -> Raw:
    return Raw(body=body, headers={"Content-Encoding": encoding})


def odd_replies() -> Iterator[Fault]:
    """Replies that are strange and whole: they are stored and scored."""
    yes = "Final answer: yes"
    kept = {
        "good": GOOD,
        "wrong": reply("Final answer: no"),
        "no usage": reply(yes, usage=None),
        "no tokens": reply(yes, usage=(0, 0)),
        "no end": reply(yes, finish_reason=None),
        "end unknown": reply(yes, finish_reason="eos"),
        "cut off behind": reply(yes, finish_reason="length"),
        "refusal": reply(None, message={"refusal": "I can't say."}),
        "null error": reply(yes, error=None),
        "key as the model": reply(yes, model=KEY),
        "key in the text": reply(f"{KEY}\n{yes}"),
        "control characters": reply(f"\x1b[31m\x00{yes}\ud800"),
        "status 201": replace(GOOD, status=201),
    }
    for name, answer in kept.items():
        yield Fault(f"reply: {name}", answer, ("",))


def ask(server: Loopback, client: str, fault: Fault) -> Came:
    """Ask one question while the server fails so, then another one while it does not."""
    server.answer = fault.answer
    seen = len(server.requests)
    settings: dict[str, Json] = {"api_key": KEY, "max_tokens": 10}
    if client == "litellm":
        settings["api_base"] = server.url

    async def run(folder: Path) -> Came:
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

            kind, words, outcome = await answered(around(), "Is it so?")
            requests, stored = len(server.requests) - seen, len(stored_keys(folder))
            server.answer = GOOD
            again = await answered(around(), "And now?")
            await close()
        return Came(
            kind, words, outcome, requests, stored, again[2] == "right" and len(stored_keys(folder)) == stored + 1
        )

    with tempfile.TemporaryDirectory() as folder:
        came = asyncio.run(run(Path(folder)))
        kept = b"".join(one.read_bytes() for one in Path(folder).iterdir())
        if KEY.encode() in kept:
            raise SystemExit(f"{fault.name}: the key stands in the store")
    return came


async def answered(model: Model, prompt: str) -> tuple[str, str, str]:
    """The kind of the error or nothing, its words, and the outcome of the trial."""
    try:
        got = await model.answer(Request([{"role": "user", "content": prompt}]))
    except (ProviderError, NotAskedError) as error:
        return error.kind, str(error), "error"
    made, stopped = score_reply(QUESTION, got, "any")
    return getattr(stopped, "kind", ""), str(stopped or ""), made.outcome


def check(fault: Fault, came: Came) -> Iterator[str]:
    """Yield the rules that a fault broke."""
    if came.kind not in fault.kinds:
        yield f"expected {' or '.join(fault.kinds) or 'a reply'}"
    scored = came.trial_outcome != "error"
    if scored == bool(came.kind):
        yield "an error is scored" if scored else "a reply is not scored"
    if came.stored != (not came.kind or came.kind == "truncated"):  # a reply that was cut off is one, and is paid for
        yield f"{came.stored} replies stored"
    most = 1
    if came.kind in RETRIED:
        most += EMPTY_RETRIES if came.kind == "empty" else RETRIES * (PATIENCE if came.kind == "rate-limit" else 1)
    if not 1 <= came.requests <= most:
        yield f"{came.requests} requests, expected 1 to {most}"
    if KEY in came.words or "\n" in came.words or len(came.words) > 400:
        yield "the message holds a key, or is not one short line"
    if not came.recovered:
        yield "the next question got no answer"


def main() -> int:
    """Print the table; the exit code is 1 where a rule is broken or the clients disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of the faults")
    only = parser.parse_args().only
    every = [*statuses(), *within(), *shapes(), *transfers(), *odd_replies()]
    faults = [one for one in every if only in one.name]
    broken = 0
    print(f"{'fault':<40} {'client':<8} {'outcome':<18} requests stored")
    with Loopback() as server, suppress(KeyboardInterrupt):
        ask(server, "litellm", Fault("", GOOD, ("",)))  # imports
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for fault in faults:
            cames = {client: ask(server, client, fault) for client in CLIENTS}
            for client, came in cames.items():
                problems = list(check(fault, came))
                broken += bool(problems)
                line = f"{fault.name[:40]:<40} {client:<8} {came.outcome:<18} {came.requests:>8} {came.stored:>6}"
                print(f"{line}  {'; '.join(problems)}".rstrip())
            if len({(one.kind, one.outcome, one.requests, one.stored) for one in cames.values()}) > 1:
                broken += 1
                print(f"{'':<40} the clients disagree")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000
    print(f"{len(faults)} faults through {len(CLIENTS)} clients, {broken} rules broken; "
          f"memory grew by {grown} MB at most (limit of a reply: {LARGEST // 1_000_000} MB)")  # fmt: skip
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
