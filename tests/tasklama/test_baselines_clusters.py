"""Clusters of queries, worked out by hand, and against a comparison of everything with everything."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from pytest_taskgraph.families.tasklama.task_baselines import query_clusters
from pytest_taskgraph.families.tasklama.task_baselines.content_words import (
    association,
    content_stems,
    jaccard_index,
    stem,
)
from pytest_taskgraph.families.tasklama.task_baselines.query_clusters import QueryClusters, QueryHierarchy

SESSIONS = [
    ["plan a wedding", "wedding venues", "wedding invitations", "weather"],
    ["how to plan a wedding", "wedding venues", "florist prices"],
    ["plan a wedding", "wedding invitations", "wedding venue"],
    ["plan wedding", "florist prices"],
    ["weather", "football scores"],
    ["weather", "news"],
    ["weather", "plan a wedding"],
    ["sourdough bread recipe", "feed sourdough starter", "weather"],
    ["sourdough bread recipe", "feed sourdough starter", "dutch oven"],
]


def representatives(clusters: QueryClusters, numbers: list[int]) -> list[str]:
    return [clusters.queries(number)[0] for number in numbers]


def cluster(clusters: QueryClusters, title: str) -> int:
    number = clusters.cluster_of(title)
    assert number is not None
    return number


@pytest.mark.parametrize(
    ("singular", "plural"),
    [("city", "cities"), ("cookie", "cookies"), ("pie", "pies"), ("potato", "potatoes"), ("shoe", "shoes"),
     ("dish", "dishes"), ("box", "boxes"), ("glass", "glasses"), ("venue", "venues"), ("key", "keys"), ("toe", "toes")],
)  # fmt: skip
def test_stem_of_a_noun_is_that_of_its_plural(singular: str, plural: str) -> None:
    assert stem(singular) == stem(plural)


@pytest.mark.parametrize("word", ["glass", "bus", "cactus", "gas", "dress", "as"])
def test_stem_of_a_singular_in_s_is_the_word(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How to plan a Wedding", ("plan", "wedding")),
        ("Renew the driver's licence", ("driver", "licence", "renew")),
        ("How to do it", ("do", "how", "it", "to")),
        ("ﬁnd  Straße 12", ("12", "find", "strasse")),
        ("?!", ()),
    ],
)
def test_content_stems_of_a_text_are_sorted_and_distinct(text: str, expected: tuple[str, ...]) -> None:
    assert content_stems(text) == expected


def test_association_of_rare_things_is_discounted() -> None:
    assert association(0, 3, 5) == 0.0
    assert association(1, 1, 1) == 0.5
    assert association(4, 4, 4) == 0.8
    assert association(2, 4, 9) == pytest.approx(2 / 6 * 2 / 3)


def test_clusters_same_content_words_are_one_cluster() -> None:
    clusters = QueryClusters(SESSIONS)
    assert clusters.queries(cluster(clusters, "Plan weddings")) == [
        "plan a wedding",  # three sessions
        "plan wedding",  # one, and shorter
        "how to plan a wedding",
    ]
    assert clusters.queries(cluster(clusters, "A venue for the wedding")) == ["wedding venues", "wedding venue"]


def test_query_with_one_word_more_than_three_joins_them_and_more_do_not() -> None:
    queries = ["red brick wall", "red brick wall repair", "red brick wall repair cost"]
    clusters = QueryClusters([queries[:count] for count in (3, 2, 1)])
    # The longest one has two words more than the leader, though one more than a query that leads nothing.
    assert [clusters.queries(number) for number in range(len(clusters))] == [
        ["red brick wall", "red brick wall repair"],
        ["red brick wall repair cost"],
    ]


def test_cluster_of_a_title_without_words_of_any_query_is_none() -> None:
    clusters = QueryClusters(SESSIONS)
    assert clusters.cluster_of("Change a tyre") is None
    assert clusters.cluster_of("?!") is None


def test_cluster_of_a_title_among_equals_is_the_one_in_more_sessions() -> None:
    clusters = QueryClusters([["bake bread"], ["bake pie"], ["bake pie", "eat"]])
    assert clusters.queries(cluster(clusters, "Bake a cake")) == ["bake pie"]


def test_co_occurring_clusters_are_ranked_by_association() -> None:
    clusters = QueryClusters(SESSIONS)
    # The wedding is in 5 sessions. venues: 3 of 3, 3/4 · 3/√15 = 0.581. invitations and florist: 2 of 2,
    # 2/3 · 2/√10 = 0.422, by number: both leaders have 2 queries, "florist" is before "invitation".
    # weather: 2 of 5, 2/3 · 2/5 = 0.267.
    assert representatives(clusters, clusters.co_occurring(cluster(clusters, "Plan a wedding"))) == [
        "wedding venues", "florist prices", "wedding invitations", "weather",
    ]  # fmt: skip


def test_siblings_are_similar_in_words_or_in_sessions() -> None:
    clusters = QueryClusters(SESSIONS)
    hierarchy = QueryHierarchy(clusters)
    # The weather is in 5 sessions, the news in one of them: 1/2 · 1/√5 = 0.224 is below 1/4.
    assert representatives(clusters, hierarchy.siblings(cluster(clusters, "Plan a wedding"))) == [
        "wedding venues", "florist prices", "wedding invitations", "weather",
    ]  # fmt: skip
    assert representatives(clusters, hierarchy.siblings(cluster(clusters, "Bake sourdough bread"))) == [
        "feed sourdough starter", "dutch oven",
    ]  # fmt: skip
    assert hierarchy.siblings(cluster(clusters, "Read the news")) == []


def test_cluster_beyond_the_largest_ones_has_the_siblings_of_its_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_clusters, "_MOST_CLUSTERED", 3)
    clusters = QueryClusters(
        [["oak tree", "oak table"], ["oak tree", "oak table"], ["oak tree", "pine"], ["oak"], ["ash"], ["yew"]]
    )
    hierarchy = QueryHierarchy(clusters)
    # Three are clustered: the tree, the table and the ash. The pine shares 1 of 3 sessions with the tree: 0.289.
    assert representatives(clusters, hierarchy.siblings(cluster(clusters, "Plant an oak tree"))) == ["oak table"]
    assert representatives(clusters, hierarchy.siblings(cluster(clusters, "Oak"))) == ["oak tree", "oak table"]
    assert representatives(clusters, hierarchy.siblings(cluster(clusters, "Pine"))) == ["oak tree", "oak table"]
    assert hierarchy.siblings(cluster(clusters, "Yew")) == []


every_seed = pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 10))]
)


def random_sessions(seed: int) -> list[list[str]]:
    rng = Random(seed)
    words = [f"word{number}" for number in range(9)]
    return [
        [*dict.fromkeys(" ".join(rng.sample(words, rng.randint(1, 6))) for _ in range(rng.randint(1, 5)))]
        for _ in range(60)
    ]


@every_seed
def test_clusters_of_random_sessions_are_those_of_comparing_all(seed: int) -> None:
    sessions = random_sessions(seed)
    clusters = QueryClusters(sessions)
    queries = [query for session in sessions for query in session]
    stems = {query: frozenset(content_stems(query)) for query in queries}
    frequency = Counter(stems[query] for query in queries)
    leaders: list[frozenset[str]] = []
    members: dict[frozenset[str], set[str]] = {}
    for key in sorted(frequency, key=lambda other_step: (-frequency[other_step], sorted(other_step))):
        near = [
            other_step
            for other_step in leaders
            if abs(len(other_step) - len(key)) == 1 and len(other_step & key) == min(len(other_step), len(key))
        ]
        near = [other_step for other_step in near if len(other_step & key) >= 3]
        leader = next((other_step for other_step in near if other_step > key), near[0] if near else key)
        leaders += [leader] * (leader not in leaders)
        members.setdefault(leader, set()).update(q for q in queries if stems[q] == key)
    assert [set(clusters.queries(number)) for number in range(len(clusters))] == [
        members[other_step] for other_step in leaders
    ]


@every_seed
def test_ranking_of_random_sessions_is_that_of_counting_all(seed: int) -> None:
    sessions = random_sessions(seed)
    clusters = QueryClusters(sessions)
    numbers = {query: number for number in range(len(clusters)) for query in clusters.queries(number)}
    sessions_by_number = [{numbers[query] for query in session} for session in sessions]
    for number in range(0, len(clusters), 7):
        shared = {
            other: (
                joint,
                association(
                    joint, sum(number in s for s in sessions_by_number), sum(other in s for s in sessions_by_number)
                ),
            )
            for other in range(len(clusters))
            if other != number and (joint := sum({number, other} <= session for session in sessions_by_number))
        }
        expected = sorted(shared, key=lambda other: (-shared[other][1], -shared[other][0], other))
        assert clusters.co_occurring(number) == expected[:20]


@pytest.mark.parametrize("seed", range(5))
def test_siblings_of_random_sessions_are_those_of_comparing_all(seed: int) -> None:
    sessions = random_sessions(seed)
    clusters = QueryClusters(sessions)
    count = len(clusters)

    def intent(first: int, other: int) -> float:
        joint = association(clusters.joint(first)[other], clusters.sessions(first), clusters.sessions(other))
        return max(jaccard_index(clusters.words(first), clusters.words(other)), joint)

    leader_of: dict[int, int] = {}
    for first in sorted(range(count), key=lambda number: (-clusters.sessions(number), number)):
        leaders = sorted({*leader_of.values()}, key=lambda leader: (-intent(first, leader), leader))
        leader_of[first] = leaders[0] if leaders and intent(first, leaders[0]) >= 0.25 else first
    hierarchy = QueryHierarchy(clusters)
    pairs = [(first, other) for first, other in combinations(range(count), 2) if leader_of[first] == leader_of[other]]
    assert len(pairs) > 20
    for first in range(count):
        others = [other for other in range(count) if other != first and leader_of[other] == leader_of[first]]
        others.sort(key=lambda other: (-intent(first, other), -clusters.sessions(other), other))
        assert hierarchy.siblings(first) == others[:20]
