"""The documents of an Argo manifest: their kinds, names and templates, and which template a task uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ...positioned_json import Node
from ...positioned_yaml import documents
from ...source import Source

API: Final = "argoproj.io/"
KINDS: Final = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
_LIBRARIES: Final = ("WorkflowTemplate", "ClusterWorkflowTemplate")  # what `templateRef` refers to
ONE_LEVEL: Final = ("dag", "steps")
MOST_NAMED: Final = 10  # templates that an error message lists


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a kind that holds a workflow; `spec` is the specification of the workflow itself."""

    kind: str
    name: str  # metadata.name, or metadata.generateName as it is written
    spec: Node
    templates: dict[str, Node]

    @property
    def entrypoint(self) -> str:
        """Return the name of the template that the workflow starts with; empty if it states none."""
        return text_of(member(self.spec, "entrypoint"))

    @property
    def known(self) -> str:
        """Return the first names of its templates, for errors."""
        names = [*self.templates]
        return ", ".join([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])]) or "none"


@dataclass(slots=True)
class LeftOut:
    """What is no part of the workflows: for each construct where it stands first, how often, and why."""

    source: Source
    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, construct: str, offset: int, reason: str) -> None:
        """Record a construct at an offset."""
        self.places.setdefault((construct, reason), []).append(offset)

    def lines(self) -> tuple[str, ...]:
        """Return a line for each construct, in the order of their first places."""
        found = sorted(self.places.items(), key=lambda entry: min(entry[1]))
        return tuple([f"{construct} ({self._place(offsets)}): {why}" for (construct, why), offsets in found])

    def _place(self, offsets: list[int]) -> str:
        place = f"{self.source.where}:{self.source.text.count(chr(10), 0, min(offsets)) + 1}".removeprefix(":")
        place = place if self.source.where else f"line {place}"
        return f"{place} and {len(offsets) - 1} more" if len(offsets) > 1 else place


def member(node: Node | None, name: str) -> Node | None:
    """Return the value of a key of a mapping; None if the node is no mapping, or the key is missing or empty."""
    if node is None or not isinstance(node.value, dict):
        return None
    found = node.value.get(name)
    return None if found is None or found.value is None else found


def text_of(node: Node | None) -> str:
    """Return the text of a value; empty for anything else."""
    return node.value if node is not None and isinstance(node.value, str) else ""


def entries(source: Source, node: Node, expected: str) -> list[Node]:
    """Return the entries of a list.

    Raises:
        ReadError: if the node is no list.
    """
    if not isinstance(node.value, list):
        source.fail(node.start, node.plain, expected)
    return node.value


def required_name(source: Source, node: Node, what: str) -> str:
    """Return the name of a mapping.

    Raises:
        ReadError: if the node is no mapping, or has no name.
    """
    if not isinstance(node.value, dict):
        source.fail(node.start, node.plain, f"a mapping: {what}")
    name = text_of(member(node, "name"))
    if not name:
        source.fail(node.start, f"{what} without a name", "a key 'name'")
    return name


def read_documents(source: Source, left_out: LeftOut) -> list[Document]:
    """Return the documents with a workflow.

    Raises:
        ReadError: if there is none, or one is malformed.
    """
    found = []
    for node in documents(source):
        kind, api = text_of(member(node, "kind")), text_of(member(node, "apiVersion"))
        if api.startswith(API) and kind in KINDS:
            found.append(_document(source, node, kind))
        else:
            named = f"a document of kind {kind}" if kind else "a document without a kind"
            left_out.add(named, node.start, "it holds no workflow")
    if not found:
        kinds = ", ".join(KINDS)
        source.fail(
            0, "no workflow of Argo", f"a document with 'apiVersion: {API}v1alpha1' and one of the kinds {kinds}"
        )
    return found


def _document(source: Source, node: Node, kind: str) -> Document:
    metadata, spec = member(node, "metadata"), member(node, "spec")
    if kind == "CronWorkflow":
        spec = member(spec, "workflowSpec")
    if spec is None or not isinstance(spec.value, dict):
        key = "spec.workflowSpec" if kind == "CronWorkflow" else "spec"
        source.fail(node.start, f"a {kind} without {key}", f"a mapping under '{key}'")
    templates: dict[str, Node] = {}
    listed = member(spec, "templates")
    for template in entries(source, listed, "a list of templates") if listed else ():
        name = required_name(source, template, "a template")
        if name in templates:
            source.fail(template.start, f"a second template {name!r}", "each name once")
        templates[name] = template
    name = text_of(member(metadata, "name")) or text_of(member(metadata, "generateName"))
    return Document(kind, name, spec, templates)


@dataclass(frozen=True, slots=True)
class Use:
    """What a task runs: a template of some document, an inline template, or one that stands elsewhere."""

    document: Document
    template: Node | None  # None if it stands elsewhere
    name: str = ""  # of the template; empty if it is inline
    missing: str = ""  # what is written of a template that stands elsewhere


def used_template(source: Source, found: list[Document], document: Document, task: Node) -> Use:
    """Return what a task runs.

    Raises:
        ReadError: if it states no template, or the document has no template of the name.
    """
    inline, reference, named = (member(task, key) for key in ("inline", "templateRef", "template"))
    if inline is not None:
        return Use(document, inline)
    if reference is not None:
        library, name = text_of(member(reference, "name")), text_of(member(reference, "template"))
        for other in found:
            if other.kind in _LIBRARIES and other.name == library and name in other.templates:
                return Use(other, other.templates[name], name)
        return Use(document, None, name, f"templateRef to {library}/{name}")
    name = text_of(named)
    if named is None or not name:
        source.fail(task.start, "a task without a template", "one of 'template', 'templateRef' and 'inline'")
    if name in document.templates:
        return Use(document, document.templates[name], name)
    if "{{" not in name:
        source.fail(named.start, f"the unknown template {name!r}", f"one of the templates: {document.known}")
    return Use(document, None, name, f"the template {name}")


def referred_document(found: list[Document], document: Document) -> tuple[str, Document | None]:
    """Return the name that `workflowTemplateRef` states, and the document of that name; "" if it states none."""
    name = text_of(member(member(document.spec, "workflowTemplateRef"), "name"))
    return name, next((other for other in found if other.kind in _LIBRARIES and other.name == name), None)


def level_key(template: Node) -> str:
    """Return "dag" or "steps" if the template holds tasks, else ""."""
    return next((key for key in ONE_LEVEL if member(template, key) is not None), "")


def all_templates(document: Document) -> Iterator[tuple[str, Node]]:
    """Yield the templates with tasks, the entrypoint first."""
    names = sorted(document.templates, key=lambda name: name != document.entrypoint)
    yield from ((name, document.templates[name]) for name in names if level_key(document.templates[name]))
