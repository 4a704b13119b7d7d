"""The file of coefficients by which the methods `filter` rank sequences: written by `tasklama fit`, read by runs.

The features by which a filter ranks sequences of steps, computed from task and sequences alone, never from gold.

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

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any, Final, NoReturn

from ....errors import UsageError
from ....scoring.task_graphs.step_matching import words
from ....trial import Json
from .multiple_sequences import FUNCTION_WORDS, content_words, near_duplicates

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
FORMAT: Final = 1
_LARGEST: Final = 1e100  # of a number in the file: sums of products stay finite
_SMALLEST_SCALE: Final = 1e-9
_LISTS: Final = ("mean", "scale", "coefficients")
_FIT_AGAIN: Final = "write the file anew: python -m pytest_taskgraph tasklama fit RECORD --out FILE"


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


@dataclass(frozen=True, slots=True)
class FilterModel:
    """A linear model of how good a sequence is.

    Args:
        features: Names of features, in the order of the three lists.
        mean: What is taken from each feature.
        scale: What it is then divided by; at least 1e-9.
        coefficients: What it is then multiplied by.
        intercept: What is added to the sum.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float

    def scores(self, title: str, context: Sequence[str], sequences: Sequence[Sequence[str]]) -> list[float]:
        """Return the predicted quality of each of the sequences that were sampled for a task."""
        terms = list(zip(self.features, self.mean, self.scale, self.coefficients, strict=True))
        return [
            math.fsum([self.intercept, *((values[name] - mean) / scale * by for name, mean, scale, by in terms)])
            for values in features_of(title, context, sequences)
        ]

    def to_json(self) -> dict[str, Json]:
        """Return the model as plain JSON values, for a file; `from_json` gives it back."""
        return {
            "format": FORMAT,
            "features": [*self.features],
            "mean": [*self.mean],
            "scale": [*self.scale],
            "coefficients": [*self.coefficients],
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, data: object, where: str) -> FilterModel:
        """Return the model that JSON states; values that it does not need are ignored.

        Args:
            data: The JSON value.
            where: Where it stands, for messages.

        Raises:
            UsageError: if it does not state a model.
        """
        if not isinstance(data, Mapping):
            _refuse(where, f"found {_excerpt(data)}; expected a JSON object")
        if data.get("format") != FORMAT or isinstance(data.get("format"), bool):
            _refuse(f"{where}: format", f"found {_excerpt(data.get('format'))}; expected {FORMAT}")
        features = _names(data.get("features"), where)
        lists = {name: _numbers(data.get(name), len(features), f"{where}: {name}") for name in _LISTS}
        if (low := next((at for at, scale in enumerate(lists["scale"]) if scale < _SMALLEST_SCALE), None)) is not None:
            _refuse(f"{where}: scale[{low}]", f"found {lists['scale'][low]:g}; expected at least {_SMALLEST_SCALE:g}")
        intercept = _number(data.get("intercept"), f"{where}: intercept")
        return cls(features, lists["mean"], lists["scale"], lists["coefficients"], intercept)


def read_filter(path: str | Path) -> FilterModel:
    """Return the model of a file of coefficients.

    Raises:
        UsageError: if the file cannot be read, or does not state a model.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        _refuse(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        _refuse(f"{path}:{error.lineno}", f"malformed JSON: {error.msg}")
    except (ValueError, RecursionError) as error:
        _refuse(str(path), f"the JSON cannot be read: {error}")
    return FilterModel.from_json(data, str(path))


def _names(names: object, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names:
        _refuse(f"{where}: features", f"found {_excerpt(names)}; expected a list of names")
    for at, name in enumerate(names):
        if name not in FEATURES:
            _refuse(f"{where}: features[{at}]", f"unknown feature {_excerpt(name)}; known: {', '.join(FEATURES)}")
        if name in names[:at]:
            _refuse(f"{where}: features[{at}]", f"found {name} twice; expected each feature once")
    return tuple(map(str, names))


def _numbers(values: object, expected: int, where: str) -> tuple[float, ...]:
    if not isinstance(values, list):
        _refuse(where, f"found {_excerpt(values)}; expected a list of {expected} numbers, one for each feature")
    if len(values) != expected:
        _refuse(where, f"found {len(values)} values; expected {expected} numbers, one for each feature")
    return tuple(_number(value, f"{where}[{at}]") for at, value in enumerate(values))


def _number(value: Any, where: str) -> float:  # noqa: ANN401 - any JSON value
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= _LARGEST:
        _refuse(where, f"found {_excerpt(value)}; expected a number from -{_LARGEST:g} to {_LARGEST:g}")
    return number


def _excerpt(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.60}"


def _refuse(where: str, what: str) -> NoReturn:
    raise UsageError(f"{where}: {what}; {_FIT_AGAIN}")
