"""The scoreboard in words and digits, the same in every report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..family_description import Column
from ..results.scoreboard import Effort, ScoreboardBlock, ScoreboardRow
from ..usage import Usage, sum_usages
from .columns import MARK, title_of
from .spending_line import cost_text
from .wording import duration, interval, number

UNKNOWN = "unknown"
NONE = "-"
MEAN = "mean score"
RATE = "pass rate"
SAME = "same"  # a pass rate that equals the score beside it
_SHORT = 10  # seconds, below which hundredths are stated


def measure_of(block: ScoreboardBlock) -> str:
    """Return the name of the score of a block."""
    return MEAN if block.value == "mean" and not block.title else title_of(Column(block.value, block.title))


def score_title(blocks: Sequence[ScoreboardBlock]) -> str:
    """Return the heading of the column of scores: their name, or a general one if blocks differ.

    Mean scores that all equal the pass rate are headed by it, and no second column states it.
    """
    measures = {measure_of(block) for block in blocks}
    title = measures.pop() if len(measures) == 1 else "score"
    return RATE if title == MEAN and all(repeats_score(row) for block in blocks for row in block.rows) else title


def repeats_score(row: ScoreboardRow) -> bool:
    """Return True if the pass rate of a row and its interval read as its score does."""
    figures = [(number(cell.value), interval(cell.ends)) for cell in (row.score, row.rate) if cell is not None]
    return len(figures) == 2 and figures[0] == figures[1]


def block_name(block: ScoreboardBlock, blocks: Sequence[ScoreboardBlock]) -> str:
    """Return the name of a block: its family and part, and the name of its score if blocks differ in it."""
    name = ", ".join(filter(None, [block.family, block.part])) or "all questions"
    return name if len(set(map(measure_of, blocks))) == 1 else f"{name}: {measure_of(block)}"


def has_prompts(blocks: Iterable[ScoreboardBlock]) -> bool:
    """Return True if a model has several rows in a block, one for each prompt template."""
    return any(len({row.model for row in block.rows}) < len(block.rows) for block in blocks)


def answered_text(row: ScoreboardRow) -> str:
    """Return how many questions were answered, of how many if not of all, with the mark for few."""
    of = f" of {row.questions:,}" if row.answered < row.questions else ""
    return f"{row.answered:,}{of}{MARK if row.few else ''}"


def tokens_text(tokens: int | None, usage: Usage) -> str:
    """Return a number of tokens; "unknown" if no reply reports it, never 0 then."""
    if tokens is None:
        return UNKNOWN if usage.replies else NONE
    return f"{'at least ' if usage.untold else ''}{tokens:,}"


def cost_of(usage: Usage) -> str:
    """Return the cost of the replies in US dollars; "unknown" if that of no reply is known, never 0 then."""
    if usage.cost is None:
        return UNKNOWN if usage.replies else NONE
    return f"{'at least ' if usage.unpriced else ''}{cost_text(usage.cost)}"


def time_of(effort: Effort) -> str:
    """Return the sum of the latencies; "unknown" if no reply has one, never 0 then."""
    if effort.usage.latency is None:
        return UNKNOWN if effort.usage.replies else NONE
    return f"{'at least ' if effort.untimed else ''}{seconds_text(effort.usage.latency)}"


def seconds_text(seconds: float) -> str:
    """Return a time in a unit that suits it: "0.34 s", "34 s", "7 min", "2 h 5 min"."""
    return f"{seconds:.2f} s" if seconds < _SHORT else duration(seconds)


def scoreboard_notes(blocks: Sequence[ScoreboardBlock]) -> list[str]:
    """Return the sentences below the scoreboard that say how to read it."""
    rows = [row for block in blocks for row in block.rows]
    notes = []
    if any(row.highest for row in rows):
        notes.append("★ highest score among comparable rows; where intervals overlap, the difference may be chance.")
    if not blocks[0].family and any(block.graded for block in blocks):
        notes.append("Among all questions, graded ones count in answers, errors, tokens, cost and time, not in scores.")
    if any(row.effort.usage.latency is not None for row in rows):
        notes.append("Time is the sum of the latencies of all replies, however many were sent at once.")
    if unknown := _unknown(rows):
        notes.append(f"Unknown of all replies: {', '.join(unknown)}.")
    return notes


def _unknown(rows: Sequence[ScoreboardRow]) -> list[str]:
    """Return what no reply reports, if there are replies."""
    usage = sum_usages(row.effort.usage for row in rows)
    is_known_by_name = {
        "tokens": usage.tokens_in or usage.tokens_out,
        "cost": usage.priced,
        "time": usage.latency is not None,
    }
    return [name for name, is_known in is_known_by_name.items() if not is_known] if usage.replies else []
