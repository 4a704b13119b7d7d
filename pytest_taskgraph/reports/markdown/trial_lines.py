"""Single trials in Markdown: the first wrong answers of each group, and the questions without a reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...results.tally import ANSWERED, Tally
from ...scoring.trial_explanation import explain_trial
from ...trial import Trial
from ..escape import one_line, wrap
from ..failure import exchange_title, expected_answer, given_answer, shown_exchanges
from ..wording import count, model_name
from .elements import cell, code, fenced_block, fold_lines, pipe_table

WIDTH = 100  # columns of a line in a block of code
REPLY = 12  # lines of a reply
EXCHANGES = 8  # with models, for one answer
MESSAGE = 120  # columns of an error
MOST_IDS = 5  # questions that were lost
NAME = 200  # columns of an id


def wrong_answers(tally: Tally, most: int) -> list[str]:
    """Return at most `most` wrong answers, folded: the first of each group before the second of any."""
    wrong = [
        trial for trial in tally if trial.outcome in ANSWERED and not trial.accepted and not trial.question.relation
    ]
    chosen = _interleave_groups(wrong)[:most]
    if not chosen:
        return ["", f"{count(len(wrong), 'answer')} not right."] if wrong else []
    lines = [line for trial in chosen for line in _answer_lines(trial)]
    number = f"{len(chosen)} of {len(wrong):,}" if len(chosen) < len(wrong) else f"{len(wrong):,}"
    return fold_lines(f"Wrong answers ({number})", lines[:-1])


def _interleave_groups(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials, the first of each group and model before the second of any."""
    seen: Counter[tuple[str, str]] = Counter()
    ranks = []
    for trial in trials:
        seen[trial.question.group, trial.model] += 1
        ranks.append(seen[trial.question.group, trial.model])
    return [trial for _, trial in sorted(zip(ranks, trials, strict=True), key=lambda pair: pair[0])]


def _answer_lines(trial: Trial) -> Iterator[str]:
    """Yield a wrong answer: its ids, and a code block with the question, both answers and the reply."""
    question, score = trial.question, trial.score
    yield f"{code(question.id, NAME)} {code(model_name(trial.model))} {trial.outcome}"
    yield ""
    lines = wrap(f"question: {question.text}", WIDTH, 4) + wrap(f"expected: {expected_answer(trial)}", WIDTH, 3)
    if score is not None and score.status == "read":
        lines += wrap(f"given: {given_answer(trial)}", WIDTH, 3)
    reasons = [*filter(None, [score.remark if score else ""]), *explain_trial(trial)]
    if reasons:
        lines += wrap(f"why: {'; '.join(reasons)}", WIDTH, 3)
    if trial.reply is not None:
        lines += _reply_lines(trial.reply.text, question.place == "first-line")
    lines += _exchange_lines(trial)
    yield from fenced_block(lines)
    yield ""


def _reply_lines(text: str, begins: bool) -> list[str]:
    """Return the non-empty lines of the reply; of a long reply the begin or the end, where its answer stands."""
    # A reply may be a megabyte: no more of it is cut into lines than could be shown.
    near = text.strip()[: 8 * WIDTH * REPLY] if begins else text.strip()[-8 * WIDTH * REPLY :]
    full = [line for line in near.split("\n") if line.strip()]
    chosen = full[:REPLY] if begins else full[-REPLY:]
    whole = len(chosen) == len(full) and len(near) == len(text.strip())
    title = "reply" if whole else f"the reply ({len(text):,} characters) {'begins' if begins else 'ends'}"
    return [f"{title}:", *("  " + one_line(line, WIDTH - 2) for line in chosen)]


def _exchange_lines(trial: Trial) -> list[str]:
    """Return a line for each exchange, with its model and what it took; empty if there is one exchange."""
    titles = [exchange_title(exchange) for exchange in shown_exchanges(trial)]
    lines = ["  " + one_line(f"{at}. {title}", WIDTH - 2) for at, title in enumerate(titles[:EXCHANGES], 1)]
    more = [f"  … and {len(titles) - EXCHANGES} more"] if len(titles) > EXCHANGES else []
    return ["exchanges:", *lines, *more] if titles else []


def missing_replies(tally: Tally, lost: Sequence[str], most: int) -> Iterator[str]:
    """Yield a table of errors and skipped questions by kind and model, each with a message, and the lost questions."""
    kinds: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for trial in tally:
        if trial.outcome not in ANSWERED:
            kind, message = (trial.failure.kind, trial.failure.message) if trial.failure else ("", "")
            key = (trial.outcome, kind, trial.model)
            kinds[key] += 1
            first.setdefault(key, message)
    if not kinds and not lost:
        return
    yield from ("", "### Without a reply")
    if lost:
        more = ", …" if len(lost) > MOST_IDS else ""
        lost_ids = ", ".join(code(question_id, NAME) for question_id in lost[:MOST_IDS])
        yield from ("", f"{count(len(lost), 'question')} lost with the worker that asked: {lost_ids}{more}")
    ranked = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [
        [key[0], cell(key[1], MESSAGE), cell(model_name(key[2])), cell(first[key], MESSAGE), f"{times:,}"]
        for key, times in ranked[:most]
    ]
    yield from pipe_table(["outcome", "kind", "model", "the first message", "trials"], rows, 4)
    if len(ranked) > most:
        yield from ("", f"And {len(ranked) - most} more kinds.")
