"""The tokens that are learned: those of all texts one after the other, cut into segments of one length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import Any, Final

from ....errors import UsageError

_TEXTS: Final = 1_000  # that are split into tokens at a time


class TrainingSegments:
    """Segments of one length, and the batches of them.

    Args:
        tokens: All tokens, one text after the other.
        length: The tokens of a segment; what is left at the end is not learned.
        seed: Decides on the order in which segments are repeated.
    """

    def __init__(self, tokens: array[int], length: int, seed: int) -> None:
        self._tokens, self.length, self._seed = tokens, length, seed
        self.count = len(tokens) // length

    def batches(self, size: int) -> Iterator[list[list[int]]]:
        """Yield batches of so many segments without end: in order at first, then again and again, shuffled each time.

        A batch goes over the end of one round into the next.
        """
        stream = self._places()
        while True:
            yield [self._tokens[at * self.length : (at + 1) * self.length].tolist() for at in islice(stream, size)]

    def _places(self) -> Iterator[int]:
        yield from range(self.count)
        turn = 1
        while True:
            turn += 1
            places = list(range(self.count))
            Random(f"{self._seed}|steps fine-tuning round|{turn}").shuffle(places)
            yield from places


def cut_segments(texts: Iterable[str], tokenizer: Any, length: int, most: int, seed: int) -> TrainingSegments:  # noqa: ANN401
    """Return the segments of texts.

    Each text has the tokens that the tokenizer puts around texts. The token of the end stands behind it, a line break
    where the tokenizer has none.

    Args:
        texts: The texts, in order.
        tokenizer: That of the model.
        length: The tokens of a segment.
        most: The segments that are needed at most: no further texts are split into tokens then.
        seed: That of `TrainingSegments`.

    Raises:
        UsageError: if the texts are too short for one segment.
    """
    ending = separator(tokenizer)
    tokens = array("I")
    stream = iter(texts)
    while len(tokens) < most * length and (some := list(islice(stream, _TEXTS))):
        for ids in tokenizer(some, verbose=False)["input_ids"]:
            tokens.extend(ids)
            if list(ids[-len(ending) :]) != ending:
                tokens.extend(ending)
    if len(tokens) < length:
        raise UsageError(f"segment: found {length} tokens, but all texts have {len(tokens)}; state fewer")
    return TrainingSegments(tokens[: most * length], length, seed)


def separator(tokenizer: Any) -> list[int]:  # noqa: ANN401 - of a package without types here
    """Return the tokens that stand behind each text."""
    if tokenizer.eos_token_id is not None:
        return [int(tokenizer.eos_token_id)]
    return [int(token) for token in tokenizer("\n", add_special_tokens=False, verbose=False)["input_ids"]]
