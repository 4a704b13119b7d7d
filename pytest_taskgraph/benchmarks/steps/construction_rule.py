"""Which questions of STEPS are built from a recipe: the paper's rule, and variations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ...errors import UsageError

Negatives = Literal["all", "one"]
OneWordSteps = Literal["keep", "drop"]


@dataclass(frozen=True, slots=True)
class ConstructionRule:
    """Which recipes are used, and which questions are built from one of N steps S_1 to S_N.

    The default is the rule of Wang et al. (2023), sections 3.1 and 3.2. Section 3.2 mixes the indices of the negative
    samples up; section 3.1 is followed.

    Args:
        first: The place j of the first step that is asked for. At least 2: a question has a step before it. A negative
            number counts from the end: -1 is N-1.
        last: The place of the last step that is asked for; None for N-1, the last one that has a later step. A negative
            number counts from the end: -1 is N-1, -2 is N-2. A larger place than N-1 is taken as N-1.
        negatives: What the classification asks about besides S_j: all later steps, or one of them, drawn evenly. The
            multiple choice always has one.
        shortest: The smallest N of a recipe that is used.
        longest: The largest; None for no limit.
        one_word: Whether steps of one word, such as "Stir" or "Enjoy", are steps like others, as in the paper, or are
            dropped before anything is counted.
    """

    first: int = 2
    last: int | None = None
    negatives: Negatives = "all"
    shortest: int = 4
    longest: int | None = 10
    one_word: OneWordSteps = "keep"

    def __post_init__(self) -> None:
        if self.first in (0, 1):
            raise UsageError(f"first: found {self.first}, expected at least 2, or a negative number from the end")
        if self.last in (0, 1):
            raise UsageError(f"last: found {self.last}, expected at least 2, or a negative number from the end")
        if self.negatives not in ("all", "one"):
            raise UsageError(f"negatives: found {self.negatives!r}, expected all or one")
        if self.one_word not in ("keep", "drop"):
            raise UsageError(f"one_word: found {self.one_word!r}, expected keep or drop")
        if self.shortest < 1 or (self.longest is not None and self.longest < self.shortest):
            raise UsageError(
                f"shortest, longest: found {self.shortest} and {self.longest}, expected at least 1, and no less than it"
            )

    def uses(self, count: int) -> bool:
        """Return True if recipes of so many steps are used."""
        return self.shortest <= count and (self.longest is None or count <= self.longest)

    def positions(self, count: int) -> range:
        """Return the places j, counted from 1, of the steps that are asked for in a recipe of so many steps.

        They lie between 2 and N-1, whatever the rule says.
        """
        first = self.first if self.first > 0 else count + self.first
        last = count - 1 if self.last is None else self.last if self.last > 0 else count + self.last
        return range(max(first, 2), min(last, count - 1) + 1)


PAPER_RULE: Final = ConstructionRule()
"""The rule of Wang et al. (2023), sections 3.1 and 3.2."""
