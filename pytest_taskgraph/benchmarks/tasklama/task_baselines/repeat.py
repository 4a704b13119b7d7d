"""Steps that repeat the task: "Repeat Task" and "Repeat Similar" of Yuan et al. (2024)."""

from __future__ import annotations

from collections import Counter
from random import Random

from .content_words import is_stop_word, normal_text, word_spans
from .similar_words import SimilarWords
from .tuning import MOST_STEPS


def repeat_task(title: str) -> list[str]:
    """Return the title of a task as each of its steps."""
    return [title] * MOST_STEPS


def repeat_similar(title: str, similar: SimilarWords, seed: int) -> list[str]:
    """Return the title as each of its steps, with one word replaced by a similar one.

    For the i-th step the word is drawn among those that are no stop words, by seed, title and i. When a word is drawn
    for the n-th time, its n-th most similar word stands for it; after the last one the first again. A word without
    similar ones stays.
    """
    spans = [(begin, end) for begin, end in word_spans(title) if not is_stop_word(normal_text(title[begin:end]))]
    drawn: Counter[tuple[int, int]] = Counter()
    steps = []
    for at in range(MOST_STEPS):
        step = title
        if spans:
            begin, end = span = Random(f"{seed}|repeat-similar|{title}|{at}").choice(spans)
            word = title[begin:end]
            if others := similar(normal_text(word)):
                other = others[drawn[span] % len(others)]
                step = title[:begin] + (other[:1].upper() + other[1:] if word[0].isupper() else other) + title[end:]
            drawn[span] += 1
        steps.append(step)
    return steps
