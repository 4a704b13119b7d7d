"""The exchanges of a trial: which roles were asked what, the outcome of each request, and its usage.

An exchange is plain JSON. Each of its `messages` has a role and the digest of a text. The texts are in `texts` of the
trial, except those that its question contains: prompt, system prompt and specifications. The exchange whose reply is
the trial's own is marked by `final` and omits what the reply states: most trials have only that exchange, and a run has
thousands of trials. In a record it states its usage too. Replies that no run asked for have no exchanges.

A replay has the same exchanges, apart from the number that came from the store; what a run itself sent is in its
`usage`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...redaction import redact, redact_all
from ...trial import Question, Reply, Request, Trial, digest_of
from ...usage import AMOUNTS, Usage, sum_usages, usage_of
from .json_values import join_surrogates

if TYPE_CHECKING:
    from ...asking import Exchange


_ALWAYS_STATED = ("tokens_in", "tokens_out", "cost", "latency")  # null if unknown; other amounts are left out then
_REPLY_FIELDS = (*AMOUNTS, "stored", "source")  # fields of a reply
_EXCHANGE_FIELDS = {
    *("role", "messages", "kind", "failure", "final", "text", "reasoning", "finish_reason", "logprobs"),
    *_REPLY_FIELDS,
}


def keep_exchanges(
    question: Question, exchanges: Iterable[Exchange], reply: Reply | None, has_secrets: bool = True
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the exchanges as a trial stores them, and the texts of their messages that the question does not contain.

    Requests that were never sent are left out; requests without a reply state the kind of their failure. Texts and
    digests are computed after redaction of secrets.

    Args:
        question: The question as it was asked.
        exchanges: The exchanges in the order of asking.
        reply: The trial's own reply, if it has one.
        has_secrets: False if redaction is known to leave the texts of the question as they are.

    Returns:
        The exchanges as JSON values, and the texts by digest.

    Raises:
        ValueError: if a note has the name of a field of exchanges.
    """
    sent = [exchange for exchange in exchanges if exchange.sent]
    scored = [at for at, exchange in enumerate(sent) if reply is not None and exchange.reply is reply]
    digest_own = _text_digest if has_secrets else _plain_digest
    digests = {text: digest_own(text) for text in _own_texts(question)}
    own_digests, texts, exchanges_json = set(digests.values()), dict[str, str](), []
    for at, exchange in enumerate(sent):
        messages = []
        for role, text in _request_messages(exchange.request):
            if text not in digests:
                digests[text] = _text_digest(text)
                texts |= {} if digests[text] in own_digests else {digests[text]: _redact_text(text)}
            messages.append({"role": role, "digest": digests[text]})
        exchanges_json.append(_to_json(exchange, messages, final=at in scored[-1:]))
    return exchanges_json, texts


def foreign_texts(
    question: Question, exchanges: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the given texts that occur in messages of the exchanges and not in the question, by digest.

    Args:
        question: The question of the trial.
        exchanges: Exchanges as JSON values.
        texts: Texts of the record by digest.
    """
    digests = dict.fromkeys(message["digest"] for exchange in exchanges for message in exchange["messages"])
    if not digests:
        return {}
    own_digests = set(map(_text_digest, _own_texts(question)))
    return {digest: texts[digest] for digest in digests if digest in texts and digest not in own_digests}


def message_texts(trial: Trial) -> dict[str, str]:
    """Return the texts of all messages of a trial by digest, those that its question contains included."""
    return {_text_digest(text): text for text in _own_texts(trial.question) if text} | trial.texts


def complete_exchanges(trial: Trial) -> list[dict[str, Any]]:
    """Return the exchanges as records have them: the final one with its usage."""
    reply = trial.reply
    reply_fields = _reply_fields(reply) if reply else {}
    return [{**exchange, **reply_fields} if exchange.get("final") else exchange for exchange in trial.exchanges]


def _reply_fields(reply: Reply) -> dict[str, Any]:
    fields = {name: getattr(reply, name) for name in _REPLY_FIELDS}
    return {name: value for name, value in fields.items() if value is not None or name in _ALWAYS_STATED}


def lean_exchanges(exchanges: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the exchanges of a record as a trial stores them: the final one without its usage."""
    return [
        {name: value for name, value in exchange.items() if not (exchange.get("final") and name in _REPLY_FIELDS)}
        for exchange in exchanges
    ]


def trial_usages(trial: Trial) -> list[Usage]:
    """Return the usage of each reply of the trial, judges' and embedders' included.

    A reply that no run asked for, such as one of a file, is the only one of its trial.
    """
    if trial.reply is not None and not trial.exchanges:
        return [trial.reply.usage]
    return [usage_of(exchange) for exchange in complete_exchanges(trial) if "failure" not in exchange]


def sum_trials(trials: Iterable[Trial]) -> Usage:
    """Return the usage of all replies of the trials, those to varied questions included."""
    return sum_usages(usage for trial in trials for usage in trial_usages(trial))


def model_replies(trial: Trial) -> list[dict[str, Any]]:
    """Return the replies of the model under test: text, tool calls, scores of texts.

    Equal replies have equal results, whether a run asked for them or not. The trial must have a reply.
    """
    reply = trial.reply
    assert reply is not None
    final_reply = {"text": reply.text, "calls": [], "logprobs": reply.logprobs}
    replies = [
        {
            "text": reply.text if exchange.get("final") else exchange.get("text"),
            "calls": exchange.get("calls") or [],
            "logprobs": reply.logprobs if exchange.get("final") else exchange.get("logprobs") or [],
        }
        for exchange in trial.exchanges
        if exchange.get("role") == "subject" and "failure" not in exchange
    ]
    return replies if replies == [final_reply] else [*replies, final_reply]


def _to_json(exchange: Exchange, messages: list[dict[str, str]], final: bool) -> dict[str, Any]:
    request, reply, note = exchange.request, exchange.reply, exchange.note
    if clash := _EXCHANGE_FIELDS & note.keys():
        raise ValueError(f"a note on an exchange has the reserved name {min(clash)!r}; rename it")
    data: dict[str, Any] = {"role": request.role, "messages": messages}
    data |= {} if request.kind == "chat" else {"kind": request.kind}
    if reply is None:
        return {**data, "failure": getattr(exchange.failure, "kind", "timeout"), **redact_all(dict(note))}
    if final:
        data["final"] = True
    else:
        data |= {"text": reply.text} | _reply_fields(reply)
        data |= {"reasoning": reply.reasoning} if reply.reasoning else {}
        data |= {} if reply.finish_reason == "stop" else {"finish_reason": reply.finish_reason}
        data |= {"logprobs": reply.logprobs} if reply.logprobs else {}
    calls = {"calls": [*map(_call_json, reply.tool_calls)]} if reply.tool_calls else {}
    return {**data, **redact_all({**calls, **note})}


def _call_json(call: Mapping[str, Any]) -> dict[str, str]:
    """Return the name and the arguments of a tool call of the OpenAI protocol."""
    function = call.get("function") or {}
    return {"name": str(function.get("name") or ""), "arguments": str(function.get("arguments") or "")}


def _request_messages(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the role and the text of each message, and the context and texts of a request to score or to embed."""
    for message in request.messages:
        rest = {name: value for name, value in message.items() if name not in ("role", "tool_call_id")}
        text = rest["content"] if [*rest] == ["content"] and isinstance(rest["content"], str) else _dump_json(rest)
        yield str(message.get("role", "")), text
    if request.context:
        yield "context", request.context
    for text in request.texts:
        yield "text", text


def _dump_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _own_texts(question: Question) -> list[str]:
    """Return the texts of a question that are among its messages."""
    return [question.prompt, question.system, *question.specifications.values()]


def _text_digest(text: str) -> str:
    return digest_of(_redact_text(text))


def _plain_digest(text: str) -> str:
    return digest_of(join_surrogates(text))


def _redact_text(text: str) -> str:
    return join_surrogates(redact(text))
