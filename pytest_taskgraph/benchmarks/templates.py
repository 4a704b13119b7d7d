"""Jinja as questions and prompt templates use it: sandboxed, undefined names forbidden, nothing escaped."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from jinja2.nodes import Node


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


@lru_cache(maxsize=64)
def undeclared_names(source: str) -> frozenset[str]:
    """The names that a template takes from outside."""
    from jinja2.meta import find_undeclared_variables

    return frozenset(find_undeclared_variables(_environment().parse(source)))


def source_of(path: Path, kind: str = "template") -> str:
    """The text of a template's file. Raises UsageError where it cannot be read, or is no text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{kind} {path}: {error}") from None


def files_of(folder: str, part: str = "") -> dict[str, Path]:
    """The templates by name of the folder, or of a part of it that need not exist; notes and hidden files do not count.

    Raises UsageError where the folder does not exist, or holds a file that is no template.
    """
    top = Path(folder)
    if not top.is_dir():
        raise UsageError(f"{folder}: no such folder; --taskgraph-templates takes a folder of templates NAME.jinja")
    within = top / part
    found = sorted(within.iterdir()) if within.is_dir() else []
    files = [one for one in found if one.is_file() and one.suffix != ".md" and not one.name.startswith(".")]
    if odd := [one for one in files if one.suffix != ".jinja"]:
        raise UsageError(f"{odd[0]}: no template; expected files NAME.jinja, and notes *.md")
    return {one.stem: one for one in files}


@lru_cache(maxsize=512)
def printed_names(source: str) -> tuple[tuple[str, str, str], ...]:
    """The names whose values every rendering holds as they are, each between the characters that stand around it.

    None of a template that gives names values of its own: they could be other ones.
    """
    from jinja2 import nodes

    tree = _environment().parse(source)
    renamed = any(next(tree.find_all(kind), None) for kind in (nodes.Assign, nodes.AssignBlock, nodes.Macro))
    return () if renamed else tuple(sorted(_printed(tree.body)))


def _printed(body: list[Node]) -> set[tuple[str, str, str]]:
    """What this part of a template prints; of a condition, what each of its branches does."""
    from jinja2 import nodes

    found: set[tuple[str, str, str]] = set()
    for part in body:
        if isinstance(part, nodes.Output):
            for before, one, after in zip([None, *part.nodes], part.nodes, [*part.nodes[1:], None], strict=False):
                if isinstance(one, nodes.Name):
                    found.add((getattr(before, "data", "")[-1:], one.name, getattr(after, "data", "")[:1]))
        elif isinstance(part, nodes.If):
            branches = (part.body, *(one.body for one in part.elif_), part.else_)
            found |= set.intersection(*map(_printed, branches))
    return found


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
