"""The text of a BPMN model as it is shown: its elements in their order, without the diagram and vendors' extensions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .xml_tree import MODEL, Element

_UNSHOWN: Final = frozenset(
    {"targetNamespace", "exporter", "exporterVersion", "expressionLanguage", "typeLanguage", "gatewayDirection"}
)
_DEFAULTS: Final = {
    "isExecutable": "", "processType": "", "isClosed": "", "implementation": "", "startQuantity": "1",
    "completionQuantity": "1", "isForCompensation": "false", "triggeredByEvent": "false", "parallelMultiple": "false",
    "isInterrupting": "true", "cancelActivity": "true", "isCollection": "false", "isUnlimited": "",
    "capacity": "", "isImmediate": "", "instantiate": "false", "name": "", "eventGatewayType": "Exclusive",
}  # fmt: skip
"""Attributes that are not shown with this value; "" stands for any value, except for `name`."""
_INSIDE: Final = frozenset(
    {"ioSpecification", "property", "resourceRole", "performer", "potentialOwner", "humanPerformer"}
)
_REPEATED: Final = {
    "process": frozenset[str](),
    "definitions": frozenset({"itemDefinition", "interface", "resource"}),
    "dataInputAssociation": frozenset({"targetRef"}),
    "dataOutputAssociation": frozenset({"sourceRef"}),
}
"""Elements inside others that are not shown, by the element around them; in all others, those of _INSIDE."""
_INDENT: Final = "  "
_OMITTED: Final = re.compile(r"<(?:[\w.-]+:)?(?:BPMNDiagram|extensionElements|incoming|outgoing)\b")


def is_verbatim(text: str) -> bool:
    """Return True if a text holds elements that are not shown."""
    return _OMITTED.search(text) is not None


def shown_text(root: Element) -> str:
    """Return the text that is shown for the elements of a file; it is read as the file is."""
    return "\n".join(_lines(root, 0)) + "\n"


def escaped(text: str, quotes: bool = True) -> str:
    """Return a text as it is shown in an attribute, or, without `quotes`, in an element."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    return text.replace('"', "&quot;") if quotes else text


def _lines(element: Element, depth: int) -> Iterator[str]:
    """Yield the lines of an element; its depth is bounded by the parser."""
    tag, text = element.tag, element.text
    attributes = "".join(f' {key}="{escaped(value)}"' for key, value in _attributes(element))
    start = f"{_INDENT * depth}<{tag}" + (f' xmlns="{MODEL}"' if not depth else "") + attributes
    children = [child for child in element.children if child.tag not in _REPEATED.get(tag, _INSIDE)]
    if not children:
        yield f"{start}>{escaped(text, quotes=False)}</{tag}>" if text else f"{start}/>"
        return
    yield f"{start}>" + escaped(text, quotes=False)
    for child in children:
        yield from _lines(child, depth + 1)
    yield f"{_INDENT * depth}</{tag}>"


def _attributes(element: Element) -> Iterator[tuple[str, str]]:
    for key in sorted(element.attributes, key=lambda key: {"id": 0, "name": 1}.get(key, 2)):
        value = element.attributes[key]
        shown = " ".join(value.split())
        hidden = _DEFAULTS.get(key, "\0") in ((shown,) if key == "name" else ("", shown))
        if not hidden and key not in _UNSHOWN:
            yield key, shown
