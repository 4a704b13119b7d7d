"""The tokens of a text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.steps.ngram.word_tokens import word_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Boil the Water .", ["boil", "the", "water", "."]),
        ("Heat,then stir!", ["heat", ",", "then", "stir", "!"]),
        ("don't over-mix", ["don't", "over", "-", "mix"]),
        ("'quoted' words'", ["'", "quoted", "'", "words", "'"]),
        ("Bake at 350F for 1,000.5 s", ["bake", "at", "350", "f", "for", "1,000.5", "s"]),
        ("1/2 cup, ½ cup. 3.", ["1/2", "cup", ",", "1⁄2", "cup", ".", "3", "."]),
        ("step_one 180°", ["step", "_", "one", "180", "°"]),
        ("crème BRÛLÉE", ["crème", "brûlée"]),
        (" \t\n\u3000", []),
    ],
)
def test_word_tokens_kinds_of_characters_are_split_as_documented(text: str, tokens: list[str]) -> None:
    assert word_tokens(text) == tokens


@given(st.text())
def test_word_tokens_any_text_keeps_all_but_white_space(text: str) -> None:
    tokens = word_tokens(text)
    assert "".join(tokens) == "".join(unicodedata.normalize("NFKC", text).lower().split())
    assert all(tokens)


@given(st.text(alphabet="ab1.,'_ -"), st.text(alphabet="ab1.,'_ -"))
def test_word_tokens_texts_joined_by_a_space_are_tokenised_apart(first: str, second: str) -> None:
    assert word_tokens(f"{first} {second}") == word_tokens(first) + word_tokens(second)
