"""Text of a wrong answer or a missing reply, in as many lines as the verbosity allows.

The process that ran the item chooses what is shown, as blocks. The process that prints lays them out, for it alone
knows the width of its terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..scoring.forms.form import show_value
from ..scoring.trial_explanation import explain_trial
from ..trial import Trial
from .escape import WIDEST, one_line, printable, wrap, wrap_quote
from .failure import exchange_texts, exchange_title, expected_answer, given_answer, shown_exchanges
from .wording import number

MARKER_ROOM = 40  # a reply of one line that is no longer than the parsed answer and this is the answer alone
SHORT_LINES = 6  # a reply of so many lines is shown as a whole, also where fewer lines of a long reply are shown
UNWRAPPED = 100  # columns for each line that a block may take, where lines are not wrapped

WireBlock = list[str | int | bool | None]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of the text of a failure: a paragraph, or a quoted text with its line breaks.

    Attributes:
        text: Printable text.
        most: The number of lines; None for all.
        quoted: True for a text from outside, whose lines stand after a vertical bar.
        tail: True if the last lines of a text that is too long are shown, rather than the first.
    """

    text: str
    most: int | None = None
    quoted: bool = False
    tail: bool = False

    def to_json(self) -> WireBlock:
        """Return the block as a list of plain values."""
        return [self.text, self.most, self.quoted, self.tail]

    def lines(self, width: int | None) -> list[str]:
        """Return the printable lines of at most `width` columns; None for lines that are not wrapped."""
        if self.quoted:
            lines = wrap_quote(self.text, width)
            return lines if self.most is None else lines[-self.most :] if self.tail else lines[: self.most]
        if width is None:
            return [one_line(self.text, self.most and self.most * UNWRAPPED)]
        return wrap(self.text, width, self.most)


def lay_out(blocks: Sequence[WireBlock], width: int | None) -> list[str]:
    """Return the lines of blocks, each of at most `width` columns; None for lines that are not wrapped."""
    return [line for block in blocks for line in TextBlock(*block).lines(width)]  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Detail:
    """How many lines each part of the text may take; None for all.

    `reasons` is the number of violated constraints that are named, `reply` that of lines of a long reply.
    """

    question: int | None
    answer: int | None
    names: int | None
    reasons: int | None
    reply: int | None


_QUIET = _Detail(question=3, answer=2, names=1, reasons=1, reply=0)
_NORMAL = _Detail(question=4, answer=3, names=2, reasons=1, reply=5)
_VERBOSE = _Detail(question=20, answer=12, names=6, reasons=None, reply=30)
_WHOLE = _Detail(question=None, answer=None, names=None, reasons=None, reply=None)


def failure_blocks(trial: Trial, verbosity: int = 0) -> list[TextBlock]:
    """Return what is shown of a trial that failed.

    Args:
        trial: The trial.
        verbosity: Below 0: question, expected and given answer, names that differ, and the first violated constraint.
            0: also the end of the reply, or its begin where the answer stands there, unless it is the answer alone.
            1: all violated constraints, the score, and more of the rest. 2: all of everything, with the prompt and
            all exchanges.
    """
    detail = (_QUIET, _NORMAL, _VERBOSE, _WHOLE)[max(-1, min(verbosity, 2)) + 1]
    blocks = [_paragraph("question", trial.question.text, detail.question), *_verdict_blocks(trial, detail)]
    if verbosity > 0 and trial.score is not None and trial.score.status == "read":
        blocks.append(_paragraph("score", _score_text(trial)))
    if verbosity == 1:
        blocks += [_paragraph(f"exchange {at}", title, 2) for at, title in _exchange_titles(trial)]
    if verbosity > 1:
        blocks += _sent_blocks(trial)
    return [*blocks, *_reply_blocks(trial, detail, verbosity)]


def missing_reply_blocks(trial: Trial, verbosity: int = 0) -> list[TextBlock]:
    """Return what is shown of a trial without a usable reply: the failure; from 1 the question, from 2 what was sent.

    From 2 on, a reply that was cut off before its answer is shown too.
    """
    # Line by line: the failure may hold the difference of two prompts.
    failure = [TextBlock(one_line(line)) for line in f"no reply: {trial.failure_text}".split("\n") if line.strip()]
    question = [_paragraph("question", trial.question.text, (_VERBOSE, _WHOLE)[verbosity > 1].question)]
    whole = [*_sent_blocks(trial), *_reply_blocks(trial, _WHOLE, verbosity)] if verbosity > 1 else []
    return [*(question if verbosity > 0 else []), *failure, *whole]


def _paragraph(title: str, text: str, most: int | None = None) -> TextBlock:
    return TextBlock(one_line(f"{title}: {text}", most and most * WIDEST), most)


def _verdict_blocks(trial: Trial, detail: _Detail) -> Iterator[TextBlock]:
    """Yield the expected and the given answer with their differences; or the reason why there is none."""
    score = trial.score
    yield _paragraph("expected", expected_answer(trial), detail.answer)
    if score is None:
        yield _paragraph(trial.outcome, trial.failure_text or "no reply", detail.question)
        return
    if score.status != "read":
        yield _paragraph(score.status, score.remark or "no answer found", detail.answer)
        return
    yield _paragraph("given", given_answer(trial), detail.answer)
    for title, names in (("missing", score.missing), ("extra", score.extra)):
        if names:
            yield _paragraph(f"{title} ({len(names)})", show_value([*names]), detail.names)
    yield from _reason_blocks(trial, detail)


def _reason_blocks(trial: Trial, detail: _Detail) -> Iterator[TextBlock]:
    """Yield the violated constraints in words: the first one, or all."""
    assert trial.score is not None
    reasons = [*filter(None, [trial.score.remark]), *explain_trial(trial)]
    if not reasons:
        return
    if detail.reasons is not None:
        hidden = len(reasons) - 1
        yield _paragraph("why", reasons[0] + (f" (and {hidden} more, with -v)" if hidden else ""), detail.answer)
    elif len(reasons) == 1:
        yield _paragraph("why", reasons[0], detail.answer)
    else:
        yield TextBlock("why:")
        yield from (TextBlock(one_line(f"- {reason}"), detail.answer) for reason in reasons)


def _score_text(trial: Trial) -> str:
    question, score = trial.question, trial.score
    assert score is not None
    threshold = "graded" if question.graded else f"passes from {number(question.pass_threshold)}"
    return f"{number(score.value)} ({question.metric}), {threshold}"


def _exchange_titles(trial: Trial) -> Iterator[tuple[int, str]]:
    yield from enumerate(map(exchange_title, shown_exchanges(trial)), 1)


def _sent_blocks(trial: Trial) -> Iterator[TextBlock]:
    """Yield the texts that the model received, and the exchanges unless there is a single one."""
    question = trial.question
    yield from _quote("system prompt", question.system)
    yield from _quote("prompt", question.prompt)
    texts = exchange_texts(trial, "(the reply below)", longest=None)
    for (at, title), text in zip(_exchange_titles(trial), texts, strict=True):
        yield TextBlock(one_line(f"exchange {at}: {title}"))
        if text:
            yield TextBlock(printable(text), quoted=True)


def _quote(title: str, text: str) -> list[TextBlock]:
    """Return a title that states the size, and the whole text."""
    if not text:
        return []
    return [TextBlock(f"{title} ({_size(text)}):"), TextBlock(printable(text), quoted=True)]


def _size(text: str) -> str:
    return f"{len(text):,} character{'' if len(text) == 1 else 's'}"


def _reply_blocks(trial: Trial, detail: _Detail, verbosity: int) -> list[TextBlock]:
    """Return the reply, or the end of a long reply at which its answer stands."""
    if trial.reply is None:
        return []
    text = trial.reply.text
    if verbosity > 1:
        return [
            *_quote("reasoning", trial.reply.reasoning),
            *(_quote("reply", text) or [TextBlock("the reply is empty")]),
        ]
    parsed = trial.score is not None and trial.score.status == "read"
    most = detail.reply if parsed else detail.reply or 2
    stripped = text.strip()
    if not most or (verbosity < 1 and parsed and _is_answer_alone(stripped, trial)):
        return []
    if not stripped:
        return [TextBlock("the reply is empty")]
    return _reply_part(stripped, len(text), most, begins=trial.question.place == "first-line")


def _is_answer_alone(reply: str, trial: Trial) -> bool:
    """Return True if the reply says no more than its parsed answer."""
    return 0 < len(reply) <= len(given_answer(trial)) + MARKER_ROOM and "\n" not in reply


def _reply_part(text: str, size: int, most: int, begins: bool) -> list[TextBlock]:
    """Return a short reply without its empty lines; of a long one, as much of its begin or end as fits `most` lines."""
    # A reply may be a megabyte: no more of it is looked at than could be shown.
    near = text[: most * WIDEST] if begins else text[-most * WIDEST :]
    lines = [line for line in printable(near).split("\n") if line.strip()]
    room = max(SHORT_LINES, most)
    if len(lines) <= room and size <= room * UNWRAPPED:
        return [TextBlock("reply:"), TextBlock("\n".join(lines), quoted=True)]
    part = "begin" if begins else "end"
    title = TextBlock(f"{part} of the reply ({size:,} characters; -vv shows all):")
    return [title, TextBlock("\n".join(lines[:most] if begins else lines[-most:]), most, quoted=True, tail=not begins)]
