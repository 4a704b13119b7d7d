"""Clusters of near-duplicate queries, how strongly they are associated in sessions, and which one a task belongs to.

Queries with the same content words (`content_stems`: stop words, order and plural do not count) are near-duplicates,
and so are queries of which one has all words of the other, three or more, and one word besides. The sets of words are
taken by their frequency, the most frequent first: each joins a leader that is its near-duplicate, else it leads a
cluster of its own. So no chain of small steps puts unlike queries together. Leaders are looked up by their words, and
by their words without one: the time grows with the size of the sessions, not with its square.

A second level holds clusters of similar intent. After Mehrotra and Yilmaz (2017), who weigh both what queries say and
where they are asked, two clusters are as similar in intent as the greater of two values: the Jaccard index of their
leaders' content words, and their `association` over sessions. The clusters are taken by their number of sessions, the
largest first: each joins the most similar leader, if the similarity is at least 1/4, else it leads a cluster of level
two. Only the 10,000 clusters with most sessions are clustered. Another one, to which a task belongs, has the members of
the leader that is most similar to it for siblings.

A user supplies sessions in a file, a line each: queries with tabs between, or a JSON list of texts.

    plan a wedding	wedding venues near me	wedding invitations
    ["sourdough bread recipe", "sourdough starter"]
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import Final

from ....errors import UsageError
from ....scoring.name_lists import quote_start
from .content_words import LONGEST_TEXT, association, content_stems, has_words, jaccard_index, normal_text
from .data_lines import LineProblems, printable, read_lines
from .list_length import MOST_STEPS

_LEAST_SHARED: Final = 3  # words that two near-duplicates share which are not the same
_MOST_WORDS: Final = 20  # of a near-duplicate that is not the same; the work grows with their square
_MOST_MATCHED: Final = 2_000  # items that share a word with a task: the most frequent ones
Words = tuple[str, ...]
SIMILAR_INTENT: Final = 1 / 4
_MOST_CLUSTERED: Final = 10_000
_MOST_COMPARED: Final = 100  # leaders that share a word: those with most sessions
QUERY_DATA: Final = "tasklama-queries"
QUERY_FORMAT: Final = "a session a line: its queries with tabs between, or a JSON list of texts"
MOST_QUERIES: Final = 50  # different ones of a session; the work grows with its square
MOST_SESSIONS: Final = 1_000_000


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


class QueryHierarchy:
    """The clusters of level two above clusters of near-duplicates."""

    def __init__(self, clusters: QueryClusters) -> None:
        self._clusters = clusters
        self._leader_of: dict[int, int] = {}
        self._members: defaultdict[int, list[int]] = defaultdict(list)
        self._leaders_with: defaultdict[str, list[int]] = defaultdict(list)
        ranked = nsmallest(
            _MOST_CLUSTERED, range(len(clusters)), key=lambda cluster: (-clusters.sessions(cluster), cluster)
        )
        for cluster in ranked:
            leader = self._most_similar_leader(cluster, clusters.joint(cluster))
            if leader is None:
                leader = cluster
                for word in clusters.words(cluster):
                    if len(self._leaders_with[word]) < _MOST_COMPARED:
                        self._leaders_with[word].append(cluster)
            self._leader_of[cluster] = leader
            self._members[leader].append(cluster)

    def siblings(self, cluster: int) -> list[int]:
        """Return at most 20 other clusters of the same cluster of level two, the most similar in intent first.

        Among equals, those with more sessions stand first.
        """
        joint = self._clusters.joint(cluster)
        leader = self._leader_of.get(cluster)
        if leader is None:
            leader = self._most_similar_leader(cluster, joint)

        def rank(other: int) -> tuple[float, int, int]:
            return -self._intent(cluster, other, joint), -self._clusters.sessions(other), other

        others = () if leader is None else (other for other in self._members[leader] if other != cluster)
        return nsmallest(MOST_STEPS, others, key=rank)

    def _most_similar_leader(self, cluster: int, joint: Counter[int]) -> int | None:
        """Return the leader that a cluster joins, the first in number among equals; None if it joins none.

        Args:
            cluster: A cluster that has no leader yet.
            joint: In how many of its sessions each cluster occurs.
        """
        alike = [leader for word in self._clusters.words(cluster) for leader in self._leaders_with.get(word, ())]
        met = [other for other in joint if self._leader_of.get(other) == other]
        intents = {leader: self._intent(cluster, leader, joint) for leader in dict.fromkeys([*alike, *met])}
        best = min(intents, key=lambda leader: (-intents[leader], leader), default=None)
        return None if best is None or intents[best] < SIMILAR_INTENT else best

    def _intent(self, first: int, second: int, joint: Counter[int]) -> float:
        """Return how similar two clusters are in intent.

        Args:
            first: A cluster.
            second: Another cluster.
            joint: In how many sessions of the first each cluster occurs.
        """
        clusters = self._clusters
        in_sessions = association(joint[second], clusters.sessions(first), clusters.sessions(second))
        return max(jaccard_index(clusters.words(first), clusters.words(second)), in_sessions)


@dataclass(frozen=True, slots=True)
class QuerySessions:
    """The sessions of a file: of each the different queries in their order, in lower case with single blanks.

    Attributes:
        sessions: The sessions; each has at least one query.
        problems: Messages about lines that cannot be used.
    """

    sessions: tuple[tuple[str, ...], ...]
    problems: tuple[str, ...]


def read_sessions(path: Path) -> QuerySessions:
    """Return the sessions of a file.

    Queries without a letter or digit are left out, as are those that are longer than 500 characters. Of a session with
    more than 50 queries the first 50 count; of a file, the first 1,000,000 sessions.

    Raises:
        UsageError: if the file cannot be read, or no line of it can be used.
    """
    problems = LineProblems(path)
    sessions: list[tuple[str, ...]] = []
    for number, line in read_lines(path, problems):
        if len(sessions) == MOST_SESSIONS:
            problems.add(number, "further sessions", f"at most {MOST_SESSIONS:,}")
            break
        queries = _queries(number, line, problems)
        if len(queries) > MOST_QUERIES:
            problems.add(
                number, f"{len(queries)} queries", f"at most {MOST_QUERIES} in a session; the first ones count"
            )
        if queries:
            sessions.append(tuple(queries[:MOST_QUERIES]))
    messages = problems.messages()
    if not sessions:
        problem = messages[0] if messages else f"{path} is empty"
        raise UsageError(f"--taskgraph-data={QUERY_DATA}: no sessions; expected {QUERY_FORMAT}; {problem}")
    return QuerySessions(tuple(sessions), messages)


def _queries(number: int, line: str, problems: LineProblems) -> Sequence[str]:
    """Return the queries of a line; none where it cannot be used, which is then among the problems."""
    stated: object = line.split("\t")
    if line.lstrip().startswith("["):
        try:
            stated = json.loads(line)
        except (ValueError, RecursionError):
            stated = None
    if not isinstance(stated, list) or not all(isinstance(query, str) for query in stated):
        problems.add(number, quote_start(line), QUERY_FORMAT)
        return ()
    short = [query for query in stated if len(query) <= LONGEST_TEXT]
    if len(short) < len(stated):
        problems.add(number, "a longer query", f"at most {LONGEST_TEXT} characters")
    queries = [query for query in dict.fromkeys(normal_text(printable(query)) for query in short) if has_words(query)]
    if not queries and short == stated:
        problems.add(number, quote_start(line), "queries with words")
    return queries
