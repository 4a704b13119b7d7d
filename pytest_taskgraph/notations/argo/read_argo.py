"""The reader of Argo manifests: templates with tasks become workflows, with the rules by which they were read."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Final

from ...positioned_json import Node
from ...source import Source
from ...workflow.model import END, START, Link, QualifiedName, Task, Workflow
from ..notation import Interpretation
from .argo_guide import Rules, write_guide
from .manifests import (
    Document,
    LeftOut,
    all_templates,
    level_key,
    member,
    read_documents,
    referred_document,
    text_of,
    used_template,
)
from .template_levels import LOOPS, Level, read_dag, read_steps

_OUTPUTS = re.compile(r"\{\{=?[^{}]{0,200}\b(?:tasks|steps)\b[^{}]{0,200}\boutputs\b")
_COMMENT = re.compile(r"(?:^|\s)#")
_AT_TASKS: Final = {
    **dict.fromkeys(LOOPS, "the executions for its items count as one task"),
    "continueOn": "questions are about runs in which no task fails",
    "onExit": "it runs after its task, however that ends, beside what comes next",
    "hooks": "they run beside their task, `exit` after it",
}
_AT_TEMPLATES: Final = {
    "retryStrategy": "repeated attempts count as one execution",
    "synchronization": "waiting for a lock is no order of tasks",
    "parallelism": "a limit of how many tasks run at once is no order of tasks",
    "daemon": "what waits for such a task begins while it runs; no question depends on that",
}
_AT_SPEC: Final = {
    "onExit": "it runs after the end of the workflow, however that ends",
    "hooks": "they run beside the workflow, `exit` after it",
    "synchronization": _AT_TEMPLATES["synchronization"],
    "parallelism": _AT_TEMPLATES["parallelism"],
}
Readings = tuple[Workflow, Workflow]


def interpret(text: str, where: str = "") -> Interpretation:
    """Return the workflows of a manifest, with the guide that states how they were read.

    Raises:
        ReadError: if the text is no manifest with a workflow, or Argo would refuse it.
    """
    return _Manifest(Source(text, where)).interpretation()


class _Manifest:
    """The documents of a text, and the names of the workflows in them."""

    def __init__(self, source: Source) -> None:
        self.source, self.left_out, self.rules = source, LeftOut(source), Rules()
        self.documents = read_documents(source, self.left_out)
        self.doubtful = False
        self.names = self._names()

    def _names(self) -> dict[int, QualifiedName]:
        """Return the names of the templates with tasks, by their offsets: with the document's name where they clash."""
        placed = [(document, name, node) for document in self.documents for name, node in all_templates(document)]
        counts = Counter(name for _, name, _ in placed)
        names: dict[int, QualifiedName] = {}
        taken = set[QualifiedName]()
        for document, name, node in placed:
            qualified = QualifiedName(name, document.name if counts[name] > 1 else "")
            if qualified in taken:
                reason = f"another document named {document.name!r} has a template of that name"
                self.left_out.add(f"template {name!r}", node.start, reason)
            elif node.start not in names:  # an alias stands for the same template
                names[node.start] = qualified
                taken.add(qualified)
                self.rules.clashes |= bool(qualified.package)
        return names

    def interpretation(self) -> Interpretation:
        readings = [reading for document in self.documents for reading in self._readings(document)]
        if not readings:
            documents = self.documents[0].spec.start
            self.source.fail(
                documents, "only templates that run one thing", "an entrypoint, or a template with dag or steps"
            )
        self._note_outputs()
        first, second = (tuple(workflows) for workflows in zip(*readings, strict=True))
        lines = self.left_out.lines()
        guide = write_guide(self.rules)
        return Interpretation(first, guide, self.source.text, left_out=lines, doubtful=second if self.doubtful else ())

    def _note_outputs(self) -> None:
        text = self.source.text
        for match in _OUTPUTS.finditer(text):
            if not _COMMENT.search(text[text.rfind("\n", 0, match.start()) + 1 : match.start()]):
                self.left_out.add("outputs of tasks", match.start(), "data that tasks pass on is not read")

    def _readings(self, document: Document) -> list[Readings]:
        """Return the workflows of a document: its templates with tasks, else its entrypoint as a single task.

        Raises:
            ReadError: if Argo would refuse it.
        """
        self._check_entrypoint(document)
        self._note(document.spec, _AT_SPEC)
        for template in document.templates.values():
            self._note(template, _AT_TEMPLATES)
        named = [(self.names[node.start], node) for _, node in all_templates(document) if node.start in self.names]
        readings = [self._level(document, node, name) for name, node in named]
        return readings or [(single, single) for single in self._single_task(document)]

    def _note(self, node: Node, constructs: dict[str, str]) -> None:
        """Record those of the constructs that a mapping has."""
        for key, reason in constructs.items():
            if (found := member(node, key)) is not None and (key, text_of(found)) != ("daemon", "false"):
                self.left_out.add(key, node.keys.get(key, found.start), reason)

    def _check_entrypoint(self, document: Document) -> None:
        """Check that the entrypoint is a template of the document.

        Raises:
            ReadError: if it is not.
        """
        name = document.entrypoint
        if name and name not in document.templates and not referred_document([], document)[0] and "{{" not in name:
            place = document.spec.keys.get("entrypoint", document.spec.start)
            self.source.fail(place, f"the unknown entrypoint {name!r}", f"one of the templates: {document.known}")

    def _single_task(self, document: Document) -> list[Workflow]:
        """Return the workflow whose only task is the entrypoint; none if the document states no entrypoint."""
        library, referred = referred_document(self.documents, document)
        name = document.entrypoint
        if library:
            self._check_library(document, library, referred)
            template = referred.templates.get(name or referred.entrypoint) if referred else None
            task = Task(library, reference=self.names.get(template.start) if template else None)
        elif not name:
            return []
        else:
            task = Task(name)
        self.rules.single = True
        links = (Link(START, task.name), Link(task.name, END))
        return [Workflow(document.name or name, tasks=(task,), links=links)]

    def _check_library(self, document: Document, library: str, referred: Document | None) -> None:
        if referred is None:
            place = document.spec.keys["workflowTemplateRef"]
            self.left_out.add(
                f"workflowTemplateRef to {library}",
                place,
                "not in this file, so it is read as a task without an inside",
            )

    def _level(self, document: Document, template: Node, name: QualifiedName) -> Readings:
        """Return both readings of a template with tasks.

        Raises:
            ReadError: if Argo would refuse it.
        """
        key = level_key(template)
        node = member(template, key) or template

        def is_daemon(task: Node) -> bool:
            used = used_template(self.source, self.documents, document, task).template
            return text_of(member(used, "daemon")).lower() == "true"

        if key == "dag":
            self.rules.dag = True
            self._note(node, {"failFast": _AT_TASKS["continueOn"]})
            level = read_dag(self.source, node, is_daemon, self.left_out)
        else:
            self.rules.steps = True
            level = read_steps(self.source, node, is_daemon, self.left_out)
        pairs = [self._tasks(document, task.node, task.name) for task in level.tasks.values() if task.node]
        if not pairs:
            self.source.fail(node.start, f"{key} without tasks", "at least one task")
        self._record(level)
        first = level.first_reading(name, [pair[0] for pair in pairs])
        if not level.doubtful and all(a is b for a, b in pairs):
            return first, first
        self.doubtful = True
        return first, level.second_reading(name, [pair[1] for pair in pairs])

    def _record(self, level: Level) -> None:
        self.rules.when |= any(task.when for task in level.tasks.values())
        self.rules.failing |= any(task.fails_before for task in level.tasks.values())

    def _tasks(self, document: Document, node: Node, name: str) -> tuple[Task, Task]:
        """Return the task in both readings of its level."""
        self._note(node, _AT_TASKS)
        self.rules.loops |= any(member(node, key) is not None for key in LOOPS)
        self.rules.depends |= member(node, "depends") is not None
        use = used_template(self.source, self.documents, document, node)
        if use.missing:
            self.left_out.add(use.missing, node.start, "not in this file, so its task is read without an inside")
        if use.template is None or not level_key(use.template):
            return (Task(name),) * 2
        if use.name:
            self.rules.composite |= use.template.start in self.names
            return (Task(name, reference=self.names.get(use.template.start)),) * 2
        self.rules.inline = True
        first, second = self._level(document, use.template, QualifiedName(name))
        inside = Task(name, subworkflow=first)
        return inside, inside if first is second else replace(inside, subworkflow=second)
