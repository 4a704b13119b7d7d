"""How yes/no questions were answered: what was right against what was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..results.tally import ANSWERED, Tally
from ..trial import Json, Trial

ANSWERS = ("yes", "no")
NEITHER = "neither"  # unreadable or refused


@dataclass(frozen=True, slots=True)
class Confusion:
    """The answers of one model: for yes and no how often it gave yes, no, or neither."""

    model: str
    rows: list[tuple[str, list[int]]]

    @property
    def told(self) -> str:
        """How often yes was given and how often it was right, in a sentence: a lean towards one answer shows."""
        given = sum(row[1][0] for row in self.rows)
        expected = sum(self.rows[0][1])
        return f"Said yes {given:,} times; yes was right {expected:,} times."


def confusions(tally: Tally) -> list[Confusion]:
    """A table for each model that answered yes/no questions, those that also ask for a reason included."""
    found = [_confusion(model, tally.whole(model).trials) for model in tally.models]
    return [one for one in found if any(any(counts) for _, counts in one.rows)]


def _confusion(model: str, trials: Sequence[Trial]) -> Confusion:
    pairs = Counter(
        (_verdict(one.question.reference), _verdict(one.score.given if one.score else None))
        for one in trials
        if one.outcome in ANSWERED and one.question.form.startswith("yes-no")
    )
    return Confusion(model, [(right, [pairs[right, given] for given in (*ANSWERS, NEITHER)]) for right in ANSWERS])


def _verdict(answer: Json) -> str:
    told = answer.get("answer") if isinstance(answer, dict) else answer
    return told if isinstance(told, str) and told in ANSWERS else NEITHER
