"""Who was to be asked what, against what came of it: a verdict over a part of the questions is none over them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..trial import Trial
from .tally import ANSWERED

LOST = "were lost with their worker"


@dataclass(frozen=True, slots=True)
class Declared:
    """A question that a suite holds, before it is built: what is known of it without building it."""

    id: str
    family: str
    pattern: str
    category: str
    labels: Mapping[str, str | int] = field(default_factory=dict)  # only those that need no building


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Why questions have no trial: by question id, and for all the others.

    `reasons`: what is known of single questions. `lost`: those whose worker died, after they were asked or before:
    their tests did not come to an end, so that a trial of one does not count. `chosen`: how the user selected, "-k" and
    the like; none where the user did not, and then `otherwise` tells why the others are not there.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    chosen: Sequence[str] = ()
    otherwise: str = "did not run, though nothing on the command line left them out"


@dataclass(frozen=True, slots=True)
class Population:
    """The questions of one model that have something in common: those that were answered, and why the others not."""

    answered: tuple[Trial, ...]
    errors: tuple[Trial, ...]
    unasked: Mapping[str, int]  # reason -> how many questions
    left_out: int  # by the user's own selection
    selection: str = ""  # how the user selected

    @property
    def size(self) -> int:
        """How many questions there are."""
        return len(self.answered) + len(self.errors) + sum(self.unasked.values()) + self.left_out


def population(
    trials: Iterable[Trial], declared: Iterable[Declared], where: Whereabouts, known: Callable[[str], bool]
) -> Population:
    """The trials and the declared questions of one model, put together. `known`: whether a question has a trial."""
    every = list(trials)
    found = [one for one in every if one.question.id not in where.lost]
    unasked = Counter(_why(one) for one in found if one.outcome == "skipped")
    unasked.update(LOST for _ in range(len(every) - len(found)))
    left_out = 0
    for one in declared:
        if known(one.id):
            continue
        reason = LOST if one.id in where.lost else where.reasons.get(one.id)
        if reason is None and where.chosen:
            left_out += 1
        else:
            unasked[reason or where.otherwise] += 1
    answered = tuple(one for one in found if one.outcome in ANSWERED)
    errors = tuple(one for one in found if one.outcome == "error")
    return Population(answered, errors, dict(sorted(unasked.items())), left_out, ", ".join(where.chosen))


def _why(trial: Trial) -> str:
    """The reason of a question that was not asked, the same for all that a budget stopped."""
    limit, found, _ = trial.error.partition(": ")
    return (
        f"were not asked: {limit} is spent"
        if found and limit.startswith("budget::")
        else f"were not asked: {trial.error}"
    )
