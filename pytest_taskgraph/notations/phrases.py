r"""Phrases that prose and Mermaid labels have in common: quoted names, and what a parameter, an effect, a renaming is.

    'minutes', set to 20, a whole number from 0 to 60
    'n' to 'n + 1'
    'Inner' stands for 'Outer'

A quote in a name is written \', a backslash \\, and a character that cannot be printed \u{a}, in hexadecimal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..errors import ReadError, WorkflowError
from ..positioned_json import read_value
from ..source import Source
from ..workflow.model import Domain, Effect, Parameter
from .plain_json import value

QUOTED = r"'((?:[^'\\\n]|\\.)*)'"  # one group: the name, still escaped
_QUOTED = re.compile(QUOTED)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.))")
_PAIR = re.compile(rf"{QUOTED} (?:to|stands for) {QUOTED}")
_NUMBER = r"(-?[0-9][-+.0-9e]{0,400})"
_RANGE = re.compile(rf"a (whole|real) number(?: from {_NUMBER})?(?: (?:up )?to {_NUMBER})?")
_WORDS = re.compile(rf"one of (no words|{QUOTED}(?:, {QUOTED})*)")


def quote(name: str) -> str:
    """The name in single quotes."""
    return "'" + "".join(_written(sign) for sign in name) + "'"


def _written(sign: str) -> str:
    if sign in "'\\":
        return "\\" + sign
    return sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}"


def unquote(escaped: str) -> str:
    """The name whose text between the quotes is given."""
    return _ESCAPE.sub(_meant, escaped)


def _meant(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def quoted_in(text: str) -> tuple[str, ...]:
    """All the quoted names of a text, in its order."""
    return tuple(unquote(found[1]) for found in _QUOTED.finditer(text))


def listed(words: Iterable[str]) -> str:
    """The words joined as in a sentence: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def say_parameter(parameter: Parameter) -> str:
    """The parameter as a phrase. Raises WorkflowError for a value that is not finite."""
    try:
        given = "" if parameter.value is None else f", set to {_json(parameter.value)}"
        return (
            quote(parameter.name) + given + ("" if parameter.domain is None else f", {_say_domain(parameter.domain)}")
        )
    except ValueError as error:
        raise WorkflowError(f"the parameter {parameter.name!r} cannot be written: {error}") from error


def _json(given: object) -> str:
    text = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else json.dumps(given)


def _say_domain(domain: Domain) -> str:
    if domain.kind == "words":
        return "one of " + (", ".join(map(quote, domain.words)) or "no words")
    low = "" if domain.low is None else f" from {_json(domain.low)}"
    high = "" if domain.high is None else f" {'to' if low else 'up to'} {_json(domain.high)}"
    return f"a {'whole' if domain.kind == 'integer' else 'real'} number{low}{high}"


def read_parameter(phrase: str) -> Parameter | None:
    """The parameter of the phrase; None if it is none."""
    name = _QUOTED.match(phrase)
    if name is None:
        return None
    given, rest = None, phrase[name.end() :]
    if rest.startswith(", set to "):
        source = Source(rest)
        try:
            node, end = read_value(source, len(", set to "))
            given, rest = value(source, node), rest[end:]
        except ReadError:
            return None
    domain = _read_domain(rest.removeprefix(", ")) if rest.startswith(", ") else None
    return None if rest and domain is None else Parameter(unquote(name[1]), given, domain)


def _read_domain(phrase: str) -> Domain | None:
    if _WORDS.fullmatch(phrase):
        return Domain("words", words=quoted_in(phrase))
    found = _RANGE.fullmatch(phrase)
    if found is None:
        return None
    try:
        low, high = (None if end is None else json.loads(end) for end in found.group(2, 3))
    except ValueError:
        return None
    if any(end is not None and not abs(end) < float("inf") for end in (low, high)):
        return None
    return Domain("integer" if found[1] == "whole" else "real", low, high)


def say_effect(effect: Effect) -> str:
    """The effect as a phrase: what is set to what."""
    return f"{quote(effect.parameter)} to {quote(effect.expression)}"


def read_effect(phrase: str) -> Effect | None:
    """The effect of the phrase; None if it is none."""
    names = quoted_in(phrase) if _PAIR.fullmatch(phrase) else ()
    return Effect(*names) if len(names) == 2 else None


def say_binding(binding: tuple[str, str]) -> str:
    """The renaming as a phrase: the inner data stands for the outer."""
    return f"{quote(binding[0])} stands for {quote(binding[1])}"


def read_binding(phrase: str) -> tuple[str, str] | None:
    """The renaming of the phrase; None if it is none."""
    names = quoted_in(phrase) if _PAIR.fullmatch(phrase) else ()
    return (names[0], names[1]) if len(names) == 2 else None
