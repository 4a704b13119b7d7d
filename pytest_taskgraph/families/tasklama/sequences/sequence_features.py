"""The features by which a filter ranks sequences of steps, computed from task and sequences alone, never from gold.

| feature | meaning |
|---|---|
| `steps` | number of steps |
| `relative_steps` | number of steps over their mean number in all samples of the task |
| `mean_words` | mean number of words in a step |
| `words_variance` | variance of that number |
| `imperative_share` | share of steps that begin like an instruction (`begins_with_verb`) |
| `anaphora_share` | share of steps with a word such as "it" or "them", which cannot be understood by itself |
| `distinct_words` | distinct content words over all content words |
| `title_overlap` | share of the title's content words that occur in a step |
| `context_overlap` | share of the context's content words that occur in a step; 0 without context |
| `near_duplicates` | share of steps that are near-duplicates of an earlier one (`merged_steps`) |
| `agreement` | mean, over the other samples, of the F1 of content words shared with them; 0 without other samples |

No feature is a list of verbs: a step counts as an instruction unless its first word is known to be something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final

from ....scoring.task_graphs.step_matching import words
from .merged_steps import FUNCTION_WORDS, content_words, near_duplicates

FEATURES: Final = (
    "steps",
    "relative_steps",
    "mean_words",
    "words_variance",
    "imperative_share",
    "anaphora_share",
    "distinct_words",
    "title_overlap",
    "context_overlap",
    "near_duplicates",
    "agreement",
)
"""The names of all features, in the order of the coefficients that are fitted."""
_NO_VERBS: Final = FUNCTION_WORDS | {
    *("i", "you", "he", "she", "it", "we", "they", "there", "here", "who", "what", "which", "how", "why", "where"),
    *("is", "are", "was", "were", "will", "would", "should", "must", "may", "might", "can", "could", "not", "no"),
    *("if", "when", "while", "once", "until", "unless", "because", "as", "so", "but", "also", "optional"),
    *("before", "after", "during", "under", "over", "between", "about", "without", "within", "through"),
    *("first", "second", "third", "next", "then", "last", "now", "another", "other", "each", "every", "all", "many"),
}
_NO_VERB_ENDINGS: Final = ("ing", "ly", "tion", "ness", "ment")
_VERBS_ENDING_SO: Final = {*("bring", "sing", "ring", "swing", "fling", "string", "wring", "ping", "apply", "fly")} | {
    *("supply", "reply", "rely", "multiply", "comply", "mention", "position", "cement", "comment"),
    *("implement", "document", "supplement", "complement", "experiment", "ration", "caution", "witness", "harness"),
}
_ANAPHORA: Final = frozenset({"it", "them", "they", "itself", "themselves"})


def features_of(title: str, context: Sequence[str], sequences: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """Return the features of each of the sequences that were sampled for a task, by name.

    Args:
        title: The title of the task.
        context: Its context; may be empty.
        sequences: The steps of each sample, of at least one step each.
    """
    bags = [_content_counts(sequence) for sequence in sequences]
    mean_steps = fsum(map(len, sequences)) / len(sequences) if sequences else 0.0
    task = {word for word, _ in content_words(title)}, {word for text in context for word, _ in content_words(text)}
    return [
        _own_features(sequence, bag)
        | {
            "relative_steps": len(sequence) / mean_steps,
            "title_overlap": _coverage(task[0], bag),
            "context_overlap": _coverage(task[1], bag),
            "agreement": _mean(_overlap(bag, other) for place, other in enumerate(bags) if place != at),
        }
        for at, (sequence, bag) in enumerate(zip(sequences, bags, strict=True))
    ]


def begins_with_verb(step: str) -> bool:
    """Return True if a step begins like an instruction: its first word may be a verb in the imperative.

    It is none if it has no letter, is a pronoun, auxiliary, conjunction, preposition or the like, or has an ending that
    such verbs do not have (-ing, -ly, -tion, -ness, -ment; some that have are known).
    """
    first = next(iter(words(step)), "")
    if not any(letter.isalpha() for letter in first) or first in _NO_VERBS:
        return False
    return first in _VERBS_ENDING_SO or not first.endswith(_NO_VERB_ENDINGS)


def _own_features(sequence: Sequence[str], bag: Counter[str]) -> dict[str, float]:
    """Return the features that need neither the task nor the other samples."""
    words_of_steps = [words(step) for step in sequence]
    lengths = [*map(len, words_of_steps)]
    mean = _mean(lengths)
    return {
        "steps": float(len(sequence)),
        "mean_words": mean,
        "words_variance": _mean((length - mean) ** 2 for length in lengths),
        "imperative_share": _mean(map(begins_with_verb, sequence)),
        "anaphora_share": _mean(not _ANAPHORA.isdisjoint(step) for step in words_of_steps),
        "distinct_words": len(bag) / bag.total() if bag else 0.0,
        "near_duplicates": _count_duplicates(sequence) / len(sequence),
    }


def _count_duplicates(sequence: Sequence[str]) -> int:
    words_of_steps = [content_words(step) for step in sequence]
    return sum(
        any(near_duplicates(step, other) for other in words_of_steps[:at]) for at, step in enumerate(words_of_steps)
    )


def _content_counts(sequence: Sequence[str]) -> Counter[str]:
    return Counter(word for step in sequence for word, _ in content_words(step))


def _coverage(title_words: set[str], bag: Counter[str]) -> float:
    return sum(word in bag for word in title_words) / len(title_words) if title_words else 0.0


def _overlap(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else 0.0
