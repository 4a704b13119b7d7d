"""The items of a text in the workflow DSL: a class for each, the grammar rules that build them, and their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from ...errors import ReadError
from ...workflow.model import Domain, Duration, QualifiedName, Value
from ..phrases import read_duration
from .words import NAMELESS, WORDS, unquote

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SourceWord:
    """A name or another word, with its line and column from 1."""

    text: str
    line: int
    column: int
    quoted: bool = False


class MisreadItemError(Exception):
    """A ReadError without the name of the text, raised where the name is not known."""

    def __init__(self, at: SourceWord, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.at, self.found, self.expected = at, found, expected

    def of(self, where: str) -> ReadError:
        """Return the error with the name of its text."""
        return ReadError(where, self.at.line, self.at.column, self.found, self.expected)


@dataclass(frozen=True, slots=True)
class WadlBlock:
    """The items between braces, in the order of the text."""

    items: tuple[object, ...] = ()

    def items_of(self, kind: type[_T]) -> list[_T]:
        """Return the items of that class."""
        return [item for item in self.items if isinstance(item, kind)]


@dataclass(frozen=True, slots=True)
class TextItem:
    """A description, kind, implementation or schema."""

    word: SourceWord
    text: str


@dataclass(frozen=True, slots=True)
class ParameterItem:
    """A parameter."""

    name: SourceWord
    value: Value | None
    domain: Domain | None


@dataclass(frozen=True, slots=True)
class EffectItem:
    """The effect of a task on a parameter."""

    name: SourceWord
    expression: str


@dataclass(frozen=True, slots=True)
class DurationItem:
    """The time that a task takes."""

    word: SourceWord
    duration: Duration


@dataclass(frozen=True, slots=True)
class ReferenceItem:
    """A sub-workflow by name."""

    word: SourceWord
    name: QualifiedName


@dataclass(frozen=True, slots=True)
class InnerItem:
    """The description and parameters of the sub-workflow in the block of its task."""

    word: SourceWord
    block: WadlBlock


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A declaration of a task, with its block if it has one."""

    name: SourceWord
    block: WadlBlock | None = None


@dataclass(frozen=True, slots=True)
class DataItem:
    """A declaration of data, or a renaming of data outside to that name."""

    define: bool
    name: SourceWord
    outside: SourceWord | None
    block: WadlBlock | None = None


@dataclass(frozen=True, slots=True)
class ConfigureItem:
    """A configuration of a task or of data."""

    of: Literal["task", "data"]
    name: SourceWord
    block: WadlBlock


@dataclass(frozen=True, slots=True)
class ControlItem:
    """A line of the control flow."""

    nodes: tuple[SourceWord, ...]
    guard: str | None = None
    exceptional: bool = False


@dataclass(frozen=True, slots=True)
class DataFlowItem:
    """A line of the data flow."""

    nodes: tuple[SourceWord, ...]


@dataclass(frozen=True, slots=True)
class WadlFile:
    """A package line and the workflow behind it."""

    package: str
    name: SourceWord
    base: QualifiedName | None
    block: WadlBlock


def _package(parts: Sequence[SourceWord]) -> str:
    """Return the package of these words; `main` alone, without quotation marks, is the empty package."""
    nameless = len(parts) == 1 and parts[0].text == NAMELESS and not parts[0].quoted
    return "" if nameless else ".".join(part.text for part in parts)


def _word_of(token: Token) -> SourceWord:
    quoted = token.type == "STRING"
    return SourceWord(unquote(token) if quoted else str(token), token.line or 0, token.column or 0, quoted)


def _name(token: Token) -> SourceWord:
    word = _word_of(token)
    if not word.text:
        raise MisreadItemError(word, "an empty name", "at least one character between the quotation marks")
    return word


def _number(token: Token) -> int | float:
    """Return the number of a token.

    Raises:
        MisreadItemError: for a number that no float holds, or of more than 1000 characters.
    """
    if len(token) > 1000:
        raise MisreadItemError(_word_of(token), f"a number of {len(token)} characters", "1000 at most")
    number = float(token) if any(sign in token for sign in ".eE") else int(token)
    if not math.isfinite(number):
        raise MisreadItemError(
            _word_of(token), f"the number {token}", "a number that a double-precision float can hold"
        )
    return number


def _duration(word: Token, number: Token, unit: Token) -> DurationItem:
    """Return the item of a duration.

    Raises:
        MisreadItemError: for a number that is not whole or not positive, and for an unknown unit.
    """
    duration = read_duration(f"{number} {unit}")
    if duration is None:
        found = f"the duration {number[:60]} {unit}"
        raise MisreadItemError(
            _word_of(number), found, "such as 30 minutes: at least 1 seconds, minutes, hours or days"
        )
    return DurationItem(_word_of(word), duration)


def _drop_gaps(parts: Sequence[_T | None]) -> tuple[_T, ...]:
    """Return the parts without the gap that an empty list leaves."""
    return tuple(part for part in parts if part is not None)


MAKERS: dict[str, Callable[[Sequence[Any]], object]] = {  # rule of wadl.lark: the item that it builds of its parts
    "start": tuple,
    "file": lambda parts: WadlFile(*parts),
    "base": lambda parts: parts[0],
    "qualified": lambda parts: QualifiedName(parts[-1].text, _package(parts[:-1])),
    "package": _package,
    "block": lambda parts: WadlBlock(tuple(parts)),
    "text_item": lambda parts: TextItem(_word_of(parts[0]), parts[1]),
    "param": lambda parts: ParameterItem(*parts),
    "effect": lambda parts: EffectItem(*parts),
    "duration": lambda parts: _duration(*parts),
    "reference": lambda parts: ReferenceItem(_word_of(parts[0]), parts[1]),
    "inner": lambda parts: InnerItem(_word_of(parts[0]), parts[1]),
    "task": lambda parts: TaskItem(*parts),
    "data": lambda parts: DataItem(bool(parts[0]), *parts[1:]),
    "configure_task": lambda parts: ConfigureItem("task", *parts),
    "configure_data": lambda parts: ConfigureItem("data", *parts),
    "control": lambda parts: ControlItem(tuple(parts)),
    "guarded": lambda parts: ControlItem(tuple(parts[:2]), parts[2]),
    "exceptional": lambda parts: ControlItem(tuple(parts), exceptional=True),
    "flow": lambda parts: DataFlowItem(tuple(parts)),
    "list": _drop_gaps,
    "true": lambda parts: True,
    "false": lambda parts: False,
    "integers": lambda parts: Domain("integer", *parts),
    "reals": lambda parts: Domain("real", *parts),
    "words": lambda parts: Domain("words", words=_drop_gaps(parts)),
    "name": lambda parts: _name(parts[0]),
    "text": lambda parts: unquote(parts[0]),
    "number": lambda parts: _number(parts[0]),
}


_TERMINALS = {
    "NAME": "a name",
    "STRING": "a text in quotation marks",
    "NUMBER": "a number",
    "$END": "the end of the text",
}
DEEPEST = 80  # nested blocks and lists; more than the levels of sub-workflows (`workflow.project.DEEPEST`)


def parse_files(text: str, where: str) -> tuple[WadlFile, ...]:
    """Return the files of the text, one after another.

    Raises:
        ReadError: for a text that the grammar does not accept, and for blocks and lists nested more than DEEPEST deep.
    """
    from lark.exceptions import UnexpectedInput

    try:
        return cast(tuple[WadlFile, ...], _parser().parse(text))
    except MisreadItemError as error:
        raise error.of(where) from None
    except UnexpectedInput as error:
        raise _syntax_error(error, text, where) from None


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = Path(__file__).with_name("wadl.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", postlex=_Depth(), transformer=SimpleNamespace(**MAKERS), maybe_placeholders=True
    )


class _Depth:
    """Postlex filter that counts open brackets; it keeps no state between two texts."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            depth += (token.type in ("LBRACE", "LSQB")) - (token.type in ("RBRACE", "RSQB"))
            if depth > DEEPEST:
                at = SourceWord("", token.line or 0, token.column or 0)
                raise MisreadItemError(at, f"{depth} blocks or lists inside one another", f"at most {DEEPEST}")
            yield token


def _syntax_error(error: UnexpectedInput, text: str, where: str) -> ReadError:
    from lark.exceptions import UnexpectedToken

    token = error.token if isinstance(error, UnexpectedToken) else None
    offset = error.pos_in_stream if token is None else len(text) if token.type == "$END" else token.start_pos
    offset = offset or 0
    actual = _quote_token(text[offset] if token is None else str(token)) if text[offset:] else "the end of the text"
    expected = _expected_words(error)
    last_values = error.interactive_parser.parser_state.value_stack[
        -1:
    ]  # read as a name if it is no word at this place
    if last_values and getattr(last_values[0], "type", "") == "NAME" and last_values[0] in WORDS:
        actual, offset = _quote_token(last_values[0]), last_values[0].start_pos
        expected = "an item that may stand here, or quotation marks if it is a name"
    elif actual == '`"`':
        actual, expected = "a text that no quotation mark ends", 'a " before the end of the line'
    line_start = text.rfind("\n", 0, offset) + 1
    return ReadError(where, text.count("\n", 0, offset) + 1, offset - line_start + 1, actual, expected)


def _quote_token(token: str) -> str:
    return f"`{token if len(token) <= 60 else token[:59] + '…'}`"


def _expected_words(error: UnexpectedInput) -> str:
    """Return the terminals that the grammar accepts at this place, in the words of the language."""
    words = sorted({_terminal_in_words(name) for name in error.interactive_parser.accepts()})  # type: ignore[no-untyped-call]
    if "a name" in words:
        words = ["a name", *(word for word in words if word not in ("a name", "a text in quotation marks"))]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _terminal_in_words(terminal: str) -> str:
    return _TERMINALS.get(terminal) or f"`{_parser().get_terminal(terminal).pattern.value}`"
