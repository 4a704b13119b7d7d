"""One wrong answer, told in a dozen lines: what was asked, exchanged, expected and given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..results.record.exchanges import complete_exchanges, has_messages
from ..scoring.forms import show_answer
from ..scoring.forms.form import show_value
from ..trial import TextScore, Trial
from .escape import QUOTE, one_line, quoted, shorten, wrap
from .wording import count

LONGEST = 2000  # characters that are shown of a message
IN_REPLY = "(the reply above)"


def shown_exchanges(trial: Trial) -> list[Mapping[str, Any]]:
    """Return the exchanges of a trial, none where one prompt and its reply are all: these are shown anyway."""
    alone = len(trial.exchanges) == 1 and has_messages(trial.exchanges[0]) and not trial.exchanges[0].get("logprobs")
    return [] if alone else [*complete_exchanges(trial)]


def exchange_title(exchange: Mapping[str, Any]) -> str:
    """Return who was asked, what that measured, and what it took, as far as it is known."""
    measured = f"{exchange['metric']} {exchange.get('value')}" if "metric" in exchange else ""
    tokens_in, tokens_out, cost = (exchange.get(name) for name in ("tokens_in", "tokens_out", "cost"))
    parts = [
        " ".join(filter(None, [str(exchange.get("role") or "exchange"), measured])),
        f"no reply: {exchange['failure']}" if "failure" in exchange else "",
        "" if tokens_in is None else f"{tokens_in:,} tokens in",
        "" if tokens_out is None else f"{tokens_out:,} {'tokens ' if tokens_in is None else ''}out",
        "" if cost is None else f"${cost:,.6f}",
        count(len(exchange["calls"]), "call") if exchange.get("calls") else "",
    ]
    return ", ".join(filter(None, parts))


def exchange_texts(trial: Trial, in_reply: str = IN_REPLY, longest: int | None = LONGEST) -> list[str]:
    """Return what was said in each exchange: messages that none before had, the reply, scores of texts, calls of tools.

    What stands elsewhere in the trial, such as its prompt, is not repeated.

    Args:
        trial: The trial.
        in_reply: What stands for the reply of the trial itself.
        longest: How many characters of a message are returned; None for all.
    """
    seen: set[str] = set()
    found = []
    for one in shown_exchanges(trial):
        new = [each for each in one.get("messages") or () if each["digest"] not in seen]
        seen.update(each["digest"] for each in new)
        asked = [
            f"{each['role']}: {_shortened(text, longest)}" for each in new if (text := trial.texts.get(each["digest"]))
        ]
        reply = in_reply if one.get("final") else str(one.get("text") or "")
        said = [] if "failure" in one else [reply]
        scores = [_score(at, row) for at, row in enumerate(_listed(one.get("logprobs")), 1)]
        said = [text for text in said if text or not scores]
        found.append("\n".join([*asked, *said, *scores, *map(_call, one.get("calls") or ())]))
    return found


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _score(place: int, row: object) -> str:
    """Return the score of a text, counted from 1, as a line; rows of damaged records have none."""
    match row:
        case [int() | float() as logprob, int() as tokens, *_]:
            perplexity = TextScore(logprob, tokens, None).perplexity
            told = "" if perplexity is None else f", perplexity {perplexity:.3f}"
            return f"text {place}: log-probability {logprob:.3f}, {count(tokens, 'token')}{told}"
        case _:
            return f"text {place}: no log-probability"


def _shortened(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]} [… {len(text) - longest:,} more characters]"


def _call(call: object) -> str:
    return f"→ {json.dumps(call, ensure_ascii=False, sort_keys=True)}"


WIDTH = 76  # pytest puts up to four columns in front
REASON = 120  # columns of the one line; pytest shortens it to the terminal
SECTION = "model reply"  # the section of pytest's report that the plugin adds
ENDS = 1_000  # characters of begin and end of a long reply that it shows


def expected_answer(trial: Trial) -> str:
    """Return the right answer as a person writes it."""
    return show_answer(trial.question.form, trial.question.reference)


def given_answer(trial: Trial) -> str:
    """Return the answer that was read as a person writes it; "nothing" where there is none."""
    return show_answer(trial.question.form, trial.score.given if trial.score else None)


def failure_lines(trial: Trial, limit: int = 12, width: int = WIDTH) -> list[str]:
    """At most `limit` printable lines (limit >= 1) of at most `width` columns (width >= 20) that tell the trial.

    The reply is shown where its answer stands, begin or end, in the lines that are left; the last line says where
    the whole of it is.
    """
    lines = wrap(f"question: {trial.question.text}", width, 3) + _verdict(trial, width)
    if trial.reply is None:
        return lines[:limit]
    room = limit - len(lines) - 1
    lines += _reply_lines(trial.reply.text, trial.question.place == "first-line", room, width)
    whole = f'the whole reply ({len(trial.reply.text)} characters): section "{SECTION}", and in the record'
    return [*lines[: limit - 1], shorten(whole, width)]


def _verdict(trial: Trial, width: int) -> list[str]:
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
        *_names("missing", trial.score.missing, width),
        *_names("extra", trial.score.extra, width),
        *remark,
    ]


def _names(title: str, names: Sequence[str], width: int) -> list[str]:
    return [one_line(f"{title} ({len(names)}): {show_value(list(names))}", width)] if names else []


def _reply_lines(text: str, begins: bool, room: int, width: int) -> list[str]:
    """The lines at the begin or the end of a reply that hold something, `room` of them with their heading."""
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
    """What stands in SECTION: the reply, printable, each line after a mark; of a long one begin and end."""
    cut = len(text) - 2 * ENDS
    return quoted(text if cut <= 0 else f"{text[:ENDS]}\n[… {cut} characters …]\n{text[-ENDS:]}")


def short_reason(trial: Trial) -> str:
    """The verdict in one printable line of at most REASON columns, for pytest's short summary."""
    if trial.score is None:
        return one_line(trial.failure_text or f"{trial.outcome}: no reply", REASON)
    if trial.score.status != "read":
        return one_line(f"{trial.score.status}: {trial.score.remark or 'no answer found'}", REASON)
    mark = f" (score {trial.score.value:.3f})" if 0 < trial.score.value < 1 else ""
    expected = one_line(expected_answer(trial), REASON // 3)
    return shorten(
        f"{trial.outcome}{mark}: expected {expected}, given {one_line(given_answer(trial), REASON // 3)}", REASON
    )
