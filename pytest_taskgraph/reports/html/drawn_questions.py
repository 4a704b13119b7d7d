"""Questions whose drawings are in the page: a stated number of them, for a drawing costs more than its question.

A drawing takes about 3 ms and a pair 5 ms, as long as all else about a question; so the page of a large run has those
of the answers that are looked at first.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

from ...trial import Trial

MOST_DRAWN: Final = 60  # subjects of questions, and pairs of an expected and a given answer
MOST_NOT_RIGHT: Final = 50  # of these, for answers that are neither right nor graded: a page of the list
_Key = TypeVar("_Key", bound=Hashable)
_ORDER = {"graded": 1, "right": 2, "skipped": 3}  # what is not right comes first


@dataclass(frozen=True, slots=True)
class DrawnQuestions:
    """What the page draws: subjects by cluster, and pairs by the id of the question and the model."""

    clusters: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def sort_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials in the order of the page: not right, graded, right, skipped; else their order stays."""
    return sorted(trials, key=_rank)


def select_drawn(trials: Sequence[Trial], diagrams: Collection[str]) -> DrawnQuestions:
    """Return what the page draws of the trials.

    Questions about the same subject share its drawing, so that the page may draw it for more than MOST_DRAWN of them.

    Args:
        trials: The trials, in the order of the page.
        diagrams: The clusters whose diagrams the record has.
    """
    subjects = ((trial.question.cluster, _rank(trial)) for trial in trials if trial.question.cluster in diagrams)
    pairs = (((trial.question.id, trial.model), _rank(trial)) for trial in trials if trial.diagram_pair)
    return DrawnQuestions(frozenset(_select(subjects)), frozenset(_select(pairs)))


def _rank(trial: Trial) -> int:
    return _ORDER.get(trial.outcome, 0)


def _select(ranked: Iterable[tuple[_Key, int]]) -> Iterator[_Key]:
    """Return the first MOST_DRAWN different keys, of which at most MOST_NOT_RIGHT are of rank 0."""
    ranks: dict[_Key, int] = {}
    for key, rank in ranked:
        ranks.setdefault(key, rank)
    first = islice((key for key, rank in ranks.items() if rank == 0), MOST_NOT_RIGHT)
    others = (key for key, rank in ranks.items() if rank > 0)
    return islice((key for keys in (first, others) for key in keys), MOST_DRAWN)
