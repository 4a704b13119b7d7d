"""What stands in a label of our Mermaid charts: the name, then a line for each thing that is said of the node.

    Cook<br/>description: boils the soup<br/>parameter: 'minutes', set to 20

What would disturb Mermaid is written as its entity code: #quot; #35; #lt; …
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.entities import html5
from typing import Any

from ...workflow.model import Data, Task, Workflow
from ..phrases import read_binding, read_effect, read_parameter, say_binding, say_effect, say_parameter

EDGES = frozenset({"start", "end"})  # what START and END are called in a label, in any case
_CODES = {'"': "quot", "<": "lt", ">": "gt", "&": "amp", "#": "35", "`": "96"}
_CHARACTERS = {"quot": '"', "lt": "<", "gt": ">", "amp": "&", "nbsp": "\xa0", "apos": "'"}
_ENTITY = re.compile(r"[#&](?:#?([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));")
_BREAK = re.compile(r"</?br\s*/?>|\n|\\n", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|center|code|del|div|em|font|h[1-6]|hr|i|img|kbd|li|mark|ol|p|pre|q|s|small|span|strike|strong"
    r"|sub|sup|svg|table|tbody|td|th|tr|tt|u|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ICON = re.compile(r"\bfa[bsrl]?:fa-[\w-]+[ \t]*")
_DISTURBING = re.compile(r"\\(?=n)|:(?=fa-)")  # what a reader would take for markup
_EMPHASIS = re.compile(r"\*{1,3}(?=[^\s*])([^*]+)(?<=\S)\*{1,3}|(?<![\w_])_{1,3}(?=[^\s_])([^_]+)(?<=\S)_{1,3}(?!\w)")
_LINE = re.compile(r"(description|kind|implementation|schema|parameter|effect|binding):(.*)")
_SEVERAL = {"parameter": "parameters", "effect": "effects", "binding": "bindings"}
_READERS = {
    "parameter": (read_parameter, "'name', set to 1, a whole number from 0 to 9"),
    "effect": (read_effect, "'name' to 'expression'"),
    "binding": (read_binding, "'inner data' stands for 'outer data'"),
}
OF_TASK = ("description", "kind", "implementation", "parameter", "effect", "binding")
OF_DATA = ("description", "schema")


class LabelError(Exception):
    """A line of a label that cannot be read; whoever knows its place makes a ReadError of it."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


def encode(text: str) -> str:
    """The text with entity codes, so that it may stand in a quoted label or a comment and comes back unchanged."""
    core = text.strip()
    before = len(text) - len(text.lstrip())
    signs = [_code(sign) for sign in text]
    for found in _DISTURBING.finditer(text):
        signs[found.start()] = f"#{ord(text[found.start()])};"
    for at, sign in enumerate(text):
        if not before <= at < before + len(core):
            signs[at] = f"#{ord(sign)};"
    return "".join(signs)


def _code(sign: str) -> str:
    if sign in _CODES:
        return f"#{_CODES[sign]};"
    return sign if sign.isprintable() else f"#{ord(sign)};"


def decode(text: str) -> str:
    """The text that entity codes stand for; codes that Mermaid does not know stay as they are."""
    return _ENTITY.sub(_character, text)


def _character(entity: re.Match[str]) -> str:
    if entity[1] is None:
        return _CHARACTERS.get(entity[2]) or html5.get(f"{entity[2]};", entity[0])
    code = int(entity[1])
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else entity[0]


def of_task(task: Task) -> str:
    """The label of a task, without its quotes."""
    return _label(
        task.name,
        [(key, text) for key in ("description", "kind", "implementation") if (text := getattr(task, key))],
        [("parameter", say_parameter(one)) for one in task.parameters],
        [("effect", say_effect(one)) for one in task.effects],
        [("binding", say_binding(one)) for one in task.bindings],
    )


def of_data(data: Data) -> str:
    """The label of data, without its quotes."""
    return _label(data.name, [(key, text) for key in OF_DATA if (text := getattr(data, key))])


def of_level(workflow: Workflow) -> Iterator[str]:
    """The comment lines that tell what a workflow has beside its nodes."""
    said = [("package", workflow.package), ("description", workflow.description)]
    said += [("parameter", say_parameter(one)) for one in workflow.parameters]
    yield from (comment(key, text) for key, text in said if text)


def comment(key: str, text: str) -> str:
    """One comment line of ours."""
    return f"%% {key}: {encode(text)}"


def _label(name: str, *groups: Iterable[tuple[str, str]]) -> str:
    first = encode(name)
    if name.lower() in EDGES:  # a task of that name is told from START and END by its first letter's code
        first = f"#{ord(name[0])};{name[1:]}"
    return "<br/>".join([first, *(f"{key}: {encode(text)}" for group in groups for key, text in group)])


def read_label(label: str, known: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The name of a label and what is said of the node, by the names of the model's fields.

    Lines that say none of the known things belong to the name. Raises LabelError.
    """
    first, *rest = written_lines(label)
    name, said = [first.strip()], list[tuple[str, str]]()
    for line in rest:
        found = _LINE.fullmatch(line.strip())
        if found and found[1] in known:
            said.append((found[1], decode(found[2].strip())))
        else:
            name.append(line.strip())
    return " ".join(decode(part) for part in name if part), read_lines(said)


def plain(text: str) -> str:
    """Return the text without markup, its lines joined by blanks: what is seen in the drawing."""
    return " ".join(decode(line.strip()) for line in written_lines(text) if line.strip())


def has_markup(label: str) -> bool:
    """Return True if the text that is seen in the drawing differs from what is written."""
    return plain(label) != label.strip()


def written_lines(label: str) -> list[str]:
    """Return the lines of a label without tags, icons and, in a Markdown string, emphasis; codes stay as they are."""
    label = label.strip()
    if len(label) > 1 and label[0] == label[-1] == "`":
        label = _EMPHASIS.sub(_emphasised, _EMPHASIS.sub(_emphasised, label[1:-1]))
    return _BREAK.split(_ICON.sub("", _TAG.sub("", label)))


def _emphasised(found: re.Match[str]) -> str:
    return found[1] or found[2]


def label_spellings(label: str) -> Iterator[str]:
    """Yield the ways in which a reader may copy a label from the text, or from the drawing."""
    bare = label.strip("`") if label[:1] == label[-1:] == "`" else label
    lines = [decode(line.strip()) for line in written_lines(label)]
    yield from (label, bare, plain(label), decode(label), decode(bare))
    yield from (mark.join(lines) for mark in ("\n", "<br/>", "<br>", "<br />", "\\n", ""))
    yield " ".join(bare.split())


def read_lines(said: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What lines of key and text say, by the names of the model's fields. Raises LabelError."""
    held: dict[str, Any] = {}
    for key, text in said:
        if key in _READERS:
            reader, expected = _READERS[key]
            if (one := reader(text)) is None:
                raise LabelError(f"the {key} {text[:60]!r}", expected)
            held[_SEVERAL[key]] = (*held.get(_SEVERAL[key], ()), one)
        elif key in held:
            raise LabelError(f"a second {key}", "at most one")
        else:
            held[key] = text
    return held
