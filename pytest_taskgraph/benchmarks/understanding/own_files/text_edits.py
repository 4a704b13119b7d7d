"""One-step edits of the user's own text: all but one place of the file stays as it is written.

A candidate is a change of the text alone. It counts if the notation reads the changed text, and what it reads differs
from the file in one link, condition or reference; so no edit has to be trusted. Notations that are written by rule
(JSON, plain English) need none: there the writer gives the same text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Final, NamedTuple

from ....errors import TaskgraphError
from ....generation.edits import COMPARISON, REPLACED
from ....notations import Notation
from ....notations.notation import combine_workflows
from ....notations.wadl.words import quote
from ....workflow.check import problems
from ....workflow.model import END, START, Workflow
from ....workflow.references import levels

TRIES_PER_EDIT: Final = 3  # candidates that are read for each edit that is wanted
MOST_LINKED: Final = 20  # tasks between which links are added; of more, a sample
KINDS: Final = ("link", "data link", "reference")
_ARROW = re.compile(r"[ \t]*(?:-->|->|==>|-\.->)[ \t]*(?:\|[^|\n]*\|)?[ \t]*")
_REFERENCE = re.compile(r"(?<=\bsubworkflow )[\w.]+(?=;)")
_WORD = re.compile(r"[^\W\d]\w*")

Item = tuple[object, ...]
Candidate = tuple[int, int, str]  # where a piece of the text starts and ends, and what replaces it


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A text one step away from the user's own, what it says, and the kind of the step."""

    kind: str
    text: str
    workflow: Workflow


def text_edits(notation: Notation, heading: str, text: str, rng: Random, most: int) -> list[TextEdit]:
    """Return at most `most` edits of a text in a drawn order, ways to edit in turn; of one kind, about a third.

    Args:
        notation: The notation of the text: the workflow DSL or Mermaid; of others there are none.
        heading: The line that each edited text begins with.
        text: The user's own text, as it is shown.
        rng: The source of choice.
        most: The number that is wanted; for each, TRIES_PER_EDIT candidates are read.
    """
    editable = notation.name == "mermaid" or notation.name.startswith("wadl")
    before = _read(notation, f"{heading}\n{text}") if most and editable else None
    if before is None:
        return []
    ways = [[*way(notation, text, before)] for way in WAYS]
    for way in ways:
        rng.shuffle(way)
    turns = [way[i] for i in range(max(map(len, ways), default=0)) for way in ways if i < len(way)]
    found: dict[str, TextEdit] = {}
    for start, end, new in turns[: TRIES_PER_EDIT * most]:
        changed = f"{heading}\n{text[:start]}{new}{text[end:]}"
        after = _read(notation, changed)
        kind = step(before, after, notation.name == "mermaid") if after is not None else ""
        if after is not None and kind and sum(edit.kind == kind for edit in found.values()) <= most // 3:
            found.setdefault(changed, TextEdit(kind, changed, after))
        if len(found) == most:
            break
    return [*found.values()]


def step(before: Workflow, after: Workflow, implied_ends: bool = False) -> str:
    """Return the kind of the single step between two workflows, as `generation.edits` has it; "" for any other change.

    With `implied_ends`, links that begin at START or lead to END do not count beside another one: charts that do not
    draw them have them wherever nothing else leads.
    """
    old, new = _items(before), _items(after)
    if old["fixed"] != new["fixed"]:
        return ""
    gone = {kind: [*(old[kind] - new[kind]).elements()] for kind in KINDS}
    come = {kind: [*(new[kind] - old[kind]).elements()] for kind in KINDS}
    inner = [[link for link in some["link"] if START not in link and END not in link] for some in (gone, come)]
    if implied_ends and any(inner):
        gone["link"], come["link"] = inner
    (changed, *others) = [kind for kind in KINDS if gone[kind] or come[kind]] or [""]
    counts = (len(gone[changed]), len(come[changed])) if changed and not others else (0, 0)
    if counts in ((1, 0), (0, 1)):
        return f"{changed} {'removed' if counts[0] else 'added'}" if changed != "reference" or counts[0] else ""
    if counts != (1, 1):
        return ""
    return _replacement(changed, gone[changed][0], come[changed][0])


def _replacement(kind: str, old: Item, new: Item) -> str:
    """Return the kind of the step from one link or reference to another one."""
    if kind == "reference":
        return "reference replaced" if old[:-1] == new[:-1] else ""
    if kind == "link" and old[:-1] == new[:-1] and old[-1] is not None:
        return "condition removed" if new[-1] is None else "condition replaced"
    return ""


def _items(project: Workflow) -> Mapping[str, Counter[Item]]:
    """Return what a project holds: its links, data links and references, and all else that no edit changes."""
    items: dict[str, Counter[Item]] = {kind: Counter() for kind in (*KINDS, "fixed")}
    for whole in (project, *project.others):
        for path, level in levels(whole):
            where: Item = (whole.qualified, path)
            items["link"].update((*where, link.source, link.target, link.guard) for link in level.links)
            items["data link"].update((*where, link.source, link.target) for link in level.data_links)
            items["reference"].update(
                (*where, task.name, task.reference) for task in level.tasks if task.reference is not None
            )
            tasks = [(task.name, task.description, task.parameters, task.effects) for task in level.tasks]
            items["fixed"].update((*where, item) for item in (*tasks, *level.data, *level.gateways))
    return items


def _read(notation: Notation, text: str) -> Workflow | None:
    """Return the project that a text holds; None if it cannot be read or is not well-formed."""
    try:
        project = combine_workflows(notation.interpret(text).workflows)
        return None if problems(project) else project
    except TaskgraphError:
        return None


def _without_line(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    start = 0
    for line in text.splitlines(keepends=True):
        if _ARROW.search(line) or _REFERENCE.search(line):
            yield start, start + len(line), ""
        start += len(line)


def _broken_chain(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    for arrow in _ARROW.finditer(text):
        line = text[text.rfind("\n", 0, arrow.start()) + 1 : arrow.start()]
        indent = line[: len(line) - len(line.lstrip())]
        yield arrow.start(), arrow.end(), ("\n" if notation.name == "mermaid" else ";\n") + indent


def _with_link(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield one more link between two tasks, behind any line that links one of them.

    At one fixed place it would be seen to be new.
    """
    written = _written_names(notation, text, project)
    mermaid = notation.name == "mermaid"
    spots = _links_on_lines(text, "" if mermaid else ";")
    found = list[Candidate]()
    for level in (level for whole in (project, *project.others) for _, level in levels(whole)):
        linked = {(link.source, link.target) for link in level.links}
        names = [name for name in level.task_names if name in written]
        if len(names) > MOST_LINKED:
            names = Random(len(names)).sample(names, MOST_LINKED)
        for a, b in product(names, names):
            if a != b and (a, b) not in linked:
                link = f"{written[a]} --> {written[b]}" if mermaid else f"{written[a]} -> {written[b]};"
                near = [spot for spot in spots if written[a] in spot.words or written[b] in spot.words]
                if near:
                    spot = near[len(found) % len(near)]
                    found.append((spot.end, spot.end, f"\n{spot.indent}{link}"))
    yield from found


class _Spot(NamedTuple):
    """A line with links: the words in it, its indentation, and the offset at which its last statement ends."""

    words: frozenset[str]
    indent: str
    end: int


def _links_on_lines(text: str, mark: str) -> list[_Spot]:
    """Return the lines with links of a text in which statements end with a mark, or with the line where it is empty."""
    spots, start = list[_Spot](), 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip()
        arrows = [arrow.end() for arrow in _ARROW.finditer(line)]
        behind = line[arrows[-1] :] if arrows else ""
        if arrows and mark in behind and "{" not in behind[: behind.find(mark)]:
            words = frozenset(_WORD.findall(line)) | frozenset(re.findall(r'"[^"\n]*"', line))
            end = arrows[-1] + behind.find(mark) + 1 if mark else len(line)
            spots.append(_Spot(words, whole[: len(whole) - len(whole.lstrip())], start + end))
        start += len(whole)
    return spots


def _written_names(notation: Notation, text: str, project: Workflow) -> dict[str, str]:
    """Return how the text writes the names of tasks where one is linked."""
    names = [name for whole in (project, *project.others) for _, level in levels(whole) for name in level.task_names]
    words = frozenset(_WORD.findall(text))
    if notation.name != "mermaid":
        return {name: name if name in words else quote(name) for name in names}
    ids = {name: name for name in names if _WORD.fullmatch(name)}
    for spellings in notation.interpret(text).spellings.values():
        ids.update((name, id) for id, name in spellings.items() if _WORD.fullmatch(id))
    return ids


def _other_comparison(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    guards = {link.guard for whole in (project, *project.others) for _, level in levels(whole) for link in level.links}
    for guard in sorted(guard for guard in guards if guard and text.count(guard) == 1):
        if compared := COMPARISON.search(guard):
            for operator in REPLACED[compared[0]]:
                start = text.index(guard)
                yield start + compared.start(), start + compared.end(), operator


def _other_reference(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    for found in _REFERENCE.finditer(text):
        for whole in (project, *project.others):
            yield found.start(), found.end(), str(whole.qualified)


Way = Callable[[Notation, str, Workflow], Iterator[Candidate]]
WAYS: Final[tuple[Way, ...]] = (_without_line, _with_link, _broken_chain, _other_comparison, _other_reference)
