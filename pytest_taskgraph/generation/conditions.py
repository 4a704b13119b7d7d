"""Draws guards: conditions on one parameter that provably exclude each other, or provably overlap and leave no gap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from ..workflow.model import OTHERWISE, Domain
from .vocabularies import Vocabulary


class Names:
    """Gives out names, each once; when the words of a kind are used up, they are numbered."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, word: str) -> str:
        """The word, or the word with the least number, from 2 on, that makes it new."""
        name, number = word, 1
        while name in self._taken:
            number += 1
            name = f"{word}{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class Choice:
    """The guards of one task's links, on one parameter."""

    guards: list[str]
    parameter: str
    domain: Domain
    change: str = ""  # what a task in the body of a loop makes of the parameter


class Conditions:
    """Draws the guards of one workflow; every choice has a parameter of its own, so choices are independent."""

    def __init__(self, vocabulary: Vocabulary, names: Names, rng: Random) -> None:
        self.vocabulary, self.names, self.rng = vocabulary, names, rng

    def exclusive(self, count: int) -> Choice:
        """`count` guards of which exactly one holds, over integers as over reals; sometimes the last is "otherwise"."""
        modes = [one for one in self.vocabulary.modes if len(one[1]) >= count]
        if modes and self.rng.random() > 0.6:
            return self._words(count, *self.rng.choice(modes))
        name, high = self._measure(count)
        cuts = sorted(self.rng.sample(list(range(1, high)), count - 1))
        between = [f"{name} >= {low} and {name} < {top}" for low, top in pairwise(cuts)]
        last = OTHERWISE if self.rng.random() > 0.5 else f"{name} >= {cuts[-1]}"
        return Choice([f"{name} < {cuts[0]}", *between, last], name, self._numbers(high))

    def _words(self, count: int, mode: str, words: tuple[str, ...]) -> Choice:
        name = self.names.take(mode)
        chosen = self.rng.sample(list(words), count)
        return Choice([*(f"{name} = {word}" for word in chosen[:-1]), OTHERWISE], name, Domain("words", words=words))

    def inclusive(self, count: int) -> Choice:
        """`count` guards of which always one holds, and sometimes several do.

        "p > a" and "p < b" with a whole number between a and b leave no gap and overlap.
        """
        name, high = self._measure(count)
        low = 1 + self.rng.randrange(high - 4)
        top = low + 2 + self.rng.randrange(high - low - 2)
        others = self.rng.sample(list(range(1, high)), count - 2)
        further = [f"{name} {self.rng.choice(['>=', '<='])} {cut}" for cut in others]
        return Choice([f"{name} > {low}", f"{name} < {top}", *further], name, self._numbers(high))

    def mixed(self) -> Choice:
        """The one guard beside an unguarded link."""
        name, high = self._measure(2)
        return Choice([f"{name} > {1 + self.rng.randrange(high - 2)}"], name, self._numbers(high))

    def loop(self) -> Choice:
        """The guard that goes back and the guard that goes on; the change mostly moves towards the end of the loop."""
        name, high = self._measure(2)
        bound, rising = 1 + self.rng.randrange(high - 1), self.rng.random() <= 0.5
        back, on = ("<", ">=") if rising else (">", "<=")
        towards = self.rng.random() <= 0.75
        change = f"{name} {'+' if rising == towards else '-'} {1 + self.rng.randrange(3)}"
        last = OTHERWISE if self.rng.random() > 0.5 else f"{name} {on} {bound}"
        return Choice([f"{name} {back} {bound}", last], name, Domain("integer"), change)

    def measure(self) -> str:
        """A new parameter with a number."""
        return self.names.take(self.rng.choice(self.vocabulary.conditions).parameter)

    def _measure(self, count: int) -> tuple[str, int]:
        """A new parameter, and the upper end of its values: enough for `count` guards."""
        return self.measure(), max(10, 2 * count)

    def _numbers(self, high: int) -> Domain:
        return Domain("real" if self.rng.random() > 0.7 else "integer", 0, high)
