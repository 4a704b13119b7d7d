"""Check of the descriptions of a vocabulary's tasks against their names and data."""

from __future__ import annotations

import re

from pytest_taskgraph.generation.vocabularies import Vocabulary, VocabularyEntry

_COMMON = {"the", "and", "for", "with", "that", "its", "from", "into", "has", "all", "one", "out", "who", "are", "was"}
_SMALL_WORDS = frozenset(_COMMON | {"not", "they", "their", "what"})
_STEM = 5  # letters


def undescribed(words: Vocabulary) -> set[str]:
    """Return the tasks whose description has no word in common with their names, their data and what these are.

    Words are compared by their first letters. Descriptions do not repeat names, but nearly all mention their data.
    """
    data_descriptions = dict(words.data)
    return {
        task.name
        for task in words.tasks
        if not _stems(task.description) & _stems(_context_words(task, data_descriptions))
    }


def _context_words(task: VocabularyEntry, data_descriptions: dict[str, str]) -> str:
    data = (*task.reads, *task.writes)
    return " ".join((task.name, *data, *(data_descriptions[name] for name in data)))


def _stems(text: str) -> set[str]:
    parts = re.findall(r"[a-z]{3,}", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return {part[:_STEM] for part in parts} - _SMALL_WORDS
