"""What crosses the provider's border: text without control characters, messages without keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
KEY_NAME = re.compile(r"key|token(?!s)|secret|passw|auth|credential", re.IGNORECASE)
_KEYS = re.compile(
    r"""-----BEGIN[ ][A-Z ]+-----[^-]*(?:-----END[ ][A-Z ]+-----)?
      | \bBearer\s+[\w.~+/=*-]+
      | \b(?:sk|pk|rk|gsk|hf|xai|pplx|r8|ghp|gho|nvapi|tgp)[-_][\w*-]{6,}
      | \bAIza[\w*-]{16,} | \bA[KS]IA[0-9A-Z]{12,} | \beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?
      | (?<=//)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)
      | (?<=[?&]key=)[^\s&'"]+ | (?<=api[-_]key=)[^\s&'"]+""",
    re.VERBOSE | re.IGNORECASE,
)
_PLACE = "[key]"
_LEAST = 4  # a shorter value is no key, and would be found everywhere
SURE = 8  # a shorter value may be a word as well: only whole words are taken for it


def scrub(text: str) -> str:
    """The text without what no terminal, XML file or UTF-8 encoder can bear.

    Lone surrogates and control characters (C0, DEL, C1) become U+FFFD, one for one; newline and tab stay; a carriage
    return, alone or before a newline, becomes a newline.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def hide_keys(text: str, settings: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> str:
    """The text with `[key]` in place of everything that looks like a key or is known to be one.

    Known are the values of settings, at any depth, and of variables of the environment whose name speaks of a key,
    token, secret, password, authorization or credentials. Such variables shorter than 8 characters are let be.
    """
    known = set(secrets(settings)) | {v for k, v in environment.items() if KEY_NAME.search(k) and len(v) >= SURE}
    patterns = [_pattern(value) for value in sorted(known, key=lambda v: (-len(v), v)) if len(value) >= _LEAST]
    if patterns:
        text = re.sub("|".join(patterns), _PLACE, text)
    return _KEYS.sub(_PLACE, text)


def _pattern(value: str) -> str:
    return re.escape(value) if len(value) >= SURE else rf"(?<!\w){re.escape(value)}(?!\w)"


def secrets(value: Any, secret: bool = False) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """The texts of the secret leaves of a JSON value; whatever stands under a secret name is secret."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from secrets(inner, secret or bool(KEY_NAME.search(str(name))))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from secrets(inner, secret)
    elif secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
