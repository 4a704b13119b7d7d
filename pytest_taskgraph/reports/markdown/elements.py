"""Elements of GitHub-flavoured Markdown that hold text from outside.

Such text stands in code, inline or fenced, with a fence longer than any run of backticks in it: no HTML, link or image
renders there, and GitHub and GitLab link no @mention, #reference or commit. Control, bidirectional and invisible
characters are shown as escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..escape import one_line, printable

NAME = 60  # columns of a name in a table
NONE = "-"
_WORDS = re.compile(  # no markup, link, mention, reference, commit, emoji or number of a list
    r"(?![0-9]+[.)](?: |$))[A-Za-z0-9](?:(?<![0-9])[A-Za-z]|(?<![A-Za-z])[0-9]|[ ,;()']|[:%.](?=[ ,;)]|$)"
    r"|(?<=[0-9])\.(?=[0-9])|-(?=[a-z ]))*"
)


def code(text: str, limit: int | None = NAME) -> str:
    """Return the text as a code span on one line of at most `limit` columns without its fence; a dash if it is blank.

    For paragraphs, lists and headings; `cell` is for tables.
    """
    line = one_line(text, limit)
    if not line:
        return NONE
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def cell(text: str, limit: int = NAME) -> str:
    """Return the text as a code span in a cell of a table, its pipes escaped."""
    return code(text, limit).replace("|", r"\|")


def words(text: str, limit: int | None = 300) -> str:
    """Return the text as it is if it is plain English without markup; else in code, as it may come from outside."""
    line = one_line(text, limit)
    return line if line and _WORDS.fullmatch(line) else code(line, None)


def fenced_block(lines: Iterable[str], language: str = "text") -> list[str]:
    """Return the lines as a code block in the given language."""
    code_lines = [line for text in lines for line in printable(text).split("\n")]
    ticks = "`" * max([3, *(_longest_run(line) + 1 for line in code_lines)])
    return [f"{ticks}{language}", *code_lines, ticks]


def pipe_table(titles: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> list[str]:
    """Return a table with an empty line before it; no lines if there are no rows.

    Args:
        titles: The titles of the columns, in Markdown.
        rows: The cells of each row, in Markdown.
        words: How many columns are aligned to the left; those after them are numbers, aligned to the right.
    """
    lines = [_line(row) for row in rows]
    ruler = [":--" if at < words else "--:" for at in range(len(titles))]
    return ["", _line(titles), _line(ruler), *lines] if lines else []


def fold_lines(title: str, lines: Sequence[str]) -> list[str]:
    """Return the lines folded below a title; no lines for none. The title holds no text from outside."""
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _longest_run(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)
