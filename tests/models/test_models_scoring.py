"""Texts are scored behind a context by address, and behind messages by address and through litellm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from math import exp, log
from typing import Any

import pytest
from loopback import BROKEN_JSON, Loopback, Raw, Token, as_json, echoed, refuse, reply
from scripted_model import ScriptedModel

from pytest_taskgraph.errors import CannotScoreError, NoLogprobsError, NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Json, Reply, Request, TextScore, Trial

KEY = "test-key-123456"
CLIENTS = ("litellm:openai/any", "{url}#any")
QUERY = Request(kind="score", context="Boil water. Then", texts=[" add rice.", " sleep."])
RICE: list[Token] = [("Boil", None), (" water.", -2.0), (" Then", -1.0), (" add", -0.25), (" rice.", -0.5)]
SLEEP: list[Token] = [*RICE[:3], (" sleep.", -7.0)]
EXPECTED = [(-0.75, 2, True), (-7.0, 1, True)]
YES_NO = Request([{"role": "user", "content": "Is rice next? Yes or No."}], kind="score", texts=["Yes", "No"])


def ask(model: str, url: str, request: Request, settings: dict[str, Json] | None = None) -> Reply:
    own: dict[str, Json] = {"api_key": KEY} if "#" in model else {"api_key": KEY, "api_base": url}

    async def run() -> Reply:
        try:
            return await open_model(model.format(url=url), own | (settings or {})).answer(request)
        finally:
            await close()

    return asyncio.run(run())


def clients(request: Request) -> tuple[str, ...]:
    return CLIENTS if request.messages else CLIENTS[1:]


def scores(server: Loopback, answer: Raw, request: Request = QUERY) -> list[TextScore]:
    """Return the scores, the same through each client that sends such requests, after one request."""
    score_lists = []
    for model in clients(request):
        seen = len(server.requests)
        server.script(answer)
        score_lists.append(ask(model, server.url, request).scores)
        assert len(server.requests) == seen + 1
    assert score_lists[0] == score_lists[-1]
    return score_lists[0]


def failed(server: Loopback, answer: Raw, request: Request = QUERY) -> tuple[str, ...]:
    """Return the class of the failure, and the kind of a provider's, alike through each client."""
    failures = []
    for model in clients(request):
        seen = len(server.requests)
        server.script(answer)
        with pytest.raises((ProviderError, NotAskedError)) as raised:
            ask(model, server.url, request)
        assert len(server.requests) == seen + 1
        assert KEY not in str(raised.value)
        assert raised.value.__cause__ is None
        kind = raised.value.kind if isinstance(raised.value, ProviderError) else ""
        failures.append((type(raised.value).__name__, kind))
    assert failures[0] == failures[-1]
    return failures[0]


def chat_with_tops(*tops: tuple[str, Any], **choice: Any) -> Raw:  # noqa: ANN401 - JSON
    """Return a chat completion that lists the most probable tokens of its first place."""
    place = {
        "token": tops[0][0], "logprob": tops[0][1], "bytes": None,
        "top_logprobs": [{"token": token, "logprob": value, "bytes": None} for token, value in tops],
    }  # fmt: skip
    return reply(tops[0][0], **{"logprobs": {"content": [place]}} | choice)


def changed(answer: Raw, change: Callable[[Any], object]) -> Raw:
    body = json.loads(answer.body)
    change(body)
    return as_json(body)


def set_logprobs(**fields: object) -> Raw:
    return changed(echoed(RICE, SLEEP), lambda body: body["choices"][1]["logprobs"].update(fields))


def test_score_request_sends_one_completions_request(server: Loopback) -> None:
    settings: dict[str, Json] = {"temperature": 0.0, "max_tokens": 700, "n": 3, "extra_headers": {"X-Team": "blue"}}
    ask("{url}#any", server.url, QUERY, settings)
    (sent,) = server.requests
    assert sent.path == "/v1/completions"
    assert sent.body == {
        "model": "any", "prompt": ["Boil water. Then add rice.", "Boil water. Then sleep."],
        "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0,
    }  # fmt: skip
    assert (sent.headers["authorization"], sent.headers["x-team"]) == (f"Bearer {KEY}", "blue")


def test_score_request_of_one_text_sends_string(server: Loopback) -> None:
    ask("{url}#any", server.url, Request(kind="score", context="a", texts=[" b"]))
    assert server.requests[0].body["prompt"] == "a b"


def test_score_is_sum_of_logprobs_after_context(server: Loopback) -> None:
    server.script(echoed(RICE, SLEEP))
    got = ask("{url}#any", server.url, QUERY)
    assert got.scores == EXPECTED
    assert got.scores[0].perplexity == pytest.approx(exp(0.375))
    assert (got.text, got.tokens_in, got.tokens_out, got.source, got.finish_reason) == ("", 9, 2, "any", "stop")


ACCENTS: list[Token] = [("Caf", None), ("bytes:\\xc3", -1.0), ("bytes:\\xa9", -2.0), (" noir", -4.0)]


def spelled(answer: Raw, text: str) -> Raw:
    """Return the answer with this text in place of the text of its tokens."""
    return changed(answer, lambda body: body["choices"][0].update(text=text))


SERVERS = {
    "vllm, opening token that shifts offsets": echoed(RICE, SLEEP, opening="<|begin_of_text|>"),
    "vllm, hidden end": changed(
        echoed(RICE, SLEEP, written=("<|eot|>", -0.1)),
        lambda body: [choice.update(text=choice["text"].removesuffix("<|eot|>")) for choice in body["choices"]],
    ),
    "sglang, no offsets": echoed(RICE, SLEEP, offsets=lambda start: -1),
    "no offsets at all": changed(
        echoed(RICE, SLEEP), lambda body: [choice["logprobs"].pop("text_offset") for choice in body["choices"]]
    ),
    "choices in another order": changed(echoed(RICE, SLEEP), lambda body: body["choices"].reverse()),
    "tokens as numbers": changed(
        echoed(RICE, SLEEP),
        lambda body: [
            choice["logprobs"].update(tokens=[f"token_id:{at}" for at in range(len(choice["logprobs"]["tokens"]))])
            for choice in body["choices"]
        ],
    ),
    "sentencepiece": changed(
        echoed(RICE, SLEEP),
        lambda body: [
            choice["logprobs"].update(tokens=[t.replace(" ", "\u2581") for t in choice["logprobs"]["tokens"]])
            for choice in body["choices"]
        ],
    ),
}


@pytest.mark.parametrize("answer", SERVERS.values(), ids=SERVERS)
def test_scores_are_equal_for_echoes_of_all_servers(server: Loopback, answer: Raw) -> None:
    assert scores(server, answer) == EXPECTED


@pytest.mark.parametrize("part", ["\ufffd", "bytes:\\xc3", "<0xC3>"])
def test_score_of_tokens_with_parts_of_characters_is_exact(server: Loopback, part: str) -> None:
    tokens: list[Token] = [("Caf", None), (part, -1.0), (part, -2.0), (" noir", -4.0)]
    answer = spelled(echoed(tokens), "Café noir and")
    assert scores(server, answer, Request(kind="score", context="Café", texts=[" noir"])) == [(-4.0, 1, True)]
    assert scores(server, answer, Request(kind="score", context="Caf", texts=["é noir"])) == [(-7.0, 3, True)]


def test_score_of_token_across_border_counts_whole(server: Loopback) -> None:
    query = Request(kind="score", context="Boil water. Th", texts=["en add rice."])
    assert scores(server, echoed(RICE), query) == [(-1.75, 3, True)]


def test_score_without_context_omits_first_token(server: Loopback) -> None:
    query = Request(kind="score", texts=["Boil water. Then add rice."])
    assert scores(server, echoed(RICE), query) == [(-3.75, 4, True)]
    opened = echoed([("Boil", -3.0), *RICE[1:]], opening="<s>")
    assert scores(server, opened, query) == [(-6.75, 5, True)]


def test_score_of_single_token_without_context_lacks_perplexity(server: Loopback) -> None:
    (score,) = scores(server, echoed([("Boil", None)]), Request(kind="score", texts=["Boil"]))
    assert (score, score.perplexity) == ((0.0, 0, None), None)


def test_score_is_greedy_if_all_tokens_are_most_probable(server: Loopback) -> None:
    other = echoed(RICE, SLEEP, tops=lambda token, value: {token: value, "x": -0.3})
    assert [score.greedy for score in scores(server, other)] == [False, False]
    assert scores(server, set_logprobs(top_logprobs=None))[1].greedy is None


MALFORMED: dict[str, Raw] = {
    "no JSON": BROKEN_JSON,
    "a list": as_json([]),
    "no choices": as_json({"choices": []}),
    "one choice for two": echoed(RICE),
    "three choices for two": echoed(RICE, SLEEP, SLEEP),
    "a choice twice": changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(index=0)),
    "an index that is a list": changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(index=[1])),
    "no text": changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(text=None)),
    "a list of log-probabilities": changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(logprobs=[1])),
    "tokens missing": set_logprobs(tokens=None),
    "too few tokens": set_logprobs(tokens=["Boil"]),
    "tokens that are numbers": set_logprobs(tokens=[1, 2, 3, 4, 5]),
    "tokens of another text": set_logprobs(tokens=["a", "b", "c", "d", "e"], text_offset=None),
    "offsets that fall": set_logprobs(tokens=["a", "b", "c", "d", "e"], text_offset=[0, 9, 4, 20, 30]),
    "no values": set_logprobs(token_logprobs=None),
    "a gap": set_logprobs(token_logprobs=[None, -1, -1, None, -1]),
    "not finite": set_logprobs(token_logprobs=[None, -1, -1, float("-inf"), -1]),
    "not a number": set_logprobs(token_logprobs=[None, -1, -1, float("nan"), -1]),
    "beyond every float": set_logprobs(token_logprobs=[None, -1, -1, -(10**400), -1]),
    "above 0": set_logprobs(token_logprobs=[None, -1, -1, 0.5, -1]),
    "a text for a value": set_logprobs(token_logprobs=[None, -1, -1, "low", -1]),
    "tops that are texts": set_logprobs(top_logprobs=["a"] * 5),
    "tops of texts": set_logprobs(top_logprobs=[{"a": "b"}] * 5),
    "usage of texts": changed(echoed(RICE, SLEEP), lambda body: body.update(usage={"prompt_tokens": "many"})),
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_score_response_of_other_shape_is_malformed(server: Loopback, answer: Raw) -> None:
    assert failed(server, answer) == ("ProviderError", "malformed")


NOT_OFFERED = {
    "no logprobs": changed(
        echoed(RICE, SLEEP), lambda body: [choice.update(logprobs=None) for choice in body["choices"]]
    ),
    "no echo": changed(
        echoed(RICE, SLEEP), lambda body: [choice.update(text=" and") for choice in body["choices"]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("answer", NOT_OFFERED.values(), ids=NOT_OFFERED)
def test_score_reply_without_logprobs_is_not_asked(server: Loopback, answer: Raw) -> None:
    assert failed(server, answer) == ("NoLogprobsError", "")


REFUSED = [
    (
        refuse(400, "Setting 'echo' and 'logprobs' at the same time is not supported for this model."),
        "CannotScoreError",
    ),
    (refuse(404, "This is a chat model and not supported in the v1/completions endpoint."), "CannotScoreError"),
    (refuse(403, "You are not allowed to request logprobs from this model"), "CannotScoreError"),
    (refuse(400, "Only no echo is supported"), "CannotScoreError"),
    (Raw(404, b'{"detail": "Not Found"}'), "CannotScoreError"),
    (Raw(404), "CannotScoreError"),
    (Raw(405, b'{"detail": "Method Not Allowed"}'), "CannotScoreError"),
    (Raw(501), "CannotScoreError"),
    (refuse(404, "The model does not exist", "model_not_found"), "not-found"),
    (refuse(400, "temperature is out of range"), "bad-request"),
    (refuse(401, "Incorrect API key provided"), "authentication"),
    (refuse(429, "logprobs are not supported that fast"), "rate-limit"),
    (refuse(500, "broken"), "server"),
    (refuse(400, "This model's maximum context length is 10 tokens"), "context-too-long"),
    (as_json({"error": {"message": "slow", "code": 429}}), "rate-limit"),
    (changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(finish_reason="error")), "server"),
    (
        changed(echoed(RICE, SLEEP), lambda body: body["choices"][1].update(finish_reason="content_filter")),
        "content-filter",
    ),
]


@pytest.mark.parametrize(("answer", "expected"), REFUSED, ids=range(len(REFUSED)))
def test_score_refusal_is_skipped_if_endpoint_lacks_scores(server: Loopback, answer: Raw, expected: str) -> None:
    name, kind = failed(server, answer)
    assert (kind or name) == expected


@pytest.mark.parametrize(
    "request_",
    [
        Request(kind="score", context="a"),
        Request(kind="score", context="a", texts=["b", ""]),
        Request(YES_NO.messages, kind="score", context="a", texts=["b"]),
        Request(kind="score", context="a\ud800", texts=["b"]),
    ],
)
def test_score_request_with_invalid_texts_is_bad_request(server: Loopback, request_: Request) -> None:
    for model in clients(request_):
        with pytest.raises(ProviderError, match="bad-request"):
            ask(model, server.url, request_)
    assert server.requests == []


@pytest.mark.parametrize("model", ["litellm:openai/gpt-4o", "anthropic/claude-3-5-haiku-latest"])
def test_score_context_is_not_sent_through_litellm(server: Loopback, model: str) -> None:
    with pytest.raises(CannotScoreError, match="name the endpoint by its address, or give messages"):
        ask(model, server.url, QUERY)
    assert server.requests == []


def test_score_context_without_key_is_authentication_error(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="authentication: no key"):
        ask("openai/any", server.url, QUERY, {"api_key": None})
    assert server.requests == []


def test_score_messages_request_top_logprobs_of_chat(server: Loopback) -> None:
    for model in CLIENTS:
        server.script(chat_with_tops(("Yes", -0.5), ("No", -1.5)))
        ask(model, server.url, YES_NO, {"temperature": 0.0, "max_tokens": 700})
    first, other = server.requests
    assert first.path == other.path == "/v1/chat/completions"
    assert first.body == other.body == {
        "model": "any", "messages": YES_NO.messages, "logprobs": True, "top_logprobs": 20, "max_tokens": 1,
        "temperature": 0.0,
    }  # fmt: skip


def test_score_messages_keep_length_setting_and_fewer_tops(server: Loopback) -> None:
    server.script(chat_with_tops(("Yes", -0.5)))
    ask("{url}#any", server.url, YES_NO, {"max_completion_tokens": 700, "top_logprobs": 5})
    body = server.requests[0].body
    assert (body["max_completion_tokens"], body["top_logprobs"], "max_tokens" in body) == (1, 5, False)


def test_score_of_one_token_texts_equals_listed_tokens(server: Loopback) -> None:
    assert scores(server, chat_with_tops(("Yes", -0.5), ("No", -1.5)), YES_NO) == [(-0.5, 1, True), (-1.5, 1, False)]
    yes, no = scores(server, chat_with_tops(("The", -0.1), ("Yes", -3.0), (" Yes", -4.0)), YES_NO)
    assert yes.logprob == pytest.approx(log(exp(-3) + exp(-4)))
    assert (yes.tokens, yes.greedy) == (1, False)
    assert no == TextScore(None, 1, False)
    assert no.perplexity is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (reply("Yes"), "NoLogprobsError"),
        (reply("Yes", logprobs={"content": None}), "NoLogprobsError"),
        (chat_with_tops(("Yes", -0.5), logprobs={"content": [{"token": "Yes", "logprob": -1.0, "top_logprobs": []}]}),
         "NoLogprobsError"),
        (refuse(400, "'logprobs' is not supported with this model"), "CannotScoreError"),
        (Raw(404, b'{"detail": "Not Found"}'), "not-found"),
        (chat_with_tops(("Yes", float("nan"))), "malformed"),
        (chat_with_tops(("Yes", 1.5)), "malformed"),
        (reply("Yes", logprobs={"content": [5]}), "malformed"),
        (reply("Yes", logprobs={"content": "Yes"}), "malformed"),
        (as_json({"choices": []}), "malformed"),
        (chat_with_tops(("", -0.5), finish_reason="content_filter"), "content-filter"),
    ],
)  # fmt: skip
def test_score_chat_without_usable_logprobs_is_error(server: Loopback, answer: Raw, expected: str) -> None:
    name, kind = failed(server, answer, YES_NO)
    assert (kind or name) == expected


def test_scores_survive_record_and_other_process() -> None:
    answered = Reply("", logprobs=[[-0.75, 2, True], [None, 1, False]])
    data = json.loads(json.dumps({"question": {}, "model": "m", "outcome": "right"}))
    question: Any = {
        "id": "q", "family": "f", "group": "p", "section": "c", "text": "t", "prompt": "p", "form": "yes_no",
        "reference": True, "metric": "exact",
    }  # fmt: skip
    trial = Trial.from_json(data | {"question": question, "reply": {"text": "", "logprobs": answered.logprobs}})
    again = Trial.from_json(json.loads(json.dumps(trial.to_json())))
    assert again.reply is not None
    assert again.reply.scores == [TextScore(-0.75, 2, True), TextScore(None, 1, False)]


def test_scripted_model_returns_scores_of_script() -> None:
    model = ScriptedModel(lambda request: Reply("", logprobs=[[-float(len(text)), 1, None] for text in request.texts]))
    assert [score.logprob for score in asyncio.run(model.answer(QUERY)).scores] == [-10.0, -7.0]


def test_score_error_names_model_and_reason(server: Loopback) -> None:
    server.script(NOT_OFFERED["no echo"])
    with pytest.raises(NoLogprobsError, match=r"the model http://\S+#any cannot score texts: .*echo"):
        ask("{url}#any", server.url, QUERY)
