"""What is wrong with a name or a set of names, beyond the names that are missing and extra."""

from __future__ import annotations

from ...trial import Json
from .sentence_parts import write_name
from .spelling import spelling_sentences


def explain_name(reference: Json, given: Json) -> list[str]:
    """Say that an answer gives several names, or spells the expected one differently."""
    if not isinstance(reference, str) or not isinstance(given, str) or given == reference:
        return []
    if reference in given.split(", "):  # as the form joins several names
        return [f"the answer gives several names, {write_name(reference)} among them; expected one name"]
    return spelling_sentences([reference], [given])


def explain_names(reference: Json, given: Json) -> list[str]:
    """Say which names are spelled differently from expected ones."""
    if not isinstance(reference, list) or not isinstance(given, list):
        return []
    return spelling_sentences(map(str, reference), map(str, given))
