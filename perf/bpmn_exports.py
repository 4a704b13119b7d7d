"""BPMN models beside their exports by tools: prints "equal", or how the workflows that are read of each pair differ.

    python perf/bpmn_exports.py ORIGINALS EXPORTS

Pairs are files `X.bpmn` of the first folder and `X.bpmn` or `X-export.bpmn` of the second. The order of workflows,
tasks, gateways, links and data has no meaning. What differs in its name alone is paired by its neighbours and its name,
and reported once, as `~`; `-` is only in the original, `+` only in the export.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from pytest_taskgraph.errors import TaskgraphError
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.workflow.model import Link, Workflow

ID = re.compile(r"_\w*\d\w*$|-[0-9a-fA-F]{12}$")  # what tools write as an id
LEAST_ALIKE = (
    1.2,
    0.9,
    0.9,
    0.6,
)  # in each round, of 2: the share of common neighbours and the similarity of the names


def read(path: Path) -> tuple[Workflow, ...] | str:
    """Return the workflows of a file, or the reason why it is refused."""
    try:
        return BPMN.interpret(BPMN.decode(path.read_bytes()), path.name).workflows
    except TaskgraphError as error:
        return f"refused: {error}"


def differences(original: Path, export: Path) -> Iterator[str]:
    """Yield the differences of two files, a line each."""
    first, second = read(original), read(export)
    if isinstance(first, str) or isinstance(second, str):
        reasons = [(sign, each) for sign, each in (("-", first), ("+", second)) if isinstance(each, str)]
        yield from (f"{sign} {each}" for sign, each in reasons if len(reasons) == 1)
        return
    before, after = ({_name(each): each for each in workflows} for workflows in (first, second))
    tasks = [{name: {*each.task_names} for name, each in side.items()} for side in (before, after)]
    renamed = paired(tasks[0], tasks[1], {}, LEAST_ALIKE[-1])
    if len(before) == len(after) == 1:
        renamed = dict(zip(after, before, strict=True))
    yield from (f"- workflow {name!r}" for name in before.keys() - renamed.values())
    yield from (f"+ workflow {name!r}" for name in after.keys() - renamed.keys())
    for new, old in renamed.items():
        yield from [f"~ workflow {old!r}: now {new!r}"] if old != new else ()
        yield from level_differences(before[old], after[new], old, renamed)


def _name(workflow: Workflow) -> str:
    return workflow.name or "the workflow"


def paired(
    before: Mapping[str, Collection[object]],
    after: Mapping[str, Collection[object]],
    known: Mapping[str, str],
    least: float,
) -> dict[str, str]:
    """Return the names of the export with those of the original: the known ones, by name, then by what is around."""
    found = {**known, **{name: name for name in after if name in before and name not in known}}
    alike = [
        (_likeness(old, new, before[old], after[new]), old, new)
        for old in before
        for new in after
        if old not in found.values() and new not in found
    ]
    for likeness, old, new in sorted(alike, reverse=True):
        rivals = [(o == old) != (n == new) for other, o, n in alike if other == likeness]
        is_clear = not any(rivals) or least == LEAST_ALIKE[-1]
        if new not in found and old not in found.values() and likeness >= least and is_clear:
            found[new] = old
    return found


def _likeness(old: str, new: str, around_old: Collection[object], around_new: Collection[object]) -> float:
    both = {*around_old} | {*around_new}
    common = len({*around_old} & {*around_new}) / len(both) if both else 0.0
    if ID.search(old) and ID.search(new):
        return common + LEAST_ALIKE[-1]
    return common + SequenceMatcher(None, old.lower(), new.lower()).ratio()


def level_differences(before: Workflow, after: Workflow, place: str, renamed: Mapping[str, str]) -> Iterator[str]:
    """Yield the differences of two levels and of those inside them."""
    names = _paired_names(before, after)
    for what in ("task", "gateway", "data"):
        olds, news = _around(before, what, {}), _around(after, what, names)
        own = {new: names[new] for new in news if new in names}
        yield from (f"~ {place}: {what} {old!r}: now {new!r}" for new, old in own.items() if old != new)
        yield from (f"- {place}: {what} {name!r}" for name in olds.keys() - own.values())
        yield from (f"+ {place}: {what} {name!r}" for name in news.keys() - own.keys())
    kinds = {gateway.name: f"{gateway.kind} {gateway.role}" for gateway in before.gateways}
    for gateway in after.gateways:
        old, new = kinds.get(names.get(gateway.name, "")), f"{gateway.kind} {gateway.role}"
        yield from [f"~ {place}: {gateway.name!r}: {old}, now {new}"] if old not in (None, new) else ()
    yield from _link_differences(before.links, after.links, names, place)
    for title in ("exceptional_links", "data_links"):
        old_links = {(link.source, link.target) for link in getattr(before, title)}
        links = {
            (names.get(link.source, link.source), names.get(link.target, link.target)) for link in getattr(after, title)
        }
        yield from (f"- {place}: {title}: {a!r} -> {b!r}" for a, b in sorted(old_links - links))
        yield from (f"+ {place}: {title}: {a!r} -> {b!r}" for a, b in sorted(links - old_links))
    yield from _inner_differences(before, after, place, names, renamed)


def _paired_names(before: Workflow, after: Workflow) -> dict[str, str]:
    """Return the names of a level of the export with those of the original; each round knows the neighbours better."""
    names = dict[str, str]()
    for least in LEAST_ALIKE:
        for what in ("task", "gateway", "data"):
            olds, news = _around(before, what, {}), _around(after, what, names)
            names |= paired(olds, news, {new: names[new] for new in news if new in names}, least)
    return names


def _around(level: Workflow, what: str, names: Mapping[str, str]) -> dict[str, set[tuple[str, str]]]:
    """Return the tasks, gateways or data of a level with the names before and after them."""
    names_of = {
        "task": level.task_names,
        "gateway": [gateway.name for gateway in level.gateways],
        "data": [data.name for data in level.data],
    }
    found: dict[str, set[tuple[str, str]]] = {name: set() for name in names_of[what]}
    for task in level.tasks if what == "task" else ():
        found[task.name] = {("in", name) for name in task.subworkflow.task_names} if task.subworkflow else set()
    links = [(link.source, link.target) for link in level.links]
    for source, target in (*links, *((link.source, link.target) for link in level.data_links)):
        if source in found:
            found[source].add(("to", names.get(target, target)))
        if target in found:
            found[target].add(("from", names.get(source, source)))
    return found


def _link_differences(
    before: Collection[Link], after: Collection[Link], names: Mapping[str, str], place: str
) -> Iterator[str]:
    old = {(link.source, link.target, link.guard) for link in before}
    new = {(names.get(link.source, link.source), names.get(link.target, link.target), link.guard) for link in after}
    lost, gained = old - new, new - old
    for source, target, guard in sorted(lost, key=str):
        other = next((each for each in gained if each[:2] == (source, target)), None)
        if other is not None:
            gained.remove(other)
            yield f"~ {place}: condition of {source!r} -> {target!r}: {guard!r}, now {other[2]!r}"
        else:
            yield f"- {place}: link {source!r} -> {target!r} if {guard!r}"
    yield from (f"+ {place}: link {a!r} -> {b!r} if {guard!r}" for a, b, guard in sorted(gained, key=str))


def _inner_differences(
    before: Workflow, after: Workflow, place: str, names: Mapping[str, str], renamed: Mapping[str, str]
) -> Iterator[str]:
    old_tasks = {task.name: task for task in before.tasks}
    for task in after.tasks:
        old = old_tasks.get(names.get(task.name, ""))
        if old is None:
            continue
        if old.duration != task.duration:
            yield f"~ {place}: duration of {old.name!r}: {old.duration}, now {task.duration}"
        calls = [str(each.reference) if each.reference else None for each in (old, task)]
        if calls[0] != (renamed.get(calls[1], calls[1]) if calls[1] else None):
            yield f"~ {place}: {old.name!r} calls {calls[0]}, now {calls[1]}"
        if old.subworkflow and task.subworkflow:
            yield from level_differences(old.subworkflow, task.subworkflow, f"{place}/{old.name}", renamed)
        elif old.subworkflow or task.subworkflow:
            yield f"{'-' if old.subworkflow else '+'} {place}: inside of {old.name!r}"


def main(originals: Path, exports: Path) -> None:
    """Print each pair of files with the differences between them."""
    equal = pairs = 0
    for original in sorted(originals.glob("*.bpmn")):
        names = (original.name, f"{original.stem}-export.bpmn")
        export = next((exports / name for name in names if (exports / name).is_file()), None)
        if export is None:
            continue
        found = [*differences(original, export)]
        pairs, equal = pairs + 1, equal + (not found)
        print(f"{original.stem}: {'equal' if not found else f'{len(found)} differences'}")
        print("".join(f"  {line}\n" for line in found), end="")
    print(f"{equal} of {pairs} pairs are equal")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
