"""The actions that a text mentioned so far, found again by the same or by similar words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ....workflow.procedural_graph import ProceduralNode
from .procedure_tree import TreeSequence
from .verb_lexicon import verb_of
from .word_sets import word_overlap, word_set

MOST_COMPARED: Final = 300  # of the last actions, by similarity
_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = word_set("the a an of to for in on at with and or his her its their this that it them by from")


class KnownActions:
    """Actions by their words, and the sequence in which each stands."""

    def __init__(self) -> None:
        self._by_words: dict[str, list[ProceduralNode]] = {}
        self._homes: dict[ProceduralNode, TreeSequence] = {}
        self._stems: dict[ProceduralNode, frozenset[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._homes)

    def put(self, node: ProceduralNode, sequence: TreeSequence) -> None:
        """State where an action stands."""
        if node not in self._homes:
            self._by_words.setdefault(_key(node.text), []).append(node)
            self._stems[node] = _stems(node.text)
        self._homes[node] = sequence

    def home(self, node: ProceduralNode) -> TreeSequence:
        """Return the sequence in which an action stands."""
        return self._homes[node]

    def find(self, text: str, actor: str = "") -> ProceduralNode | None:
        """Return the action of these words, articles aside: of this actor, else where one of the two has none."""
        candidates = self._by_words.get(_key(text), [])
        for node in candidates:
            if node.actor.casefold() == actor.casefold():
                return node
        return next((node for node in candidates if not actor or not node.actor), None)

    def similar(self, text: str, actor: str = "", least: float = 0.5) -> ProceduralNode | None:
        """Return the action of the most similar words, the last among equals; none below the least similarity.

        Args:
            text: The words.
            actor: Who does it; empty for anyone.
            least: The least Jaccard index of the stems.
        """
        exact = self.find(text, actor) or self._by_words.get(_key(text), [None])[0]
        if exact is not None:
            return exact
        stems = _stems(text)
        best, best_node = least, None
        for node in list(self._homes)[-MOST_COMPARED:]:
            other = self._stems[node]
            similarity = word_overlap(stems, other)
            if similarity >= best:
                best, best_node = similarity, node
        return best_node


def _key(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in ("the", "a", "an"))


def _stems(text: str) -> frozenset[str]:
    words: Iterable[str] = (word for word in _WORD.findall(text.lower()) if word not in _FUNCTION_WORDS)
    return frozenset(verb[0] if (verb := verb_of(word)) else word.removesuffix("s") for word in words)
