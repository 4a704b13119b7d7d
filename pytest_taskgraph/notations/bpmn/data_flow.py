"""The data of a level: data objects and stores that its activities read or write, by associations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .flow_scopes import Node, Remarks, Scope, designation
from .xml_tree import Element

_DATA: Final = ("dataObject", "dataObjectReference", "dataStore", "dataStoreReference")

_REFERRED: Final = {"dataObjectReference": "dataObjectRef", "dataStoreReference": "dataStoreRef"}


@dataclass(slots=True)
class DataDraft:
    """The data of a level by key with their names, and the links of activities and data."""

    names: dict[str, str]
    reads: list[tuple[str, str]]  # key of data, id of the activity
    writes: list[tuple[str, str]]  # id of the activity, key of data


class DataElements:
    """The data of a file by id, and the associations between data and activities.

    Args:
        definitions: The root element.
        nodes: The flow nodes of the file by id.
        remarks: What is left out is added here.
        doubtful: True for the second reading: references to the same data under several names are different data, and
            references of one name that do not say what they refer to are the same.
    """

    def __init__(self, definitions: Element, nodes: dict[str, Node], remarks: Remarks, doubtful: bool) -> None:
        self.nodes, self.remarks, self.doubtful = nodes, remarks, doubtful
        self.elements = {each.get("id"): each for each in definitions.descendants() if each.tag in _DATA}
        for process in definitions.of("process"):
            for specification in process.of("ioSpecification"):
                parameters = specification.of("dataInput", "dataOutput")
                self.elements.update((parameter.get("id"), parameter) for parameter in parameters)
        self.elements.pop("", None)
        self.main: dict[str, str] = {}  # by data, the element that names it: the first reference by name
        for key, element in sorted(self.elements.items(), key=_rank):
            self.main.setdefault(_referred(element) or key, key)
        self.first: dict[tuple[str, str, str], str] = {}
        self.reads: dict[Scope, list[tuple[str, str]]] = {}
        self.writes: dict[Scope, list[tuple[str, str]]] = {}
        for node in nodes.values():
            for association in node.element.of("dataInputAssociation", "dataOutputAssociation"):
                self._associate(node, association)
        for element in definitions.descendants():
            if element.tag == "association":
                self._draw(element)

    def of(self, scope: Scope) -> DataDraft:
        """Return the data that the activities of a scope read or write, and those that are drawn in it."""
        reads, writes = self.reads.get(scope, []), self.writes.get(scope, [])
        own = ("dataObject",) if scope.element.is_own_style else ()  # it needs no reference to be drawn
        elements = scope.element.of("dataObjectReference", "dataStoreReference", *own)
        drawn = [self._key(element.get("id")) for element in elements]
        keys = dict.fromkeys([*drawn, *(key for key, _ in reads), *(key for _, key in writes)])
        names = {key: self.elements[key].name for key in keys}
        return DataDraft(names, [*dict.fromkeys(reads)], [*dict.fromkeys(writes)])

    def _associate(self, node: Node, association: Element) -> None:
        """Add the links of a data association inside a flow node."""
        is_input = association.tag == "dataInputAssociation"
        ends = [end.text.rpartition(":")[2] for end in association.of("sourceRef" if is_input else "targetRef")]
        for end in (end for end in ends if end in self.elements):
            if node.kind != "activity":
                what = f"data association of {designation(node.element)}"
                self.remarks.add(association, "it is no activity; the association is left out", what)
            elif is_input:
                self.reads.setdefault(node.scope, []).append((self._key(end), node.id))
            else:
                self.writes.setdefault(node.scope, []).append((node.id, self._key(end)))

    def _draw(self, association: Element) -> None:
        """Add the link of an association between data and an activity that has a direction."""
        source, target = association.get("sourceRef"), association.get("targetRef")
        data = [end for end in (source, target) if end in self.elements]
        activities = [self.nodes[end] for end in (source, target) if end in self.nodes]
        if len(data) != 1 or len(activities) != 1 or activities[0].kind != "activity":
            return
        node, direction = activities[0], association.get("associationDirection") or "None"
        if direction == "None":
            what = f"association of {designation(self.elements[data[0]])} with {designation(node.element)}"
            self.remarks.add(association, "it has no direction; it is left out", what)
        if direction == "Both" or (direction == "One" and source == data[0]):
            self.reads.setdefault(node.scope, []).append((self._key(data[0]), node.id))
        if direction == "Both" or (direction == "One" and target == data[0]):
            self.writes.setdefault(node.scope, []).append((node.id, self._key(data[0])))

    def _key(self, identifier: str) -> str:
        """Return the id of the element that stands for the same data."""
        element = self.elements[identifier]
        main = self.main[_referred(element) or identifier]
        differs = self.elements[main].name != element.name or not _referred(element)
        if self.doubtful and differs and element.name and _refers(element):
            return self.first.setdefault((element.tag, _referred(element), element.name), identifier)
        return main


def _rank(item: tuple[str, Element]) -> tuple[object, ...]:
    """Return the rank of an element among those of the same data; their order in the file has no meaning."""
    key, element = item
    return not element.name, not _refers(element), element.name, key


def _refers(element: Element) -> bool:
    return element.tag in _REFERRED


def _referred(element: Element) -> str:
    """Return the id of the data that a reference refers to."""
    return element.get(_REFERRED.get(element.tag, "")).rpartition(":")[2]
