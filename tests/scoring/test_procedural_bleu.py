"""BLEU-1 of procedural graphs: the worked numbers, and nltk's."""

from __future__ import annotations

import warnings
from importlib import import_module
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.procedural_graphs.node_matches import bleu1, bleu_tokens

WORDS = st.lists(st.sampled_from(["find", "empty", "seat", "Find", "the", "a", "window", "10", "-", "."]), max_size=9)


@pytest.mark.parametrize(
    ("candidate", "reference", "value"),
    [
        ("find an empty seat", "find empty seat near the window", 0.5134),
        ("find empty seat near the window", "find an empty seat", 0.6),
        ("submits order", "submit order", 0.5),
        ("close the big ledger", "close the ledger", 0.6667),
        ("close the ledger", "close the big ledger", round(exp(-0.5), 4)),
        ("dirty", "the car is dirty", round(exp(-2), 4)),
        ("seat seat seat", "seat", 0.3333),  # clipped
        ("seat empty find", "find empty seat", 1.0),  # no order
        ("a", "a", 1.0),
        ("a", "The", 0.0),
        ("(...)", "( ... )", 0.0),
        ("The  An", "the an", 1.0),
        ("", "", 1.0),
        ("", "seat", 0.0),
        ("seat", "", 0.0),
        ("don't", "don t", 1.0),
        ("煮饭", "煮饭", 1.0),
    ],
)
def test_bleu1_of_worked_texts_gives_the_worked_number(candidate: str, reference: str, value: float) -> None:
    assert bleu1(candidate, reference) == value


def test_bleu_tokens_are_lower_case_without_articles_and_punctuation() -> None:
    assert bleu_tokens('The "Big" (ledger), an_d a €10,000 - _ X/Y!') == [
        "big",
        "ledger",
        "an_d",
        "€",
        "10",
        "000",
        "x",
        "/",
        "y",
    ]


@given(WORDS, WORDS)
def test_bleu1_of_any_texts_is_that_of_nltk(ours: list[str], theirs: list[str]) -> None:
    candidate, reference = " ".join(ours), " ".join(theirs)
    tokens = [
        [word.lower() for word in words if word.lower() not in {"the", "a", "-", "."}] for words in (ours, theirs)
    ]
    sentence_bleu = import_module("nltk.translate.bleu_score").sentence_bleu
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of n-grams that count nothing
        peer = sentence_bleu([tokens[1]], tokens[0], weights=(1, 0, 0, 0)) if all(tokens) else 0.0
    equal = candidate.lower() == reference.lower()
    assert bleu1(candidate, reference) == (1.0 if equal else round(peer, 4))


@given(st.text(max_size=30), st.text(max_size=30))
def test_bleu1_of_any_texts_lies_within_0_and_1(candidate: str, reference: str) -> None:
    assert 0.0 <= bleu1(candidate, reference) <= 1.0
    assert bleu1(candidate, candidate) == 1.0
