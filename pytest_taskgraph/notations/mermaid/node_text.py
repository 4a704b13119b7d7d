"""The labels of our Mermaid charts: the name, then a line for each attribute of the node.

    Cook<br/>description: boils the soup<br/>parameter: 'minutes', set to 20

Characters with a meaning in Mermaid are written as entity codes: #quot; #35; #lt; …
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.entities import html5
from typing import Any

from ...workflow.model import Data, Duration, Task, TimeUnit, Workflow
from ..attribute_lines import data_lines, level_lines, read_lines, task_lines
from ..phrases import read_duration

END_LABELS = frozenset({"start", "end"})  # labels of START and END, in lower case
_ENTITY_NAMES = {'"': "quot", "<": "lt", ">": "gt", "&": "amp", "#": "35", "`": "96"}
_CHARACTERS = {"quot": '"', "lt": "<", "gt": ">", "amp": "&", "nbsp": "\xa0", "apos": "'"}
_ENTITY = re.compile(r"[#&](?:#?([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));")
_BREAK = re.compile(r"</?br\s*/?>|\n|\\n", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|center|code|del|div|em|font|h[1-6]|hr|i|img|kbd|li|mark|ol|p|pre|q|s|small|span|strike|strong"
    r"|sub|sup|svg|table|tbody|td|th|tr|tt|u|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ICON = re.compile(r"\bfa[bsrl]?:fa-[\w-]+[ \t]*")
_DISTURBING = re.compile(r"\\(?=n)|:(?=fa-)")  # text that a reader takes for markup
_EMPHASIS = re.compile(r"\*{1,3}(?=[^\s*])([^*]+)(?<=\S)\*{1,3}|(?<![\w_])_{1,3}(?=[^\s_])([^_]+)(?<=\S)_{1,3}(?!\w)")
_LINE = re.compile(r"(description|kind|implementation|duration|schema|parameter|effect|binding):(.*)")
_UNITS: Mapping[str, TimeUnit] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "seconds"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hours"),
    **dict.fromkeys(("d", "day", "days"), "days"),
}  # not "m", which is also a metre and a month
_TIME = rf"([1-9][0-9]{{0,11}})\s*({'|'.join(_UNITS)})"
_TIME_LINE = re.compile(rf"\(?{_TIME}\)?", re.IGNORECASE)
_TIME_IN_BRACKETS = re.compile(rf".*\S\s*\({_TIME}\)", re.IGNORECASE)


def encode(text: str) -> str:
    """Return the text with entity codes, so that `decode` restores it from a quoted label or a comment."""
    core = text.strip()
    before = len(text) - len(text.lstrip())
    signs = [_encode_character(character) for character in text]
    for match in _DISTURBING.finditer(text):
        signs[match.start()] = f"#{ord(text[match.start()])};"
    for position, character in enumerate(text):
        if not before <= position < before + len(core):
            signs[position] = f"#{ord(character)};"
    return "".join(signs)


def _encode_character(character: str) -> str:
    if character in _ENTITY_NAMES:
        return f"#{_ENTITY_NAMES[character]};"
    return character if character.isprintable() else f"#{ord(character)};"


def decode(text: str) -> str:
    """Return the text with entity codes replaced; codes that Mermaid does not know stay as they are."""
    return _ENTITY.sub(_decode_match, text)


def _decode_match(entity: re.Match[str]) -> str:
    if entity[1] is None:
        return _CHARACTERS.get(entity[2]) or html5.get(f"{entity[2]};", entity[0])
    code = int(entity[1])
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else entity[0]


def task_label(task: Task) -> str:
    """Return the label of a task, without its quotes."""
    return _label(task.name, task_lines(task))


def data_label(data: Data) -> str:
    """Return the label of data, without its quotes."""
    return _label(data.name, data_lines(data))


def level_comments(workflow: Workflow) -> Iterator[str]:
    """Yield the comment lines that state the attributes of a workflow."""
    yield from (comment_line(key, text) for key, text in level_lines(workflow))


def comment_line(key: str, text: str) -> str:
    """Return a comment line with a key."""
    return f"%% {key}: {encode(text)}"


def _label(name: str, lines: Iterable[tuple[str, str]]) -> str:
    first_line = encode(name)
    if name.lower() in END_LABELS:  # the code of its first letter distinguishes the task from START and END
        first_line = f"#{ord(name[0])};{name[1:]}"
    elif time_at_end([name]):  # the code of its last character distinguishes it from a duration
        first_line = f"{encode(name[:-1])}#{ord(name[-1])};"
    return "<br/>".join([first_line, *(f"{key}: {encode(text)}" for key, text in lines)])


def read_label(label: str, known_keys: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Return the name in a label, and the attributes of the node by the names of the model's fields.

    Lines with none of the known keys belong to the name, and so do durations in other words than ours. A time at the
    end of the name is the duration of a task, too, if no line states one.

    Raises:
        LineError: if an attribute is malformed or repeated.
    """
    first, *rest = written_lines(label)
    name, lines = [first.strip()], list[tuple[str, str]]()
    for line in rest:
        match = _LINE.fullmatch(line.strip())
        value = decode(match[2].strip()) if match else ""
        if match and match[1] in known_keys and (match[1] != "duration" or read_duration(value)):
            lines.append((match[1], value))
        else:
            name.append(line.strip())
    fields = read_lines(lines)
    time = time_at_end([part for part in name if part] or [""]) if "duration" in known_keys else None
    if time and "duration" not in fields:
        fields["duration"] = time
    return " ".join(decode(part) for part in name if part), fields


def time_at_end(lines: Sequence[str]) -> Duration | None:
    """Return the time at the end of a name, in brackets or on a line of its own; None if there is none.

    Args:
        lines: The lines of the name as they are written.
    """
    last = lines[-1].strip()
    match = _TIME_IN_BRACKETS.fullmatch(last) or (_TIME_LINE.fullmatch(last) if len(lines) > 1 else None)
    return Duration(int(match[1]), _UNITS[match[2].lower()]) if match else None


def has_duration_line(label: str) -> bool:
    """Return True if a line of the label states a duration."""
    return any(line.strip().startswith("duration:") for line in written_lines(label))


def drawn_text(text: str) -> str:
    """Return the text without markup, its lines joined by blanks, as it appears in the drawing."""
    return " ".join(decode(line.strip()) for line in written_lines(text) if line.strip())


def has_markup(label: str) -> bool:
    """Return True if the text in the drawing differs from the written one."""
    return drawn_text(label) != label.strip()


def written_lines(label: str) -> list[str]:
    """Return the lines of a label without tags, icons and, in a Markdown string, emphasis; codes stay as they are."""
    label = label.strip()
    if len(label) > 1 and label[0] == label[-1] == "`":
        label = _EMPHASIS.sub(_emphasized_text, _EMPHASIS.sub(_emphasized_text, label[1:-1]))
    return _BREAK.split(_ICON.sub("", _TAG.sub("", label)))


def _emphasized_text(match: re.Match[str]) -> str:
    return match[1] or match[2]


def label_spellings(label: str) -> Iterator[str]:
    """Yield the ways in which a reader may copy a label from the text, or from the drawing."""
    bare = label.strip("`") if label[:1] == label[-1:] == "`" else label
    lines = [decode(line.strip()) for line in written_lines(label)]
    yield from (label, bare, drawn_text(label), decode(label), decode(bare))
    yield from (mark.join(lines) for mark in ("\n", "<br/>", "<br>", "<br />", "\\n", ""))
    yield " ".join(bare.split())
