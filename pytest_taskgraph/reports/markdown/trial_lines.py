"""Single trials in Markdown: the first wrong answers of each group, and what kept replies from coming."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...results.tally import ANSWERED, Tally
from ...trial import Trial
from ..escape import one_line, wrap
from ..failure import exchange_title, expected_answer, given_answer, shown_exchanges
from ..wording import count
from .elements import cell, code, fence, folded, table

WIDTH = 100  # columns of a line in a block of code
REPLY = 12  # lines of a reply
EXCHANGES = 8  # with models, for one answer
MESSAGE = 120  # columns of an error
NAMED = 5  # questions that were lost
NAME = 200  # columns of an id


def wrong_answers(tally: Tally, most: int) -> list[str]:
    """At most `most` wrong answers, folded: the first of each group before the second of any. None where none is."""
    wrong = [one for one in tally if one.outcome in ANSWERED and not one.accepted and not one.question.relation]
    chosen = _spread(wrong)[:most]
    if not chosen:
        return ["", f"{count(len(wrong), 'answer')} not right."] if wrong else []
    told = [line for one in chosen for line in _told(one)]
    number = f"{len(chosen)} of {len(wrong):,}" if len(chosen) < len(wrong) else f"{len(wrong):,}"
    return folded(f"Wrong answers ({number})", told[:-1])


def _spread(trials: Sequence[Trial]) -> list[Trial]:
    """The trials, the first of each group and model before the second of any."""
    seen: Counter[tuple[str, str]] = Counter()
    ranks = []
    for one in trials:
        seen[one.question.group, one.model] += 1
        ranks.append(seen[one.question.group, one.model])
    return [one for _, one in sorted(zip(ranks, trials, strict=True), key=lambda pair: pair[0])]


def _told(trial: Trial) -> Iterator[str]:
    """One wrong answer: whose, and in a block of code what was asked, expected, given and replied."""
    question, score = trial.question, trial.score
    yield f"{code(question.id, NAME)} {code(trial.model)} {trial.outcome}"
    yield ""
    lines = wrap(f"question: {question.text}", WIDTH, 4) + wrap(f"expected: {expected_answer(trial)}", WIDTH, 3)
    if score is not None and score.status == "read":
        lines += wrap(f"given: {given_answer(trial)}", WIDTH, 3)
    if score is not None and score.remark:
        lines += wrap(f"why: {score.remark}", WIDTH, 2)
    if trial.reply is not None:
        lines += _reply(trial.reply.text, question.place == "first-line")
    lines += _exchanges(trial)
    yield from fence(lines)
    yield ""


def _reply(text: str, begins: bool) -> list[str]:
    """The lines of the reply that hold something; of a long one those where its answer stands, begin or end."""
    # A reply may be a megabyte: no more of it is cut into lines than could be shown.
    near = text.strip()[: 8 * WIDTH * REPLY] if begins else text.strip()[-8 * WIDTH * REPLY :]
    full = [line for line in near.split("\n") if line.strip()]
    chosen = full[:REPLY] if begins else full[-REPLY:]
    whole = len(chosen) == len(full) and len(near) == len(text.strip())
    title = "reply" if whole else f"the reply ({len(text):,} characters) {'begins' if begins else 'ends'}"
    return [f"{title}:", *("  " + one_line(line, WIDTH - 2) for line in chosen)]


def _exchanges(trial: Trial) -> list[str]:
    """The exchanges, a line each, where there are several: whom they were with, and what they took."""
    titles = [exchange_title(one) for one in shown_exchanges(trial)]
    told = ["  " + one_line(f"{at}. {title}", WIDTH - 2) for at, title in enumerate(titles[:EXCHANGES], 1)]
    more = [f"  … and {len(titles) - EXCHANGES} more"] if len(titles) > EXCHANGES else []
    return ["exchanges:", *told, *more] if titles else []


def missing_replies(tally: Tally, lost: Sequence[str], most: int) -> Iterator[str]:
    """A table of errors and of what was not asked, by kind and model, each with the first message; and questions that
    were lost. None where none is.
    """
    kinds: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for one in tally:
        if one.outcome not in ANSWERED:
            kind, message = (one.failure.kind, one.failure.message) if one.failure else ("", "")
            key = (one.outcome, kind, one.model)
            kinds[key] += 1
            first.setdefault(key, message)
    if not kinds and not lost:
        return
    yield from ("", "### Without a reply")
    if lost:
        more = ", …" if len(lost) > NAMED else ""
        named = ", ".join(code(one, NAME) for one in lost[:NAMED])
        yield from ("", f"{count(len(lost), 'question')} lost with the worker that asked: {named}{more}")
    ranked = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [
        [outcome, cell(kind, MESSAGE), cell(model), cell(first[outcome, kind, model], MESSAGE), f"{times:,}"]
        for (outcome, kind, model), times in ranked[:most]
    ]
    yield from table(["outcome", "kind", "model", "the first message", "trials"], rows, 4)
    if len(ranked) > most:
        yield from ("", f"And {len(ranked) - most} more kinds.")
