"""The form of an answer: how to ask for it, read it, write it, and which metric marks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..trial import Json, Reading


@dataclass(frozen=True, slots=True)
class Form:
    """Owns both ends of an answer, so that the instruction and the reader cannot drift apart.

    `read` takes the answer's text (already cut out of the reply), the known names and the kind of reading, and gives
    the answer as plain JSON, or raises UnreadableError. `write` gives the text of an ideal answer:
    `read(write(x)) == x` for every answer x of the form. Where the reference is no answer but says which ones are right
    (an order with freedom), `write` takes it too and writes one of them.
    """

    name: str
    instruct: Callable[[Sequence[str]], str]  # known names -> one sentence that says what the answer looks like
    read: Callable[[str, Sequence[str], Reading], Json]
    write: Callable[[Json, Sequence[str]], str]
    metric: str
    further: tuple[str, ...] = ()
    pass_mark: float = 1.0  # the smallest score that is right; 0: none is right or wrong (trial.is_graded)
