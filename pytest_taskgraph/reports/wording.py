"""Numbers in words and digits, the same in every report made of text."""

from __future__ import annotations


def number(value: float | None) -> str:
    """The number with three decimals, a dash for none."""
    return "-" if value is None else f"{value:.3f}"


def interval(ends: tuple[float, float] | None) -> str:
    """Both ends with three decimals, a dash for none."""
    return "-" if ends is None else "{:.3f}-{:.3f}".format(*ends)


def count(of: int, noun: str) -> str:
    """The count, thousands parted by commas, and the noun in its number."""
    return f"{of:,} {plural(noun, of)}"


def plural(noun: str, of: int) -> str:
    """The noun, in the plural unless there is one."""
    return noun if of == 1 else noun + "s"
