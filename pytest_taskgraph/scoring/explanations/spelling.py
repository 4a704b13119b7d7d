"""Names of an answer that differ from an expected name in case, spaces or punctuation alone."""

from __future__ import annotations

from collections.abc import Iterable

from .sentence_parts import cut, write_name


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
