"""The items of a text in the workflow DSL, one class each, and what makes them of the rules in wadl.lark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..errors import ReadError
from ..workflow.model import Domain, QualifiedName, Value
from .wadl_words import NAMELESS, unquoted

if TYPE_CHECKING:
    from lark import Token

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Word:
    """A name or another word, and where it stands."""

    text: str
    line: int
    column: int
    quoted: bool = False


class MisreadError(Exception):
    """A ReadError before it is known which text it is about."""

    def __init__(self, at: Word, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.at, self.found, self.expected = at, found, expected

    def of(self, where: str) -> ReadError:
        """The error with the name of its text."""
        return ReadError(where, self.at.line, self.at.column, self.found, self.expected)


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between braces, in the order of the text."""

    items: tuple[object, ...] = ()

    def all(self, kind: type[_T]) -> list[_T]:
        """The items of that class."""
        return [item for item in self.items if isinstance(item, kind)]


@dataclass(frozen=True, slots=True)
class TextItem:
    """A description, kind, implementation or schema."""

    word: Word
    text: str


@dataclass(frozen=True, slots=True)
class ParameterItem:
    """A parameter."""

    name: Word
    value: Value | None
    domain: Domain | None


@dataclass(frozen=True, slots=True)
class EffectItem:
    """What a task does to a parameter."""

    name: Word
    expression: str


@dataclass(frozen=True, slots=True)
class ReferenceItem:
    """A sub-workflow by name."""

    word: Word
    name: QualifiedName


@dataclass(frozen=True, slots=True)
class InnerItem:
    """What is told about the sub-workflow in the block of its task."""

    word: Word
    block: Block


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A declaration of a task, with its block if it has one."""

    name: Word
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class DataItem:
    """A declaration of data, or a renaming of data outside to that name."""

    define: bool
    name: Word
    outside: Word | None
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class ConfigureItem:
    """A configuration of a task or of data."""

    of: Literal["task", "data"]
    name: Word
    block: Block


@dataclass(frozen=True, slots=True)
class ControlItem:
    """A line of the control flow."""

    nodes: tuple[Word, ...]
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class DataFlowItem:
    """A line of the data flow."""

    nodes: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A package line and the workflow behind it."""

    package: str
    name: Word
    base: QualifiedName | None
    block: Block


def _package(parts: Sequence[Word]) -> str:
    """The package of these words; `main` alone, without quotation marks, is the empty one."""
    nameless = len(parts) == 1 and parts[0].text == NAMELESS and not parts[0].quoted
    return "" if nameless else ".".join(part.text for part in parts)


def _word(token: Token) -> Word:
    quoted = token.type == "STRING"
    return Word(unquoted(token) if quoted else str(token), token.line or 0, token.column or 0, quoted)


def _name(token: Token) -> Word:
    word = _word(token)
    if not word.text:
        raise MisreadError(word, "an empty name", "at least one character between the quotation marks")
    return word


def _number(token: Token) -> int | float:
    """The number; MisreadError for one that no float holds, or that is too long to be meant."""
    if len(token) > 1000:
        raise MisreadError(_word(token), f"a number of {len(token)} characters", "1000 at most")
    number = float(token) if any(sign in token for sign in ".eE") else int(token)
    if not math.isfinite(number):
        raise MisreadError(_word(token), f"the number {token}", "one that a double-precision float can hold")
    return number


def _present(parts: Sequence[_T | None]) -> tuple[_T, ...]:
    """The parts without the gap that an empty list leaves."""
    return tuple(part for part in parts if part is not None)


MAKERS: dict[str, Callable[[Sequence[Any]], object]] = {  # rule of wadl.lark: what it makes of its parts
    "start": tuple,
    "file": lambda parts: File(*parts),
    "base": lambda parts: parts[0],
    "qualified": lambda parts: QualifiedName(parts[-1].text, _package(parts[:-1])),
    "package": _package,
    "block": lambda parts: Block(tuple(parts)),
    "said": lambda parts: TextItem(_word(parts[0]), parts[1]),
    "param": lambda parts: ParameterItem(*parts),
    "effect": lambda parts: EffectItem(*parts),
    "reference": lambda parts: ReferenceItem(_word(parts[0]), parts[1]),
    "inner": lambda parts: InnerItem(_word(parts[0]), parts[1]),
    "task": lambda parts: TaskItem(*parts),
    "data": lambda parts: DataItem(bool(parts[0]), *parts[1:]),
    "configure_task": lambda parts: ConfigureItem("task", *parts),
    "configure_data": lambda parts: ConfigureItem("data", *parts),
    "control": lambda parts: ControlItem(tuple(parts)),
    "guarded": lambda parts: ControlItem(tuple(parts[:2]), parts[2]),
    "flow": lambda parts: DataFlowItem(tuple(parts)),
    "list": _present,
    "true": lambda parts: True,
    "false": lambda parts: False,
    "integers": lambda parts: Domain("integer", *parts),
    "reals": lambda parts: Domain("real", *parts),
    "words": lambda parts: Domain("words", words=_present(parts)),
    "name": lambda parts: _name(parts[0]),
    "text": lambda parts: unquoted(parts[0]),
    "number": lambda parts: _number(parts[0]),
}
