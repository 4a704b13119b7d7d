"""The words of the workflow DSL: which names need quotation marks, how texts are quoted, and the names of markers."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from ...errors import UsageError
from ...workflow.model import END, START, Gateway, GatewayKind, QualifiedName, Value

NAMELESS = "main"  # the package line cannot be empty: this word, without quotation marks, is the empty package

WORDS = frozenset(
    {"package", "workflow", "from", "define", "configure", "task", "tasks", "data", "param", "effect", "condition"}
    | {"description", "kind", "implementation", "schema", "subworkflow", "duration", "in", "integer", "real"}
    | {"true", "false"}
)
_PLAIN = re.compile(r"[^\W\d]\w*")
_MARKER = re.compile(r"(PARALLEL|INCLUSIVE|EXCLUSIVE)_(END_)?[0-9]+")
_KINDS: dict[str, GatewayKind] = {"PARALLEL": "parallel", "INCLUSIVE": "inclusive", "EXCLUSIVE": "exclusive"}
_TO_ESCAPE = re.compile(r'\\(?=["\\n\n]|\Z)|["\n]')
_ESCAPE = re.compile(r'\\(["\\n])')


def quote(text: str) -> str:
    """Return the text between quotation marks; a backslash is doubled only where it would be read as an escape."""
    if '"' not in text and "\\" not in text and "\n" not in text:
        return f'"{text}"'
    return '"' + _TO_ESCAPE.sub(lambda match: "\\n" if match[0] == "\n" else "\\" + match[0], text) + '"'


def unquote(text: str) -> str:
    r"""Return the text for which `quote` returned the given one.

    Only \" \\ and \n are escapes; any other backslash stands for itself.
    """
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text[1:-1])


def parse_marker(name: str) -> Gateway | None:
    """Return the gateway that a word such as PARALLEL_1 or PARALLEL_END_1 stands for; None for any other word."""
    match = _MARKER.fullmatch(name)
    return match and Gateway(name, _KINDS[match[1]], "join" if match[2] else "split")


def marker_name(gateway: Gateway, number: int) -> str:
    """Return the marker of that number for a gateway of this kind and role."""
    return f"{gateway.kind.upper()}_{'END_' if gateway.role == 'join' else ''}{number}"


def is_reserved(name: str) -> bool:
    """Return True if the word, written without quotation marks, is START, END or a marker."""
    return name in (START, END) or parse_marker(name) is not None


@lru_cache(maxsize=4096)
def spell(name: str) -> str:
    """Return the name as it is written, in quotation marks only if it needs them.

    Raises:
        UsageError: for an empty name.
    """
    if not name:
        raise UsageError("the workflow DSL does not support an empty name: found '', expected at least one character")
    return name if _PLAIN.fullmatch(name) and name not in WORDS and not is_reserved(name) else quote(name)


@lru_cache(maxsize=4096)
def spell_node(name: str) -> str:
    """Return the name of a task or of data as it is written.

    Raises:
        UsageError: for an empty name, START and END.
    """
    if name in (START, END):
        raise UsageError(f"the workflow DSL does not support a task or data named {name!r}; rename it")
    return spell(name)


def spell_package(package: str) -> str:
    """Return the package as it is written: the empty one as the word `main`, one of that name in quotes."""
    if package in ("", NAMELESS):
        return quote(package) if package else NAMELESS
    parts = [spell(part) if part else '"' for part in package.split(".")]
    return quote(package) if any(part.startswith('"') for part in parts) else package


def spell_qualified(name: QualifiedName) -> str:
    """Return the qualified name as it is written, with the package only if there is one."""
    return f"{spell_package(name.package)}.{spell(name.name)}" if name.package else spell(name.name)


def spell_value(value: Value) -> str:
    """Return the value as it is written.

    Raises:
        UsageError: for a number that is not finite.
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quote(value)
        case tuple():
            return f"[{', '.join(map(spell_value, value))}]"
        case _ if math.isfinite(value):
            return repr(value)
    raise UsageError(f"the workflow DSL does not support the number {value}; expected a finite number")
