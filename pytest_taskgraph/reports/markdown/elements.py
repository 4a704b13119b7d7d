"""Pieces of GitHub-flavoured Markdown that hold the text of others.

Whatever is not our own stands in code, inline or fenced, its fence longer than any run of backticks within: there no
HTML, link or image renders, and GitHub and GitLab link no @mention, #reference or commit. Control, bidirectional and
invisible characters are shown as escapes.
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
    """The text as a code span on one line, of at most `limit` columns but for its fence; a dash where it is blank.

    To be put into a paragraph, list or heading; `cell` is for tables.
    """
    line = one_line(text, limit)
    if not line:
        return NONE
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def cell(text: str, limit: int = NAME) -> str:
    """The text as a code span in a cell of a table: its pipes are escaped."""
    return code(text, limit).replace("|", r"\|")


def words(text: str, limit: int | None = 300) -> str:
    """The text as it is where it is plain English without any markup; else in code, as others may have written it."""
    line = one_line(text, limit)
    return line if line and _WORDS.fullmatch(line) else code(line, None)


def fence(lines: Iterable[str], language: str = "text") -> list[str]:
    """The lines as a block of code in that language; an empty one for no lines."""
    shown = [line for text in lines for line in printable(text).split("\n")]
    ticks = "`" * max([3, *(_longest_run(line) + 1 for line in shown)])
    return [f"{ticks}{language}", *shown, ticks]


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> list[str]:
    """A table; its first `words` columns to the left, the others, numbers, to the right; an empty line before it.

    Titles and cells are Markdown already. No lines for no rows.
    """
    lines = [_line(row) for row in rows]
    ruler = [":--" if at < words else "--:" for at in range(len(titles))]
    return ["", _line(titles), _line(ruler), *lines] if lines else []


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """The lines below a title that opens them; none for no lines. The title is our own: it holds no name of others."""
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _longest_run(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)
