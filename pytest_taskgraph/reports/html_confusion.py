"""Right answers against given ones, for questions whose form has few and fixed answers, such as yes and no."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..results.tally import ANSWERED, Tally
from ..scoring.form import Form
from ..scoring.forms import known_form
from ..trial import Json, Trial

NEITHER = "neither"  # unparseable, refused, or no answer of the form


@dataclass(frozen=True, slots=True)
class Confusion:
    """The answers of one model: for each class of right answers how often it gave each class, or none."""

    model: str
    classes: tuple[str, ...]
    rows: list[tuple[str, list[int]]]

    @property
    def told(self) -> str:
        """How often the first class was given and how often it was right: a lean towards one answer shows."""
        given = sum(row[1][0] for row in self.rows)
        expected = sum(self.rows[0][1])
        first = self.classes[0]
        return f"Said {first} {given:,} times; {first} was right {expected:,} times."


def confusions(tally: Tally) -> list[Confusion]:
    """Return a table for each model and each set of classes that it answered questions about."""
    found = [one for model in tally.models for one in _confusions(model, tally.whole(model).trials)]
    return [one for one in found if any(any(counts) for _, counts in one.rows)]


def _confusions(model: str, trials: Sequence[Trial]) -> Iterator[Confusion]:
    """Yield the tables of one model; forms of the same classes share one."""
    pairs: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for one in trials:
        form = known_form(one.question.form)
        if form is None or not form.classes or one.outcome not in ANSWERED:
            continue
        given = _class(form, one.score.given) if one.score else NEITHER
        pairs.setdefault(form.classes, Counter())[_class(form, one.question.reference), given] += 1
    for classes, counted in pairs.items():
        rows = [(right, [counted[right, given] for given in (*classes, NEITHER)]) for right in classes]
        yield Confusion(model, classes, rows)


def _class(form: Form, answer: Json) -> str:
    told = form.classify(answer)
    return told if isinstance(told, str) and told in form.classes else NEITHER
