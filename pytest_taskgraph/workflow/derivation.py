"""Derived workflows and the configurations in them, resolved.

A chain of bases that comes back to where it began ends there. Configuring the inside of a workflow that a task uses
makes a copy of that workflow, which the task then uses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from ..errors import WorkflowError
from .model import Configuration, Data, QualifiedName, Task, Workflow
from .project import Index, check_bounds, configurations, every_level, override_parameters, references, size, with_tasks

_Special = tuple[QualifiedName, tuple[Configuration, ...]]  # a workflow, and what others configure in it


def assemble(workflow: Workflow) -> Workflow:
    """Return the project with derivation resolved: no bases, no configurations, and only the others it still needs.

    References are qualified. Where a configuration reaches into a workflow that a task uses, the task uses a configured
    copy of it; the copy keeps the name unless the original is needed too, and is numbered then.

    Raises:
        WorkflowError: if a base, or a task or data to configure, is missing.
    """
    if _is_plain(workflow):
        check_bounds(workflow, *size(workflow, {}))
        return workflow
    return _Assembly(workflow).whole()


def _is_plain(workflow: Workflow) -> bool:
    """Return True if a workflow without others has nothing to resolve and declares no name twice."""
    if workflow.others:
        return False
    for level in every_level(workflow):
        declared = (level.tasks, level.data, level.gateways, level.parameters)
        if level.base or level.configurations or any(task.reference for task in level.tasks):
            return False
        if any(len({element.name for element in elements}) < len(elements) for elements in declared):
            return False
    return True


def configure_task(task: Task, by: Configuration) -> Task:
    """Return the task with all that a configuration gives in place of, or beside, its own.

    Texts, the duration and the sub-workflow are replaced where the configuration gives them; parameters, effects and
    bindings are merged by name. The caller resolves the configurations inside it.
    """
    return replace(
        task,
        description=by.description or task.description,
        kind=by.kind or task.kind,
        implementation=by.implementation or task.implementation,
        parameters=override_parameters(task.parameters, by.parameters),
        effects=tuple({effect.parameter: effect for effect in (*task.effects, *by.effects)}.values()),
        subworkflow=task.subworkflow if by.reference is None else None,
        reference=by.reference or task.reference,
        bindings=tuple(dict((*task.bindings, *by.bindings)).items()),
        duration=by.duration or task.duration,
    )


def configure_data(data: Data, by: Configuration) -> Data:
    """Return the data with the description and the schema that a configuration gives in place of its own."""
    return replace(data, description=by.description or data.description, schema=by.schema or data.schema)


def lineage(index: Index, workflow: Workflow) -> list[Workflow]:
    """Return the workflow and its bases, the farthest first; a cyclic chain ends where it began.

    Raises:
        WorkflowError: if a base is missing.
    """
    line = {workflow.qualified: workflow}
    last = workflow
    while last.base is not None:
        base = index.find(last.base, last.package)
        if base is None:
            raise WorkflowError(
                f"workflow {str(last.qualified)!r}: its base {str(last.base)!r} is not found; "
                f"expected one of: {', '.join(str(name) for name in index.exact)}"
            )
        if base.qualified in line:
            break
        line[base.qualified] = last = base
    return list(reversed(line.values()))


class _Assembly:
    """One run of `assemble`: the workflows still to be built, and the names of the configured copies."""

    def __init__(self, project: Workflow) -> None:
        self.index = Index(project)
        self.root = project
        self.copies: dict[_Special, QualifiedName] = {}
        self.specials: dict[QualifiedName, _Special] = {}
        self.taken = set(self.index.simple)
        for workflow in self.index.exact.values():
            check_bounds(workflow, *size(workflow, {}))
            tuple(configurations(workflow))

    def whole(self) -> Workflow:
        workflows: dict[QualifiedName, Workflow] = {}
        waiting = deque([self.root.qualified])
        while waiting:
            name = waiting.popleft()
            if name not in workflows:
                workflows[name] = self._build(name)
                check_bounds(self.root, 0, len(workflows))
                waiting.extend(
                    to for to in references(workflows[name]) if to in self.specials or to in self.index.exact
                )
        names = self._final_names(workflows)
        root, *others = (_rename_references(workflow, names) for workflow in workflows.values())
        return replace(root, others=tuple(others))

    def _build(self, name: QualifiedName) -> Workflow:
        """Build a workflow with all it inherits and all that is configured in it, starting with its bases."""
        original, special = self.specials.get(name, (name, ()))
        merged = Workflow(name.name, name.package)
        for derived in lineage(self.index, self.index.exact[original]):
            merged = _merge_with_base(merged, with_tasks(derived, derived.package, self._resolve_task))
            merged = self._configure_level(merged, self._qualify_configurations(derived, derived.package))
        return self._configure_level(merged, special)

    def _resolve_task(self, task: Task, package: str) -> Task:
        """Return the task with its reference qualified and its inline sub-workflow configured."""
        reference = task.reference and self.index.qualified(task.reference, package)
        subworkflow = task.subworkflow
        if subworkflow is not None and subworkflow.base is not None:
            raise WorkflowError(f"task {task.name!r}: its inline sub-workflow has a base; refer to it by name instead")
        if subworkflow is not None and subworkflow.configurations:
            configurations = self._qualify_configurations(subworkflow, subworkflow.package or package)
            subworkflow = replace(self._configure_level(subworkflow, configurations), configurations=())
        unchanged = subworkflow is task.subworkflow and reference == task.reference
        return task if unchanged else replace(task, reference=reference, subworkflow=subworkflow)

    def _qualify_configurations(self, owner: Workflow | Configuration, package: str) -> tuple[Configuration, ...]:
        """Return the configurations of a workflow, and those inside them, with full names."""
        return tuple(
            replace(
                configuration,
                reference=configuration.reference and self.index.qualified(configuration.reference, package),
                configurations=self._qualify_configurations(configuration, package),
            )
            for configuration in owner.configurations
        )

    def _configure_level(self, level: Workflow, configurations: Iterable[Configuration]) -> Workflow:
        for configuration in configurations:
            names = level.task_names if configuration.of == "task" else tuple(data.name for data in level.data)
            if configuration.target not in names:
                raise WorkflowError(
                    f"workflow {str(level.qualified)!r}: configures the {configuration.of} {configuration.target!r}; "
                    f"expected one that it has: {', '.join(names) or 'none'}"
                )
            target = configuration.target
            if configuration.of == "task":
                tasks = (self._configure_task(level, t, configuration) if t.name == target else t for t in level.tasks)
                level = replace(level, tasks=tuple(tasks))
            else:
                data = (configure_data(d, configuration) if d.name == target else d for d in level.data)
                level = replace(level, data=tuple(data))
        return level

    def _configure_task(self, level: Workflow, task: Task, by: Configuration) -> Task:
        task = configure_task(task, by)
        if not by.configurations:
            return task
        if task.subworkflow is not None:
            return replace(task, subworkflow=self._configure_level(task.subworkflow, by.configurations))
        return replace(task, reference=self._name_copy(level, task, by.configurations))

    def _name_copy(self, level: Workflow, task: Task, inside: tuple[Configuration, ...]) -> QualifiedName:
        """Return the name of the copy of the task's sub-workflow in which `inside` is configured."""
        reference = task.reference
        if reference is None or not (reference in self.specials or reference in self.index.exact):
            raise WorkflowError(
                f"workflow {str(level.qualified)!r}: task {task.name!r} is configured inside, but its sub-workflow is "
                f"{reference or 'not stated'}; expected one of the project"
            )
        original, configured = self.specials.get(reference, (reference, ()))
        special = (original, configured + inside)
        if special not in self.copies:
            numbered_names = (f"{original.name}_{number}" for number in count(2))
            name = next(name for name in numbered_names if name not in self.taken)
            self.taken.add(name)
            self.copies[special] = QualifiedName(name, original.package)
            self.specials[self.copies[special]] = special
        return self.copies[special]

    def _final_names(self, workflows: Mapping[QualifiedName, Workflow]) -> dict[QualifiedName, QualifiedName]:
        """Return the original name for the first copy of every workflow that is not needed itself."""
        copies = {original: copy for copy, (original, _) in reversed(self.specials.items()) if copy in workflows}
        return {copy: original for original, copy in copies.items() if original not in workflows}


def _merge_with_base(base: Workflow, own: Workflow) -> Workflow:
    """Merge a derived workflow into its base; where both declare something, the derived workflow's counts."""
    return Workflow(
        name=base.name,
        package=base.package,
        description=own.description or base.description,
        tasks=tuple({element.name: element for element in base.tasks + own.tasks}.values()),
        data=tuple({element.name: element for element in base.data + own.data}.values()),
        gateways=tuple({element.name: element for element in base.gateways + own.gateways}.values()),
        links=base.links + own.links,
        exceptional_links=base.exceptional_links + own.exceptional_links,
        data_links=base.data_links + own.data_links,
        parameters=override_parameters(base.parameters, own.parameters),
        flaw=own.flaw or base.flaw,
    )


def _rename_references(workflow: Workflow, names: Mapping[QualifiedName, QualifiedName]) -> Workflow:
    def rename_reference(task: Task, _: str) -> Task:
        new = task.reference and names.get(task.reference)
        return replace(task, reference=new) if new else task

    renamed = names.get(workflow.qualified, workflow.qualified)
    return replace(with_tasks(workflow, "", rename_reference), name=renamed.name, package=renamed.package)
