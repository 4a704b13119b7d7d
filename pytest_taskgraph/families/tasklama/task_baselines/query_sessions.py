"""The sessions of queries that a user supplies, a line each: queries with tabs between, or a JSON list of texts.

plan a wedding	wedding venues near me	wedding invitations
["sourdough bread recipe", "sourdough starter"]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....errors import UsageError
from ....scoring.name_lists import quote_start
from .content_words import LONGEST_TEXT, has_words, normal_text
from .data_lines import LineProblems, printable, read_lines

QUERY_DATA: Final = "tasklama-queries"
QUERY_FORMAT: Final = "a session a line: its queries with tabs between, or a JSON list of texts"
MOST_QUERIES: Final = 50  # different ones of a session; the work grows with its square
MOST_SESSIONS: Final = 1_000_000


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
