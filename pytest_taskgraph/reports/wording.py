"""Numbers in words and digits, the same in every report made of text."""

from __future__ import annotations


def number(value: float | None) -> str:
    """The number with three decimals, a dash for none."""
    return "-" if value is None else f"{value:z.3f}"


def interval(ends: tuple[float, float] | None) -> str:
    """Both ends with three decimals, a dash for none."""
    return "-" if ends is None else "{:.3f}-{:.3f}".format(*ends)


def count(of: int, noun: str, several: str = "") -> str:
    """The count, thousands parted by commas, and the noun in its number."""
    return f"{of:,} {plural(noun, of, several)}"


def plural(noun: str, of: int, several: str = "") -> str:
    """The noun, in the plural unless there is one; `several` is a plural that does not just end in "s"."""
    return noun if of == 1 else several or noun + "s"
