"""The words of the workflow DSL: which names need quotation marks, how texts are quoted, what a marker is called."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from ...errors import UsageError
from ...workflow.model import END, START, Gateway, GatewayKind, QualifiedName, Value

NAMELESS = "main"  # the package line cannot be empty: this word, without quotation marks, is the empty package

WORDS = frozenset(
    {"package", "workflow", "from", "define", "configure", "task", "tasks", "data", "param", "effect", "condition"}
    | {"description", "kind", "implementation", "schema", "subworkflow", "in", "integer", "real", "true", "false"}
)
_PLAIN = re.compile(r"[^\W\d]\w*")
_MARKER = re.compile(r"(PARALLEL|INCLUSIVE|EXCLUSIVE)_(END_)?[0-9]+")
_KINDS: dict[str, GatewayKind] = {"PARALLEL": "parallel", "INCLUSIVE": "inclusive", "EXCLUSIVE": "exclusive"}
_ESCAPED = re.compile(r'\\(?=["\\n\n]|\Z)|["\n]')
_ESCAPE = re.compile(r'\\(["\\n])')


def quoted(text: str) -> str:
    """The text between quotation marks; a backslash is doubled only where it would be read as an escape."""
    return '"' + _ESCAPED.sub(lambda found: "\\n" if found[0] == "\n" else "\\" + found[0], text) + '"'


def unquoted(text: str) -> str:
    r"""What `quoted` was given. Only \" \\ and \n are escapes; any other backslash stands for itself."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text[1:-1])


def marker(name: str) -> Gateway | None:
    """The gateway that a word such as PARALLEL_1 or PARALLEL_END_1 stands for; None for any other word."""
    found = _MARKER.fullmatch(name)
    return found and Gateway(name, _KINDS[found[1]], "join" if found[2] else "split")


def marker_name(gateway: Gateway, number: int) -> str:
    """The marker of that number for a gateway of this kind and role."""
    return f"{gateway.kind.upper()}_{'END_' if gateway.role == 'join' else ''}{number}"


def reserved(name: str) -> bool:
    """Whether the word, written without quotation marks, is START, END or a marker."""
    return name in (START, END) or marker(name) is not None


@lru_cache(maxsize=4096)
def spelled(name: str) -> str:
    """The name as it is written: in quotation marks only where it needs them. Raises UsageError for an empty name."""
    if not name:
        raise UsageError("the workflow DSL cannot say an empty name; found '', expected at least one character")
    return name if _PLAIN.fullmatch(name) and name not in WORDS and not reserved(name) else quoted(name)


def spelled_node(name: str) -> str:
    """The name of a task or of data as it is written. Raises UsageError also for START and END."""
    if name in (START, END):
        raise UsageError(f"the workflow DSL cannot say a task or data named {name!r}; rename it")
    return spelled(name)


def spelled_package(package: str) -> str:
    """The package as it is written; the empty one is the word `main`, a package of that name is quoted."""
    if package in ("", NAMELESS):
        return quoted(package) if package else NAMELESS
    parts = [spelled(part) if part else '"' for part in package.split(".")]
    return quoted(package) if any(part.startswith('"') for part in parts) else package


def spelled_qualified(name: QualifiedName) -> str:
    """The qualified name as it is written, the package only where there is one."""
    return f"{spelled_package(name.package)}.{spelled(name.name)}" if name.package else spelled(name.name)


def spelled_value(value: Value) -> str:
    """The value as it is written. Raises UsageError for a number that is not finite."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quoted(value)
        case tuple():
            return f"[{', '.join(map(spelled_value, value))}]"
        case _ if math.isfinite(value):
            return repr(value)
    raise UsageError(f"the workflow DSL cannot say the number {value}; expected a finite one")
