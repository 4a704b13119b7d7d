"""Lists of names in answers: cutting them, and saying that there are none (metrics-spec, section 1)."""

from __future__ import annotations

from collections.abc import Sequence

from ..trial import Reading
from .extract import names_in

_NOTHING = ("none", "empty", "n/a", "[]", "[ ]")


def shown(text: str) -> str:
    """The beginning of a text, quoted, for a message."""
    short = text.strip()
    return repr(short if len(short) <= 60 else short[:57] + "...")


def items(text: str, names: Sequence[str], reading: Reading, cuts: str = ",\n") -> list[str]:
    """The names in a text, in its order, as the reading cuts them; strictly, at commas alone."""
    return names_in(text, names, cuts) if reading == "lenient" else strict_items(text, names)


def strict_items(text: str, names: Sequence[str]) -> list[str]:
    """What stands between commas, without final dots, blanks and backticks; empty items stay, as in the study."""
    known = {squeezed(name): name for name in names} | {name: name for name in names}
    cut = squeezed(text.strip().rstrip(".")).split(",")
    return [] if cut == [""] else [known.get(item, item) for item in cut]


def squeezed(text: str) -> str:
    """The text without blanks and backticks."""
    return text.replace(" ", "").replace("`", "")


def is_nothing(text: str, found: Sequence[str], names: Sequence[str], reading: Reading) -> bool:
    """Whether an answer says that there are none: no item, or a word for nothing alone that is no known name."""
    nothing = _NOTHING if reading == "lenient" else _NOTHING[:1]
    words = {text.strip(), *found[:1]} if len(set(found)) == 1 else {text.strip()}
    return not found or any(word.lower() in nothing and word not in names for word in words)


def word_for_nothing(names: Sequence[str]) -> str:
    """The word that says that there are none: the first that is no name in any case; the empty text, if all are."""
    taken = {name.lower() for name in names}
    return next((word for word in _NOTHING if word not in taken), "")


def one_a_line(names: Sequence[str]) -> bool:
    """Whether names must stand on lines of their own, since one holds a comma."""
    return any("," in name for name in names)


def separator(names: Sequence[str]) -> str:
    """The character between the names of a group: the first that no name holds."""
    return next((mark for mark in ",;|" if not any(mark in name for name in names)), "\t")
