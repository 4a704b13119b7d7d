"""The data that users supply for baselines: where it lies, what was read from it, and what could not be used."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from ....benchmarks.settings import Settings
from ....errors import UsageError
from .query_clusters import QUERY_DATA, QUERY_FORMAT, QueryClusters, read_sessions
from .repeat import SIMILAR_DATA, SIMILAR_FORMAT, ListedWords

_FORMATS: Final = {QUERY_DATA: QUERY_FORMAT, SIMILAR_DATA: SIMILAR_FORMAT}


def data_file(settings: Settings, name: str) -> Path:
    """Return the file of a data set.

    Raises:
        UsageError: if none is stated, or there is no such file.
    """
    option = f"--taskgraph-data={name}=FILE"
    if name not in settings.data:
        raise UsageError(f"the baseline needs a file that is not stated; add {option}; its format: {_FORMATS[name]}")
    path = settings.data_path(name)
    if not path.is_file():
        raise UsageError(f"--taskgraph-data={name}: there is no file {path}; expected {_FORMATS[name]}")
    return path


def clusters_of_queries(settings: Settings) -> QueryClusters:
    """Return the clusters of the queries that the user supplies; a file is read once, unless it is changed.

    Raises:
        UsageError: if none is stated, or nothing in it can be used.
    """
    return _clusters(*_version(data_file(settings, QUERY_DATA)))[0]


def listed_words(settings: Settings) -> ListedWords:
    """Return the similar words that the user supplies; a file is read once, unless it is changed.

    Raises:
        UsageError: if none are stated, or nothing in the file can be used.
    """
    return _words(*_version(data_file(settings, SIMILAR_DATA)))


def data_problems(settings: Settings) -> tuple[str, ...]:
    """Return what cannot be used of the files that the user states for baselines, a line each.

    Raises:
        UsageError: if nothing in a file can be used.
    """
    problems: dict[str, Callable[[], tuple[str, ...]]] = {
        QUERY_DATA: lambda: _clusters(*_version(data_file(settings, QUERY_DATA)))[1],
        SIMILAR_DATA: lambda: listed_words(settings).problems,
    }
    return tuple(line for name, read in problems.items() if name in settings.data for line in read())


def _version(path: Path) -> tuple[Path, int, int]:
    """Return a path, with what changes when its file is changed."""
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=1)
def _clusters(path: Path, time: int, size: int) -> tuple[QueryClusters, tuple[str, ...]]:
    queries = read_sessions(path)
    return QueryClusters(queries.sessions), queries.problems


@lru_cache(maxsize=1)
def _words(path: Path, time: int, size: int) -> ListedWords:
    return ListedWords(path)
