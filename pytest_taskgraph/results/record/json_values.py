"""JSON values of a record: values that read back equal, without keys, with texts of models limited in length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NoReturn

from ...errors import UsageError
from ...redaction import is_secret, public_name, redact
from ...trial import Json

LONGEST_REPLY = 20_000  # characters; longer texts keep their head and tail
HEAD = 10_000
DEEPEST = 100  # most levels of nested JSON


def to_json_value(value: object, place: str, convert_text: Callable[[str], str] = str, depth: int = 0) -> Any:  # noqa: ANN401
    """Return the value as JSON that is equal to itself when written and read.

    Args:
        value: The value.
        place: Where it is in the record, for the error message.
        convert_text: Applied to each of its texts.
        depth: Level of nesting.

    Raises:
        UsageError: if a number is not finite or JSON cannot represent a value.
    """
    if depth > DEEPEST:
        _raise_unsuitable(place, f"values nested more than {DEEPEST} deep")
    if isinstance(value, str):
        return convert_text(join_surrogates(value))
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {
            # Most members are texts: without a further call for each.
            name if type(name) is str and name.isascii() else join_surrogates(str(name)): convert_text(
                member if member.isascii() else join_surrogates(member)
            )
            if type(member) is str
            else to_json_value(member, f"{place}, {name}", convert_text, depth + 1)
            for name, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [
            to_json_value(member, f"{place}[{index}]", convert_text, depth + 1) for index, member in enumerate(value)
        ]
    return _raise_unsuitable(place, f"{value!r:.60}, which JSON cannot hold")


def join_surrogates(text: str) -> str:
    """Return the text with each pair of surrogates joined to one character, as JSON parsers do; single ones stay."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def cut_text(text: str) -> str:
    """Return the text cut to LONGEST_REPLY characters: its head, a note of its full length, its tail."""
    if len(text) <= LONGEST_REPLY:
        return text
    note = f"\n[… cut here: the whole text has {len(text)} characters …]\n"
    return text[:HEAD] + note + text[HEAD + len(note) - LONGEST_REPLY :]


def public_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings without secrets, as `redaction` defines them, at any depth."""
    return {redact(name): _public_value(value, 1) for name, value in settings.items() if not is_secret(name, value)}


def _public_value(value: Json, depth: int) -> Json:
    if depth > DEEPEST:
        _raise_unsuitable("settings", "values nested too deep")
    if isinstance(value, dict):
        return {
            redact(name): _public_value(member, depth + 1)
            for name, member in value.items()
            if not is_secret(name, member)
        }
    if isinstance(value, (list, tuple)):
        return [_public_value(member, depth + 1) for member in value]
    return public_name(value) if isinstance(value, str) else value


def _raise_unsuitable(place: str, found: str) -> NoReturn:
    raise UsageError(
        f"the record cannot be made: {place[:200]}: found {found}; expected finite numbers, texts and lists"
    )
