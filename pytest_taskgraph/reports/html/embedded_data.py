"""Data as it is put into the page: JSON that no HTML parser can end, and drawings made small."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING
from zlib import compress

from ..escape import printable

if TYPE_CHECKING:
    from markupsafe import Markup

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def shown_text(text: str) -> str:
    """The text, printable. ASCII that is so but for its line feeds, as prompts are, is not looked at sign by sign."""
    return text if text.isascii() and text.replace("\n", "").isprintable() else printable(text)


def embedded(value: object) -> Markup:
    """The value as ASCII JSON for a script element of type application/json, without `<`, `>` and `&`.

    JSON has these in strings only, where an escape means the same. U+2028 and all else beyond ASCII is escaped too.
    """
    from markupsafe import Markup

    return Markup(json.dumps(value, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPES))


def deflated(text: str) -> str:
    """The text as the Base64 of its UTF-8 in the zlib format (RFC 1950), which browsers read as "deflate"."""
    return b64encode(compress(text.encode("utf-8", "replace"), 9)).decode("ascii")
