"""Where the tokens of an echoed text begin and end in it, whatever the server counts offsets in.

Offsets differ between servers: vLLM counts the token that opens a text, SGLang gives -1 for each, others count bytes.
So the tokens themselves are laid along the text, and offsets are only used where that fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

# A token that holds part of a character, as servers show it: U+FFFD, OpenAI's "bytes:\xe2", SentencePiece's "<0xE2>".
_PART = re.compile("\ufffd|^bytes:(?:.*\\\\x[0-9a-f]{2})|^<0x[0-9A-F]{2}>$", re.DOTALL)
_SPACE = re.compile(r"\s*")


def place_tokens(tokens: Sequence[str], text: str, offsets: object = None) -> list[tuple[int, int]] | None:
    """Return where each token begins and ends in the text, in characters; None if that cannot be known.

    Tokens that hold parts of characters have the place of all such tokens beside them together. A first token that is
    not in the text, which marks its beginning, has the empty place 0; so have what follows the end of the text at it.
    """
    return _laid(tokens, text) or _from_offsets(tokens, text, offsets)


def _laid(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    places: list[tuple[int, int]] = []
    at, parts, room = 0, 0, 0  # parts: of characters, whose place the next whole token tells; room: their length
    for token in tokens:
        if at < len(text) and (not token or _PART.search(token)):
            parts, room = parts + 1, room + len(token)
            continue
        found = _find(token, text, at, room) or _outside(token, text, at, room, len(tokens) - len(places) - parts)
        if found is None:
            return None
        start, end = found
        places += [(at, start if start > at else end)] * parts
        places.append(found)
        at, parts, room = end, 0, 0
    if len(text) - at > room and text[at:].strip():
        return None
    return places + [(at, len(text))] * parts


def _outside(token: str, text: str, at: int, room: int, left: int) -> tuple[int, int] | None:
    """Return the empty place of a token that is not in the text: at its start, or as the last of all behind it."""
    if at == len(text) or (left == 1 and len(text) - at <= room):
        return len(text), len(text)
    return (0, 0) if at == 0 and not room else None


def _find(token: str, text: str, at: int, room: int) -> tuple[int, int] | None:
    """Return the place of the token, 1 to `room` characters further on where there is room; None if it is not there."""
    for spelled in _spellings(token, at == 0):
        start = text.find(spelled, at + bool(room), at + room + len(spelled))
        if start >= 0:
            return start, start + len(spelled)
    space = _SPACE.match(text, at)
    if not room and space and text.startswith(token, space.end()):
        return space.end(), space.end() + len(token)
    return None


def _spellings(token: str, first: bool) -> Iterator[str]:
    """Yield the token, with SentencePiece's sign for a space read as one, and without the space that it puts first."""
    yield token
    spaced = token.replace("\u2581", " ")
    if spaced != token:
        yield spaced
    if first and spaced.startswith(" ") and spaced.strip():
        yield spaced[1:]


def _from_offsets(tokens: Sequence[str], text: str, offsets: object) -> list[tuple[int, int]] | None:
    if not isinstance(offsets, list) or len(offsets) != len(tokens):
        return None
    if not all(isinstance(offset, int) and not isinstance(offset, bool) for offset in offsets):
        return None
    rising = all(one <= other for one, other in pairwise(offsets))
    if not rising or not offsets or offsets[0] != 0 or not 0 < offsets[-1] <= len(text):
        return None
    return list(zip(offsets, [*offsets[1:], len(text)], strict=True))
