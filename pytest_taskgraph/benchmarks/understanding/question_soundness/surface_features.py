"""Compute the features of the surface of a question: where its names stand in the text, counts, keywords, degrees.

The parts of a text are the lines that declare things, those of the control flow, and those of the data flow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from ....workflow.model import END, START, Link, Workflow
from ..patterns.scope import Scope

Features = Mapping[str, float]
Line = tuple[str, list[str], str]  # the part, the names and words on it, the line itself

PARTS: Final = ("text", "declarations", "control", "data")
NOWHERE: Final = -1.0
SIGNS: Final = ("<=", ">=", "<", ">", "=", "and", "or", "not", "otherwise")
KEYWORDS: Final = {
    "parallel block": r"PARALLEL|parallel|fork|side by side",
    "exclusive choice": r"condition|otherwise|\bif\b|guard|-->\|",
    "inclusive choice": r"condition|otherwise|\bif\b|guard|-->\|",
    "loop": r"condition|otherwise|\bif\b|guard|-->\|",
}
_GATEWAY = re.compile(r"\b(PARALLEL|EXCLUSIVE|INCLUSIVE)|Fork|Join|fork|join|Choice|Merge|choice|merge|side by side")
_CONDITION = re.compile(r"condition|\?->|otherwise|\bif\b|\"guard\"|-->\|")
_SUBWORKFLOW = re.compile(r"subworkflow|sub-workflow|uses the workflow|subgraph|\"reference\"")
_SIGN = re.compile(r"<=|>=|<|>|=|\band\b|\bor\b|\bnot\b|\botherwise\b")


def surface(text: str, notation: str, question: str, project: Workflow, scope: Scope) -> Features:
    """Return the features of a question about a level of a project, as its text and the workflow's text show them.

    `question` is the question without the words for its place.
    """
    lines = list(_lines(text, notation))
    levels = list(_levels(project))
    known = {name for _, level in levels for name in (*level.task_names, *(one.name for one in level.data))}
    names = names_in(question, known)
    found: dict[str, float] = {"lines": len(lines), "characters": len(text), "question characters": len(question)}
    found.update(_words(text, question, known))
    found.update(_level(scope.workflow, "level"))
    found.update(_project(project, levels))
    found["the level is the first workflow"] = float(scope.whole and scope.workflow.name == project.name)
    found["depth of the level"] = len(scope.path)
    for operator, words in KEYWORDS.items():
        if operator in question:
            found["keyword of the operator"] = len(re.findall(words, text))
            found["keyword of the operator is present"] = float(found["keyword of the operator"] > 0)
    own = [_of_name(name, lines, levels, scope.workflow) for name in names]
    found["names asked about"] = len(names)
    for place, features in [*enumerate(own[:2], 1), *([("last", own[-1])] if own else [])]:
        found.update({f"name {place} {feature}": value for feature, value in features.items()})
    if len(names) > 1:
        found.update({f"difference {feature}": own[0][feature] - own[1][feature] for feature in own[0]})
        found.update(_together(names, lines))
    return found


def first_mentions(text: str, notation: str, names: Sequence[str], part: str) -> list[str]:
    """Return the names in the order in which a part of the text mentions them first; those it never does come last."""
    place: dict[str, int] = {}
    for line_part, words, _ in _lines(text, notation):
        for word in words if part in ("text", line_part) else ():
            place.setdefault(word, len(place))
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _lines(text: str, notation: str) -> Iterator[Line]:
    """Yield the lines of a text; a condition in braces stands on the line of its link."""
    joined = re.sub(r"\{\s*\n\s*(condition[^\n]*)\n\s*\}", r"{ \1 }", text)
    section = "declarations"
    for line in joined.split("\n"):
        if notation == "json" and (key := re.match(r'\s*"(\w+)": \[', line)):
            section = {"links": "control", "data_links": "data"}.get(key[1], "declarations")
        part = section if notation == "json" else _part(line, notation)
        yield part, re.findall(r"\w+", line), line


def _part(line: str, notation: str) -> str:
    if notation == "mermaid":
        return "data" if "-.-" in line else "control" if "-->" in line else "declarations"
    if notation == "prose":
        data = re.search(r"' (reads|writes) '", line)
        control = re.match(r"\s*(After |The (sub-)?workflow (starts|ends))", line)
        return "data" if data else "control" if control else "declarations"
    return "data" if "-->" in line else "control" if "->" in line else "declarations"


def _levels(project: Workflow) -> Iterator[tuple[int, Workflow]]:
    """Yield every level of a project, each with the number of the workflow that it stands in."""
    for number, whole in enumerate((project, *project.others)):
        waiting = [whole]
        for level in waiting:
            yield number, level
            waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow is not None)


def names_in(question: str, known: Collection[str]) -> list[str]:
    """Return the known names that a question mentions, in order: those in quotes; any where none is in quotes."""
    quoted = [name for name in _quoted(question) if name in known]
    if quoted or not known:
        return quoted
    longest_first = "|".join(re.escape(name) for name in sorted(known, key=lambda name: (-len(name), name)))
    return re.findall(rf"(?<!\w)(?:{longest_first})(?!\w)", question)


def _quoted(question: str) -> list[str]:
    """Return what stands in quotes in a question, one by one; of a path the last name."""
    return [name.rpartition(".")[2] for quoted in re.findall("'([^']*)'", question) for name in quoted.split(", ")]


def _words(text: str, question: str, known: set[str]) -> Iterator[tuple[str, float]]:
    """Yield how often each word and sign stands in the text, and which words the question has."""
    for word, times in Counter(re.findall(r"[A-Za-z]+|[^\sA-Za-z0-9_]", text)).items():
        if word not in known:
            yield f"text has {word}", times
    for word in set(re.findall("[A-Za-z]+", re.sub("'[^']*'", "", question))):
        yield f"question has {word}", 1.0


def _level(level: Workflow, what: str) -> Iterator[tuple[str, float]]:
    """Yield counts of a level."""
    guards = [link.guard for link in level.links if link.guard is not None]
    into, out = Counter(link.target for link in level.links), Counter(link.source for link in level.links)
    yield f"tasks of {what}", len(level.tasks)
    yield f"data of {what}", len(level.data)
    yield f"links of {what}", len(level.links)
    yield f"data links of {what}", len(level.data_links)
    yield f"links less tasks of {what}", len(level.links) - len(level.tasks) - len(level.gateways)
    yield f"gateways of {what}", len(level.gateways)
    yield f"splits less joins of {what}", sum(1 if one.role == "split" else -1 for one in level.gateways)
    yield f"guards of {what}", len(guards)
    yield f"composite tasks of {what}", sum(task.composite for task in level.tasks)
    yield f"links from START of {what}", out[START]
    yield f"links to END of {what}", into[END]
    yield f"tasks with several links out of {what}", sum(out[name] > 1 for name in level.task_names)
    yield f"tasks with several links in of {what}", sum(into[name] > 1 for name in level.task_names)
    yield "tasks without a link in or out", sum(not into[name] or not out[name] for name in level.task_names)
    yield "nodes without a link in or out", sum(not into[one.name] or not out[one.name] for one in level.gateways)
    yield from _signs(guards, what)


def _signs(guards: Sequence[str], what: str) -> Iterator[tuple[str, float]]:
    """Yield how often each sign stands in the guards."""
    signs = Counter(sign for guard in guards for sign in _SIGN.findall(guard))
    for sign in SIGNS:
        yield f"guards of {what} {sign}", signs[sign]
    yield f"guards of {what} strict", signs["<"] + signs[">"]
    yield f"guards of {what} not strict", signs["<="] + signs[">="]
    yield f"guards of {what} strict less not", signs["<"] + signs[">"] - signs["<="] - signs[">="]
    yield f"guards of {what} upper less lower", signs["<"] + signs["<="] - signs[">"] - signs[">="]


def _project(project: Workflow, levels: Sequence[tuple[int, Workflow]]) -> Iterator[tuple[str, float]]:
    """Yield counts of the whole project: its workflows, its references, and both together."""
    workflows = 1 + len(project.others)
    told = [(level, task.reference) for _, level in levels for task in level.tasks if task.reference is not None]
    targets = Counter(reference.name for _, reference in told)
    order = {one.name: number for number, one in enumerate((project, *project.others))}
    pairs = [(number, order.get(task.reference.name, -1)) for number, level in levels for task in level.tasks
             if task.reference is not None]  # fmt: skip
    tasks = sum(len(level.tasks) for _, level in levels)
    yield "workflows", workflows
    yield "levels", len(levels)
    yield "inline sub-workflows", len(levels) - workflows
    yield "all tasks", tasks
    yield "tasks for each level", tasks / len(levels)
    yield "references", len(told)
    yield "references minus workflows", len(told) - workflows
    yield "as many references as workflows", float(len(told) == workflows)
    yield "references for each workflow", len(told) / workflows
    yield "workflows referred to", len(targets)
    yield "references to the first workflow", targets[project.name]
    yield "workflows that nothing refers to", workflows - len(targets)
    yield "most references to one workflow", max(targets.values(), default=0)
    yield "references of a workflow to itself", sum(one == other for one, other in pairs)
    yield "references back in the text", sum(one > other for one, other in pairs)
    yield "references on in the text", sum(one < other for one, other in pairs)
    yield "workflows without a reference", workflows - len({number for number, _ in pairs})
    yield from _signs([link.guard for _, level in levels for link in level.links if link.guard], "all")
    yield "gateways of all", sum(len(level.gateways) for _, level in levels)


def _of_name(
    name: str, lines: Sequence[Line], levels: Sequence[tuple[int, Workflow]], asked: Workflow
) -> dict[str, float]:
    """Return where a name stands, how often, on which kinds of lines, and its degrees."""
    found: dict[str, float] = {}
    for part in PARTS:
        at = [i for i, (line_part, words, _) in enumerate(lines) if part in ("text", line_part) and name in words]
        first = at[0] if at else NOWHERE
        found[f"first line in {part}"] = first
        found[f"relative first line in {part}"] = first / len(lines)
        found[f"last line in {part}"] = at[-1] if at else NOWHERE
        found[f"lines in {part}"] = len(at)
    on = [line for _, words, line in lines if name in words]
    found["lines with a gateway"] = sum(bool(_GATEWAY.search(line)) for line in on)
    found["lines with a condition"] = sum(bool(_CONDITION.search(line)) for line in on)
    found["lines with a sub-workflow"] = sum(bool(_SUBWORKFLOW.search(line)) for line in on)
    number, level = next(((n, lev) for n, lev in levels if name in _all_names(lev)), (0, asked))
    found["in a later workflow"] = float(number > 0)
    found["number of the workflow"] = number
    found["on the level asked about"] = float(name in _all_names(asked))
    found["number in the name"] = float(re.sub(r"\D", "", name) or 0)
    found["tasks beside it"] = len(level.tasks)
    found["composite"] = float(any(task.name == name and task.composite for task in level.tasks))
    found.update(_degrees(name, level))
    return found


def _degrees(name: str, level: Workflow) -> Iterator[tuple[str, float]]:
    gateways = {one.name for one in level.gateways}
    into = [link for link in level.links if link.target == name]
    out = [link for link in level.links if link.source == name]
    for way, links in (("in", into), ("out", out)):
        ends = [_other_end(link, way) for link in links]
        yield f"links {way}", len(links)
        yield f"conditional links {way}", sum(link.guard is not None for link in links)
        yield f"plain links {way}", sum(link.guard is None for link in links)
        yield f"gateways {way}", sum(end in gateways for end in ends)
        yield f"START or END {way}", sum(end in (START, END) for end in ends)
    yield "data in", sum(link.target == name for link in level.data_links)
    yield "data out", sum(link.source == name for link in level.data_links)
    yield from _signs([link.guard for link in out if link.guard], "its links")


def _other_end(link: Link, way: str) -> str:
    return link.source if way == "in" else link.target


def _all_names(level: Workflow) -> tuple[str, ...]:
    return (*level.task_names, *(one.name for one in level.data))


def _together(names: Sequence[str], lines: Sequence[Line]) -> Iterator[tuple[str, float]]:
    """Yield in which order the names are mentioned, and on which lines several of them stand."""
    for part in PARTS:
        place: dict[str, int] = {}
        for line_part, words, _ in lines:
            for word in words if part in ("text", line_part) else ():
                place.setdefault(word, len(place))
        pairs = [(place.get(one, NOWHERE), place.get(other, NOWHERE)) for one, other in pairwise(names)]
        yield f"names in order in {part}", sum(one < other for one, other in pairs) / len(pairs)
        shared = [words for line_part, words, _ in lines if part in ("text", line_part)]
        both = [words for words in shared if names[0] in words and names[1] in words]
        yield f"lines of {part} with both names", len(both)
        yield (
            f"lines of {part} with the first name before the second",
            sum(words.index(names[0]) < words.index(names[1]) for words in both),
        )
        yield (
            f"neighbours in the question on one line of {part}",
            sum(any(one in words and other in words for words in shared) for one, other in pairwise(names)),
        )
    for what, sign in (("gateway", _GATEWAY), ("condition", _CONDITION), ("sub-workflow", _SUBWORKFLOW)):
        of_each = [any(name in words and sign.search(line) for _, words, line in lines) for name in names]
        yield f"names on a line with a {what}", sum(of_each)
        yield f"both names on a line with a {what}", float(all(of_each))
