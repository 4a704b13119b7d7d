"""What workflow files of GitHub Actions mean: jobs linked by their needs, and their steps one after another.

Each level is built twice. In the first reading, a condition is a guard in the user's words; conditions that read
different things hold or fail independently. The second reading is the other extreme where the file leaves something
open: conditions that may depend on each other are prose, and a step with one is passed by no other way; what only a
failure runs never runs, nor what a condition on results decides; `if: always()` is a condition; a job that runs after
skipped ones follows what is before them; and a skipped job skips only those that need it, unless it never runs. A
question is asked only where both readings give the same answer (`Interpretation.doubtful`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ...workflow.model import END, OTHERWISE, START, Gateway, Link, QualifiedName, Task, Workflow
from .expressions import Condition, Rule, read_rule
from .step_names import name_steps
from .workflow_file import Job, Step, WorkflowFile, file_of

NEVER: Final = "never = yes and never = no"
LARGEST: Final = 60  # jobs or steps of a level whose conditions are computed; runs of larger ones take too long


class Guards:
    """The guards of the conditions of a level.

    Args:
        rules: The rules of its jobs or steps.
        second: True for the second reading.
    """

    def __init__(self, rules: Iterable[Rule], second: bool) -> None:
        self.second = second
        all_rules = [*rules]
        self.computed = len(all_rules) <= LARGEST
        conditions = dict.fromkeys(rule.condition for rule in all_rules if rule.condition is not None)
        groups = [*_groups([each for each in conditions if each.clear and not each.never])]
        self.group_of = {each: i for i, group in enumerate(groups) for each in group}
        self.compared = {each for group in groups if _alike(group) for each in group}
        # whether one of these holds may depend on others, in a way that is not computed
        self.dependent = {each for group in groups if len(group) > 1 for each in group} - self.compared

    def write(self, rule: Rule, inherited: Iterable[Condition] = ()) -> str | None:
        """Return the guard of a link into a job or step with this rule; None if there is no condition.

        Args:
            rule: The rule.
            inherited: Further conditions, without which what it needs is skipped.
        """
        conditions = [each for each in (rule.condition, *inherited) if each is not None]
        if not conditions and rule.stated and self.second:
            return "`stated` or not `stated`"  # a condition that always holds
        guards = dict.fromkeys(map(self._guard, conditions))
        return NEVER if NEVER in guards else " and ".join(guards) or None

    def _guard(self, condition: Condition) -> str:
        if self.computed and self.second and (condition.never or not condition.clear):
            return NEVER
        if not (condition.clear and self.computed) or (self.second and condition in self.dependent):
            return f"${{{{ {condition.text} }}}}"  # prose, which is not computed with
        if not self.second:
            return condition.text if condition in self.compared else f"`{condition.text}`"
        _, sign, word = (condition.compared if condition in self.compared else None) or ("", "==", "true")
        return f"source{self.group_of[condition]} {sign} '{word}'"

    def clash(self, conditions: Iterable[Condition]) -> bool:
        """Return True if some of the conditions may exclude each other."""
        groups = [self.group_of[each] for each in conditions if each in self.dependent]
        return len({*groups}) < len(groups)


def _alike(group: Sequence[Condition]) -> bool:
    """Return True if all are comparisons of one reference with words that differ in more than their case."""
    compared = [each.compared for each in group if each.compared is not None]
    words = {word for _, _, word in compared}
    single = len({reference for reference, _, _ in compared}) == 1
    return len(compared) == len(group) and single and len({word.lower() for word in words}) == len(words)


def _groups(conditions: Sequence[Condition]) -> Iterator[tuple[Condition, ...]]:
    """Yield the conditions that may depend on each other together: those that are connected by what they read."""
    remaining = list(conditions)
    while remaining:
        group = [remaining.pop(0)]
        sources = set(group[0].sources)
        while related := [each for each in remaining if not sources.isdisjoint(each.sources)]:
            group += related
            sources.update(*(each.sources for each in related))
            remaining = [each for each in remaining if each not in group]
        yield tuple(group)


def step_level(name: str, steps: Sequence[Step], second: bool) -> Workflow:
    """Return the level of the steps of a job: one after another, with a way around each that has a condition."""
    rules = [read_rule(step.condition or "") for step in steps]
    guards, names = Guards(rules, second), name_steps(steps)
    taken = {*names, START, END}
    gateways: list[Gateway] = []
    links: list[Link] = []
    at = START
    for step, rule in zip(names, rules, strict=True):
        guard = guards.write(rule)
        if rule.condition is None or (second and rule.condition in guards.dependent):
            links.append(Link(at, step, guard))
            at = step
            continue
        join = _free(f"{step} end", taken)
        gateways.append(Gateway(join, "inclusive" if second else "exclusive", "join"))
        if not second:
            split = _free(f"{step} if", taken)
            gateways.append(Gateway(split, "exclusive", "split"))
            links += [Link(at, split), Link(split, step, guard), Link(split, join, OTHERWISE)]
        else:  # the same runs, but no choice of two branches
            links += [Link(at, step, guard), Link(at, join)]
        links.append(Link(step, join))
        at = join
    links.append(Link(at, END))
    return Workflow(name, tasks=tuple(map(Task, names)), gateways=tuple(gateways), links=tuple(links))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


@dataclass(frozen=True)
class JobGraph:
    """The jobs of a file and when they run."""

    jobs: tuple[Job, ...]
    second: bool

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """Return the rule of each job."""
        return {job.key: read_rule(job.condition or "") for job in self.jobs}

    @cached_property
    def guards(self) -> Guards:
        """Return the guards of the conditions."""
        return Guards(self.rules.values(), self.second)

    @cached_property
    def by_key(self) -> dict[str, Job]:
        """Return the jobs by key."""
        return {job.key: job for job in self.jobs}

    @cached_property
    def required(self) -> dict[str, frozenset[Condition]]:
        """Return, for each job, the conditions that all hold if it runs.

        A skipped job skips all that need it, at any distance, unless their own condition has a status function that
        allows it. In the second reading it skips those that need it directly, and all of
        them if it never runs, or its condition may depend on others.
        """
        return {key: self._own(key) | self._inherited(key) for key in self.by_key}

    def _own(self, key: str) -> frozenset[Condition]:
        return frozenset(filter(None, [self.rules[key].condition]))

    def _inherited(self, key: str) -> frozenset[Condition]:
        return self._chains[key] if self.rules[key].follows else frozenset()

    @cached_property
    def _chains(self) -> dict[str, frozenset[Condition]]:
        """Return, for each job, the conditions of all jobs that it waits for and that a skip of theirs would skip."""
        chains: dict[str, frozenset[Condition]] = {}
        free = self.guards.group_of.keys() - self.guards.dependent if self.second else ()
        for key in self.in_order:
            conditions = frozenset[Condition]()
            for need in self.by_key[key].needs:
                conditions |= self._own(need) | chains[need].difference(() if self.rules[need].follows else free)
            chains[key] = conditions
        return chains

    @cached_property
    def in_order(self) -> list[str]:
        """Return the keys, each after those that it needs."""
        from graphlib import TopologicalSorter

        return [*TopologicalSorter({key: job.needs for key, job in self.by_key.items()}).static_order()]

    def links(self, gateways: list[Gateway]) -> list[Link]:
        """Return the links of the level, and add the gateways between them."""
        links: list[Link] = []
        for job in self.jobs:
            links += self._into(job, gateways)
        left = {link.source for link in links if link.guard is None}
        ends = [START, *(job.key for job in self.jobs)] if links else []
        return [*links, *(Link(node, END) for node in ends if node not in left)]

    def _into(self, job: Job, gateways: list[Gateway]) -> Iterator[Link]:
        own = self._own(job.key)
        for need in job.needs or (START,):
            inherited = self.required[job.key] - own - self.required.get(need, frozenset())
            guard = self.guards.write(self.rules[job.key], sorted(inherited, key=lambda each: each.text))
            if self.second and self.guards.clash(self.required[job.key]):
                guard = NEVER
            if self.second and inherited and not own:
                split = _free(f"{need} to {job.key}", {*self.by_key, START, END})
                gateways.append(Gateway(split, "exclusive", "split"))
                yield from (Link(need, split), Link(split, job.key, guard), Link(split, END, OTHERWISE))
            else:
                yield Link(need, job.key, guard)
        if self.second and not self.rules[job.key].follows:
            yield from self._around(job)

    def _around(self, job: Job) -> Iterator[Link]:
        """Yield links to a job that runs though what it needs may be skipped, from what surely runs before that."""
        own = self.guards.write(self.rules[job.key])
        uncertain = [need for need in job.needs if self.required[need]]
        sources = dict[str, None]()
        for need in uncertain:  # grows
            before = self.by_key[need].needs or (START,)
            sources.update(dict.fromkeys(key for key in before if key == START or not self.required[key]))
            uncertain += [key for key in before if key != START and self.required[key] and key not in uncertain]
        yield from (Link(source, job.key, own) for source in sources if source not in job.needs)


def workflow_of(file: WorkflowFile, name: str, called: Mapping[str, str], second: bool = False) -> Workflow:
    """Return the workflow of a file.

    Args:
        file: The file.
        name: The name of the workflow.
        called: The names of the workflows in the same text, by the names of their files.
        second: True for the second reading.
    """
    gateways: list[Gateway] = []
    links = JobGraph(file.jobs, second).links(gateways)
    tasks = tuple(_task(job, called, second) for job in file.jobs)
    return Workflow(name, tasks=tasks, gateways=tuple(gateways), links=tuple(links))


def _task(job: Job, called: Mapping[str, str], second: bool) -> Task:
    reference = called.get(file_of(job.local)) if job.local else None
    if reference is not None:
        return Task(job.key, reference=QualifiedName(reference))
    return Task(job.key, subworkflow=step_level(job.key, job.steps, second) if job.steps else None)
