"""What a trial keeps of its exchanges: who was asked what, what came of it, and what it took.

An exchange is plain JSON. Its `messages` are of a role and the digest of a text each. The texts stand in the trial's
`texts`, but for those that its question holds: prompt, system prompt and specifications. The exchange whose reply is
the trial's own is marked by `final`, and leaves out what the reply holds: most trials have this one alone, and a run
holds thousands. In a record it says what it took. Records of earlier versions have exchanges without `messages`, and of
most trials none.

A replay of them tells the same, but for how many arrived from the store; what a run itself sent is its `usage`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from ...redaction import redact, redact_all
from ...trial import Question, Reply, Request, Trial, digest_of
from .json_values import join_surrogates

if TYPE_CHECKING:
    from ...asking import Exchange


SUMS = ("tokens_in", "tokens_out", "cost", "latency")  # what the replies of a trial took, as far as they tell
_TOOK = (*SUMS, "stored", "source")  # of a reply
_FIELDS = {"role", "messages", "kind", "failure", "final", "text", *_TOOK, "finish_reason", "logprobs"}


def keep_exchanges(
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
    sent = [exchange for exchange in exchanges if exchange.sent]
    scored = [at for at, exchange in enumerate(sent) if reply is not None and exchange.reply is reply]
    digests = {text: _digest(text) for text in _own_texts(question)}
    own, texts, kept = set(digests.values()), dict[str, str](), []
    for at, exchange in enumerate(sent):
        messages = []
        for role, text in _messages(exchange.request):
            if text not in digests:
                digests[text] = _digest(text)
                texts |= {} if digests[text] in own else {digests[text]: _public(text)}
            messages.append({"role": role, "digest": digests[text]})
        kept.append(_to_json(exchange, messages, final=at in scored[-1:]))
    return kept, texts


def foreign_texts(
    question: Question, exchanges: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts of the exchanges' messages that the question does not hold, of those that are in `texts`."""
    digests = dict.fromkeys(each["digest"] for exchange in exchanges for each in exchange.get("messages") or ())
    if not digests:
        return {}
    own = set(map(_digest, _own_texts(question)))
    return {digest: texts[digest] for digest in digests if digest in texts and digest not in own}


def complete_exchanges(trial: Trial) -> list[dict[str, Any]]:
    """Return the exchanges, the final one with what it took, as records have them."""
    reply = trial.reply
    took = {name: getattr(reply, name) for name in _TOOK} if reply else {}
    return [{**exchange, **took} if exchange.get("final") else exchange for exchange in trial.exchanges]


def lean_exchanges(exchanges: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the exchanges of a record as a trial holds them."""
    return [
        {name: value for name, value in exchange.items() if not (exchange.get("final") and name in _TOOK)}
        for exchange in exchanges
    ]


def has_messages(exchange: Mapping[str, Any]) -> bool:
    """Return True for an exchange of this form, False for one of a record of an earlier version."""
    return "messages" in exchange


def trial_replies(trial: Trial) -> list[dict[str, Any]]:
    """Return what each reply that the trial holds took (SUMS), and whether it was stored; judges' included.

    In records of earlier versions a reply that is no agent's stands beside the exchanges.
    """
    exchanges = [exchange for exchange in complete_exchanges(trial) if "failure" not in exchange]
    found = [
        {name: exchange.get(name) for name in SUMS} | {"stored": bool(exchange.get("stored"))} for exchange in exchanges
    ]
    among_them = any(has_messages(one) or one.get("role") == "subject" for one in trial.exchanges)
    if trial.reply is None or among_them:
        return found
    return [{name: getattr(trial.reply, name) for name in (*SUMS, "stored")}, *found]


def model_replies(trial: Trial) -> list[dict[str, Any]]:
    """Return what the model under test said, reply by reply: text, calls of tools, scores of texts.

    Equal for equal replies, whichever version recorded them. The trial has a reply.
    """
    reply = trial.reply
    assert reply is not None
    scored = {"text": reply.text, "calls": [], "logprobs": reply.logprobs}
    found = [
        {
            "text": reply.text if exchange.get("final") else exchange.get("text"),
            "calls": exchange.get("calls") or [],
            "logprobs": reply.logprobs if exchange.get("final") else exchange.get("logprobs") or [],
        }
        for exchange in trial.exchanges
        if exchange.get("role") == "subject" and "failure" not in exchange
    ]
    return found if found == [scored] else [*found, scored]


def _to_json(exchange: Exchange, messages: list[dict[str, str]], final: bool) -> dict[str, Any]:
    request, reply, note = exchange.request, exchange.reply, exchange.note
    if clash := _FIELDS & note.keys():
        raise ValueError(f"a note on an exchange has the name {min(clash)!r}, which exchanges have by themselves")
    made: dict[str, Any] = {"role": request.role, "messages": messages}
    made |= {} if request.kind == "chat" else {"kind": request.kind}
    if reply is None:
        return {**made, "failure": getattr(exchange.failure, "kind", "timeout"), **redact_all(dict(note))}
    if final:
        made["final"] = True
    else:
        made |= {"text": reply.text} | {name: getattr(reply, name) for name in _TOOK}
        made |= {} if reply.finish_reason == "stop" else {"finish_reason": reply.finish_reason}
        made |= {"logprobs": reply.logprobs} if reply.logprobs else {}
    calls = {"calls": [*map(_call, reply.tool_calls)]} if reply.tool_calls else {}
    return {**made, **redact_all({**calls, **note})}


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


def _own_texts(question: Question) -> list[str]:
    """The texts that a question holds as its messages do."""
    return [question.prompt, question.system, *question.specifications.values()]


def _digest(text: str) -> str:
    return digest_of(_public(text))


def _public(text: str) -> str:
    return join_surrogates(redact(text))


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over trials. `cost` is in US dollars, over the replies whose cost is known."""

    requests: int
    retries: int
    tokens_in: int
    tokens_out: int
    untold: int  # replies that arrived without the number of their tokens
    cost: float
    priced: int  # replies whose cost is known
    unpriced: int  # replies whose cost is not
    stored: int = 0  # replies that the store had of an earlier run


def sum_spending(trials: Iterable[Trial]) -> Spending:
    """The sums over the trials, those of varied questions included: they are paid for like any other."""
    ones = list(trials)
    said = [trial_replies(one) for one in ones]
    flat = [reply for some in said for reply in some]
    costs = [float(reply["cost"]) for reply in flat if reply["cost"] is not None]
    return Spending(
        requests=sum(one.requests for one in ones),
        retries=sum(one.retries for one in ones),
        tokens_in=sum(reply["tokens_in"] or 0 for reply in flat),
        tokens_out=sum(reply["tokens_out"] or 0 for reply in flat),
        untold=sum(None in (reply["tokens_in"], reply["tokens_out"]) for reply in flat),
        cost=fsum(costs),
        priced=len(costs),
        unpriced=sum(map(_unpriced, ones, said)),
        stored=sum(reply["stored"] for reply in flat),
    )


@dataclass(frozen=True, slots=True)
class ReplySums:
    """What all replies of one trial took, as far as they tell; None where none does."""

    tokens_in: int | None
    tokens_out: int | None
    cost: float | None  # US dollars
    latency: float | None  # seconds, one reply after the other
    stored: bool | None  # whether each of them arrived from the store


def sum_replies(trial: Trial) -> ReplySums:
    """Return the sums over all replies of a trial, judges' and embedders' included."""
    arrived = trial_replies(trial)
    return ReplySums(
        tokens_in=_sum(arrived, "tokens_in"),
        tokens_out=_sum(arrived, "tokens_out"),
        cost=_sum(arrived, "cost"),
        latency=_sum(arrived, "latency"),
        stored=all(one["stored"] for one in arrived) if arrived else None,
    )


def _sum(arrived: list[dict[str, Any]], name: str) -> Any:  # noqa: ANN401 - a whole number stays one
    known = [one[name] for one in arrived if one[name] is not None]
    return (fsum if isinstance(known[0], float) else sum)(known) if known else None


def _unpriced(trial: Trial, said: list[dict[str, Any]]) -> int:
    """Replies of unknown cost: those in the trial, and those that arrived before a later request of it failed.

    Of the latter only the number is known, and only where an earlier version asked: it kept no such reply.
    """
    known = sum(reply["cost"] is not None for reply in said)
    counted = trial.outcome == "error" and not any(map(has_messages, trial.exchanges))
    lost = trial.requests - 1 - len(said) if counted else 0
    return len(said) - known + max(0, lost)
