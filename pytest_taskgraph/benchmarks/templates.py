"""Jinja as questions and frames use it: sandboxed, undefined names forbidden, nothing escaped."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@lru_cache(maxsize=512)
def template(source: str, where: str = "template") -> Template:
    """The compiled template. Raises UsageError, with the line, where it is not Jinja."""
    from jinja2 import TemplateSyntaxError

    try:
        return _environment().from_string(source)
    except TemplateSyntaxError as error:
        raise UsageError(f"{where}:{error.lineno}: {error.message}") from None


def render(source: str, fields: dict[str, Any], where: str = "template") -> str:
    """The text of a template. Raises UsageError where it uses a name that is not defined, or fails otherwise."""
    from jinja2 import TemplateError

    made = template(source, where)
    try:
        return made.render(fields).strip()
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        known = ", ".join(sorted(fields))
        raise UsageError(f"{where}: {error}; the template sees: {known}") from error


@lru_cache(maxsize=512)
def longest_literal(source: str) -> str:
    """The longest run of plain text in a template that every rendering holds (none inside a condition or loop)."""
    tokens = [(kind, value) for _, kind, value in _environment().lex(source) if kind != "whitespace"]
    tags = {value for (before, _), (kind, value) in pairwise(tokens) if before == "block_begin" and kind == "name"}
    depth, best, last = 0, "", ""
    for kind, value in tokens:
        if last == "block_begin" and kind == "name":
            depth += (f"end{value}" in tags) - value.startswith("end")
        elif kind == "data" and depth == 0 and len(value.strip()) > len(best):
            best = value.strip()
        last = kind
    return best
