"""Clusters of near-duplicate queries, how strongly they are associated in sessions, and which one a task belongs to.

Queries with the same content words (`content_stems`: stop words, order and plural do not count) are near-duplicates,
and so are queries of which one has all words of the other, three or more, and one word besides. The sets of words are
taken by their frequency, the most frequent first: each joins a leader that is its near-duplicate, else it leads a
cluster of its own. So no chain of small steps puts unlike queries together. Leaders are looked up by their words, and
by their words without one: the time grows with the size of the sessions, not with its square.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from typing import Final

from .content_words import LONGEST_TEXT, content_stems
from .set_overlap import association
from .tuning import MOST_STEPS

_LEAST_SHARED: Final = 3  # words that two near-duplicates share which are not the same
_MOST_WORDS: Final = 20  # of a near-duplicate that is not the same; the work grows with their square
_MOST_MATCHED: Final = 2_000  # items that share a word with a task: the most frequent ones

Words = tuple[str, ...]


class QueryClusters:
    """The clusters of the queries of sessions. A cluster is a number from 0, in the order of its leader's frequency.

    Args:
        sessions: The different queries of each session.
    """

    def __init__(self, sessions: Sequence[Sequence[str]]) -> None:
        self._frequency = Counter(chain.from_iterable(sessions))
        words_of = {query: content_stems(query) for query in self._frequency}
        frequencies: Counter[Words] = Counter()
        for query, words in words_of.items():
            frequencies[words] += self._frequency[query]
        self._items = sorted(frequencies, key=lambda words: (-frequencies[words], words))
        self._leaders, self._cluster_of = _near_duplicates(self._items)
        self._queries: list[list[str]] = [[] for _ in self._leaders]
        for query, words in words_of.items():
            self._queries[self._cluster_of[words]].append(query)
        self._clusters_in = [
            tuple(dict.fromkeys(self._cluster_of[words_of[query]] for query in session)) for session in sessions
        ]
        self._sessions_with: list[list[int]] = [[] for _ in self._leaders]
        for at, clusters in enumerate(self._clusters_in):
            for cluster in clusters:
                self._sessions_with[cluster].append(at)

    def __len__(self) -> int:
        return len(self._leaders)

    def queries(self, cluster: int) -> list[str]:
        """Return the queries of a cluster, the most frequent first; among equals the shorter one, then by letter."""
        return sorted(self._queries[cluster], key=lambda query: (-self._frequency[query], len(query), query))

    def words(self, cluster: int) -> frozenset[str]:
        """Return the content words of the leader of a cluster."""
        return frozenset(self._leaders[cluster])

    def sessions(self, cluster: int) -> int:
        """Return the number of sessions with queries of a cluster."""
        return len(self._sessions_with[cluster])

    def joint(self, cluster: int) -> Counter[int]:
        """Return in how many of the sessions of a cluster each cluster occurs; itself in all of them."""
        return Counter(chain.from_iterable(self._clusters_in[at] for at in self._sessions_with[cluster]))

    def cluster_of(self, title: str) -> int | None:
        """Return the cluster most similar to a task: that of the query with the largest Jaccard index of words.

        Among equals it is the cluster with more sessions. None if no query shares a content word with the title.
        """
        words = content_stems(title[:LONGEST_TEXT])
        if words in self._cluster_of:
            return self._cluster_of[words]
        shared = Counter(chain.from_iterable(self._items_with.get(word, ()) for word in words))

        def rank(at: int) -> tuple[float, int, int]:
            cluster = self._cluster_of[self._items[at]]
            union = len(words) + len(self._items[at]) - shared[at]
            return -shared[at] / union, -self.sessions(cluster), cluster

        return self._cluster_of[self._items[min(shared, key=rank)]] if shared else None

    def co_occurring(self, cluster: int) -> list[int]:
        """Return at most 20 other clusters that share sessions with a cluster, by `association` over sessions.

        Among equals, those that share more sessions stand first.
        """
        joint = self.joint(cluster)
        own = joint.pop(cluster)

        def rank(other: int) -> tuple[float, int, int]:
            return -association(joint[other], own, self.sessions(other)), -joint[other], other

        return nsmallest(MOST_STEPS, joint, key=rank)

    @cached_property
    def _items_with(self) -> dict[str, list[int]]:
        """The items with each word."""
        items: defaultdict[str, list[int]] = defaultdict(list)
        for at, words in enumerate(self._items):
            for word in words:
                if len(items[word]) < _MOST_MATCHED:
                    items[word].append(at)
        return dict(items)


def _near_duplicates(items: Iterable[Words]) -> tuple[list[Words], dict[Words, int]]:
    """Return the leaders among items, and from each item to the number of its leader.

    An item rather joins a leader with one word more than one with a word less, the first one among equals.

    Args:
        items: Different sets of words, the most frequent first.
    """
    leaders: list[Words] = []
    number_of: dict[Words, int] = {}
    longer: dict[Words, int] = {}  # from the words of a leader without one of them
    cluster_of: dict[Words, int] = {}
    for item in items:
        shorter = [item[:at] + item[at + 1 :] for at in range(len(item))] if len(item) <= _MOST_WORDS else []
        shorter = [words for words in shorter if len(words) >= _LEAST_SHARED]
        leader = longer.get(item)
        if leader is None:
            leader = min((number_of[words] for words in shorter if words in number_of), default=len(leaders))
        if leader == len(leaders):
            leaders.append(item)
            number_of[item] = leader
            for words in shorter:
                longer.setdefault(words, leader)
        cluster_of[item] = leader
    return leaders, cluster_of
