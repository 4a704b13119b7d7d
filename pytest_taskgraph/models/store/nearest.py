"""The stored text most like another one, among thousands, without comparing it with each."""

from __future__ import annotations

from collections.abc import Iterable

_COMPARED = 20  # texts that are compared letter by letter
_COMMON = 1000  # texts; a line that more of them have tells nothing


class Nearest:
    """Texts, found by the lines that they share; a line counts the more the fewer texts have it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(set(texts), key=lambda text: (len(text), text))
        self._having: dict[str, list[int]] = {}
        for number, text in enumerate(self._texts):
            for line in _lines(text):
                self._having.setdefault(line, []).append(number)

    def find(self, text: str) -> tuple[str, float] | None:
        """The text most like the given one, with their likeness from 0 to 1; None where there is no text at all."""
        from rapidfuzz.fuzz import ratio

        found = [(ratio(text, other) / 100, other) for other in self._candidates(text)]
        likeness, other = max(found, default=(0.0, None))
        return None if other is None else (other, likeness)

    def _candidates(self, text: str) -> list[str]:
        weights: dict[int, float] = {}
        for line in _lines(text):
            having = self._having.get(line, ())
            for number in having if len(having) <= _COMMON else ():
                weights[number] = weights.get(number, 0.0) + 1 / len(having)
        best = sorted(weights, key=lambda number: (-weights[number], number))[:_COMPARED]
        if not best:
            best = sorted(range(len(self._texts)), key=lambda n: (abs(len(self._texts[n]) - len(text)), n))[:_COMPARED]
        return [self._texts[number] for number in best]


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line for line in map(str.strip, text.splitlines()) if line))
