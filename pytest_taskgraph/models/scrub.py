"""What crosses the provider's border: text without control characters and without secrets."""

from __future__ import annotations

import re

from ..redaction import redact

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def scrub(text: str) -> str:
    """Return the text without secrets and without what no terminal, XML file or UTF-8 encoder can bear.

    Lone surrogates and control characters (C0, DEL, C1) become U+FFFD, one for one; newline and tab stay; a carriage
    return, alone or before a newline, becomes a newline.
    """
    return redact(_CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")))
