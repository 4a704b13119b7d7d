"""Words for what pydantic found in JSON that it refuses, and for what it expected there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

ValuePath = tuple[str | int, ...]  # of names and places that lead to a value

LONGEST: Final = 40  # characters of a value or of a name in a path, in a message

# Descriptions of expected values that replace those of pydantic.
_EXPECTED: Final = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "greater_than_equal": "a number of at least {ge:g}",
    "int_type": "a whole number",
    "less_than_equal": "a number of at most {le:g}",
    "list_type": "a list",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "none_required": "null",
    "string_pattern_mismatch": "a SHA-256 in hexadecimal",
    "string_type": "a text",
    "string_unicode": "a text without half surrogate pairs",
    "union_tag_invalid": "{discriminator} {expected_tags}",
    "value_error": "{error}",
}


def describe_expected(fault: Mapping[str, Any]) -> str:
    """Return what an entry of `ValidationError.errors()` says was expected."""
    words = _EXPECTED.get(fault["type"], "")
    return words.format(**fault.get("ctx", {})) or fault["msg"].removeprefix("Input should be ")


def describe_value(value: object) -> str:
    """Return a short value as JSON; of lists and objects only their type."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return shorten_text(json.dumps(value))


def shorten_text(text: str) -> str:
    """Return the text in at most LONGEST characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
