"""Several workflows as one: sub-workflows by name, and workflows derived from others (wadl-grammar.md, "Meaning").

A project is a workflow with its `others`. A name without a package means the package of the file that says it, then
the only workflow of that simple name. Chains of references or of bases that come back to where they began end there.
What is nested more than DEEPEST levels deep, or comes to more than LARGEST tasks, is refused with WorkflowError.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import count

from ..errors import WorkflowError
from .graph import reachable, shortest_cycle_in
from .model import Configuration, Data, Parameter, QualifiedName, Task, Workflow

DEEPEST = 64  # levels inside one another; far below where Python's own stack ends
LARGEST = 100_000  # tasks when expanded: a few small files can mean billions

Path = tuple[str, ...]
_Special = tuple[QualifiedName, tuple[Configuration, ...]]  # a workflow, and what is configured in it from outside


def find(workflow: Workflow, name: QualifiedName, package: str) -> Workflow | None:
    """The workflow of that name in the project, as it stands there; None if there is none.

    A name without a package means `package`, that of the file that says it; where that has no such workflow, the only
    one of that simple name in the project. None also if there are several.
    """
    return _Index(workflow).find(name, package)


def levels(workflow: Workflow) -> tuple[tuple[Path, Workflow], ...]:
    """The workflow itself at (), then every inline sub-workflow with its path of task names, outer before inner.

    Each level is one to ask about by itself: it has the package and the others of the project (the whole workflow
    among them), and for parameters what its composite task gives beside, and in place of, its own.
    """
    others = (replace(workflow, others=()), *workflow.others)
    found: list[tuple[Path, Workflow]] = []
    waiting: list[tuple[Path, Workflow]] = [((), workflow)]
    while waiting:
        path, level = waiting.pop()
        found.append((path, level))
        _bounded(workflow, len(path), len(found))
        for task in reversed(level.tasks):
            if (sub := task.subworkflow) is not None:
                parameters = overridden(sub.parameters, task.parameters)
                sub = replace(sub, package=sub.package or level.package, parameters=parameters, others=others)
                waiting.append(((*path, task.name), sub))
    return tuple(found)


def nested(workflow: Workflow) -> tuple[Path, ...]:
    """The paths of all tasks below composite tasks, such as ("Outer", "Inner"), outer before inner, at any depth.

    References are followed after derivation is resolved. A workflow that comes back inside itself is entered once on
    each path, and its composite task has no tasks below it where it would be entered again.
    """
    whole = assemble(workflow)
    index = _Index(whole)
    found: list[Path] = []
    waiting: list[tuple[Path, Workflow, frozenset[QualifiedName]]] = [((), whole, frozenset())]
    while waiting:
        path, level, entered = waiting.pop()
        if path:
            found.extend((*path, task.name) for task in level.tasks)
            _bounded(workflow, len(path), len(found))
        for task in reversed(level.tasks):
            below = task.subworkflow
            now = entered
            if task.reference is not None and task.reference not in entered:
                below, now = index.exact.get(task.reference), entered | {task.reference}
            if below is not None:
                waiting.append(((*path, task.name), below, now))
    return tuple(found)


def recursion(workflow: Workflow) -> tuple[str, ...]:
    """The qualified names along a shortest cycle of references that the workflow comes to; () if there is none.

    Sub-workflow references are read after derivation is resolved; a chain of bases that comes back is a cycle too.
    """
    whole = assemble(workflow)
    index = _Index(workflow)
    needed = [index.exact[one.qualified] for one in (whole, *whole.others) if one.qualified in index.exact]
    lines = [one for derived in needed for one in reversed(_lineage(index, derived))]
    bases = {one.qualified: [index.qualified(one.base, one.package)] if one.base else [] for one in lines}
    cycles = (shortest_cycle_in(_calls(whole)), shortest_cycle_in(bases))
    return tuple(str(name) for name in min(filter(None, cycles), key=len, default=()))


def assemble(workflow: Workflow) -> Workflow:
    """The project with derivation resolved: no base and no configurations, and as others only what it still needs.

    References are qualified. Where a configuration reaches into a workflow that a task uses, the task uses a copy of
    it that is configured so; the copy keeps the name unless the original is needed too, and is numbered then. Raises
    WorkflowError where a base, or a task or data to configure, is not found.
    """
    return _Assembly(workflow).whole()


def expand(workflow: Workflow) -> Workflow:
    """The project assembled, and every reference turned into an inline sub-workflow wherever that ends.

    A reference to a workflow that comes back to itself stays, and so does one that is not found. A parameter of the
    composite task that names one of its sub-workflow's overrides its value there; the task keeps it as its own too.
    """
    whole = assemble(workflow)
    known = {one.qualified: one for one in (whole, *whole.others)}
    calls = _calls(whole)
    circular = {name for name in calls if name in reachable(calls, name)}
    inlined = {name: tuple(to for to in calls[name] if to not in circular) for name in calls}
    done: dict[QualifiedName, Workflow] = {}
    plain: dict[QualifiedName, Workflow] = {}
    sizes: dict[QualifiedName, tuple[int, int]] = {}
    for name in TopologicalSorter(inlined).static_order():
        sizes[name] = _size(known[name], {to: sizes[to] for to in inlined[name]})
        _bounded(workflow, *sizes[name])
        done[name] = _inline(known[name], plain)
        if name not in circular:
            plain[name] = done[name]
    return _needed(done[whole.qualified], [done[one.qualified] for one in whole.others])


def overridden(defaults: Iterable[Parameter], values: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The parameters of `defaults` with the values and domains that `values` gives, then the further ones of `values`.

    What `values` leaves open (no value, no domain) stays as the default has it.
    """
    merged = {one.name: one for one in defaults}
    for one in values:
        old = merged.get(one.name, one)
        value = old.value if one.value is None else one.value
        merged[one.name] = Parameter(one.name, value, one.domain or old.domain)
    return tuple(merged.values())


def configurations(workflow: Workflow) -> Iterator[Configuration]:
    """The configurations of a workflow, each before those inside it."""
    waiting = [(1, one) for one in reversed(workflow.configurations)]
    while waiting:
        depth, one = waiting.pop()
        _bounded(workflow, depth, 0)
        yield one
        waiting.extend((depth + 1, inner) for inner in reversed(one.configurations))


class _Index:
    """The workflows of a project by name; of two with the same qualified name, the first."""

    def __init__(self, project: Workflow) -> None:
        self.exact: dict[QualifiedName, Workflow] = {}
        self.simple: dict[str, list[Workflow]] = {}
        for one in (project, *project.others):
            if one.qualified not in self.exact:
                self.exact[one.qualified] = one
                self.simple.setdefault(one.name, []).append(one)

    def find(self, name: QualifiedName, package: str) -> Workflow | None:
        own = self.exact.get(QualifiedName(name.name, name.package or package))
        same = [] if name.package else self.simple.get(name.name, [])
        return own or (same[0] if len(same) == 1 else None)

    def qualified(self, name: QualifiedName, package: str) -> QualifiedName:
        """The full name of what the name means; the name as it is where it means nothing."""
        meant = self.find(name, package)
        return name if meant is None else meant.qualified


class _Assembly:
    """One run of `assemble`: the workflows still to be made, and the names of the copies that are configured inside."""

    def __init__(self, project: Workflow) -> None:
        self.index = _Index(project)
        self.root = project
        self.copies: dict[_Special, QualifiedName] = {}
        self.specials: dict[QualifiedName, _Special] = {}
        self.taken = set(self.index.simple)
        for one in self.index.exact.values():
            _bounded(one, *_size(one, {}))
            tuple(configurations(one))

    def whole(self) -> Workflow:
        made: dict[QualifiedName, Workflow] = {}
        waiting = deque([self.root.qualified])
        while waiting:
            name = waiting.popleft()
            if name not in made:
                made[name] = self._made(name)
                _bounded(self.root, 0, len(made))
                waiting.extend(to for to in _references(made[name]) if to in self.specials or to in self.index.exact)
        names = self._final_names(made)
        root, *others = (_renamed(one, names) for one in made.values())
        return replace(root, others=tuple(others))

    def _made(self, name: QualifiedName) -> Workflow:
        """A workflow with all it inherits and all that is configured in it, by its bases first."""
        original, special = self.specials.get(name, (name, ()))
        whole = Workflow(name.name, name.package)
        for one in _lineage(self.index, self.index.exact[original]):
            whole = _merged(whole, _with_tasks(one, one.package, self._own))
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
        return replace(task, reference=reference, subworkflow=below)

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
                data = (_filled_data(data, one) if data.name == one.target else data for data in level.data)
                level = replace(level, data=tuple(data))
        return level

    def _filled(self, level: Workflow, task: Task, by: Configuration) -> Task:
        task = _filled_task(task, by)
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


def _filled_task(task: Task, by: Configuration) -> Task:
    """The task with all that a configuration gives in place of, or beside, its own."""
    return replace(
        task,
        description=by.description or task.description,
        kind=by.kind or task.kind,
        implementation=by.implementation or task.implementation,
        parameters=overridden(task.parameters, by.parameters),
        effects=tuple({one.parameter: one for one in (*task.effects, *by.effects)}.values()),
        subworkflow=task.subworkflow if by.reference is None else None,
        reference=by.reference or task.reference,
        bindings=tuple(dict((*task.bindings, *by.bindings)).items()),
    )


def _filled_data(data: Data, by: Configuration) -> Data:
    return replace(data, description=by.description or data.description, schema=by.schema or data.schema)


def _lineage(index: _Index, workflow: Workflow) -> list[Workflow]:
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
        parameters=overridden(base.parameters, own.parameters),
        flaw=own.flaw or base.flaw,
    )


def _renamed(workflow: Workflow, names: Mapping[QualifiedName, QualifiedName]) -> Workflow:
    def renamed(task: Task, _: str) -> Task:
        return replace(task, reference=task.reference and names.get(task.reference, task.reference))

    own = names.get(workflow.qualified, workflow.qualified)
    return replace(_with_tasks(workflow, "", renamed), name=own.name, package=own.package)


def _with_tasks(level: Workflow, package: str, change: Callable[[Task, str], Task]) -> Workflow:
    """The level with every task, the inner ones first, changed by a function of it and of its package."""
    tasks = []
    for task in level.tasks:
        below = task.subworkflow
        if below is not None:
            task = replace(task, subworkflow=_with_tasks(below, below.package or package, change))
        tasks.append(change(task, package))
    return replace(level, tasks=tuple(tasks))


def _inline(level: Workflow, known: Mapping[QualifiedName, Workflow]) -> Workflow:
    """The level with every reference to a known workflow turned into that workflow, at any depth."""

    def inline(task: Task, _: str) -> Task:
        if task.reference is None or task.reference not in known:
            return task
        below = known[task.reference]
        names = {one.name for one in below.parameters}
        parameters = overridden(below.parameters, (one for one in task.parameters if one.name in names))
        return replace(task, reference=None, subworkflow=replace(below, parameters=parameters))

    return replace(_with_tasks(level, "", inline), others=())


def _size(level: Workflow, sizes: Mapping[QualifiedName, tuple[int, int]]) -> tuple[int, int]:
    """Height and number of tasks of the level when the workflows of known size are inline."""
    height = tasks = 0
    for path, one in levels(level):
        used = [sizes[to] for to in (task.reference for task in one.tasks) if to and to in sizes]
        height = max([height, len(path), *(len(path) + 1 + high for high, _ in used)])
        tasks += len(one.tasks) + sum(inside for _, inside in used)
    return height, tasks


def _needed(root: Workflow, others: Iterable[Workflow]) -> Workflow:
    """The root with those of the others to which references still lead."""
    whole = replace(root, others=tuple(others))
    kept = reachable(_calls(whole), root.qualified)
    return replace(root, others=tuple(one for one in whole.others if one.qualified in kept))


def _references(workflow: Workflow) -> Iterator[QualifiedName]:
    """The references of the workflow and of all that is inline in it."""
    for _, level in levels(workflow):
        yield from (task.reference for task in level.tasks if task.reference is not None)


def _calls(whole: Workflow) -> dict[QualifiedName, tuple[QualifiedName, ...]]:
    """Every workflow of an assembled project with those it refers to."""
    known = {one.qualified: one for one in (whole, *whole.others)}
    return {name: tuple(to for to in dict.fromkeys(_references(one)) if to in known) for name, one in known.items()}


def _bounded(workflow: Workflow, depth: int, tasks: int) -> None:
    where = f"workflow {str(workflow.qualified)!r}"
    if depth > DEEPEST:
        raise WorkflowError(f"{where}: something is nested {depth} levels deep; at most {DEEPEST} are possible")
    if tasks > LARGEST:
        raise WorkflowError(f"{where}: it comes to more than {LARGEST} tasks with its sub-workflows; use a smaller one")
