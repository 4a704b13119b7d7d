"""Patterns about single links and the tasks next to a task (docs/reference/patterns.md).

The sampler draws evenly among the cases of the lowest rank, so the rank determines the share of each flow. Of 12 tasks
with data, about 6 in 10 cases of `link_existence`, 3 in 10 of `task_after_task` and 5 in 10 of `next_tasks` are about
the data flow. In `link_existence` only data that some task writes and some task reads have the lowest rank (data with a
link on one side only give the direction away). In `next_tasks` a single task comes last in the control flow, where one
link shows it, not in the data flow, where it takes two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Final

from .....workflow.graph import reachable, task_graph, tasks_by_data
from .....workflow.model import DataLink, Flow, Link, Workflow
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..scope import limit_candidates
from ..task_profiles import link_profile, pair_profile

Graph = Mapping[str, tuple[str, ...]]  # every node with its successors

FLOWS: Final[tuple[Flow, ...]] = ("control", "data")
MOST_LINKS: Final = 1000  # of a large flow
MOST_CROSSED: Final = 25  # of a task in a large flow
MOST: Final = 40  # nodes; in larger flows unlinked pairs are not asked about, only reversed links


@pattern(
    "In {{ place }}, is there a direct {{ flow }} flow link from {{ first }} to {{ second }}?",
    "Does a single link of the {{ flow }} flow of {{ place }} lead from {{ first }} straight to {{ second }}?",
    form="yes-no",
)
def link_existence(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model finds a link and its direction.

    Where both ends are named (difficulty easy), a single line of the text, which names both, answers the question. In
    as many questions (difficulty hard) one end is a task that is described: as the only task that writes or reads
    certain data, or that comes directly after another in the control flow. Links of the data flow lead from data to a
    task or from a task to data. Negatives: reversed links, then pairs without a link. Pairs of tasks joined through a
    gateway only are left out.
    """
    descriptions = _descriptions(workflow)
    ends = {name: f"data '{name}'" for name in _data_names(workflow)}
    ends |= {name: f"task '{name}'" for name in descriptions}
    for flow, a, b, pair, rank in chain(_control_pairs(workflow, hardest), _data_pairs(workflow, hardest)):
        if hardest and rank:
            continue
        answer = pair == "linked"
        labels = {"flow": flow, "pair": pair, "difficulty": "easy"}
        yield case(answer, rank=rank, stratum="easy", labels=labels, flow=flow, first=ends[a], second=ends[b])
        if pair != "unlinked":
            labels["difficulty"] = "hard"
            hard = [(text, ends[b]) for by, text in descriptions.get(a, {}).items() if by not in (a, b)]
            hard += [(ends[a], text) for by, text in descriptions.get(b, {}).items() if by not in (a, b)]
            for first, second in hard:
                yield case(answer, rank=rank, stratum="hard", labels=labels, flow=flow, first=first, second=second)


def _control_pairs(workflow: Workflow, hardest: bool) -> Iterator[tuple[Flow, str, str, str, int]]:
    """Yield the pairs of tasks, each with its kind and the rank of the questions about it."""
    links = _direct(workflow.links, workflow.task_names)
    unclear = {task: _without(after, links[task]) for task, after in task_graph(workflow).items()}
    for a, b, pair in _pairs(links, unclear, unlinked=not hardest):
        yield "control", a, b, pair, int(pair == "unlinked")


def _data_pairs(workflow: Workflow, hardest: bool) -> Iterator[tuple[Flow, str, str, str, int]]:
    """Yield the pairs of a task and data, each with its kind and the rank of the questions about it."""
    data = set(_data_names(workflow))
    links = _direct(workflow.data_links, (*workflow.task_names, *_data_names(workflow)))
    written_data = {name for task in workflow.task_names for name in links[task]}
    passed_on = {name for name in data if links[name] and name in written_data}
    alike = {is_data: tuple(name for name in links if (name in data) == is_data) for is_data in (True, False)}
    for a, b, pair in _pairs(links, {name: alike[name in data] for name in links}, unlinked=not hardest):
        if pair == "unlinked":
            yield "data", a, b, pair, 2
        elif (a in data) != (b in data):
            yield "data", a, b, pair, int(passed_on.isdisjoint((a, b)))


def _descriptions(workflow: Workflow) -> dict[str, dict[str, str]]:
    """Return the phrases that describe each task and no other, by the data or the task that a phrase names.

    In levels of more than MOST tasks, each task has one description.
    """
    descriptions: dict[str, dict[str, str]] = {task: {} for task in workflow.task_names}
    for before, after in task_graph(workflow).items():
        if len(after) == 1 and after[0] != before:
            descriptions[after[0]][before] = (
                f"the one task that comes directly after task '{before}' in the control flow"
            )
    readers, writers = tasks_by_data(workflow)
    for data in readers:
        for verb, tasks in (("reads", readers[data]), ("writes", writers[data])):
            if len(tasks) == 1 and descriptions.keys() >= tasks:
                (task,) = tasks
                descriptions[task][data] = f"the one task that {verb} data '{data}'"
    most = None if len(descriptions) <= MOST else 1
    return {task: dict([*texts.items()][:most]) for task, texts in descriptions.items()}


@pattern(
    "In the {{ flow }} flow of {{ place }}, does task '{{ b }}' directly follow task '{{ a }}', that is, "
    "{% if flow == 'control' %}with no other task between them{% else %}"
    "does '{{ b }}' read data that '{{ a }}' writes{% endif %}?",
    "{% if flow == 'control' %}Does the control flow of {{ place }} lead from task '{{ a }}' to task '{{ b }}' without "
    "passing any other task on the way{% else %}Is there data that task '{{ a }}' of {{ place }} writes and task "
    "'{{ b }}' reads, so that the data flow leads directly from the first to the second{% endif %}?",
    form="yes-no",
    matched=0.9,
)
def task_after_task(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model knows which task directly follows which, through gateways or through data.

    Pairs with gateways between them and pairs with data between them are drawn twice as often as pairs with a link
    between them; the negatives are each of these reversed, or one task further on, and their tasks have links of the
    same kinds. Pairs of which neither follows the other directly come last.
    """
    direct = _direct(workflow.links, workflow.task_names)
    for flow in FLOWS:
        graph = task_graph(workflow, flow)
        further = {task: {b for between in after for b in graph[between]} for task, after in graph.items()}
        for a, b, pair in _pairs(graph, {}):
            labels, kind = {"flow": flow, "pair": pair}, ""
            if pair == "unlinked":
                kind = "further" if b in further[a] else ""
                if hardest and not kind:
                    continue
            elif flow == "control":
                first, second = (a, b) if pair == "linked" else (b, a)
                labels["gateway"] = kind = "no" if second in direct[first] else "yes"
            easy = pair == "unlinked" and not kind
            joined = flow == "control" and (b in direct[a] or a in direct[b])
            stratum = f"{flow} {'joined' if joined else 'apart'}"
            share = 1 if joined else 2  # a link can be read off a single line
            profile = pair_profile(workflow, a, b, flow)
            answer = pair == "linked"
            yield case(
                answer,
                rank=int(easy),
                stratum=stratum,
                share=share,
                profile=profile,
                labels=labels,
                a=a,
                b=b,
                flow=flow,
            )


@pattern(
    "In the {{ flow }} flow of {{ place }}, which tasks come directly after task '{{ task }}', that is, "
    "{% if flow == 'control' %}with no other task between{% else %}which tasks read data that it writes{% endif %}?"
    + OWN_LEVEL,
    "{% if flow == 'control' %}To which tasks does the control flow of {{ place }} lead from task '{{ task }}' without "
    "passing another task on the way?{% else %}Task '{{ task }}' of {{ place }} writes data. Going by the data flow, "
    "which tasks read any of it?{% endif %}" + OWN_LEVEL,
    form="task-set",
    guess="none",
)
def next_tasks(workflow: Workflow) -> Cases:
    """Check that the model follows all links forward from a task, through gateways or through data.

    In the data flow only tasks that write data are asked about. Tasks that exactly one task follows, right behind a
    link, come later. One question in four is about a task that nothing follows, if the level has one and any other of
    its rank.
    """
    writers = {link.source for link in workflow.data_links}
    direct = _direct(workflow.links, workflow.task_names)
    for flow in FLOWS:
        graph = {t: after for t, after in task_graph(workflow, flow).items() if flow == "control" or t in writers}
        easy = {t for t, after in graph.items() if flow == "control" and len(after) == 1 and after[0] in direct[t]}
        if all(task in easy or not after for task, after in graph.items()):
            easy.update(graph)
        for task, after in graph.items():
            labels: dict[str, str | int] = {"flow": flow, "answers": len(after)}
            if flow == "control":
                labels["gateway"] = "yes" if _without(after, direct[task]) else "no"
            stratum, share = ("followed", 3) if after else ("last", 1)
            rank = int(task in easy)
            yield case(after, rank=rank, stratum=stratum, share=share, labels=labels, task=task, flow=flow)


@pattern(
    "In {{ place }}, is there a conditional link of the control flow from task '{{ a }}' straight to task '{{ b }}'? A "
    "link is conditional if it carries a condition; 'otherwise' counts as one.",
    "Does the control flow of {{ place }} have a link leading directly from '{{ a }}' to '{{ b }}' with a condition "
    "('otherwise' included) on it?",
    form="yes-no",
    needs={"guards", "mixed"},
    flaws={"yes": "cross-condition", "no": "cross-condition"},
    matched=0.7,
    exceptional=True,
)
def conditional_link_existence(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model sees which links are conditional.

    Hard cases: conditional links; unconditional links from tasks with conditional ones beside them; pairs without a
    link of which one task has a condition behind it and the other one before it. Most negatives are unconditional links
    from a task that has as many links of either kind as that of a positive, to a task that as many links of either kind
    enter. So neither task alone gives the answer away, nor do both together, nor does the existence of a link. Then
    come reversed conditional links and other unconditional ones, then other pairs without a link. Pairs joined through
    a gateway are left out, unless a conditional link joins them, too.
    """
    tasks = workflow.task_names
    links = _direct(workflow.links, tasks)
    conditional = _direct((link for link in workflow.links if link.guard is not None), tasks)
    around = _through_gateways(workflow)
    unclear = {task: (*around[task], *_without(links[task], conditional[task])) for task in tasks}
    pairs = {(a, b): "conditional" if pair == "linked" else pair for a, b, pair in _pairs(conditional, unclear)}
    conditioned = dict.fromkeys(b for after in conditional.values() for b in after)
    for a in limit_candidates(tasks, len(tasks)):
        crossed = _without(conditioned if conditional[a] else (), (a, *conditional[a], *unclear[a]))
        crossed = tuple(limit_candidates(crossed, len(tasks), MOST_CROSSED))
        pairs.update({(a, b): "crossed" for b in crossed})
        pairs.update({(a, b): "unconditional" for b in _without(links[a], (*conditional[a], *around[a]))})
    for (a, b), pair in pairs.items():
        beside = pair == "unconditional" and bool(conditional[a])
        rank = 0 if beside or pair in ("conditional", "crossed") else 2 if pair == "unlinked" else 1
        if hardest and rank:
            continue
        labels = {"flow": "control", "pair": pair}
        yield case(pair == "conditional", rank=rank, profile=link_profile(workflow, a, b), labels=labels, a=a, b=b)


@pattern(
    "In {{ place }}, to which tasks is there a conditional link of the control flow from task '{{ task }}'? A link is "
    "conditional if it carries a condition; 'otherwise' counts as one." + OWN_LEVEL,
    "Look at the links of the control flow of {{ place }} that leave '{{ task }}'. To which tasks do the conditional "
    "ones among them lead? A link with 'otherwise' on it counts as conditional." + OWN_LEVEL,
    form="task-set",
    needs={"mixed"},
    exceptional=True,
)
def conditional_links(workflow: Workflow) -> Cases:
    """Check that the model selects the conditional links among all that leave a task.

    Tasks with links of both kinds come first, and tasks with several conditional links, so that neither "one of them"
    nor "all of them" is a good guess; then tasks with one conditional link, then the others with any link. Tasks behind
    which a condition stands at a gateway or leads to one are left out: the end of such a link is ambiguous.
    """
    conditional = _direct((link for link in workflow.links if link.guard is not None), workflow.task_names)
    kinds: dict[str, set[bool]] = {}
    for link in workflow.links:
        kinds.setdefault(link.source, set()).add(link.guard is not None)
    unclear = _conditions_at_gateways(workflow)
    for task, after in conditional.items():
        if task in kinds and task not in unclear:
            mixed = len(kinds[task]) == 2
            rank = 0 if mixed or len(after) > 1 else 1 if True in kinds[task] else 2
            labels: dict[str, str | int] = {"flow": "control", "answers": len(after), "mixed": "yes" if mixed else "no"}
            yield case(after, rank=rank, labels=labels, task=task)


@pattern(
    "In {{ place }}, is there an exceptional link of the control flow from task '{{ a }}' straight to task '{{ b }}'? "
    "A link is exceptional if it is taken when the task before it fails.",
    "Does the control flow of {{ place }} have a link leading directly from '{{ a }}' to '{{ b }}' that is taken if "
    "'{{ a }}' fails?",
    form="yes-no",
    needs={"exceptional"},
    least=5,
    exceptional=True,
)
def exceptional_link_existence(workflow: Workflow) -> Cases:
    """Check that the model distinguishes what follows a task from what follows its failure.

    Hard negatives: links of another kind between two tasks of which the first has an exceptional link behind it and the
    second one before it; then such pairs without a link. Then come other links of another kind, and reversed
    exceptional links. Tasks behind which an exceptional link leads to a gateway are left out. A single line of the text
    that names both tasks answers the question: the kind of its arrow is to be seen.
    """
    tasks = workflow.task_names
    links, exceptional = _direct(workflow.links, tasks), _direct(workflow.exceptional_links, tasks)
    unclear = _exceptions_at_gateways(workflow)
    targets = dict.fromkeys(b for after in exceptional.values() for b in after)
    pairs: dict[tuple[str, str], tuple[str, int]] = {
        (b, a): ("reversed", 1)
        for a, after in exceptional.items()
        if a not in unclear
        for b in after
        if b not in unclear
    }
    for a, after in exceptional.items():
        if a in unclear or not after:
            continue
        pairs.update({(a, b): ("crossed", 0) for b in _without(targets, (a, *after, *links[a]))})
        pairs.update({(a, b): ("regular", int(b not in targets)) for b in _without(links[a], (a, *after))})
        pairs.update({(a, b): ("exceptional", 0) for b in after})
    for (a, b), (pair, rank) in pairs.items():
        share = 1 if pair == "crossed" else 3  # that two tasks are not linked is seen without the kind of link
        labels = {"flow": "control", "pair": pair}
        yield case(pair == "exceptional", rank=rank, stratum=pair, share=share, labels=labels, a=a, b=b)


@pattern(
    "In {{ place }}, to which tasks is there an exceptional link of the control flow from task '{{ task }}'? A link is "
    "exceptional if it is taken when the task before it fails." + OWN_LEVEL,
    "Look at the links of the control flow of {{ place }} that leave '{{ task }}'. To which tasks do those lead that "
    "are taken if '{{ task }}' fails?" + OWN_LEVEL,
    form="task-set",
    needs={"exceptional"},
    least=5,
    exceptional=True,
)
def exceptional_links(workflow: Workflow) -> Cases:
    """Check that the model selects the exceptional links among all that leave a task.

    Tasks without an exceptional link come last. Tasks behind which an exceptional link leads to a gateway are left out:
    the end of such a link is ambiguous.
    """
    if not workflow.exceptional_links:
        return
    unclear, left = _exceptions_at_gateways(workflow), {link.source for link in workflow.links}
    for task, after in _direct(workflow.exceptional_links, workflow.task_names).items():
        if task not in unclear and (after or task in left):
            yield case(after, rank=int(not after), labels={"flow": "control", "answers": len(after)}, task=task)


def _exceptions_at_gateways(workflow: Workflow) -> set[str]:
    """Return the tasks with an exceptional link that leads to a gateway."""
    gateways = {gateway.name for gateway in workflow.gateways}
    return {link.source for link in workflow.exceptional_links if link.target in gateways}


def _data_names(workflow: Workflow) -> list[str]:
    return [data.name for data in workflow.data]


def _pairs(links: Graph, unclear: Graph, unlinked: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yield linked pairs, reversed links and, in small flows if wanted, pairs without a link; each with its kind.

    The negatives leave out a node with itself, links in both directions, and unclear pairs.
    """
    linked = [(a, b) for a, targets in links.items() for b in targets]
    for a, b in limit_candidates(linked, len(links), MOST_LINKS):
        yield a, b, "linked"
        if a not in links[b] and a not in unclear.get(b, ()):
            yield b, a, "reversed"
    for a in links if unlinked and len(links) <= MOST else ():
        for b in _without(links, (a, *links[a], *unclear.get(a, ()))):
            if a not in links[b]:
                yield a, b, "unlinked"


def _direct(links: Iterable[Link | DataLink], nodes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the nodes, each with those among them to which a link of its own leads."""
    targets_by_node: dict[str, dict[str, None]] = {node: {} for node in nodes}
    for link in links:
        if link.source in targets_by_node and link.target in targets_by_node:
            targets_by_node[link.source][link.target] = None
    return {node: tuple(targets) for node, targets in targets_by_node.items()}


def _without(names: Iterable[str], others: tuple[str, ...]) -> tuple[str, ...]:
    avoided = set(others)
    return tuple(name for name in names if name not in avoided)


def _through_gateways(workflow: Workflow) -> Graph:
    """Return each task with those to which a path leads through at least one gateway and no task."""
    tasks = set(workflow.task_names)
    links = (link for link in workflow.links if not (link.source in tasks and link.target in tasks))
    return task_graph(replace(workflow, links=tuple(links)))


def _conditions_at_gateways(workflow: Workflow) -> set[str]:
    """Return the tasks from which a path to or through gateways, and no task, takes a conditional link."""
    gateways = {gateway.name for gateway in workflow.gateways}
    to_gateway = [link for link in workflow.links if link.target in gateways]
    ahead: dict[str, list[str]] = {}
    for link in to_gateway:
        ahead.setdefault(link.source, []).append(link.target)
    guarded = {link.source for link in workflow.links if link.guard is not None and link.source in gateways}
    guarding = {link.source for link in to_gateway if link.guard is not None}
    passed = {task: reachable(ahead, task) for task in workflow.task_names}
    return {task for task in workflow.task_names if task in guarding or guarded & passed[task]}
