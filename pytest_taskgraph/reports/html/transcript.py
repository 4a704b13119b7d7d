"""Transcript of a trial with several requests: messages, reasoning, tool calls with their results, replies, usage.

Texts of messages are given as digests: a page holds each text once, however many trials have it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...results.record.exchanges import message_texts
from ...trial import Trial
from ...usage import AMOUNTS, usage_of
from ..failure import score_lines, shown_exchanges
from ..spending_line import tokens_texts
from ..wording import count, number

ROLES: Final = {"subject": "model under test"}  # others are words that a person knows: judge, embedder
SPEAKERS: Final = {"user": "asked", "system": "system prompt", "assistant": "model", "tool": "tool result"}
PROMPT, SYSTEM = "(the prompt, shown below)", "(the system prompt, shown below)"
_EXCHANGE_FIELDS = {  # of an exchange; anything else is a remark of the episode, which is shown by its name
    *("role", "messages", "kind", "failure", "final", "text", "reasoning", "stored", "source", "finish_reason"),
    *("logprobs", "calls", "metric", "value", *AMOUNTS),
}
_TEXTS = tuple(
    f"turn_{name}" for name in ("title", "usage", "reasoning", "reasoning_title", "reply", "failure", "scores")
)
_LISTS = ("turn_messages", "turn_calls", "turn_notes")
_CALL_TEXTS = ("call_name", "call_status", "call_result")


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """The requests of a trial as the page shows them, and the texts that they name by digest."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def whole(self, replies: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the turns with the texts in place of their digests, and what `replies` names in the final turn."""
        return [self._with_texts(turn, replies) for turn in self.turns]

    def _with_texts(self, turn: Mapping[str, Any], replies: Mapping[str, str]) -> dict[str, Any]:
        turn = {**dict.fromkeys(_TEXTS, ""), **dict.fromkeys(_LISTS, ()), **turn}
        calls = [
            {**dict.fromkeys(_CALL_TEXTS, ""), "call_arguments": (), "blank": False, **call}
            for call in turn["turn_calls"]
        ]
        calls = [{**call, "call_result": self.texts.get(call["call_result"], "")} for call in calls]
        messages = [[who, self.texts.get(key, key)] for who, key in turn["turn_messages"]]
        final = replies if turn.get("turn_final") else {}
        return {**turn, "turn_calls": calls, "turn_messages": messages, **final, "blank": False}


def blank_turn() -> dict[str, Any]:
    """Return a turn without texts and with one entry in each list, the template of the page's script."""
    call = {**dict.fromkeys(_CALL_TEXTS, ""), "call_arguments": [["", ""]], "blank": True}
    lists = {"turn_messages": [["", ""]], "turn_calls": [call], "turn_notes": [["", ""]]}
    return {**dict.fromkeys(_TEXTS, ""), **lists, "blank": True}


def transcript(trial: Trial) -> TranscriptView:
    """Return the transcript; without turns if the trial has one prompt and its reply alone."""
    exchanges = [_complete(exchange, trial) for exchange in shown_exchanges(trial)]
    if not exchanges:
        return TranscriptView()
    texts = message_texts(trial)
    messages = list(_new_messages(exchanges))
    used, turns = dict[str, str](), []
    for at, exchange in enumerate(exchanges):
        after = messages[at + 1] if at + 1 < len(exchanges) else []
        calls = _calls(exchange, _tool_results(after))
        own_messages = _shown_messages(
            messages[at], texts, trial, answered=at > 0 and bool(exchanges[at - 1].get("calls"))
        )
        used |= {key: texts[key] for _, key in own_messages if key in texts}
        used |= {key: texts[key] for call in calls if (key := call.get("call_result")) in texts}
        turns.append(_turn(exchange, at, len(exchanges), own_messages, calls))
    return TranscriptView(turns, used)


def _complete(exchange: Mapping[str, Any], trial: Trial) -> Mapping[str, Any]:
    """Return the exchange, the final one with what stands in the reply of the trial."""
    if not exchange.get("final") or trial.reply is None:
        return exchange
    return {**exchange, "logprobs": trial.reply.logprobs, "finish_reason": trial.reply.finish_reason}


def reasoning_title(tokens: int | None) -> str:
    """Return the line above the text of a reasoning."""
    return "Reasoning" if tokens is None else f"Reasoning, {count(tokens, 'token')}"


def _turn(
    exchange: Mapping[str, Any], at: int, of: int, messages: list[list[str]], calls: list[dict[str, Any]]
) -> dict[str, Any]:
    final, reasoning = bool(exchange.get("final")), str(exchange.get("reasoning") or "")
    values = {
        "turn_title": f"Request {at + 1} of {of}: {_role(exchange)}",
        "turn_usage": _usage(exchange),
        "turn_messages": messages,
        "turn_reasoning": reasoning,
        "turn_reasoning_title": reasoning_title(exchange.get("tokens_reasoning")) if reasoning else "",
        "turn_reply": "" if final else str(exchange.get("text") or ""),  # the final one is that of the question
        "turn_final": final,
        "turn_calls": calls,
        "turn_failure": str(exchange.get("failure") or ""),
        "turn_scores": "\n".join(score_lines(exchange)),
        "turn_notes": [[name, _text(value)] for name, value in exchange.items() if name not in _EXCHANGE_FIELDS],
    }
    return {name: value for name, value in values.items() if value}


def _role(exchange: Mapping[str, Any]) -> str:
    role = str(exchange.get("role") or "model")
    measurement = f", {exchange['metric']} {_text(exchange.get('value'))}" if "metric" in exchange else ""
    return ROLES.get(role, role) + measurement


def _usage(exchange: Mapping[str, Any]) -> str:
    """Return tokens, cost and latency in a line; what is unknown is left out."""
    usage, finish = usage_of(exchange), exchange.get("finish_reason")
    parts = [
        *tokens_texts(usage),
        "" if usage.cost is None else f"${usage.cost:,.6f}",
        "" if usage.latency is None else f"{usage.latency:.2f} s",
        "from the store" if usage.stored else "",
        f"ended by {finish}" if finish not in (None, "", "stop") and not exchange.get("calls") else "",
    ]
    return ", ".join(filter(None, parts))


def _new_messages(exchanges: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the messages of each exchange that the last one of its role did not begin with."""
    last: dict[str, list[Mapping[str, Any]]] = {}
    for exchange in exchanges:
        messages, role = list(exchange["messages"]), str(exchange.get("role"))
        before = last.get(role, [])
        same = next((at for at, pair in enumerate(zip(before, messages, strict=False)) if pair[0] != pair[1]), None)
        yield messages[min(len(before), len(messages)) if same is None else same :]
        last[role] = messages


def _tool_results(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the digests of the results of tools among the messages that follow calls."""
    return [message["digest"] for message in messages if message["role"] == "tool"]


def _shown_messages(
    messages: Sequence[Mapping[str, Any]], texts: Mapping[str, str], trial: Trial, answered: bool
) -> list[list[str]]:
    """Return speaker and digest of each message; what stands elsewhere is named, or left out.

    Args:
        messages: The new messages of the exchange.
        texts: Texts by digest.
        trial: The trial.
        answered: True if the exchange before it called tools: it shows these calls with their results.
    """
    elsewhere = {trial.question.prompt: PROMPT, trial.question.system: SYSTEM}
    rows = []
    for message in messages:
        role, key = str(message["role"]), message["digest"]
        if key not in texts or (answered and role in ("assistant", "tool")):
            continue
        rows.append([SPEAKERS.get(role, role), elsewhere.get(texts[key], key)])
    return rows


def _calls(exchange: Mapping[str, Any], results: Sequence[str]) -> list[dict[str, Any]]:
    calls = exchange.get("calls")
    calls = calls if isinstance(calls, list) else []
    matched = results if len(results) == len(calls) else [""] * len(calls)
    return [_call(call, result) for call, result in zip(calls, matched, strict=True)]


def _call(call: object, result: str) -> dict[str, Any]:
    """Return name, arguments, status and the digest of the result of a tool call, whatever its shape."""
    fields = dict(call) if isinstance(call, Mapping) else {"call": call}
    name = fields.pop("name", None) or fields.pop("tool", None) or "(no name)"
    status = fields.pop("answer", None) or fields.pop("status", None) or ""
    arguments = _arguments(fields.pop("arguments", None))
    values = {
        "call_name": _text(name),
        "call_arguments": [*arguments, *([str(key), _text(value)] for key, value in fields.items())],
        "call_status": "" if status == "ok" else _text(status),
        "call_result": result,
    }
    return {name: value for name, value in values.items() if value}


def _arguments(sent: object) -> list[list[str]]:
    """Return the arguments as names and values; as one text if they are no JSON object."""
    value = sent
    if isinstance(sent, str):
        try:
            value = json.loads(sent or "{}")
        except (ValueError, RecursionError):
            value = sent
    if isinstance(value, Mapping):
        return [[str(name), _text(member)] for name, member in value.items()]
    return [] if value is None else [["arguments", _text(sent)]]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
