"""The exchanges of a trial as reports show them, where there is more to see than one prompt and its reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..results.exchanges import complete_exchanges, has_messages
from ..trial import Trial
from .wording import count

LONGEST = 2000  # characters that are shown of a message
IN_REPLY = "(the reply above)"


def shown_exchanges(trial: Trial) -> list[Mapping[str, Any]]:
    """Return the exchanges of a trial, none where one prompt and its reply are all: these are shown anyway."""
    return [] if len(trial.exchanges) == 1 and has_messages(trial.exchanges[0]) else [*complete_exchanges(trial)]


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
    """Return what was said in each exchange that is shown: messages that none before had, the reply, calls of tools.

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
        found.append("\n".join([*asked, *said, *map(_call, one.get("calls") or ())]))
    return found


def _shortened(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]} [… {len(text) - longest:,} more characters]"


def _call(call: object) -> str:
    return f"→ {json.dumps(call, ensure_ascii=False, sort_keys=True)}"
