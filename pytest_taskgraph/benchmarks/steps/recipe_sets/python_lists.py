"""Lists of texts in the spelling of Python, such as `['mix well', "don't stir"]`: read without evaluating anything."""

from __future__ import annotations

import re
from typing import Final

LONGEST_LIST: Final = 100_000  # characters of the whole
MOST_TEXTS: Final = 1_000

# Every alternative begins with a letter of its own, so that a text is read once, however it goes on.
_TEXT: Final = re.compile(r"""\s*(?:'((?:[^'\\\n]|\\.)*+)'|"((?:[^"\\\n]|\\.)*+)")\s*""", re.DOTALL)
_SPACES: Final = re.compile(r"\s*")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\n": "",
    **{letter: letter for letter in "'\"\\"},
}


class PythonListError(ValueError):
    """A text is no list of texts; the message says at which character, and what was expected there."""


def read_text_list(source: str) -> list[str]:
    """Return the texts of a list in the spelling of Python; JSON lists of texts are read as well.

    Only plain texts in single or double quotes are known: no prefixes, no triple quotes, no texts side by side.

    Raises:
        PythonListError: if it is anything else, longer than 100,000 characters, or has more than 1,000 texts.
    """
    if len(source) > LONGEST_LIST:
        raise PythonListError(f"{len(source)} characters, expected at most {LONGEST_LIST}")
    text = source.strip()
    end = len(text) - 1
    if not text.startswith("["):
        raise PythonListError(_expected(0, "'['"))
    if end == 0 or not text.endswith("]"):
        raise PythonListError(_expected(end, "']' at the end"))
    texts: list[str] = []
    at = 1
    while literal := _TEXT.match(text, at, end):
        texts.append(_unescape(literal[1] if literal[1] is not None else literal[2]))
        if len(texts) > MOST_TEXTS:
            raise PythonListError(f"more than {MOST_TEXTS} texts")
        at = literal.end()
        if not text.startswith(",", at):
            break
        at += 1
    if _SPACES.fullmatch(text, at, end) is None:
        raise PythonListError(_expected(at, "a text in quotes, ',' or the ']' at the end"))
    return texts


def _expected(at: int, what: str) -> str:
    return f"character {at + 1}: expected {what}"


def _unescape(text: str) -> str:
    """Return the text that is meant; a backslash that begins no escape stands for itself, as in Python."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2] or escape[3]:
        number = int(digits, 16)
        return chr(number) if number <= 0x10FFFF else escape[0]
    if escape[4]:
        return chr(int(escape[4], 8))
    return _ESCAPED.get(escape[5], escape[0])
