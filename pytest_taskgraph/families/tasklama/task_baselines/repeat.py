"""Steps that repeat the task: "Repeat Task" and "Repeat Similar" of Yuan et al. (2024).

A file of the user lists similar words; without it, words are similar that occur in the same training tasks. A line of
the file holds a word, a tab or blanks, and the words similar to it, the most similar first:

    smoothie	yogurt juice strawberry granola

Such a list is made from word vectors such as those of GloVe (Pennington, Socher and Manning 2014).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final

from ....errors import UsageError
from ....scoring.name_lists import quote_start
from ..complex_task import ComplexTask
from .content_words import association, is_stop_word, normal_text, plain_words, stem, word_spans
from .data_lines import LineProblems, printable, read_lines
from .list_length import MOST_STEPS

SimilarWords = Callable[[str], Sequence[str]]
"""From a word in lower case to the words similar to it, the most similar first."""

SIMILAR_DATA: Final = "tasklama-similar"
SIMILAR_FORMAT: Final = "lines of a word, a tab or blanks, and similar words with blanks between, most similar first"
MOST_SIMILAR: Final = 20  # words that are taken for similar to one
_VALUE = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")


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
    used: Counter[tuple[int, int]] = Counter()
    steps = []
    for at in range(MOST_STEPS):
        step = title
        if spans:
            begin, end = span = Random(f"{seed}|repeat-similar|{title}|{at}").choice(spans)
            word = title[begin:end]
            if others := similar(normal_text(word)):
                other = others[used[span] % len(others)]
                step = title[:begin] + (other[:1].upper() + other[1:] if word[0].isupper() else other) + title[end:]
            used[span] += 1
        steps.append(step)
    return steps


class ListedWords:
    """The similar words that a file lists.

    Attributes:
        problems: Messages about lines that cannot be used.

    Raises:
        UsageError: if the file cannot be read, or no line of it can be used.
    """

    def __init__(self, path: Path) -> None:
        problems = LineProblems(path)
        self._listed: dict[str, str] = {}  # unsplit: a vocabulary of vectors has some 400,000 words
        self._with_stem: dict[str, str] = {}
        for number, line in read_lines(path, problems):
            word, *rest = printable(line).split(maxsplit=1) or [""]
            word = normal_text(word)
            if not rest:
                problems.add(number, f"the word {quote_start(word)} alone", SIMILAR_FORMAT)
            elif _is_vector(rest[0]):
                problems.add(number, f"the vector of {quote_start(word)}", SIMILAR_FORMAT)
            elif word in self._listed:
                problems.add(number, f"the word {quote_start(word)} again", "one line for each word")
            else:
                self._listed[word] = rest[0]
                self._with_stem.setdefault(stem(word), word)
        self.problems = problems.messages()
        if not self._listed:
            problem = self.problems[0] if self.problems else f"{path} is empty"
            raise UsageError(f"--taskgraph-data={SIMILAR_DATA}: no similar words; expected {SIMILAR_FORMAT}; {problem}")

    def __call__(self, word: str) -> Sequence[str]:
        """Return the words listed for a word, else for the first one with its stem."""
        similar = self._listed.get(word) or self._listed.get(self._with_stem.get(stem(word), ""), "")
        others = (other for other in similar.split() if normal_text(other) != word)
        return list(dict.fromkeys(others))[:MOST_SIMILAR]


def _is_vector(text: str) -> bool:
    """Return True if the text behind a word is the values of its vector, not words; years are words."""
    return all(_VALUE.fullmatch(value) for value in text.split(maxsplit=3)[:3])


class WordsOfTasks:
    """Words are similar that occur in the same training tasks: in title, context or steps, stop words left out.

    Words of one stem are one word, of which the most frequent form is given. They are ranked by `association` over the
    tasks; among equals come those that share more tasks, then by letter.
    """

    def __init__(self, tasks: Sequence[ComplexTask]) -> None:
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._tasks: defaultdict[str, list[int]] = defaultdict(list)
        self._stems: list[list[str]] = []
        for at, task in enumerate(tasks):
            words = plain_words(" ".join((task.title, *task.context, *task.steps)))
            by_word = {word: stem(word) for word in words if not is_stop_word(word)}
            self._stems.append([*dict.fromkeys(by_word.values())])
            for word, stem_of_word in by_word.items():
                forms[stem_of_word][word] += 1
            for last_stem in self._stems[-1]:
                self._tasks[last_stem].append(at)
        self._form = {root: min(counts, key=lambda form: (-counts[form], form)) for root, counts in forms.items()}

    def __call__(self, word: str) -> Sequence[str]:
        """Return the words that occur in tasks with a word, or with another one of its stem."""
        own = stem(word)
        places = self._tasks.get(own, [])
        shared = Counter(chain.from_iterable(self._stems[at] for at in places))
        del shared[own]

        def rank(other: str) -> tuple[float, int, str]:
            joint = shared[other]
            return -association(joint, len(places), len(self._tasks[other])), -joint, other

        return [self._form[other] for other in nsmallest(MOST_SIMILAR, shared, key=rank)]
