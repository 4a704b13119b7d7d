"""Removal of secrets from everything that is shown or written.

A secret is recognised

- by its name in settings (`api_key`, `Authorization`, and all values below such a name) or in the environment
  (`…_API_KEY`, `…_TOKEN`, `…_PASSWORD`),
- by its place in a URL: user and password, and queries of such a name,
- by its format: a private key in PEM, `Bearer …`, `sk-…`, `AKIA…`, a JSON Web Token.

A value that was recognised once is removed wherever it occurs, also as JSON, URLs and HTML spell it. `redact` removes
only certain secrets, for texts of models; `hide` removes whatever resembles a secret, for messages and logs.
"""

from __future__ import annotations

import html
import json
import logging
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MASK = "[key]"
SURE = 8  # characters; a shorter value may be an ordinary word

_LEAST = 4  # a shorter value is no key, and would match everywhere
# Conventional keys for servers that check none.
_PLACEHOLDERS = {
    "anything",
    "lm-studio",
    "localhost",
    "not-needed",
    "no-key-required",
    "sk-no-key-required",
    "required",
}

_NAME = re.compile(r"key|token|secret|passw|pwd|auth|credential|bearer|cookie|signature", re.IGNORECASE)
_TOKENS = re.compile(r"(?:^|[_.-])tokens$", re.IGNORECASE)  # counted, as in max_tokens, if the value is a number
_OF_TEXT = re.compile(  # tokens of a model's vocabulary
    r"token_ids?$|(?:^|_)(?:stop|bad|special|max|min|new|skip|eos|bos|pad)\w*tokens$", re.IGNORECASE
)
_VARIABLE = re.compile(r"API_?KEY|(?:^|_)(?:\w*TOKEN|\w*SECRET|PASSW(?:OR)?D|PASSPHRASE)(?:_|$)", re.IGNORECASE)
_WEAK_VARIABLE = re.compile(r"(?:^|_)(?:KEY|CREDENTIALS?|AUTH(?:ORIZATION)?)(?:_ID)?$", re.IGNORECASE)
# The names are the same for each message.
_is_secret_variable, _is_weak_variable = (lru_cache(1024)(each.search) for each in (_VARIABLE, _WEAK_VARIABLE))
_OF_WEAK = 12  # minimum number of characters of the value of such a variable, which also contains a digit
_NOT_AFTER_HASH = r"[^\s?#\"'<>]{0,500}"

# User and password. A slash may be part of a password, unless a port stands before it.
USER = re.compile(rf"(?<=://)(?:[^\s/?#]*@|[^\s/?#@:]*:(?!\d+(?:[/?#]|$)){_NOT_AFTER_HASH}@)")
_QUERY = re.compile(r"\?([^\s?#]*)")
_CERTAIN = (  # a substring of all matches, and the pattern
    ("-----BEGIN", re.compile(r"-----BEGIN[ ][A-Z ]*PRIVATE KEY-----[^-]*(?:-----END[ ][A-Z ]+-----)?")),
    ("sk-", re.compile(r"\bsk-(?=[\w-]*\d)[\w-]{20,}")),
    ("AIza", re.compile(r"\bAIza[\w-]{30,}")),
    ("IA", re.compile(r"\bA[KS]IA[0-9A-Z]{16}\b")),
    ("gh", re.compile(r"gh(?<=\bgh)[pousr]_\w{30,}")),  # begins with plain text, because "gh" is in many words
    ("hf_", re.compile(r"\bhf_(?=\w*\d)[A-Za-z0-9]{30,}")),
    ("eyJ", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}")),
    ("://", re.compile(r"(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)")),
)
_LIKELY = re.compile(
    r"""-----BEGIN[ ][A-Z ]+-----[^-]*(?:-----END[ ][A-Z ]+-----)?
      | \bBearer\s+[\w.~+/=*-]+
      | \b(?:sk|pk|rk|gsk|hf|xai|pplx|r8|ghp|gho|nvapi|tgp)[-_][\w*-]{6,}
      | \bAIza[\w*-]{16,} | \bA[KS]IA[0-9A-Z]{12,} | \beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?
      | (?<=//)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)
      | (?<=[?&]key=)[^\s&'"]+ | (?<=api[-_]key=)[^\s&'"]+""",
    re.VERBOSE | re.IGNORECASE,
)

_registered: dict[str, None] = {}  # the registered values in all spellings, longest first; removed from any text


def register(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Register the secrets in settings, URLs or a list of these, until the process ends.

    Values of less than 8 characters may be ordinary words, and are not registered: only their place identifies them.
    """
    _register_all(secret for secret in secrets(value) if _is_sure(secret))


def register_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Register the secrets of the environment."""
    _register_all(variables(environment))


def redact(text: str) -> str:
    """Return the text without registered secrets, and without what has the format of a secret beyond doubt."""
    for value in _registered:
        if value in text:
            text = text.replace(value, MASK)
    for mark, pattern in _CERTAIN:
        if mark in text:
            text = pattern.sub(MASK, text)
    return text


def redact_all(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value with all its texts, names included, redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): redact_all(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_all(inner) for inner in value]
    return value


def hide(text: str, settings: Any = None, environment: Mapping[str, str] = os.environ) -> str:  # noqa: ANN401
    """Return the text without what is or resembles a secret.

    Args:
        text: The message.
        settings: Any JSON value that may hold further secrets, of at least four characters.
        environment: Environment variables that may hold further secrets.
    """
    further = {secret for secret in secrets(settings) if len(secret) >= _LEAST}
    values = (*further, *variables(environment))
    for value in _longest_first(spelling for secret in values for spelling in _spellings(secret)):
        if value in text:
            text = text.replace(value, MASK) if len(value) >= SURE else _word(value).sub(MASK, text)
    return _LIKELY.sub(MASK, USER.sub(f"{MASK}@", redact(text)))


def public_name(name: str) -> str:
    """Return the name of a model without secrets in URLs and without registered secrets."""
    return redact(cut_addresses(name))


def cut_addresses(text: str) -> str:
    """Return the text without user, password and queries of a secret name in its URLs."""
    if "://" not in text:
        return text
    return _QUERY.sub(_cut_query, USER.sub("", text))


def is_secret(name: str, value: Any = "") -> bool:  # noqa: ANN401 - any JSON value
    """Return True if a setting of that name and value is a secret. A number of tokens is none."""
    if _OF_TEXT.search(name):
        return False
    number = value is None or isinstance(value, int | float) or (isinstance(value, str) and _is_count(value))
    return bool(_NAME.search(_TOKENS.sub("", name) if number else name))


def secrets(value: Any, secret: bool = False) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the secrets of a JSON value: all texts and numbers below a secret name, and those in URLs."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from secrets(inner, secret or is_secret(str(name), inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from secrets(inner, secret)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        if secret:
            yield str(value)
            if str(value).lower().startswith(("bearer ", "basic ")):
                yield str(value).partition(" ")[2].strip()
        if isinstance(value, str) and "://" in value:
            yield from _in_addresses(value)


def variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets of an environment. Neither the path of a file nor a word is a secret.

    Another thread may remove variables meanwhile: pytest sets and removes PYTEST_CURRENT_TEST while requests fail.
    """
    for name in environment:
        strong = bool(_is_secret_variable(name))
        value = environment.get(name) if strong or _is_weak_variable(name) else None
        if value is None:
            continue
        if not _is_sure(value) or (not strong and (len(value) < _OF_WEAK or not re.search(r"\d", value))):
            continue
        if not (value.startswith(("/", "~")) and Path(value).expanduser().exists()):
            yield value


class RedactingFilter(logging.Filter):
    """Logging filter that hides secrets in the messages of a logger."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove secrets from the message and the traceback; keep every record."""
        record.msg, record.args = hide(record.getMessage()), None
        if record.exc_info:
            record.exc_text, record.exc_info = hide(logging.Formatter().formatException(record.exc_info)), None
        return True


def _register_all(values: Iterable[str]) -> None:
    new = {spelling for value in values for spelling in _spellings(value)} - _registered.keys()
    if new:
        ordered = _longest_first({*_registered, *new})
        _registered.clear()
        _registered.update(dict.fromkeys(ordered))


def _longest_first(values: Iterable[str]) -> list[str]:
    return sorted(set(values), key=lambda value: (-len(value), value))


def _spellings(value: str) -> set[str]:
    """Return the value as plain text, JSON, URLs and HTML spell it."""
    as_json = json.dumps(value)[1:-1]
    in_json = {as_json, as_json.replace("/", "\\/"), json.dumps(value, ensure_ascii=False)[1:-1]}
    in_url = {quote(value), quote(value, safe=""), quote_plus(value)}
    in_url |= {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quoted) for quoted in in_url}
    return {value} | in_json | in_url | {html.escape(value), html.escape(value, quote=False)}


def _in_addresses(text: str) -> Iterator[str]:
    for user in USER.findall(text):
        whole = user[:-1]
        name, colon, password = whole.partition(":")
        yield from (password, unquote(password)) if colon else (name, unquote(name))
        if colon:
            yield whole
            for pair in (whole, f"{unquote(name)}:{unquote(password)}"):
                yield b64encode(pair.encode()).decode()  # of basic authorization
    for query in _QUERY.findall(text):
        for part in query.split("&"):
            name, _, value = part.partition("=")
            if is_secret(name, value):
                yield from {value, unquote(value)}


def _cut_query(query: re.Match[str]) -> str:
    parts = (part.partition("=") for part in query[1].split("&"))
    left = ["".join(part) for part in parts if not is_secret(part[0], part[2])]
    return f"?{'&'.join(left)}" if left else ""


def _is_sure(value: str) -> bool:
    return len(value) >= SURE and value.lower() not in _PLACEHOLDERS


def _is_count(value: str) -> bool:
    return value.isdecimal() and len(value) < 9


def _word(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def scrub(text: str) -> str:
    """Return the text without secrets and without characters that terminals, XML or UTF-8 do not accept.

    Each lone surrogate and control character (C0, DEL, C1) becomes U+FFFD; newline and tab stay; a carriage return,
    alone or before a newline, becomes a newline.
    """
    return redact(_CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")))
