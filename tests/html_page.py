"""A page of HTML, read for tests: its elements with their attributes and texts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

APART = {"td", "th", "dt", "dd", "li", "pre", "option"}  # stand apart without white space between them
VOID = {"meta", "input", "br", "wbr", "path", "circle", "polyline", "img"}

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!-- "
    "\x1b[31mred\x1b[0m \u202egnp.exe\u2028&amp;'\""
)


class Page(HTMLParser):
    """A page read: elements with their attributes and text. Fails where one is not closed, or by another's end."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.open: list[int] = []
        self.feed(text)
        self.close()
        assert [self.elements[at][0] for at in self.open] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))
        if tag in APART:
            self.handle_data(" ")
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for at in self.open:
            self.elements[at][2].append(data)

    def all(self, tag: str, **attributes: str) -> list[str]:
        """The texts of the elements with that tag and these attributes, white space evened."""
        return [
            " ".join("".join(text).split())
            for name, own, text in self.elements
            if name == tag and all(own.get(key.replace("_", "-").strip("-")) == of for key, of in attributes.items())
        ]

    def raw(self, identity: str) -> str:
        return next("".join(text) for _, attributes, text in self.elements if attributes.get("id") == identity)

    def data(self, identity: str) -> Any:  # noqa: ANN401
        return json.loads(self.raw(identity))
