"""One-step edits of the user's own text: everything except one place of the file stays as it is written.

A candidate is a change of the text alone. It counts if the notation reads the changed text, and the result differs from
the file in one link, condition or reference; so no edit has to be trusted. Notations that are written by rule (JSON,
plain English) need no edits of the text: there the writer gives the same text.
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
from .actions_edits import ACTIONS_WAYS
from .argo_edits import ARGO_WAYS
from .bpmn_edits import BPMN_WAYS

TRIES_PER_EDIT: Final = 3  # candidates that are read for each requested edit
MOST_LINKED: Final = 20  # tasks between which links are added; more are sampled
KINDS: Final = ("link", "data link", "reference")
IMPLIED_ENDS: Final = {"mermaid", "actions", "argo", "bpmn"}  # START and END follow from the rest
_ARROW = re.compile(r"[ \t]*(?:-->|->|==>|-\.->)[ \t]*(?:\|[^|\n]*\|)?[ \t]*")
_REFERENCE = re.compile(r"(?<=\bsubworkflow )[\w.]+(?=;)")
_WORD = re.compile(r"[^\W\d]\w*")

Part = tuple[object, ...]  # identifies a link, a reference or other content of a project
Candidate = tuple[int, int, str]  # start and end of a piece of the text, and its replacement


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A text one step away from the user's own, its workflow, and the kind of the step."""

    kind: str
    text: str
    workflow: Workflow


def text_edits(notation: Notation, heading: str, text: str, rng: Random, most: int) -> list[TextEdit]:
    """Return at most `most` edits of a text in random order, alternating between the ways to edit.

    Of one kind there are at most about a third.

    Args:
        notation: The notation of the text; those without an entry in EDIT_WAYS have no edits.
        heading: The line that each edited text begins with.
        text: The user's own text, as it is shown.
        rng: The random number generator.
        most: Maximum number of edits; for each, TRIES_PER_EDIT candidates are read.
    """
    ways = EDIT_WAYS.get(notation.name, ())
    before = _read(notation, f"{heading}\n{text}") if most and ways else None
    if before is None:
        return []
    candidates_by_way = [[*way(notation, text, before)] for way in ways]
    for way in candidates_by_way:
        rng.shuffle(way)
    candidates = [
        way[i] for i in range(max(map(len, candidates_by_way), default=0)) for way in candidates_by_way if i < len(way)
    ]
    edits: dict[str, TextEdit] = {}
    for start, end, new in candidates[: TRIES_PER_EDIT * most]:
        changed = f"{heading}\n{text[:start]}{new}{text[end:]}"
        after = _read(notation, changed)
        kind = step(before, after, notation.name in IMPLIED_ENDS) if after is not None else ""
        if after is not None and kind and sum(edit.kind == kind for edit in edits.values()) <= most // 3:
            edits.setdefault(changed, TextEdit(kind, changed, after))
        if len(edits) == most:
            break
    return [*edits.values()]


def step(before: Workflow, after: Workflow, implied_ends: bool = False) -> str:
    """Return the kind of the single step between two workflows, as in `generation.edits`; "" for any other change.

    Args:
        before: The workflow before the step.
        after: The workflow after it.
        implied_ends: Ignore links that begin at START or lead to END beside another change: charts that do not draw
            them have them wherever nothing else leads.
    """
    old, new = _multisets(before), _multisets(after)
    if old["fixed"] != new["fixed"]:
        return ""
    removed = {kind: [*(old[kind] - new[kind]).elements()] for kind in KINDS}
    added = {kind: [*(new[kind] - old[kind]).elements()] for kind in KINDS}
    inner = [[link for link in some["link"] if START not in link and END not in link] for some in (removed, added)]
    if implied_ends and any(inner):
        removed["link"], added["link"] = inner
    (changed, *others) = [kind for kind in KINDS if removed[kind] or added[kind]] or [""]
    counts = (len(removed[changed]), len(added[changed])) if changed and not others else (0, 0)
    if counts in ((1, 0), (0, 1)):
        return f"{changed} {'removed' if counts[0] else 'added'}" if changed != "reference" or counts[0] else ""
    if counts != (1, 1):
        return ""
    return _replacement(changed, removed[changed][0], added[changed][0])


def _replacement(kind: str, old: Part, new: Part) -> str:
    """Return the kind of the step from one link or reference to another one."""
    if kind == "reference":
        return "reference replaced" if old[:-1] == new[:-1] else ""
    if kind == "link" and old[:-1] == new[:-1]:
        return f"condition {'added' if old[-1] is None else 'removed' if new[-1] is None else 'replaced'}"
    return ""


def _multisets(project: Workflow) -> Mapping[str, Counter[Part]]:
    """Return the content of a project: links, data links, references, and the rest, which no edit changes."""
    multisets: dict[str, Counter[Part]] = {kind: Counter() for kind in (*KINDS, "fixed")}
    for whole in (project, *project.others):
        for path, level in levels(whole):
            place: Part = (whole.qualified, path)
            multisets["link"].update((*place, link.source, link.target, link.guard) for link in level.links)
            multisets["data link"].update((*place, link.source, link.target) for link in level.data_links)
            multisets["reference"].update(
                (*place, task.name, task.reference) for task in level.tasks if task.reference is not None
            )
            tasks = [
                (task.name, task.description, task.parameters, task.effects, task.duration) for task in level.tasks
            ]
            multisets["fixed"].update(
                (*place, part) for part in (*tasks, *level.data, *level.gateways, *level.exceptional_links)
            )
    return multisets


def _read(notation: Notation, text: str) -> Workflow | None:
    """Return the project in a text; None if it cannot be read or is not well-formed."""
    try:
        project = combine_workflows(notation.interpret(text).workflows)
        return None if problems(project) else project
    except TaskgraphError:
        return None


def _remove_line(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    start = 0
    for line in text.splitlines(keepends=True):
        if _ARROW.search(line) or _REFERENCE.search(line):
            yield start, start + len(line), ""
        start += len(line)


def _break_chain(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    for arrow in _ARROW.finditer(text):
        line = text[text.rfind("\n", 0, arrow.start()) + 1 : arrow.start()]
        indent = line[: len(line) - len(line.lstrip())]
        yield arrow.start(), arrow.end(), ("\n" if notation.name == "mermaid" else ";\n") + indent


def _add_link(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates with another link between two tasks, after any line that links one of them.

    At one fixed place it would be recognizable as new.
    """
    spelling_of = _spellings_of_tasks(notation, text, project)
    mermaid = notation.name == "mermaid"
    lines = _linked_lines(text, "" if mermaid else ";")
    candidates = list[Candidate]()
    for level in (level for whole in (project, *project.others) for _, level in levels(whole)):
        linked = {(link.source, link.target) for link in level.links}
        names = [name for name in level.task_names if name in spelling_of]
        if len(names) > MOST_LINKED:
            names = Random(len(names)).sample(names, MOST_LINKED)
        for a, b in product(names, names):
            if a != b and (a, b) not in linked:
                link = f"{spelling_of[a]} --> {spelling_of[b]}" if mermaid else f"{spelling_of[a]} -> {spelling_of[b]};"
                near_lines = [line for line in lines if spelling_of[a] in line.words or spelling_of[b] in line.words]
                if near_lines:
                    line = near_lines[len(candidates) % len(near_lines)]
                    candidates.append((line.end, line.end, f"\n{line.indent}{link}"))
    yield from candidates


class LinkedLine(NamedTuple):
    """A line with links: the words in it, its indentation, and the offset at which its last statement ends."""

    words: frozenset[str]
    indent: str
    end: int


def _linked_lines(text: str, mark: str) -> list[LinkedLine]:
    """Return the lines with links of a text whose statements end with a mark, or with the line if it is empty."""
    lines, start = list[LinkedLine](), 0
    for full_line in text.splitlines(keepends=True):
        line = full_line.rstrip()
        arrows = [arrow.end() for arrow in _ARROW.finditer(line)]
        behind = line[arrows[-1] :] if arrows else ""
        if arrows and mark in behind and "{" not in behind[: behind.find(mark)]:
            words = frozenset(_WORD.findall(line)) | frozenset(re.findall(r'"[^"\n]*"', line))
            end = arrows[-1] + behind.find(mark) + 1 if mark else len(line)
            lines.append(LinkedLine(words, full_line[: len(full_line) - len(full_line.lstrip())], start + end))
        start += len(full_line)
    return lines


def _spellings_of_tasks(notation: Notation, text: str, project: Workflow) -> dict[str, str]:
    """Return the spellings of tasks' names where the text links them."""
    names = [name for whole in (project, *project.others) for _, level in levels(whole) for name in level.task_names]
    words = frozenset(_WORD.findall(text))
    if notation.name != "mermaid":
        return {name: name if name in words else quote(name) for name in names}
    spellings_by_name = {name: name for name in names if _WORD.fullmatch(name)}
    for spellings in notation.interpret(text).spellings.values():
        spellings_by_name.update(
            (name, identifier) for identifier, name in spellings.items() if _WORD.fullmatch(identifier)
        )
    return spellings_by_name


def _replace_comparison(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    guards = {link.guard for whole in (project, *project.others) for _, level in levels(whole) for link in level.links}
    for guard in sorted(guard for guard in guards if guard and text.count(guard) == 1):
        if compared := COMPARISON.search(guard):
            for operator in REPLACED[compared[0]]:
                start = text.index(guard)
                yield start + compared.start(), start + compared.end(), operator


def _replace_reference(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    for match in _REFERENCE.finditer(text):
        for whole in (project, *project.others):
            yield match.start(), match.end(), str(whole.qualified)


EditWay = Callable[[Notation, str, Workflow], Iterator[Candidate]]
_ARROW_WAYS: Final[tuple[EditWay, ...]] = (
    _remove_line,
    _add_link,
    _break_chain,
    _replace_comparison,
    _replace_reference,
)
EDIT_WAYS: Final[dict[str, tuple[EditWay, ...]]] = {
    **dict.fromkeys(("wadl", "wadl-separate", "wadl-expanded", "mermaid"), _ARROW_WAYS),
    "actions": ACTIONS_WAYS,
    "argo": ARGO_WAYS,
    "bpmn": BPMN_WAYS,
}
"""The ways to edit a text, by the name of its notation."""
