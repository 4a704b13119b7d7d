"""Parts of a trial as text: its exchanges, the expected and the given answer, the verdict in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..results.record.exchanges import complete_exchanges
from ..scoring.forms import show_answer
from ..trial import TextScore, Trial
from ..usage import usage_of
from .escape import one_line, shorten
from .spending_line import tokens_texts
from .wording import count

LONGEST = 2000  # characters that are shown of a message
IN_REPLY = "(the reply above)"


def shown_exchanges(trial: Trial) -> list[Mapping[str, Any]]:
    """Return the exchanges of a trial; empty if it has one prompt and its reply alone, which reports show anyway."""
    alone = len(trial.exchanges) == 1 and not trial.exchanges[0].get("logprobs")
    return [] if alone else [*complete_exchanges(trial)]


def exchange_title(exchange: Mapping[str, Any]) -> str:
    """Return the role of the model in an exchange, what it measured, and the tokens and cost if they are known."""
    measurement = f"{exchange['metric']} {exchange.get('value')}" if "metric" in exchange else ""
    usage = usage_of(exchange)
    parts = [
        " ".join(filter(None, [str(exchange.get("role") or "exchange"), measurement])),
        f"no reply: {exchange['failure']}" if "failure" in exchange else "",
        *tokens_texts(usage),
        "" if usage.cost is None else f"${usage.cost:,.6f}",
        count(len(exchange["calls"]), "call") if exchange.get("calls") else "",
    ]
    return ", ".join(filter(None, parts))


def exchange_texts(trial: Trial, in_reply: str = IN_REPLY, longest: int | None = LONGEST) -> list[str]:
    """Return the text of each exchange: its new messages, the reply, scores of texts, tool calls.

    What stands elsewhere in the trial, such as its prompt, is not repeated.

    Args:
        trial: The trial.
        in_reply: What stands for the reply of the trial itself.
        longest: How many characters of a message are returned; None for all.
    """
    seen: set[str] = set()
    texts = []
    for exchange in shown_exchanges(trial):
        new = [message for message in exchange["messages"] if message["digest"] not in seen]
        seen.update(message["digest"] for message in new)
        messages = [
            f"{message['role']}: {_shorten_message(text, longest)}"
            for message in new
            if (text := trial.texts.get(message["digest"]))
        ]
        reply = in_reply if exchange.get("final") else str(exchange.get("text") or "")
        replies = [] if "failure" in exchange else [reply]
        if exchange.get("reasoning"):
            messages.append(f"reasoning: {_shorten_message(str(exchange['reasoning']), longest)}")
        scores = score_lines(exchange)
        replies = [text for text in replies if text or not scores]
        texts.append("\n".join([*messages, *replies, *scores, *map(_call_line, exchange.get("calls") or ())]))
    return texts


def score_lines(exchange: Mapping[str, Any]) -> list[str]:
    """Return the score of each text as a line, of an exchange that asked to score texts."""
    return [_score_line(at, row) for at, row in enumerate(_as_list(exchange.get("logprobs")), 1)]


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _score_line(place: int, row: object) -> str:
    """Return the score of a text as a line; texts are counted from 1. Rows of damaged records have no score."""
    match row:
        case [int() | float() as logprob, int() as tokens, *_]:
            perplexity = TextScore(logprob, tokens, None).perplexity
            perplexity_text = "" if perplexity is None else f", perplexity {perplexity:.3f}"
            return f"text {place}: log-probability {logprob:.3f}, {count(tokens, 'token')}{perplexity_text}"
        case _:
            return f"text {place}: no log-probability"


def _shorten_message(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]} [… {len(text) - longest:,} more characters]"


def _call_line(call: object) -> str:
    return f"→ {json.dumps(call, ensure_ascii=False, sort_keys=True)}"


REASON = 120  # columns of the one line; pytest shortens it to the terminal


def expected_answer(trial: Trial) -> str:
    """Return the right answer as a person writes it."""
    return show_answer(trial.question.form, trial.question.reference)


def given_answer(trial: Trial) -> str:
    """Return the parsed answer as a person writes it; "nothing" if there is none."""
    return show_answer(trial.question.form, trial.score.given if trial.score else None)


def short_reason(trial: Trial, scored: bool = False) -> str:
    """Return the verdict in one printable line of at most REASON columns, for pytest's short summary.

    Args:
        trial: The trial.
        scored: True to state a score of 0 too.
    """
    if trial.score is None:
        return one_line(trial.failure_text or f"{trial.outcome}: no reply", REASON)
    mark = f" (score {trial.score.value:.3f})" if scored or 0 < trial.score.value < 1 else ""
    if trial.score.status != "read":
        return one_line(f"{trial.score.status}{mark}: {trial.score.remark or 'no answer found'}", REASON)
    expected = one_line(expected_answer(trial), REASON // 3)
    return shorten(
        f"{trial.outcome}{mark}: expected {expected}, given {one_line(given_answer(trial), REASON // 3)}", REASON
    )
