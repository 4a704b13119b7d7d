"""What is wrong with a name or a set of names, beyond the names that are missing and extra."""

from __future__ import annotations

from collections.abc import Iterable

from ...trial import Json
from .sentence_parts import cut, write_name


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


def spelling_sentences(expected: Iterable[str], given: Iterable[str]) -> list[str]:
    """Return a sentence for each given name that is an expected one but for case, spaces or punctuation."""
    expected_names, given_names = dict.fromkeys(expected), dict.fromkeys(given)
    by_letters = {_letters(name): name for name in expected_names if name not in given_names}
    pairs = ((name, by_letters.get(_letters(name))) for name in given_names if name not in expected_names)
    return cut(
        [
            f"{write_name(name)} is not {write_name(right)}: case, spaces and punctuation count"
            for name, right in pairs
            if right is not None
        ],
        "name",
    )


def _letters(name: str) -> str:
    """Return the letters and digits of a name, case folded; the name itself without any."""
    return "".join(filter(str.isalnum, name)).casefold() or name
