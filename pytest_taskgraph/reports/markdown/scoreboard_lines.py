"""Scoreboard in Markdown: a row for each model in each block, the first block about all questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...results.scoreboard import ScoreboardBlock, ScoreboardRow, scoreboard
from ...results.tally import Tally
from ..scoreboard_text import (
    NONE,
    UNKNOWN,
    answered_text,
    block_name,
    cost_of,
    has_prompts,
    score_title,
    scoreboard_notes,
    time_of,
    tokens_text,
)
from ..wording import count, interval, number
from .elements import cell, pipe_table, words


def scoreboard_lines(tally: Tally, most: int) -> Iterator[str]:
    """Yield the scoreboard under its heading, without columns of which nothing is known; no lines without questions.

    Args:
        tally: The trials of the run.
        most: The greatest number of rows.
    """
    blocks = scoreboard(tally)
    rows = [(block, row) for block in blocks for row in block.rows]
    if not rows:
        return
    yield from ("", "### Scores")
    with_names, prompts, title = len(blocks) > 1, has_prompts(blocks), score_title(blocks)
    numbers = [dict(_numbers(row, title)) for _, row in rows]
    titles = [name for name in numbers[0] if any(texts[name] not in (NONE, UNKNOWN) for texts in numbers)]
    lines = [
        [
            *([_name(block, blocks)] if with_names else []),
            cell(row.model) + (" ★" if row.highest else ""),
            *([cell(row.prompt)] if prompts else []),
            *(texts[name] for name in titles),
        ]
        for (block, row), texts in zip(rows, numbers, strict=True)
    ]
    heads = [*(["questions"] if with_names else []), "model", *(["prompt"] if prompts else [])]
    yield from pipe_table([*heads, *(words(name).replace("|", r"\|") for name in titles)], lines[:most], len(heads))
    if len(lines) > most:
        yield from ("", f"And {count(len(lines) - most, 'more row')}.")
    for note in scoreboard_notes(blocks):
        yield from ("", note)


def _name(block: ScoreboardBlock, blocks: Sequence[ScoreboardBlock]) -> str:
    name = words(block_name(block, blocks)).replace("|", r"\|")
    return name if block.family else f"**{name}**"


def _numbers(row: ScoreboardRow, score: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each number."""
    effort = row.effort
    yield score, number(row.score.value)
    yield "95% interval", interval(row.score.ends)
    yield "pass rate", number(row.rate.value if row.rate else None)
    yield "above chance", number(row.above_chance)
    yield "answered", answered_text(row).replace("*", r"\*")
    yield "errors", f"{row.errors:,}"
    yield "tokens in", tokens_text(effort.spending.tokens_in, effort)
    yield "tokens out", tokens_text(effort.spending.tokens_out, effort)
    yield "reasoning", NONE if effort.tokens_reasoning is None else f"{effort.tokens_reasoning:,}"
    yield "cost", cost_of(effort)
    yield "time", time_of(effort)
