"""The baselines of Yuan et al. (2024), "Task Decomposition Results", which answer without a language model.

repeat-task     the task itself as every step (`repeat`)
repeat-similar  the same with a word replaced by a similar one (`repeat`)
co-occurrence   queries that users ask in the same sessions as that of the task (`query_sessions`, `query_clusters`)
hierarchy       queries of a similar intent as that of the task (`query_hierarchy`)

`task_baseline` states what they answer to questions about dependencies, `list_length` how many steps they give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Final

from ....asking import Model
from ..task_sets import TaskSet
from ..tasklama_settings import TaskLamaSettings
from .list_length import RankedSteps
from .query_clusters import QUERY_DATA, QueryClusters, QueryHierarchy
from .repeat import SIMILAR_DATA, WordsOfTasks, repeat_similar, repeat_task
from .task_baseline import MakeRanking, TaskBaseline
from .user_data import clusters_of_queries, data_file, data_problems, listed_words

__all__ = ["BASELINES", "data_problems"]


def _repeat_task(settings: TaskLamaSettings, tasks: TaskSet) -> RankedSteps:
    return repeat_task


def _repeat_similar(settings: TaskLamaSettings, tasks: TaskSet) -> RankedSteps:
    similar = listed_words(settings) if SIMILAR_DATA in settings.data else WordsOfTasks(tasks.train)
    return partial(repeat_similar, similar=similar, seed=settings.seed)


def _co_occurrence(settings: TaskLamaSettings, tasks: TaskSet) -> RankedSteps:
    clusters = clusters_of_queries(settings)
    return _representatives(clusters, clusters.co_occurring)


def _hierarchy(settings: TaskLamaSettings, tasks: TaskSet) -> RankedSteps:
    clusters = clusters_of_queries(settings)
    return _representatives(clusters, QueryHierarchy(clusters).siblings)


def _representatives(clusters: QueryClusters, others: Callable[[int], Sequence[int]]) -> RankedSteps:
    """Return what ranks steps by the cluster of a task: the most frequent query of each of the others.

    Args:
        clusters: The clusters of queries.
        others: From a cluster to others, the best first.
    """

    @cache  # tasks of popular words are of the same few clusters
    def queries(cluster: int) -> tuple[str, ...]:
        return tuple(clusters.queries(other)[0] for other in others(cluster))

    def rank_steps(title: str) -> Sequence[str]:
        cluster = clusters.cluster_of(title)
        return () if cluster is None else queries(cluster)

    return rank_steps


def _factory(name: str, make: MakeRanking, *needed: str) -> Callable[[TaskLamaSettings], Model]:
    """Return what opens a baseline.

    Args:
        name: The name of the baseline.
        make: Makes its ranking.
        needed: The data sets without which it cannot answer.
    """

    def open_baseline(settings: TaskLamaSettings) -> Model:
        for data in needed:
            data_file(settings, data)
        return TaskBaseline(name, settings, make)

    return open_baseline


BASELINES: Final[Mapping[str, Callable[[TaskLamaSettings], Model]]] = {
    "repeat-task": _factory("repeat-task", _repeat_task),
    "repeat-similar": _factory("repeat-similar", _repeat_similar),
    "co-occurrence": _factory("co-occurrence", _co_occurrence, QUERY_DATA),
    "hierarchy": _factory("hierarchy", _hierarchy, QUERY_DATA),
}
"""From the name of a baseline to what opens it; the first is the default. Opening reads no file.

Opening one raises UsageError if a file that it needs is not stated, or is not there.
"""
