"""YAML parser that keeps the position of every value, within bounds; every scalar stays the text that is written.

Texts stay texts, so that `on:` is no boolean and `1.10` no number; an empty value and `null` are None. Merge keys
(`<<`) are followed; tags that are not of YAML's core schema are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from .positioned_json import Node
from .source import Source

MAX_DEPTH: Final = 100  # of nested lists and mappings
MAX_NODES: Final = 100_000  # of a text, an alias counted as all that it stands for
_CORE_TAGS: Final = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_NULLS: Final = {"", "~", "null", "Null", "NULL"}
_MERGE: Final = "<<"
# The parser in C is many times as fast; the wheels have it, but not every build.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def documents(source: Source) -> list[Node]:
    """Return the documents of the text that are not empty; the values of nodes are texts, lists, mappings and None.

    Raises:
        ReadError: for invalid YAML, a key that is no text or stands twice, a foreign tag, nesting deeper than
            MAX_DEPTH, and more than MAX_NODES values, counted with what aliases stand for.
    """
    reader = _Reader(source)
    try:
        for event in yaml.parse(source.text, Loader=_LOADER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reasons = " ".join(filter(None, [error.context, error.problem]))
        source.fail(min(mark.index, len(source.text)) if mark else 0, f"invalid YAML: {reasons}", "valid YAML")
    except (yaml.reader.ReaderError, UnicodeEncodeError):
        source.fail(_unprintable(source.text), "a character that YAML does not allow", "printable characters")
    return [document for document in reader.documents if document.value is not None]


def _unprintable(text: str) -> int:
    """Return the offset of the first character that YAML does not allow."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    return found.start() if found else 0


@dataclass(slots=True)
class _Collection:
    """A list or mapping whose end has not been read; `size` counts the nodes in it."""

    node: Node
    anchor: str | None
    size: int = 1
    key: Node | None = None
    merged: list[Node] = field(default_factory=list)


class _Reader:
    """What has been read of a text: its documents, the collections that are open, and what anchors stand for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Node] = []
        self.open: list[_Collection] = []
        self.anchors: dict[str, tuple[Node, int]] = {}

    def take(self, event: yaml.Event) -> None:
        """Take the next event of the parser.

        Raises:
            ReadError: as `documents`.
        """
        offset = _offset(event)
        if isinstance(event, yaml.DocumentStartEvent):
            self.anchors.clear()
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self.source.fail(offset, f"the alias *{event.anchor}", "an anchor of that name that ends before it")
            node, size = self.anchors[event.anchor]
            self._add(Node(node.value, offset, node.keys), size)
        elif isinstance(event, yaml.ScalarEvent):
            self._check_tag(event)
            value = None if not event.style and event.value in _NULLS else event.value
            self._close(Node(value, offset, {}), 1, event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check_tag(event)
            if len(self.open) == MAX_DEPTH:
                expected = f"at most {MAX_DEPTH} lists and mappings inside one another"
                self.source.fail(offset, "a value nested too deeply", expected)
            empty: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            self.open.append(_Collection(Node(empty, offset, {}), event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self.open.pop()
            _merge(closed)
            self._close(closed.node, closed.size, closed.anchor)

    def _close(self, node: Node, size: int, anchor: str | None) -> None:
        """Add a value that has ended, and note what its anchor stands for."""
        if anchor is not None:
            self.anchors[anchor] = (node, size)
        self._add(node, size)

    def _add(self, node: Node, size: int) -> None:
        """Add a value of `size` nodes to the collection that is open, or to the documents."""
        if not self.open:
            self.documents.append(node)
            return
        parent = self.open[-1]
        parent.size += size
        if sum(collection.size for collection in self.open) > MAX_NODES:
            self.source.fail(node.start, f"more than {MAX_NODES:,} values, with those of aliases", "a smaller file")
        if isinstance(parent.node.value, list):
            parent.node.value.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            key, parent.key = parent.key, None
            self._add_member(parent, key, node)

    def _add_member(self, parent: _Collection, key: Node, value: Node) -> None:
        name = key.value if isinstance(key.value, str) else "" if key.value is None else self._fail_key(key)
        if name == _MERGE:
            sources = value.value if isinstance(value.value, list) else [value]
            if not all(isinstance(each.value, dict) for each in sources):
                self.source.fail(value.start, value.plain, "a mapping, or a list of mappings, behind '<<'")
            parent.merged += sources
            return
        assert isinstance(parent.node.value, dict)
        if name in parent.node.value:
            self.source.fail(key.start, f"the key {name!r} a second time", "each key once")
        parent.node.value[name], parent.node.keys[name] = value, key.start

    def _fail_key(self, key: Node) -> NoReturn:
        self.source.fail(key.start, f"{key.plain} as a key", "a text as a key")

    def _check_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag and event.tag not in _CORE_TAGS and event.tag != "!":
            self.source.fail(_offset(event), f"the tag {event.tag!r}", "a value without a tag")


def _offset(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _merge(closed: _Collection) -> None:
    """Add the members of merged mappings that the mapping itself does not have; the first of several counts."""
    members = closed.node.value
    for merged in closed.merged:
        if isinstance(members, dict) and isinstance(merged.value, dict):
            for name, value in merged.value.items():
                if name not in members:
                    members[name], closed.node.keys[name] = value, value.start
