"""Workflows derived from others, and what they configure in them, resolved (wadl-grammar.md, "Meaning").

A chain of bases that comes back to where it began ends there. What is configured inside a workflow that a task uses
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

_Special = tuple[QualifiedName, tuple[Configuration, ...]]  # a workflow, and what is configured in it from outside


def assemble(workflow: Workflow) -> Workflow:
    """The project with derivation resolved: no base and no configurations, and as others only what it still needs.

    References are qualified. Where a configuration reaches into a workflow that a task uses, the task uses a copy of
    it that is configured so; the copy keeps the name unless the original is needed too, and is numbered then. Raises
    WorkflowError where a base, or a task or data to configure, is not found.
    """
    assembly = _Assembly(workflow)
    return workflow if _alone(workflow) else assembly.whole()


def _alone(workflow: Workflow) -> bool:
    """Whether nothing in a workflow without others is derived, configured or referred to, or declared twice."""
    if workflow.others:
        return False
    for level in every_level(workflow):
        declared = (level.tasks, level.data, level.gateways, level.parameters)
        if level.base or level.configurations or any(task.reference for task in level.tasks):
            return False
        if any(len({one.name for one in named}) < len(named) for named in declared):
            return False
    return True


def configure_task(task: Task, by: Configuration) -> Task:
    """The task with all that a configuration gives in place of, or beside, its own.

    Texts and the sub-workflow are replaced where the configuration gives them, parameters, effects and bindings one by
    one, by name. The configurations inside it are left to the caller.
    """
    return replace(
        task,
        description=by.description or task.description,
        kind=by.kind or task.kind,
        implementation=by.implementation or task.implementation,
        parameters=override_parameters(task.parameters, by.parameters),
        effects=tuple({one.parameter: one for one in (*task.effects, *by.effects)}.values()),
        subworkflow=task.subworkflow if by.reference is None else None,
        reference=by.reference or task.reference,
        bindings=tuple(dict((*task.bindings, *by.bindings)).items()),
    )


def configure_data(data: Data, by: Configuration) -> Data:
    """The data with the description and the schema that a configuration gives in place of its own."""
    return replace(data, description=by.description or data.description, schema=by.schema or data.schema)


def lineage(index: Index, workflow: Workflow) -> list[Workflow]:
    """The workflow and its bases, the farthest first; a chain that comes back ends there."""
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
    """One run of `assemble`: the workflows still to be made, and the names of the copies that are configured inside."""

    def __init__(self, project: Workflow) -> None:
        self.index = Index(project)
        self.root = project
        self.copies: dict[_Special, QualifiedName] = {}
        self.specials: dict[QualifiedName, _Special] = {}
        self.taken = set(self.index.simple)
        for one in self.index.exact.values():
            check_bounds(one, *size(one, {}))
            tuple(configurations(one))

    def whole(self) -> Workflow:
        made: dict[QualifiedName, Workflow] = {}
        waiting = deque([self.root.qualified])
        while waiting:
            name = waiting.popleft()
            if name not in made:
                made[name] = self._made(name)
                check_bounds(self.root, 0, len(made))
                waiting.extend(to for to in references(made[name]) if to in self.specials or to in self.index.exact)
        names = self._final_names(made)
        root, *others = (_renamed(one, names) for one in made.values())
        return replace(root, others=tuple(others))

    def _made(self, name: QualifiedName) -> Workflow:
        """A workflow with all it inherits and all that is configured in it, by its bases first."""
        original, special = self.specials.get(name, (name, ()))
        whole = Workflow(name.name, name.package)
        for one in lineage(self.index, self.index.exact[original]):
            whole = _merged(whole, with_tasks(one, one.package, self._own))
            whole = self._configured(whole, self._named(one, one.package))
        return self._configured(whole, special)

    def _own(self, task: Task, package: str) -> Task:
        """The task with the full name of what it refers to; what is inline in it is configured as that says itself."""
        reference = task.reference and self.index.qualified(task.reference, package)
        below = task.subworkflow
        if below is not None and below.base is not None:
            raise WorkflowError(f"task {task.name!r}: its inline sub-workflow has a base; refer to it by name instead")
        if below is not None and below.configurations:
            named = self._named(below, below.package or package)
            below = replace(self._configured(below, named), configurations=())
        same = below is task.subworkflow and reference == task.reference
        return task if same else replace(task, reference=reference, subworkflow=below)

    def _named(self, owner: Workflow | Configuration, package: str) -> tuple[Configuration, ...]:
        """The configurations of a workflow, and those inside them, with full names."""
        return tuple(
            replace(
                one,
                reference=one.reference and self.index.qualified(one.reference, package),
                configurations=self._named(one, package),
            )
            for one in owner.configurations
        )

    def _configured(self, level: Workflow, configurations: Iterable[Configuration]) -> Workflow:
        for one in configurations:
            known = level.task_names if one.of == "task" else tuple(data.name for data in level.data)
            if one.target not in known:
                raise WorkflowError(
                    f"workflow {str(level.qualified)!r}: configures the {one.of} {one.target!r}; "
                    f"expected one that it has: {', '.join(known) or 'none'}"
                )
            if one.of == "task":
                tasks = (self._filled(level, task, one) if task.name == one.target else task for task in level.tasks)
                level = replace(level, tasks=tuple(tasks))
            else:
                data = (configure_data(data, one) if data.name == one.target else data for data in level.data)
                level = replace(level, data=tuple(data))
        return level

    def _filled(self, level: Workflow, task: Task, by: Configuration) -> Task:
        task = configure_task(task, by)
        if not by.configurations:
            return task
        if task.subworkflow is not None:
            return replace(task, subworkflow=self._configured(task.subworkflow, by.configurations))
        return replace(task, reference=self._copy(level, task, by.configurations))

    def _copy(self, level: Workflow, task: Task, inside: tuple[Configuration, ...]) -> QualifiedName:
        """The name of the copy of what the task refers to that is configured as told."""
        refers = task.reference
        if refers is None or not (refers in self.specials or refers in self.index.exact):
            raise WorkflowError(
                f"workflow {str(level.qualified)!r}: task {task.name!r} is configured inside, but its sub-workflow is "
                f"{refers or 'not told'}; expected one of the project"
            )
        original, already = self.specials.get(refers, (refers, ()))
        special = (original, already + inside)
        if special not in self.copies:
            numbered = (f"{original.name}_{number}" for number in count(2))
            name = next(name for name in numbered if name not in self.taken)
            self.taken.add(name)
            self.copies[special] = QualifiedName(name, original.package)
            self.specials[self.copies[special]] = special
        return self.copies[special]

    def _final_names(self, made: Mapping[QualifiedName, Workflow]) -> dict[QualifiedName, QualifiedName]:
        """For the first copy of every workflow that is not needed itself, the name of that workflow."""
        copies = {original: copy for copy, (original, _) in reversed(self.specials.items()) if copy in made}
        return {copy: original for original, copy in copies.items() if original not in made}


def _merged(base: Workflow, own: Workflow) -> Workflow:
    """All of the base and all of the workflow that is derived from it; what both declare is its own."""
    return Workflow(
        name=base.name,
        package=base.package,
        description=own.description or base.description,
        tasks=tuple({one.name: one for one in base.tasks + own.tasks}.values()),
        data=tuple({one.name: one for one in base.data + own.data}.values()),
        gateways=tuple({one.name: one for one in base.gateways + own.gateways}.values()),
        links=base.links + own.links,
        data_links=base.data_links + own.data_links,
        parameters=override_parameters(base.parameters, own.parameters),
        flaw=own.flaw or base.flaw,
    )


def _renamed(workflow: Workflow, names: Mapping[QualifiedName, QualifiedName]) -> Workflow:
    def renamed(task: Task, _: str) -> Task:
        new = task.reference and names.get(task.reference)
        return replace(task, reference=new) if new else task

    own = names.get(workflow.qualified, workflow.qualified)
    return replace(with_tasks(workflow, "", renamed), name=own.name, package=own.package)
