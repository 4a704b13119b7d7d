"""The range of numbers that a condition in words states: "more than 5 days", "between 10 and 20", "exactly 3"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

LONGEST_CONDITION: Final = 300  # characters that are read
_NUMBER: Final = r"[$€£]? ?(?P<{}>\d{{1,15}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,9}})?)\b"
_MORE: Final = (
    r"more than|greater than|higher than|larger than|longer than|older than|bigger than|"
    r"above|over|beyond|exceeds|exceed|exceeding|>(?!=)"
)
_LESS: Final = (
    r"less than|fewer than|lower than|smaller than|shorter than|younger than|below|under|falls short of|<(?!=)"
)
_LEAST: Final = r"at least|a minimum of|no less than|not less than|no fewer than|>=|≥"
_MOST: Final = r"at most|up to|a maximum of|no more than|not more than|does not exceed|<=|≤"
_EXACT: Final = r"exactly|equal to|equals|={1,2}"
_BETWEEN: Final = re.compile(
    rf"\b(?:between|from) {_NUMBER.format('low')} (?:and|to) {_NUMBER.format('high')}", re.IGNORECASE
)
_BEHIND: Final = re.compile(
    rf"{_NUMBER.format('low')}(?P<unit>(?: [^\W\d_]{{1,20}}){{0,2}})"
    r" or (?P<side>more|above|over|less|fewer|below|under)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    rf"(?<!\w)(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<more>{_MORE})|(?P<less>{_LESS})|(?P<exact>{_EXACT}))"
    rf" ?{_NUMBER.format('low')}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers for which a condition holds.

    Args:
        low: The lower end; None if there is none.
        high: The upper end; None if there is none.
        with_low: Whether the lower end is one of the numbers.
        with_high: Whether the upper end is.
        about: The rest of the condition, without the comparison: what the number counts.
    """

    low: Fraction | None
    high: Fraction | None
    with_low: bool
    with_high: bool
    about: str

    def overlaps(self, other: NumberRange) -> bool:
        """Return True if some number is in both ranges; not every number need be a whole one."""
        return not _is_below(self, other) and not _is_below(other, self)


def read_number_range(condition: str) -> NumberRange | None:
    """Return the range that a condition states; None for no range, and for more numbers than the range names."""
    text = " ".join(condition[:LONGEST_CONDITION].split())
    for pattern in (_BETWEEN, _COMPARED, _BEHIND):
        if (match := pattern.search(text)) is not None:
            unit = match["unit"] if pattern is _BEHIND else ""
            about = f"{text[: match.start()]} {unit} {text[match.end() :]}"
            return None if re.search(r"\d", about) else _range(match, about)
    return None


def _range(match: re.Match[str], about: str) -> NumberRange:
    groups = match.groupdict()
    low = _number(groups["low"])
    if groups.get("high"):
        ends = sorted((low, _number(groups["high"])))
        return NumberRange(ends[0], ends[1], True, True, about)
    side = (groups.get("side") or "").lower()
    if groups.get("exact"):
        return NumberRange(low, low, True, True, about)
    if groups.get("least") or side in ("more", "above", "over"):
        return NumberRange(low, None, True, False, about)
    if groups.get("more"):
        return NumberRange(low, None, False, False, about)
    return NumberRange(None, low, False, bool(groups.get("most") or side), about)


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _is_below(lower: NumberRange, upper: NumberRange) -> bool:
    """Return True if every number of one range is smaller than every number of the other."""
    if lower.high is None or upper.low is None:
        return False
    return lower.high < upper.low or (lower.high == upper.low and not (lower.with_high and upper.with_low))
