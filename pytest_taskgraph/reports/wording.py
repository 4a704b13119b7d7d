"""Numbers in words and digits, the same in every text report."""

from __future__ import annotations

_LEAST = 0.001


def number(value: float | None) -> str:
    """Return the number with three decimals, a dash for None."""
    return "-" if value is None else f"{value:z.3f}"


def interval(ends: tuple[float, float] | None) -> str:
    """Return both ends with three decimals, a dash for None."""
    return "-" if ends is None else "{:.3f}-{:.3f}".format(*ends)


def count(of: int, noun: str, several: str = "") -> str:
    """Return the count, with commas between thousands, and the noun in singular or plural."""
    return f"{of:,} {plural(noun, of, several)}"


def plural(noun: str, of: int, several: str = "") -> str:
    """Return the noun, in the plural unless `of` is 1; `several` is a plural that does not just end in "s"."""
    return noun if of == 1 else several or noun + "s"


def model_name(name: str) -> str:
    """Return the name of a model as reports show it: "baseline lexical" for `baseline:lexical`, no remark in brackets.

    A simulated model has such a remark in its name; that it knows the answers stands once in each report.
    """
    kind, _, rest = name.partition(":")
    if kind == "simulated":
        return name.partition(" (")[0]
    return f"{kind} {rest}" if kind == "baseline" and rest else name


def fact_name(name: str, value: str) -> str:
    """Return the name of a fact of the run, in the plural if its value holds several, separated by commas."""
    if ", " not in value or name.endswith("s"):
        return name
    return plural(name, 2, f"{name[:-1]}ies" if name.endswith("y") else "")


def signed(value: float | None) -> str:
    """Return a difference with its sign and three decimals, a dash for None."""
    return "-" if value is None else f"{value:+.3f}" if abs(value) >= _LEAST / 2 else "0.000"


def signed_interval(ends: tuple[float, float] | None) -> str:
    """Return both ends of the interval of a difference with their signs, a dash for None."""
    return "-" if ends is None else f"{signed(ends[0])} to {signed(ends[1])}"


def p_value(value: float | None) -> str:
    """Return a p-value with three decimals, a dash for None."""
    return "-" if value is None else f"<{_LEAST:g}" if value < _LEAST else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Return a time in a unit that suits it, never below zero: "34 s", "7 min", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
