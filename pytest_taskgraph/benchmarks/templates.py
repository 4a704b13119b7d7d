"""Jinja for questions and prompt templates: sandboxed, undefined names are errors, nothing is escaped."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """Return the compiled template.

    Raises:
        UsageError: with the line, if it is not Jinja.
    """
    from jinja2 import TemplateSyntaxError

    try:
        compiled = _environment().from_string(source)
    except TemplateSyntaxError as error:
        raise UsageError(f"{where}:{error.lineno}: {error.message}") from None
    compiled.globals = dict(compiled.globals)  # every rendering copies them, and the ChainMap of Jinja slowly
    return compiled


def render(source: str, fields: dict[str, Any], where: str = "template") -> str:
    """Return the rendered text of a template, stripped.

    Raises:
        UsageError: if it uses an undefined name, or fails otherwise.
    """
    from jinja2 import TemplateError

    compiled = template(source, where)
    try:
        return compiled.render(fields).strip()
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        names = ", ".join(sorted(fields))
        raise UsageError(f"{where}: {error}; the template sees: {names}") from error


@lru_cache(maxsize=64)
def undeclared_names(source: str) -> frozenset[str]:
    """Return the names that a template takes from outside."""
    from jinja2.meta import find_undeclared_variables

    return frozenset(find_undeclared_variables(_environment().parse(source)))


def source_of(path: Path, kind: str = "template") -> str:
    """Return the text of a template's file.

    Raises:
        UsageError: if it cannot be read, or is no text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{kind} {path}: {error}") from None


def files_of(folder: str, part: str = "") -> dict[str, Path]:
    """Return the templates of the folder, or of a part of it that need not exist, by name.

    Notes and hidden files are skipped.

    Raises:
        UsageError: if the folder does not exist, or holds a file that is no template.
    """
    top = Path(folder)
    if not top.is_dir():
        raise UsageError(f"{folder}: no such folder; --taskgraph-templates takes a folder of templates NAME.jinja")
    within = top / part
    paths = sorted(within.iterdir()) if within.is_dir() else []
    files = [path for path in paths if path.is_file() and path.suffix != ".md" and not path.name.startswith(".")]
    if others := [path for path in files if path.suffix != ".jinja"]:
        raise UsageError(f"{others[0]}: no template; expected files NAME.jinja, and notes *.md")
    return {path.stem: path for path in files}


@lru_cache(maxsize=512)
def printed_names(source: str) -> tuple[tuple[str, str, str], ...]:
    """Return the names that every rendering prints verbatim, each with the characters before and after it.

    Empty for a template that assigns names itself, since those may hide the names from outside.
    """
    from jinja2 import nodes

    tree = _environment().parse(source)
    renamed = any(next(tree.find_all(kind), None) for kind in (nodes.Assign, nodes.AssignBlock, nodes.Macro))
    return () if renamed else tuple(sorted(_printed_parts(tree.body)))


def _printed_parts(body: list[Node]) -> set[tuple[str, str, str]]:
    """Return what a part of a template prints; of a condition, what all of its branches print."""
    from jinja2 import nodes

    names: set[tuple[str, str, str]] = set()
    for part in body:
        if isinstance(part, nodes.Output):
            for before, node, after in zip([None, *part.nodes], part.nodes, [*part.nodes[1:], None], strict=False):
                if isinstance(node, nodes.Name):
                    names.add((getattr(before, "data", "")[-1:], node.name, getattr(after, "data", "")[:1]))
        elif isinstance(part, nodes.If):
            branches = (part.body, *(branch.body for branch in part.elif_), part.else_)
            names |= set.intersection(*map(_printed_parts, branches))
    return names


class Literals(NamedTuple):
    """Plain texts of a template, with single spaces, that a rendering holds."""

    fixed: tuple[str, ...]  # in every rendering
    conditions: tuple[tuple[Literals, ...], ...]  # of the branches of each condition, one of which is rendered

    def within(self, text: str) -> bool:
        """Return True if the text, with single spaces, can hold a rendering."""
        return all(literal in text for literal in self.fixed) and all(
            any(branch.within(text) for branch in branches) for branches in self.conditions
        )


@lru_cache(maxsize=512)
def literals(source: str) -> Literals:
    """Return the plain texts of a template outside of loops."""
    return _literals(_environment().parse(source).body)


def _literals(body: list[Node]) -> Literals:
    from jinja2 import nodes

    outputs = (node for part in body if isinstance(part, nodes.Output) for node in part.nodes)
    texts = (" ".join(node.data.split()) for node in outputs if isinstance(node, nodes.TemplateData))
    conditions = (
        tuple(map(_literals, (part.body, *(branch.body for branch in part.elif_), part.else_)))
        for part in body
        if isinstance(part, nodes.If)
    )
    return Literals(tuple(filter(None, texts)), tuple(conditions))
