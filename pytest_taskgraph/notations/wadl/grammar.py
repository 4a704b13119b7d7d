"""The items of a text in the workflow DSL: one class each, the rules of the grammar that make them, and its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from ...errors import ReadError
from ...workflow.model import Domain, QualifiedName, Value
from .words import NAMELESS, WORDS, unquoted

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput


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
class WadlBlock:
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
    block: WadlBlock


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A declaration of a task, with its block if it has one."""

    name: Word
    block: WadlBlock | None = None


@dataclass(frozen=True, slots=True)
class DataItem:
    """A declaration of data, or a renaming of data outside to that name."""

    define: bool
    name: Word
    outside: Word | None
    block: WadlBlock | None = None


@dataclass(frozen=True, slots=True)
class ConfigureItem:
    """A configuration of a task or of data."""

    of: Literal["task", "data"]
    name: Word
    block: WadlBlock


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
    block: WadlBlock


def _package(parts: Sequence[Word]) -> str:
    """The package of these words; `main` alone, without quotation marks, is the empty one."""
    nameless = len(parts) == 1 and parts[0].text == NAMELESS and not parts[0].quoted
    return "" if nameless else ".".join(part.text for part in parts)


def _item_word(token: Token) -> Word:
    quoted = token.type == "STRING"
    return Word(unquoted(token) if quoted else str(token), token.line or 0, token.column or 0, quoted)


def _name(token: Token) -> Word:
    word = _item_word(token)
    if not word.text:
        raise MisreadError(word, "an empty name", "at least one character between the quotation marks")
    return word


def _number(token: Token) -> int | float:
    """The number; MisreadError for one that no float holds, or that is too long to be meant."""
    if len(token) > 1000:
        raise MisreadError(_item_word(token), f"a number of {len(token)} characters", "1000 at most")
    number = float(token) if any(sign in token for sign in ".eE") else int(token)
    if not math.isfinite(number):
        raise MisreadError(_item_word(token), f"the number {token}", "one that a double-precision float can hold")
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
    "block": lambda parts: WadlBlock(tuple(parts)),
    "said": lambda parts: TextItem(_item_word(parts[0]), parts[1]),
    "param": lambda parts: ParameterItem(*parts),
    "effect": lambda parts: EffectItem(*parts),
    "reference": lambda parts: ReferenceItem(_item_word(parts[0]), parts[1]),
    "inner": lambda parts: InnerItem(_item_word(parts[0]), parts[1]),
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


_TERMINALS = {
    "NAME": "a name",
    "STRING": "a text in quotation marks",
    "NUMBER": "a number",
    "$END": "the end of the text",
}
DEEPEST = 80  # blocks and lists inside one another; more than levels of sub-workflows (project.DEEPEST)


def files(text: str, where: str) -> tuple[File, ...]:
    """The files of the text, one after another. Raises ReadError, also for blocks and lists more than DEEPEST deep."""
    from lark.exceptions import UnexpectedInput

    try:
        return cast(tuple[File, ...], _parser().parse(text))
    except MisreadError as error:
        raise error.of(where) from None
    except UnexpectedInput as error:
        raise _explained(error, text, where) from None


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = Path(__file__).with_name("wadl.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", postlex=_Depth(), transformer=SimpleNamespace(**MAKERS), maybe_placeholders=True
    )


class _Depth:
    """Counts open brackets on the way from lexer to parser; it keeps nothing between two texts."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            depth += (token.type in ("LBRACE", "LSQB")) - (token.type in ("RBRACE", "RSQB"))
            if depth > DEEPEST:
                at = Word("", token.line or 0, token.column or 0)
                raise MisreadError(at, f"{depth} blocks or lists inside one another", f"at most {DEEPEST}")
            yield token


def _explained(error: UnexpectedInput, text: str, where: str) -> ReadError:
    from lark.exceptions import UnexpectedToken

    token = error.token if isinstance(error, UnexpectedToken) else None
    offset = error.pos_in_stream if token is None else len(text) if token.type == "$END" else token.start_pos
    offset = offset or 0
    found = _shown(text[offset] if token is None else str(token)) if text[offset:] else "the end of the text"
    expected = _listed(error)
    before = error.interactive_parser.parser_state.value_stack[-1:]  # as it was read: a name, if it is no word here
    if before and getattr(before[0], "type", "") == "NAME" and before[0] in WORDS:
        found, offset = _shown(before[0]), before[0].start_pos
        expected = "an item that may stand here, or quotation marks if it is a name"
    elif found == '`"`':
        found, expected = "a text that no quotation mark ends", 'a " before the end of the line'
    line_start = text.rfind("\n", 0, offset) + 1
    return ReadError(where, text.count("\n", 0, offset) + 1, offset - line_start + 1, found, expected)


def _shown(token: str) -> str:
    return f"`{token if len(token) <= 60 else token[:59] + '…'}`"


def _listed(error: UnexpectedInput) -> str:
    """What could have stood there, in the words of the language."""
    words = sorted({_word(name) for name in error.interactive_parser.accepts()})  # type: ignore[no-untyped-call]
    if "a name" in words:
        words = ["a name", *(word for word in words if word not in ("a name", "a text in quotation marks"))]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _word(terminal: str) -> str:
    return _TERMINALS.get(terminal) or f"`{_parser().get_terminal(terminal).pattern.value}`"
