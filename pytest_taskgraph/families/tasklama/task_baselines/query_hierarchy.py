"""A second level of clusters above those of near-duplicates: clusters of similar intent.

After Mehrotra and Yilmaz (2017), who weigh both what queries say and where they are asked, two clusters are as
similar in intent as the greater of two values: the Jaccard index of their leaders' content words, and their
`association` over sessions. The clusters are taken by their number of sessions, the largest first: each joins the
most similar leader, if the similarity is at least 1/4, else it leads a cluster of level two.

Only the 10,000 clusters with most sessions are clustered. Another one, to which a task belongs, has the members of the
leader that is most similar to it for siblings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import nsmallest
from typing import Final

from .query_clusters import QueryClusters
from .set_overlap import association, jaccard_index
from .tuning import MOST_STEPS

SIMILAR_INTENT: Final = 1 / 4
_MOST_CLUSTERED: Final = 10_000
_MOST_COMPARED: Final = 100  # leaders that share a word: those with most sessions


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
