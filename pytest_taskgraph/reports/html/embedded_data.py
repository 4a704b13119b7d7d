"""Data embedded in the page: JSON that ends no HTML element, compressed drawings, addresses of questions."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote
from zlib import compress

from ..escape import printable

if TYPE_CHECKING:
    from markupsafe import Markup

_ESCAPES = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))


def printable_text(text: str) -> str:
    """Return the text, printable; fast for ASCII prompts."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return printable(text)


def permalink(question: str, model: str) -> str:
    """Return the address, within the page, that opens a question; question and model are printable."""
    return f"#question={quote(question, safe='')}&model={quote(model, safe='')}"


def embed_json(value: object) -> Markup:
    """Return the value as ASCII JSON for a script element of type application/json, without `<`, `>` and `&`.

    JSON has these in strings only, where an escape means the same. U+2028 and all else beyond ASCII is escaped too.
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character, escaped in _ESCAPES:  # str.translate takes ten times as long
        text = text.replace(character, escaped)
    return Markup(text)


def deflate(text: str) -> str:
    """Return the text as the Base64 of its UTF-8 in the zlib format (RFC 1950), which browsers read as "deflate"."""
    return b64encode(compress(text.encode("utf-8", "replace"))).decode("ascii")
