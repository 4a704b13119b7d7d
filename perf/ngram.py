"""Times of the n-gram model to train and to score, compared to nltk's `KneserNeyInterpolated`.

    python perf/ngram.py        about 15 seconds; needs nltk (the extra `test`)

One row per order. Both models train on the same TEXTS texts of WORDS words, drawn from a chain in which n-grams recur,
and score the same texts; nltk scores NLTK_TEXTS of them. Seconds are those of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

from nltk.lm import KneserNeyInterpolated
from nltk.util import everygrams

from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel

TEXTS = 10_000
WORDS = 12  # of each text
VOCABULARY = 5_000
NLTK_TEXTS = 5
ORDERS = (2, 3, 4)


def draw_texts(seed: str, texts: int) -> list[list[str]]:
    """Return texts in which half of the words follow from the previous word, and the others are drawn by frequency."""
    rng = Random(seed)
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    frequent = rng.choices(range(VOCABULARY), weights, k=texts * WORDS)
    numbers: list[int] = []
    for number in frequent:
        own = bool(numbers) and rng.random() < 0.5
        numbers.append((7 * numbers[-1] + rng.randrange(5)) % VOCABULARY if own else number)
    words = [f"w{number}" for number in numbers]
    return [words[at : at + WORDS] for at in range(0, len(words), WORDS)]


def measure_time(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def train_nltk(order: int, texts: list[list[str]]) -> KneserNeyInterpolated:
    padded = [[*["<s>"] * (order - 1), *text, "</s>"] for text in texts]
    model = KneserNeyInterpolated(order, discount=0.75)
    model.fit((list(everygrams(text, max_len=order)) for text in padded), [word for text in padded for word in text])
    return model


def score_nltk(model: KneserNeyInterpolated, order: int, texts: list[list[str]]) -> None:
    for text in texts:
        padded = [*["<s>"] * (order - 1), *text]
        for at, word in enumerate(text):
            model.score(word, padded[at : at + order - 1])


def row(order: int, train: list[list[str]], scored: list[list[str]]) -> str:
    training, model = measure_time(lambda: KneserNeyModel(order).fit(train))
    nltk_training, peer = measure_time(lambda: train_nltk(order, train))
    scoring, _ = measure_time(lambda: [model.logprobs(text) for text in scored])
    nltk_scoring, _ = measure_time(lambda: score_nltk(peer, order, scored[:NLTK_TEXTS]))
    own, other = len(scored) / scoring, NLTK_TEXTS / nltk_scoring
    trained = f"{training:8.2f} {nltk_training:8.2f} {nltk_training / training:7.1f}x"
    return f"{order:5} {trained}   {own:10.0f} {other:10.2f} {own / other:9.0f}x"


def main() -> None:
    train, scored = draw_texts("train", TEXTS), draw_texts("scored", TEXTS)
    print(f"{TEXTS} texts of {WORDS} words, {len({word for text in train for word in text})} different words")
    print(f"{'':5} {'seconds to train':>26}   {'texts scored in a second':>32}")
    print(f"{'order':5} {'own':>8} {'nltk':>8} {'ratio':>8}   {'own':>10} {'nltk':>10} {'ratio':>10}")
    for order in ORDERS:
        print(row(order, train, scored), flush=True)


if __name__ == "__main__":
    main()
