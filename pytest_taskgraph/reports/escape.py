r"""Text of others made fit to print: names, questions and above all replies, which may hold anything.

What a terminal would obey or hide (ANSI sequences, control characters, bidirectional overrides, zero-width and other
invisible characters) is shown as an escape such as \x1b or \u202e. What comes out is also legal in XML 1.0.

What a runner of CI would obey is shown so too: they read the log for commands, and a reply could otherwise hide what
follows, mask words or mark files. GitHub takes lines that begin with `::`, blanks before it or not, and `##[` anywhere;
Azure Pipelines `##vso[`, TeamCity `##teamcity[`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

# Printable for Python, but drawn as nothing: joiners, fillers, variation selectors, the blank Braille cell.
_INVISIBLE = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0}
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
_COMMAND = re.compile(r"##(?=[A-Za-z]{0,20}\[)")  # as in ##[ and ##vso[
_OPENS = re.compile(r"^(\s*)::")  # of GitHub, as in ::error
QUOTE = "| "  # stands before each line of a text that is printed as it is


def printable(text: str) -> str:
    """The text with every character that does not print as an escape; line feeds and tabs stay.

    No-break and other odd spaces are escaped too: they are why two names that look alike are not. Backslashes stay
    single, so an escape that the text itself spells out looks the same.
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
    """The text, printable, on one line: line breaks, tabs and runs of spaces are one space; at most `limit` columns.

    It is no command to a runner of CI.
    """
    flat = re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
    if limit is None:
        return _disarmed(printable(flat))
    # Cut before it is escaped: a reply may hold a megabyte, or a thousand marks that take no column.
    most = 4 * max(limit, 1)
    return shorten(_disarmed(printable(flat[:most])) + ("…" if len(flat) > most else ""), limit)


def quoted(text: str) -> str:
    """The text, printable, each of its lines after QUOTE, so that none is a command to a runner of CI."""
    return "\n".join(f"{QUOTE}{_broken_up(line)}".rstrip(" ") for line in printable(text).split("\n"))


def in_json(value: object) -> str:
    """The value as JSON, indented, that is the same to whoever reads it, and no command to a runner of CI."""
    return json.dumps(value, indent=2).replace("##", r"#\u0023")


def disarmed(text: str) -> str:
    """The text, printable, none of its lines a command to a runner of CI."""
    return "\n".join(map(_disarmed, printable(text).split("\n")))


def _disarmed(line: str) -> str:
    """The line, no command: the second sign of what opens one is an escape."""
    return _broken_up(_OPENS.sub(r"\1:\\x3a", line) if "::" in line else line)


def _broken_up(line: str) -> str:
    return _COMMAND.sub(r"#\\x23", line) if "##" in line else line


def columns(text: str) -> int:
    """How many columns of a terminal the printable text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, limit: int) -> str:
    """The printable text in at most `limit` columns; where something was cut off it ends in an ellipsis."""
    if columns(text) <= limit:
        return text
    return _cut(text, limit - 1)[0].rstrip() + "…" if limit > 0 else ""


def _cut(text: str, limit: int) -> tuple[str, str]:
    """The longest start of the text within `limit` columns, and the rest."""
    used = 0
    for index, char in enumerate(text):
        used += _width(char)
        if used > limit:
            return text[:index], text[index:]
    return text, ""


def wrap(text: str, width: int, most: int) -> list[str]:
    """The text in at most `most` printable lines of at most `width` columns, broken at spaces where there are any.

    width >= 2, most >= 1. The last line ends in an ellipsis where something was cut off.
    """
    lines = list(_broken(one_line(text, width * most + 1), width))
    return lines if len(lines) <= most else [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), width)]


def _broken(text: str, width: int) -> Iterator[str]:
    while columns(text) > width:
        start, rest = _cut(text, width)
        at_space = start.rfind(" ") if not rest.startswith(" ") else len(start)
        if at_space > 0:
            start, rest = text[:at_space], text[at_space:]
        yield start.rstrip(" ")
        text = _disarmed(rest.lstrip(" "))  # also what was no command while it stood within a line
    yield text
