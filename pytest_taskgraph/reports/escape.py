r"""Text from outside made safe to print: names, questions and above all replies, which may hold any character.

What a terminal obeys or hides (ANSI sequences, control characters, bidirectional overrides, zero-width and other
invisible characters) is shown as an escape such as \x1b or \u202e. The result is legal in XML 1.0.

Commands to a CI runner are escaped too: runners read the log for commands, so that a reply could hide the lines below
it, mask words or annotate files. GitHub obeys lines that begin with `::`, after blanks or not, and `##[` anywhere;
Azure Pipelines `##vso[`, TeamCity `##teamcity[`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator

# Printable for Python, but drawn as nothing: joiners, fillers, variation selectors, the blank Braille cell.
_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0}
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
_COMMAND = re.compile(r"##(?=[A-Za-z]{0,20}\[)")  # as in ##[ and ##vso[
_OPENS = re.compile(r"^(\s*)::")  # of GitHub, as in ::error
_BLANKS = re.compile(r"[ \t\r\n]+")
QUOTE = "| "  # precedes each line of a text that is printed with its line breaks
WIDEST = 400  # columns of the widest terminal that is filled
_TAB = 4


def printable(text: str) -> str:
    """Return the text with an escape for every character that does not print; line feeds and tabs stay.

    No-break and other unusual spaces are escaped too: they make two names look alike that are not. Backslashes are
    not doubled, so an escape that the text itself contains looks the same.
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(char if char in "\n\t" or _prints(char) else _escape(char) for char in text)


def _prints(char: str) -> bool:
    return char.isprintable() and ord(char) not in _INVISIBLE


def _escape(char: str) -> str:
    code = ord(char)
    short = {0x0D: r"\r", 0x00: r"\0"}.get(code)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def one_line(text: str, limit: int | None = None) -> str:
    """Return the text, printable, on one line of at most `limit` columns, without a command to a CI runner.

    Line breaks, tabs and runs of spaces become one space.
    """
    flat = _BLANKS.sub(" ", text).strip(" ")
    if limit is None:
        return _disarm(printable(flat))
    # Cut before escaping: a reply may hold a megabyte, or a thousand marks that take no column.
    most = 4 * max(limit, 1)
    return shorten(_disarm(printable(flat[:most])) + ("…" if len(flat) > most else ""), limit)


def quote_lines(text: str) -> str:
    """Return the text, printable, each line after QUOTE, so that no line is a command to a CI runner."""
    return "\n".join(f"{QUOTE}{_break_commands(line)}".rstrip(" ") for line in printable(text).split("\n"))


def json_text(value: object) -> str:
    """Return the value as indented JSON that every parser reads alike and that holds no command to a CI runner."""
    return json.dumps(value, indent=2).replace("##", r"#\u0023")


def disarm_lines(text: str) -> str:
    """Return the text, printable, without a command to a CI runner."""
    return "\n".join(map(_disarm, printable(text).split("\n")))


def _disarm(line: str) -> str:
    """Return the line with the second character of each command to a CI runner escaped."""
    return _break_commands(_OPENS.sub(r"\1:\\x3a", line) if "::" in line else line)


def _break_commands(line: str) -> str:
    return _COMMAND.sub(r"#\\x23", line) if "##" in line else line


def columns(text: str) -> int:
    """Return how many columns of a terminal the printable text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, limit: int) -> str:
    """Return the printable text in at most `limit` columns, with an ellipsis at its end if it was cut."""
    if columns(text) <= limit:
        return text
    return _cut(text, limit - 1)[0].rstrip() + "…" if limit > 0 else ""


def _cut(text: str, limit: int) -> tuple[str, str]:
    """Return the longest start of the text within `limit` columns, and the rest."""
    used = 0
    for index, char in enumerate(text):
        used += _width(char)
        if used > limit:
            return text[:index], text[index:]
    return text, ""


def wrap(text: str, width: int, most: int | None) -> list[str]:
    """Return the text in at most `most` printable lines of at most `width` columns, broken at spaces where possible.

    The last line ends in an ellipsis if the text was cut.

    Args:
        text: The text.
        width: The columns of a line, at least 2.
        most: The number of lines, at least 1; None for all.
    """
    lines = list(_broken_lines(one_line(text, most and width * most + 1), width, _disarm))
    if most is None or len(lines) <= most:
        return lines
    return [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), width)]


def wrap_quote(text: str, width: int | None) -> list[str]:
    """Return the lines of `quote_lines`; those of more than `width` columns are broken, at spaces where possible.

    Args:
        text: The text.
        width: The columns of a line, at least 4; None for no limit.
    """
    lines = quote_lines(text.expandtabs(_TAB)).split("\n")
    if width is None:
        return lines
    room = width - len(QUOTE)
    return [
        f"{QUOTE}{part}".rstrip(" ")
        for line in lines
        for part in _broken_lines(line.removeprefix(QUOTE.rstrip()).removeprefix(" "), room, str)
    ]


def _broken_lines(text: str, width: int, disarm: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a text; each but the first passes `disarm`, for it may be a command where a line begins."""
    step = 8 * width  # a text may be a megabyte: `rest` holds no more of it than a line needs
    rest, at, first = text[:step], step, True
    while True:
        while at < len(text) and columns(rest) <= width:
            size = max(step, len(rest))  # a line of marks that take no column may be long
            rest, at = rest + text[at : at + size], at + size
        rest = rest if first else disarm(rest)
        if columns(rest) <= width:
            break
        start, tail = _cut(rest, width)
        at_space = start.rfind(" ") if not tail.startswith(" ") else len(start)
        if start[:at_space].strip(" ") and at_space > 0:
            start, tail = rest[:at_space], rest[at_space:]
        yield start.rstrip(" ")
        rest, first = tail.lstrip(" "), False
        excess = max(0, len(rest) - step)
        rest, at = rest[: len(rest) - excess], min(at, len(text)) - excess
    yield rest
