"""A wrong answer in a dozen lines: the question, the exchanges, the expected and the given answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..results.record.exchanges import complete_exchanges, has_messages
from ..scoring.forms import show_answer
from ..scoring.forms.form import show_value
from ..trial import TextScore, Trial
from .escape import QUOTE, one_line, quote_lines, shorten, wrap
from .spending_line import output_text
from .wording import count

LONGEST = 2000  # characters that are shown of a message
IN_REPLY = "(the reply above)"


def shown_exchanges(trial: Trial) -> list[Mapping[str, Any]]:
    """Return the exchanges of a trial; empty if it has one prompt and its reply alone, which reports show anyway."""
    alone = len(trial.exchanges) == 1 and has_messages(trial.exchanges[0]) and not trial.exchanges[0].get("logprobs")
    return [] if alone else [*complete_exchanges(trial)]


def exchange_title(exchange: Mapping[str, Any]) -> str:
    """Return the role of the model in an exchange, what it measured, and the tokens and cost if they are known."""
    measurement = f"{exchange['metric']} {exchange.get('value')}" if "metric" in exchange else ""
    tokens_in, tokens_out, cost = (exchange.get(name) for name in ("tokens_in", "tokens_out", "cost"))
    parts = [
        " ".join(filter(None, [str(exchange.get("role") or "exchange"), measurement])),
        f"no reply: {exchange['failure']}" if "failure" in exchange else "",
        "" if tokens_in is None else f"{tokens_in:,} tokens in",
        "" if tokens_out is None else output_text(tokens_out, exchange.get("tokens_reasoning"), tokens_in is None),
        "" if cost is None else f"${cost:,.6f}",
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
        new = [message for message in exchange.get("messages") or () if message["digest"] not in seen]
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


WIDTH = 76  # pytest puts up to four columns in front
REASON = 120  # columns of the one line; pytest shortens it to the terminal
SECTION = "model reply"  # the section of pytest's report that the plugin adds
ENDS = 1_000  # characters of begin and end of a long reply that it shows


def expected_answer(trial: Trial) -> str:
    """Return the right answer as a person writes it."""
    return show_answer(trial.question.form, trial.question.reference)


def given_answer(trial: Trial) -> str:
    """Return the parsed answer as a person writes it; "nothing" if there is none."""
    return show_answer(trial.question.form, trial.score.given if trial.score else None)


def failure_lines(trial: Trial, limit: int = 12, width: int = WIDTH) -> list[str]:
    """Return the trial in at most `limit` printable lines of at most `width` columns.

    The reply is shown where its answer stands, at its begin or end, in the lines that are left; the last line says
    where to find the whole reply.

    Args:
        trial: The trial.
        limit: The number of lines, at least 1.
        width: The columns of a line, at least 20.
    """
    lines = wrap(f"question: {trial.question.text}", width, 3) + _verdict_lines(trial, width)
    if trial.reply is None:
        return lines[:limit]
    room = limit - len(lines) - 1
    lines += _reply_lines(trial.reply.text, trial.question.place == "first-line", room, width)
    whole = f'the whole reply ({len(trial.reply.text)} characters): section "{SECTION}", and in the record'
    return [*lines[: limit - 1], shorten(whole, width)]


def _verdict_lines(trial: Trial, width: int) -> list[str]:
    expected = wrap(f"expected: {expected_answer(trial)}", width, 2)
    if trial.score is None:
        return [*expected, *wrap(f"{trial.outcome}: {trial.failure_text or 'no reply'}", width, 2)]
    if trial.score.status != "read":
        return [*expected, *wrap(f"{trial.score.status}: {trial.score.remark or 'no answer found'}", width, 2)]
    remark = wrap(f"why: {trial.score.remark}", width, 1) if trial.score.remark else []
    given = wrap(f"given: {given_answer(trial)}", width, 2)
    return [
        *expected,
        *given,
        *_names_line("missing", trial.score.missing, width),
        *_names_line("extra", trial.score.extra, width),
        *remark,
    ]


def _names_line(title: str, names: Sequence[str], width: int) -> list[str]:
    return [one_line(f"{title} ({len(names)}): {show_value(list(names))}", width)] if names else []


def _reply_lines(text: str, begins: bool, room: int, width: int) -> list[str]:
    """Return the non-empty lines at the begin or end of a reply under a heading, `room` lines in all."""
    if room < 2:
        return []
    # A reply may be a megabyte: no more of it is cut into lines than could be shown.
    near = text.strip()[: 8 * width * room] if begins else text.strip()[-8 * width * room :]
    full = [line for line in near.split("\n") if line.strip()]
    chosen = full[: room - 1] if begins else full[-(room - 1) :]
    if not chosen:
        return ["the reply is empty"]
    return [f"the reply {'begins' if begins else 'ends'}:", *(one_line(QUOTE + line, width) for line in chosen)]


def reply_section(text: str) -> str:
    """Return the text of SECTION: the reply, printable, each line after a mark; only begin and end of a long reply."""
    cut = len(text) - 2 * ENDS
    return quote_lines(text if cut <= 0 else f"{text[:ENDS]}\n[… {cut} characters …]\n{text[-ENDS:]}")


def short_reason(trial: Trial) -> str:
    """Return the verdict in one printable line of at most REASON columns, for pytest's short summary."""
    if trial.score is None:
        return one_line(trial.failure_text or f"{trial.outcome}: no reply", REASON)
    if trial.score.status != "read":
        return one_line(f"{trial.score.status}: {trial.score.remark or 'no answer found'}", REASON)
    mark = f" (score {trial.score.value:.3f})" if 0 < trial.score.value < 1 else ""
    expected = one_line(expected_answer(trial), REASON // 3)
    return shorten(
        f"{trial.outcome}{mark}: expected {expected}, given {one_line(given_answer(trial), REASON // 3)}", REASON
    )
