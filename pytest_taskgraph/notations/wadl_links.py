"""Which names a text in the workflow DSL may declare and link, and the links of its control flow and data flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from ..workflow.model import END, START, Data, DataLink, Gateway, Link, Task
from .wadl_items import ControlItem, DataFlowItem, MisreadError, Word
from .wadl_words import marker, reserved


def declared(name: Word) -> str:
    """The name that a declaration gives to a task or to data. Raises MisreadError for START, END and bare markers."""
    if name.text in (START, END):
        raise MisreadError(name, f"the reserved name {name.text}", "another name")
    if not name.quoted and reserved(name.text):
        raise MisreadError(name, f"the marker {name.text}", "another name, or this one in quotation marks")
    return name.text


class Names:
    """What the links of a block may name. A derived workflow inherits tasks and data that its text does not tell."""

    def __init__(self, tasks: Mapping[str, Task], data: Mapping[str, Data], derived: bool) -> None:
        self.tasks, self.data, self.derived = tasks, data, derived

    def node(self, word: Word) -> Gateway | None:
        """The gateway that a node of the control flow is. Raises MisreadError for a node that nothing declares."""
        name = word.text
        gateway = None if word.quoted else marker(name)
        if gateway and (name in self.tasks or name in self.data):
            raise MisreadError(word, f"the marker {name}, and a task or data of that name", "another number")
        at_the_end = name in (START, END) and not word.quoted
        inherited = self.derived and name not in (START, END, *self.data)
        if not (gateway or at_the_end or inherited or name in self.tasks):
            raise MisreadError(word, repr(name), any_of("task of this block, START, END or a marker", self.tasks))
        return gateway

    def end(self, word: Word) -> str:
        """The task or data that a line of the data flow names. Raises MisreadError for what nothing declares."""
        inherited = self.derived and word.text not in (START, END) and (word.quoted or not reserved(word.text))
        if not (inherited or word.text in self.tasks or word.text in self.data):
            raise MisreadError(word, repr(word.text), any_of("task or data of this block", (*self.tasks, *self.data)))
        return word.text


def control_links(lines: Iterable[ControlItem], names: Names) -> tuple[tuple[Link, ...], tuple[Gateway, ...]]:
    """The links in the order of the text, and the gateways that they name. Raises MisreadError."""
    links: list[Link] = []
    gateways: dict[str, Gateway] = {}
    for line in lines:
        gateways |= {gateway.name: gateway for word in line.nodes if (gateway := names.node(word))}
        links += [Link(source.text, target.text, line.guard) for source, target in pairwise(line.nodes)]
    return tuple(links), tuple(gateways.values())


def data_links(lines: Iterable[DataFlowItem], names: Names) -> tuple[DataLink, ...]:
    """The data links in the order of the text. Raises MisreadError."""
    return tuple(DataLink(a, b) for line in lines for a, b in pairwise([names.end(word) for word in line.nodes]))


def any_of(kind: str, names: Iterable[str]) -> str:
    """What was expected: one of these names, the first eight of them told."""
    known = [repr(name) for name in names]
    shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    return f"a {kind} ({shown or 'it declares none'})"
