"""What a record can hold: values of JSON that read back as they are, no keys, no text of a model without an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NoReturn

from ...errors import UsageError
from ...redaction import is_secret, public_name, redact
from ...trial import Json

LONGEST_REPLY = 20_000  # characters; of a longer text head and tail are kept
HEAD = 10_000
DEEPEST = 100  # levels of JSON


def to_json_value(value: object, where: str, text: Callable[[str], str] = str, depth: int = 0) -> Any:  # noqa: ANN401
    """The value as JSON that is equal to itself once written and read; its texts go through `text`.

    Raises UsageError, with the place `where`, for a number that is not finite and for what JSON has no words for.
    """
    if depth > DEEPEST:
        _refuse(where, f"values nested more than {DEEPEST} deep")
    if isinstance(value, str):
        return text(join_surrogates(value))
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {
            join_surrogates(str(name)): to_json_value(one, f"{where}, {name}", text, depth + 1)
            for name, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [to_json_value(one, f"{where}[{at}]", text, depth + 1) for at, one in enumerate(value)]
    return _refuse(where, f"{value!r:.60}, which JSON cannot hold")


def join_surrogates(text: str) -> str:
    """The text with pairs of surrogates made one character, as JSON parsers do; lone ones stay."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def cut_text(text: str) -> str:
    """The text, of one over LONGEST_REPLY characters head and tail around a note of its full length: as many in all."""
    if len(text) <= LONGEST_REPLY:
        return text
    note = f"\n[… cut here: the whole text has {len(text)} characters …]\n"
    return text[:HEAD] + note + text[HEAD + len(note) - LONGEST_REPLY :]


def public_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings without secrets, at any depth; what one is, `redaction` says."""
    return {redact(name): _public(value, 1) for name, value in settings.items() if not is_secret(name, value)}


def _public(value: Json, depth: int) -> Json:
    if depth > DEEPEST:
        _refuse("settings", "values nested too deep")
    if isinstance(value, dict):
        return {redact(name): _public(one, depth + 1) for name, one in value.items() if not is_secret(name, one)}
    if isinstance(value, (list, tuple)):
        return [_public(one, depth + 1) for one in value]
    return public_name(value) if isinstance(value, str) else value


def _refuse(where: str, found: str) -> NoReturn:
    raise UsageError(
        f"the record cannot be made: {where[:200]}: found {found}; expected finite numbers, texts and lists"
    )
