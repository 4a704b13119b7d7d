"""Tokens of an echoed text are found in it, whatever their server shows of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.models.clients.text_scores import place_tokens

WORDS = st.text(st.sampled_from("ab \n\u00e9\u65e5\U0001f600"), min_size=1, max_size=30)


@st.composite
def tokenized(draw: st.DrawFn) -> tuple[str, list[str], list[tuple[int, int]]]:
    """Draw a text, its tokens, and where they stand."""
    text = draw(WORDS)
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=8)))
    bounds = [0, *(cut for cut in cuts if cut < len(text)), len(text)]
    places = list(pairwise(bounds))
    return text, [text[start:end] for start, end in places], places


@given(tokenized(), st.sampled_from(["", "<s>", "<|begin_of_text|>"]), st.sampled_from(["", "ab", "</s>"]))
def test_place_tokens_of_text_gives_bounds(
    text_tokens_bounds: tuple[str, list[str], list[tuple[int, int]]], opening: str, ending: str
) -> None:
    text, tokens, bounds = text_tokens_bounds
    before, after = [opening] if opening else [], [ending] if ending else []
    places = place_tokens([*before, *tokens, *after], text)
    assert places is not None
    assert places[len(before) : len(before) + len(tokens)] == bounds
    assert all(start >= len(text) for start, _ in places[len(before) + len(tokens) :])
    assert places[: len(before)] == [(0, 0)] * len(before)


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        (["a", "\ufffd", "\ufffd", "\ufffd", "\u65e5"], "a\u65e5\u65e5", [(0, 1), *[(1, 2)] * 3, (2, 3)]),
        (["a", "", "", "\u65e5"], "a\u65e5", [(0, 1), (1, 2), (1, 2), (1, 2)]),
        (["a", "\ufffd", "\ufffd"], "a\u00e9", [(0, 1), (1, 2), (1, 2)]),
        (["a", "\ufffd", "\ufffd", "</s>"], "a\u00e9", [(0, 1), (1, 2), (1, 2), (2, 2)]),
        (["\u2581Boil", "\u2581it"], "Boil it", [(0, 4), (4, 7)]),
        (["Boil", "it", "now"], "Boil it now ", [(0, 4), (5, 7), (8, 11)]),
        (["a", "c"], "ab", None),
        (["a"], "ab", None),
        (["a", "\ufffd", "b"], "a" + "\u00e9" * 9 + "b", None),
        ([], "ab", None),
    ],
)
def test_place_tokens_of_partial_characters_share_place(
    tokens: list[str], text: str, expected: list[tuple[int, int]] | None
) -> None:
    assert place_tokens(tokens, text) == expected


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([0, 1], [(0, 1), (1, 3)]),
        ([0, 0], None),
        ([0, 9], None),
        ([1, 2], None),
        ([0], None),
        ([0, True], None),
        ([0, "1"], None),
        ([-1, -1], None),
        (None, None),
    ],
)
def test_place_tokens_of_other_text_uses_offsets(offsets: object, expected: list[tuple[int, int]] | None) -> None:
    assert place_tokens(["token_id:1", "token_id:2"], "abc", offsets) == expected
