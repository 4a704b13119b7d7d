"""One level of an Argo manifest: its tasks, what each waits for, and the two readings of that as a workflow.

The first reading has the links that the text states. It does not say that a task runs although one that it waits for
was skipped, nor which conditions exclude each other. The second reading has such a task follow what the skipped one
waits for, too, and all conditions exclude each other: what holds in both holds in Argo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Final

from ...positioned_json import Node
from ...source import Source
from ...workflow.model import END, START, Gateway, Link, QualifiedName, Task, Workflow
from .depends_logic import Depends, all_of, parse_depends
from .manifests import LeftOut, entries, member, required_name, text_of

# what is known in runs in which no task fails
_RESULT = re.compile(r"\b(?:(?:steps|tasks)[.[][^{}.\]]+\]?\.(?:status|exitCode)|workflow\.(?:status|failures))\b")
MAX_LINKS: Final = 5000  # of a second reading; where it takes more, nothing is asked about the level


@dataclass(slots=True)
class LevelTask:
    """A task or, without a node, the end of a group of steps.

    `after` are the tasks that it waits for, `skipping` those of them behind which it runs even if they were skipped.
    """

    name: str
    node: Node | None = None
    after: tuple[str, ...] = ()
    skipping: frozenset[str] = frozenset()
    when: str = ""
    fails_before: bool = False  # reached only if the task before it fails
    keeps_running: bool = False  # a daemon: what waits for it begins while it runs


@dataclass(slots=True)
class Level:
    """The tasks of a level, by name; `clear` is False if a condition or a dependency cannot be expressed."""

    tasks: dict[str, LevelTask] = field(default_factory=dict)
    clear: bool = True

    @property
    def doubtful(self) -> bool:
        """Return True if the first reading does not say all of the level."""
        return not self.clear or any(task.when or task.keeps_running for task in self.tasks.values())

    def first_reading(self, name: QualifiedName, tasks: Sequence[Task]) -> Workflow:
        """Return the workflow with the links that the text states."""
        guards = {task.name: _guard(task.when) for task in self.tasks.values()}
        after = {task.name: task.after for task in self.tasks.values() if not task.fails_before}
        last = self._last(after)
        ends = [
            source
            for each in last
            for source in (each, *((self.tasks[each].after or (START,)) if guards[each] else ()))
        ]
        return self._workflow(name, tasks, after, guards, ends)

    def second_reading(self, name: QualifiedName, tasks: Sequence[Task]) -> Workflow:
        """Return the workflow in which ways lead past skipped tasks; an empty one if that is not possible."""
        conditions = dict.fromkeys(task.when for task in self.tasks.values() if task.when)
        numbered = {when: f"condition = {number}" for number, when in enumerate(conditions, start=1)}
        guards = {task.name: numbered.get(task.when) for task in self.tasks.values()}
        after: dict[str, tuple[str, ...]] = {}
        links = 0
        for task in self.in_order():
            if not task.fails_before:
                after[task.name] = self._all_before(task.after, task.skipping, after)
                links += len(after[task.name])
            if not self.clear or links > MAX_LINKS:
                return Workflow(name.name, name.package)
        last = self._last(after)
        return self._workflow(name, tasks, after, guards, self._all_before(last, last, after))

    def _all_before(
        self, names: Iterable[str], skipping: Iterable[str], after: dict[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """Return the tasks after which something can run that waits for the tasks named: past skipped ones, too."""
        found = list[str]()
        for name in names:
            task = self.tasks[name]
            found += [] if task.keeps_running else [name]
            if task.keeps_running or (task.when and name in skipping):
                found += after.get(name) or (START,)
        return tuple(dict.fromkeys(found))

    def _last(self, after: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the tasks that nothing waits for."""
        followed = {name for names in after.values() for name in names}
        return tuple([name for name in self.tasks if name not in followed])

    def _workflow(
        self,
        name: QualifiedName,
        tasks: Sequence[Task],
        after: dict[str, tuple[str, ...]],
        guards: dict[str, str | None],
        ends: Iterable[str],
    ) -> Workflow:
        links = [Link(source, each, guards[each]) for each, names in after.items() for source in names or (START,)]
        failing = [task for task in self.tasks.values() if task.fails_before]
        return Workflow(
            name.name,
            name.package,
            tasks=tuple(tasks),
            gateways=tuple([self._join(task) for task in self.tasks.values() if task.node is None]),
            links=(*links, *(Link(source, END) for source in dict.fromkeys(ends))),
            exceptional_links=tuple([Link(source, task.name) for task in failing for source in task.after]),
        )

    def _join(self, task: LevelTask) -> Gateway:
        conditional = any(self.tasks[name].when for name in task.after)
        return Gateway(task.name, "inclusive" if conditional else "parallel", "join")

    def in_order(self) -> list[LevelTask]:
        """Return the tasks, each after all that it waits for.

        Raises:
            CycleError: if tasks wait for each other.
        """
        order = TopologicalSorter({name: task.after for name, task in self.tasks.items()}).static_order()
        return [self.tasks[name] for name in order]


def _guard(when: str) -> str | None:
    """Return the condition as a guard: in backquotes it is a single one, which holds or not."""
    text = " ".join(when.split())
    quotable = "`" not in text and not ('"' in text and "'" in text)  # a situation has to name it
    return f"`{text}`" if text and quotable else text or None


def read_steps(source: Source, steps: Node, is_daemon: Callable[[Node], bool], left_out: LeftOut) -> Level:
    """Return the level of `steps`: groups of which each waits for the one before.

    Raises:
        ReadError: if a group is no list, or two steps have the same name.
    """
    level, before = Level(), tuple[str, ...]()
    groups = entries(source, steps, "a list of groups of steps")
    for number, group in enumerate(groups, start=1):
        nodes = entries(source, group, "a group: a list of steps, as in '- - name: A'")
        if len(before) > 1 and len(nodes) > 1:
            before = (_add_group_end(level, before, number - 1),)
        names = []
        for node in nodes:
            task = _task(source, node, "a step", level, left_out)
            task.after, task.skipping, task.keeps_running = before, frozenset(before), is_daemon(node)
            names.append(task.name)
        before = tuple(names) or before
    return level


def _add_group_end(level: Level, before: tuple[str, ...], number: int) -> str:
    name = f"end of group {number}"
    while name in level.tasks:
        name += "'"
    level.tasks[name] = LevelTask(name, None, before, frozenset(before))
    return name


def _task(source: Source, node: Node, what: str, level: Level, left_out: LeftOut) -> LevelTask:
    """Add the task of a node to a level.

    Raises:
        ReadError: if it has no name, or that of another one.
    """
    name = required_name(source, node, what)
    if name in level.tasks:
        source.fail(node.start, f"a second task {name!r}", "each name once in a template")
    when = member(node, "when")
    task = level.tasks[name] = LevelTask(name, node, when=text_of(when).strip())
    constant = "when on the result of a task" if "{{" in task.when else "when without '{{'"
    if when is not None and ("{{" not in task.when or _RESULT.search(task.when)):
        level.clear = False
        left_out.add(constant, when.start, "it may always hold, or never; nothing is asked about its template")
    return task


def read_dag(source: Source, dag: Node, is_daemon: Callable[[Node], bool], left_out: LeftOut) -> Level:
    """Return the level of a `dag`.

    Raises:
        ReadError: if two tasks have the same name, a task depends on an unknown one, tasks depend on each other, or
            the dag has both `dependencies` and `depends`.
    """
    listed = member(dag, "tasks")
    if listed is None:
        source.fail(dag.start, "a dag without tasks", "a list of tasks under 'tasks'")
    level = Level()
    for node in entries(source, listed, "a list of tasks"):
        _task(source, node, "a task", level, left_out).keeps_running = is_daemon(node)
    logic = {name: _depends(source, task.node, level) for name, task in level.tasks.items() if task.node}
    _check_one_kind(source, [task.node for task in level.tasks.values() if task.node])
    try:
        ordered = level.in_order()
    except CycleError as error:
        cycle = [*reversed(error.args[1])]
        place = level.tasks[cycle[0]].node or dag
        source.fail(
            place.start, f"tasks that wait for each other: {' -> '.join(cycle)}", "dependencies without a cycle"
        )
    _decide_reach(ordered, logic, level, left_out)
    if (target := member(dag, "target")) is not None:
        level.clear = False
        left_out.add("target", target.start, "only what it names and needs is run; nothing is asked about its dag")
    return level


def _depends(source: Source, node: Node, level: Level) -> Depends:
    """Return what a task depends on, and set the tasks that it waits for.

    Raises:
        ReadError: if it names an unknown task or result.
    """
    listed, expression = member(node, "dependencies"), member(node, "depends")
    place, depends = listed or expression or node, all_of(())
    if listed is not None:
        names = entries(source, listed, "a list of tasks")
        depends = all_of(tuple([text_of(each) for each in names]))
        place = next((each for each in names if text_of(each) not in level.tasks), place)
    elif expression is not None:
        depends = parse_depends(text_of(expression))
    if unknown := next((name for name in depends.tasks if name not in level.tasks), None):
        source.fail(place.start, f"a dependency on the unknown task {unknown!r}", "a task of the same dag")
    if depends.unknown:
        source.fail(place.start, f"the unknown result {depends.unknown!r}", "a result such as Succeeded or Failed")
    task = level.tasks[text_of(member(node, "name"))]
    task.after = depends.tasks
    task.skipping = frozenset([name for name in task.after if depends.passes_skipped(name)])
    return depends


def _check_one_kind(source: Source, nodes: list[Node]) -> None:
    listed = [node for node in nodes if member(node, "dependencies")]
    expressed = [node for node in nodes if member(node, "depends")]
    if listed and expressed:
        found = "'depends' beside the 'dependencies' of another task"
        source.fail(expressed[0].keys["depends"], found, "one of the two in all tasks of a dag")


def _decide_reach(ordered: list[LevelTask], logic: dict[str, Depends], level: Level, left_out: LeftOut) -> None:
    """Find how each task is reached in runs in which no task fails, by the results that the tasks before can have."""
    possible: dict[str, frozenset[str]] = {}
    for task in ordered:
        depends = logic[task.name]
        node = task.node
        assert node is not None
        reach = depends.reach(possible) if depends.tasks else "always"
        if reach == "unclear" or (reach == "if before" and possible[depends.tasks[0]] == _OMITTED and task.when):
            level.clear = False
            place = member(node, "depends") or node
            left_out.add(
                "depends", place.start, "its logic has no links of the same meaning; nothing is asked about its dag"
            )
        task.fails_before = reach == "on failure"
        own = "Daemoned" if task.keeps_running else "Succeeded AnySucceeded" if is_loop(node) else "Succeeded"
        omitted = {"Omitted"} if reach != "always" else set[str]()
        skipped = {"Skipped"} if task.when else set[str]()
        behind_failure = reach == "on failure" or (reach == "if before" and possible[depends.tasks[0]] == _OMITTED)
        possible[task.name] = _OMITTED if behind_failure else frozenset({own, *omitted, *skipped})


_OMITTED: Final = frozenset({"Omitted"})
LOOPS: Final = ("withItems", "withParam", "withSequence")


def is_loop(node: Node) -> bool:
    """Return True if a task is run for several items."""
    return any(member(node, key) is not None for key in LOOPS)
