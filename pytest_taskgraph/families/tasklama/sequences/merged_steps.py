"""Merge several sequences of steps without near-duplicates (MultSeq).

Yuan et al. (2024) describe their deduplication in an appendix. This rule is not taken from it, but our own:

1. A step is compared by its content words: in lower case, without punctuation, articles, determiners, possessives and
   frequent prepositions and conjunctions (`FUNCTION_WORDS`), and without a final plural -s. Repeated words count.
2. Two steps are near-duplicates if the F1 of these words is at least `NEAR_DUPLICATE`, or if they have the same words.
3. The sequences are taken in their order, step by step. A step that is a near-duplicate of a kept one is dropped.
4. Any other step is kept. It stands directly behind the latest kept step among those before it in its sequence, or
   their near-duplicates; at the front if it has none. So the steps of the first sequence stay in their order, and every
   step comes after those that its own sequence has before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from ....scoring.forms.task_graph_form import MOST_STEPS
from ....scoring.task_graphs.step_matching import words

NEAR_DUPLICATE: Final = 0.8
"""The F1 of content words from which on two steps count as one: `chop onions` and `chop the onions finely` have 0.8."""
FUNCTION_WORDS: Final = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "some", "any"),
        *("your", "my", "our", "their", "his", "her", "its"),
        *("of", "and", "or", "to", "in", "into", "on", "onto", "at", "for", "with", "by", "from"),
    }
)
Words = frozenset[tuple[str, int]]


def merge_sequences(sequences: Iterable[Sequence[str]]) -> list[str]:
    """Return the steps of all sequences without near-duplicates, by the rule of this module; at most MOST_STEPS.

    Args:
        sequences: The steps of each sequence; those of earlier ones are kept first. Steps without text are left out.
    """
    merged: list[str] = []
    words_of_merged: list[Words] = []  # of the kept steps
    for sequence in sequences:
        place = 0  # behind the latest kept step among those that the sequence has had so far
        for step in sequence:
            own = content_words(step)
            if not own:
                continue
            same = next((at for at, other in enumerate(words_of_merged) if near_duplicates(own, other)), None)
            if same is not None:
                place = max(place, same + 1)
            elif len(merged) < MOST_STEPS:
                merged.insert(place, step)
                words_of_merged.insert(place, own)
                place += 1
    return merged


def near_duplicates(first: Words, second: Words) -> bool:
    """Return True if the F1 of the words of two steps, neither empty, is at least NEAR_DUPLICATE."""
    return 2 * len(first & second) >= NEAR_DUPLICATE * (len(first) + len(second))


@lru_cache(maxsize=8192)
def content_words(step: str) -> Words:
    """Return the content words of a step, each with how often it came before; all its words if none is a content word.

    Words are the runs of letters, marks and digits of any script; of a text without any, what stands between blanks.
    """
    all_words = words(step)
    content = [_singular(word) for word in all_words if word not in FUNCTION_WORDS] or all_words
    seen: Counter[str] = Counter()
    words_with_counts = []
    for word in content:
        words_with_counts.append((word, seen[word]))
        seen[word] += 1
    return frozenset(words_with_counts)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
