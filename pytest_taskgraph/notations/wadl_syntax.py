"""From the text of the workflow DSL to its items, and from what the grammar forbids to an error in words of the DSL."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from ..errors import ReadError
from .wadl_items import MAKERS, File, MisreadError, Word
from .wadl_words import WORDS

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput

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
