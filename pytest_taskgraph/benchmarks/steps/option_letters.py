"""The letters of options, and what a reply may say in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LETTERS: Final = ("A", "B")
TIE: Final = "tie"
"""The answer where no option is better than the other."""


def letter_spellings(options: Sequence[str]) -> dict[str, str]:
    """Return the letter of each text of an option that stands for no other one; none for a text that is a letter.

    Args:
        options: The texts, in the order of their letters.
    """
    return {
        text: letter
        for letter, text in zip(LETTERS, options, strict=True)
        if options.count(text) == 1 and text not in (*LETTERS, TIE)
    }
