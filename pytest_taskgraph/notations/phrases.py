r"""The phrases that prose and Mermaid labels have in common: names, parameters, effects, bindings and durations.

    'minutes', set to 20, a whole number from 0 to 60
    'n' to 'n + 1'
    'Inner' stands for 'Outer'
    30 minutes

A quote in a name is written \', a backslash \\, and a character that cannot be printed \u{a}, in hexadecimal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..errors import ReadError, WorkflowError
from ..positioned_json import read_value
from ..source import Source
from ..workflow.model import SECONDS, Domain, Duration, Effect, Parameter
from .plain_json import parameter_value

QUOTED = r"'((?:[^'\\\n]|\\.)*)'"  # one group: the escaped name
_QUOTED = re.compile(QUOTED)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.))")
_PAIR = re.compile(rf"{QUOTED} (?:to|stands for) {QUOTED}")
_NUMBER = r"(-?[0-9][-+.0-9e]{0,400})"
_RANGE = re.compile(rf"a (whole|real) number(?: from {_NUMBER})?(?: (?:up )?to {_NUMBER})?")
_DURATION = re.compile(r"([0-9]{1,12}) (second|minute|hour|day)s?")
_WORDS = re.compile(rf"one of (no words|{QUOTED}(?:, {QUOTED})*)")


def quote(name: str) -> str:
    """Return the name in single quotes."""
    return "'" + "".join(_escape_character(sign) for sign in name) + "'"


def _escape_character(sign: str) -> str:
    if sign in "'\\":
        return "\\" + sign
    return sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}"


def unquote(escaped: str) -> str:
    """Return the name for the escaped text between its quotes."""
    return _ESCAPE.sub(_unescape_match, escaped)


def _unescape_match(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def quoted_names(text: str) -> tuple[str, ...]:
    """Return all quoted names of a text, in its order."""
    return tuple(unquote(match[1]) for match in _QUOTED.finditer(text))


def join_words(words: Iterable[str]) -> str:
    """Return the words joined as in a sentence: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def parameter_phrase(parameter: Parameter) -> str:
    """Return the parameter as a phrase.

    Raises:
        WorkflowError: if a value is not finite.
    """
    try:
        value_part = "" if parameter.value is None else f", set to {_to_json(parameter.value)}"
        return (
            quote(parameter.name)
            + value_part
            + ("" if parameter.domain is None else f", {_domain_phrase(parameter.domain)}")
        )
    except ValueError as error:
        raise WorkflowError(f"the parameter {parameter.name!r} cannot be written: {error}") from error


def _to_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else json.dumps(value)


def _domain_phrase(domain: Domain) -> str:
    if domain.kind == "words":
        return "one of " + (", ".join(map(quote, domain.words)) or "no words")
    low = "" if domain.low is None else f" from {_to_json(domain.low)}"
    high = "" if domain.high is None else f" {'to' if low else 'up to'} {_to_json(domain.high)}"
    return f"a {'whole' if domain.kind == 'integer' else 'real'} number{low}{high}"


def read_parameter(phrase: str) -> Parameter | None:
    """Return the parameter that the phrase states; None if it is no such phrase."""
    name = _QUOTED.match(phrase)
    if name is None:
        return None
    value, rest = None, phrase[name.end() :]
    if rest.startswith(", set to "):
        source = Source(rest)
        try:
            node, end = read_value(source, len(", set to "))
            value, rest = parameter_value(source, node), rest[end:]
        except ReadError:
            return None
    domain = _parse_domain(rest.removeprefix(", ")) if rest.startswith(", ") else None
    return None if rest and domain is None else Parameter(unquote(name[1]), value, domain)


def _parse_domain(phrase: str) -> Domain | None:
    if _WORDS.fullmatch(phrase):
        return Domain("words", words=quoted_names(phrase))
    match = _RANGE.fullmatch(phrase)
    if match is None:
        return None
    try:
        low, high = (None if bound is None else json.loads(bound) for bound in match.group(2, 3))
    except ValueError:
        return None
    if any(bound is not None and not abs(bound) < float("inf") for bound in (low, high)):
        return None
    return Domain("integer" if match[1] == "whole" else "real", low, high)


def effect_phrase(effect: Effect) -> str:
    """Return the effect as a phrase: which parameter is set to which expression."""
    return f"{quote(effect.parameter)} to {quote(effect.expression)}"


def read_effect(phrase: str) -> Effect | None:
    """Return the effect that the phrase states; None if it is no such phrase."""
    names = quoted_names(phrase) if _PAIR.fullmatch(phrase) else ()
    return Effect(*names) if len(names) == 2 else None


def binding_phrase(binding: tuple[str, str]) -> str:
    """Return the binding as a phrase: which data of the sub-workflow stands for which outer data."""
    return f"{quote(binding[0])} stands for {quote(binding[1])}"


def read_binding(phrase: str) -> tuple[str, str] | None:
    """Return the binding that the phrase states, inner and outer name; None if it is no such phrase."""
    names = quoted_names(phrase) if _PAIR.fullmatch(phrase) else ()
    return (names[0], names[1]) if len(names) == 2 else None


def duration_phrase(duration: Duration) -> str:
    """Return the duration as a phrase, such as 1 hour or 30 minutes."""
    return f"{duration.amount} {duration.unit[:-1] if duration.amount == 1 else duration.unit}"


def read_duration(phrase: str) -> Duration | None:
    """Return the duration that the phrase states; None if it is no such phrase."""
    match = _DURATION.fullmatch(phrase)
    unit = next((unit for unit in SECONDS if match and unit == f"{match[2]}s"), None)
    return Duration(int(match[1]), unit) if match and unit and int(match[1]) else None
