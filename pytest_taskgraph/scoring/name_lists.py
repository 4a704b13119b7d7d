"""Lists of names in answers: cutting them, and saying that there are none (metrics-spec, section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ..trial import Parsing
from .written_lists import says_nothing, written_groups, written_names

_NOTHING = ("none", "empty", "n/a", "[]", "[ ]")


def shown(text: str) -> str:
    """The beginning of a text, quoted, for a message."""
    short = text.strip()
    return repr(short if len(short) <= 60 else short[:57] + "...")


def items(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names in a text, in its order, as the parsing separates them; strictly, at commas alone.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    return written_names(text, names) if parsing == "lenient" else strict_items(text, names)


def listed(text: str, names: Sequence[str], parsing: Parsing) -> list[str]:
    """Return the names that a list holds, in its order; none where it says that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    if parsing == "lenient" and says_nothing(text, names):
        return []
    found = items(text, names, parsing)
    return [] if is_nothing(text, found, names, parsing) else found


def groups_listed(text: str, names: Sequence[str], parsing: Parsing) -> list[list[str]]:
    """Return the names of each line that holds some; none where the text says that there are none.

    Raises:
        UnparseableError: If lenient parsing cannot tell names from the words around them.
    """
    if parsing == "lenient" and says_nothing(text, names):
        return []
    if parsing == "lenient":
        groups = written_groups(text, names, "," + separator(names).strip(","))
    else:
        groups = [line for line in (strict_items(line, names) for line in text.split("\n") if line.strip()) if line]
    found = [name for group in groups for name in group]
    return [] if is_nothing(text, found, names, parsing) else groups


def strict_items(text: str, names: Sequence[str]) -> list[str]:
    """What stands between commas, without final dots, blanks and backticks; empty items stay, as in the study."""
    known = {squeezed(name): name for name in names} | {name: name for name in names}
    cut = squeezed(text.strip().rstrip(".")).split(",")
    return [] if cut == [""] else [known.get(item, item) for item in cut]


def squeezed(text: str) -> str:
    """The text without blanks and backticks."""
    return text.replace(" ", "").replace("`", "")


def is_nothing(text: str, found: Sequence[str], names: Sequence[str], parsing: Parsing) -> bool:
    """Whether an answer says that there are none: no item, or a word for nothing alone that is no known name."""
    nothing = _NOTHING if parsing == "lenient" else _NOTHING[:1]
    words = {text.strip(), *found[:1]} if len(set(found)) == 1 else {text.strip()}
    return not found or any(word.lower() in nothing and word not in names for word in words)


def word_for_nothing(names: Sequence[str]) -> str:
    """The word that says that there are none: the first that is no name in any case; the empty text, if all are."""
    taken = {name.lower() for name in names}
    return next((word for word in _NOTHING if word not in taken), "")


def unknown_name(names: Sequence[str]) -> str:
    """Return a word that is no known name, in any case, nor a part of one."""
    taken = "\n".join(names).lower()
    return next(word for times in count(1) if (word := "Nobody" * times).lower() not in taken)


def one_a_line(names: Sequence[str]) -> bool:
    """Whether names must stand on lines of their own, since one holds a comma."""
    return any("," in name for name in names)


def separator(names: Sequence[str]) -> str:
    """The character between the names of a group: the first that no name holds."""
    return next((mark for mark in ",;|" if not any(mark in name for name in names)), "\t")
