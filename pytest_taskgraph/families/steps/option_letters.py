"""The letters of options: how prompts show them, and what a reply may say in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...scoring.metrics.class_shares import TIE

LETTERS: Final = ("A", "B")


def option_fields(options: Sequence[str]) -> list[dict[str, str]]:
    """Return the letter and the text of each option, as prompt templates see them."""
    return [{"letter": letter, "text": text} for letter, text in zip(LETTERS, options, strict=True)]


def list_options(options: Sequence[str]) -> str:
    """Return the options in one line, each behind its letter."""
    return "; ".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=True))


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
