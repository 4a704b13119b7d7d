"""What a trial keeps of its exchanges: who was asked what, what came of it, and what it took.

An exchange is plain JSON. Its `messages` are of a role and the digest of a text each. The texts stand in the trial's
`texts`, but for those that its question holds: prompt, system prompt and specifications. The exchange whose reply is
the trial's own is marked by `final`, and leaves out what the reply holds: most trials have this one alone, and a run
holds thousands. In a record it says what it took. Records of earlier versions have exchanges without `messages`, and of
most trials none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NotAskedError
from ..redaction import redact, redact_all
from ..trial import Question, Reply, Request, Trial
from .plain import digest, joined_surrogates

if TYPE_CHECKING:
    from ..asking import Exchange

SUMS = ("tokens_in", "tokens_out", "cost", "latency")  # what the replies of a trial took, as far as they tell
_TOOK = (*SUMS, "stored", "source")  # of a reply
_FIELDS = {"role", "messages", "kind", "failure", "final", "text", *_TOOK, "finish_reason", "logprobs"}


def kept(
    question: Question, exchanges: Iterable[Exchange], reply: Reply | None
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the exchanges as a trial holds them, and the texts of their messages, by digest, that no question holds.

    Requests that were never sent are left out; those without a reply say what kind of failure came of them. Texts are
    without secrets, and so are their digests.

    Args:
        question: as it was asked.
        exchanges: in the order of asking.
        reply: the trial's own, if there is one.

    Raises:
        ValueError: if a note has a name that an exchange has by itself.
    """
    sent = [one for one in exchanges if not isinstance(one.failure, NotAskedError)]
    final = max((at for at, one in enumerate(sent) if one.reply is reply and reply is not None), default=-1)
    digests = {text: _digest(text) for text in _own(question)}
    own, texts, made = set(digests.values()), dict[str, str](), []
    for at, one in enumerate(sent):
        messages = []
        for role, text in _messages(one.request):
            if text not in digests:
                digests[text] = _digest(text)
                texts |= {} if digests[text] in own else {digests[text]: _public(text)}
            messages.append({"role": role, "digest": digests[text]})
        made.append(_exchange(one, messages, at == final))
    return made, texts


def foreign_texts(
    question: Question, exchanges: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts of the exchanges' messages that the question does not hold, of those that are in `texts`."""
    named = dict.fromkeys(message["digest"] for one in exchanges for message in one.get("messages") or ())
    if not named:
        return {}
    own = set(map(_digest, _own(question)))
    return {one: texts[one] for one in named if one in texts and one not in own}


def complete(trial: Trial) -> list[dict[str, Any]]:
    """Return the exchanges, the final one with what it took, as records have them."""
    reply = trial.reply
    took = {name: getattr(reply, name) for name in _TOOK} if reply else {}
    return [{**one, **took} if one.get("final") else one for one in trial.exchanges]


def lean(exchanges: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the exchanges of a record as a trial holds them."""
    return [{k: v for k, v in one.items() if not (one.get("final") and k in _TOOK)} for one in exchanges]


def is_kept(exchange: Mapping[str, Any]) -> bool:
    """Return True for an exchange of this form, False for one of a record of an earlier version."""
    return "messages" in exchange


def replies(trial: Trial) -> list[dict[str, Any]]:
    """Return what each reply that the trial holds took (SUMS), and whether it was stored; judges' included.

    In records of earlier versions a reply that is no agent's stands beside the exchanges.
    """
    names = (*SUMS, "stored")
    came = [one for one in complete(trial) if "failure" not in one]
    said = [{name: one.get(name) for name in SUMS} | {"stored": bool(one.get("stored"))} for one in came]
    all_of_them = any(is_kept(one) or one.get("role") == "subject" for one in trial.exchanges)
    if trial.reply is None or all_of_them:
        return said
    return [{name: getattr(trial.reply, name) for name in names}, *said]


def spoken(trial: Trial) -> list[dict[str, Any]]:
    """Return what the model under test said, reply by reply: text, calls of tools, scores of texts.

    Equal for equal replies, whichever version recorded them.
    """
    reply = trial.reply
    assert reply is not None
    alone = [{"text": reply.text, "calls": [], "logprobs": reply.logprobs}]
    if not any(one.get("role") == "subject" for one in trial.exchanges):
        return alone
    found = [
        {
            "text": reply.text if one.get("final") else one.get("text"),
            "calls": one.get("calls") or [],
            "logprobs": reply.logprobs if one.get("final") else one.get("logprobs") or [],
        }
        for one in trial.exchanges
        if one.get("role") == "subject"
    ]
    return found if found == alone else [*found, *alone]


def _exchange(one: Exchange, messages: list[dict[str, str]], final: bool) -> dict[str, Any]:
    request, reply = one.request, one.reply
    if clash := _FIELDS & one.note.keys():
        raise ValueError(f"a note on an exchange has the name {min(clash)!r}, which exchanges have by themselves")
    made: dict[str, Any] = {"role": request.role, "messages": messages}
    made |= {} if request.kind == "chat" else {"kind": request.kind}
    if reply is None:
        return made | {"failure": getattr(one.failure, "kind", "timeout")}
    if final:
        made["final"] = True
    else:
        made |= {"text": reply.text} | {name: getattr(reply, name) for name in _TOOK}
        made |= {} if reply.finish_reason == "stop" else {"finish_reason": reply.finish_reason}
        made |= {"logprobs": reply.logprobs} if reply.logprobs else {}
    calls = {"calls": [*map(_call, reply.tool_calls)]} if reply.tool_calls else {}
    return {**made, **redact_all({**calls, **one.note})}


def _call(call: Mapping[str, Any]) -> dict[str, str]:
    """The name and the arguments of a call of a tool, as the OpenAI protocol has it."""
    function = call.get("function") or {}
    return {"name": str(function.get("name") or ""), "arguments": str(function.get("arguments") or "")}


def _messages(request: Request) -> Iterator[tuple[str, str]]:
    """The role and the text of each message; of a request to score or to embed, also of what was given for that."""
    for message in request.messages:
        rest = {name: value for name, value in message.items() if name not in ("role", "tool_call_id")}
        text = rest["content"] if [*rest] == ["content"] and isinstance(rest["content"], str) else _json(rest)
        yield str(message.get("role", "")), text
    if request.context:
        yield "context", request.context
    for text in request.texts:
        yield "text", text


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _own(question: Question) -> list[str]:
    """The texts that a question holds as its messages do."""
    return [question.prompt, question.system, *question.specifications.values()]


def _digest(text: str) -> str:
    return digest(_public(text))


def _public(text: str) -> str:
    return joined_surrogates(redact(text))
