"""Features of the surface of a question: positions of its names in the text, counts, keywords, degrees.

The parts of a text are the lines that declare tasks and data, those of the control flow, and those of the data flow.
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


def surface_features(text: str, notation: str, question: str, project: Workflow, scope: Scope) -> Features:
    """Return the features of a question about a level of a project, from its text and the workflow's text.

    Args:
        text: The text of the workflow.
        notation: The name of its notation.
        question: The question without the words for its place.
        project: The project.
        scope: The level.
    """
    lines = list(_lines(text, notation))
    levels = list(_levels(project))
    level_names = {name for _, level in levels for name in (*level.task_names, *(data.name for data in level.data))}
    names = names_in(question, level_names)
    values: dict[str, float] = {"lines": len(lines), "characters": len(text), "question characters": len(question)}
    values.update(_word_features(text, question, level_names))
    values.update(_level_features(scope.workflow, "level"))
    values.update(_project_features(project, levels))
    values["the level is the first workflow"] = float(scope.whole and scope.workflow.name == project.name)
    values["depth of the level"] = len(scope.path)
    for operator, words in KEYWORDS.items():
        if operator in question:
            values["keyword of the operator"] = len(re.findall(words, text))
            values["keyword of the operator is present"] = float(values["keyword of the operator"] > 0)
    own = [_name_features(name, lines, levels, scope.workflow) for name in names]
    values["names asked about"] = len(names)
    values.update(_quoted_features(question, text))
    for position, features in [*enumerate(own[:2], 1), *([("last", own[-1])] if own else [])]:
        values.update({f"name {position} {feature}": value for feature, value in features.items()})
    if len(names) > 1:
        values.update({f"difference {feature}": own[0][feature] - own[1][feature] for feature in own[0]})
        values.update(_joint_features(names, lines))
    return values


def first_mentions(text: str, notation: str, names: Sequence[str], part: str) -> list[str]:
    """Return the names in the order in which a part of the text first mentions them, then the others."""
    first_places: dict[str, int] = {}
    for line_part, words, _ in _lines(text, notation):
        for word in words if part in ("text", line_part) else ():
            first_places.setdefault(word, len(first_places))
    return sorted(names, key=lambda name: first_places.get(name, len(first_places)))


def _lines(text: str, notation: str) -> Iterator[Line]:
    """Yield the lines of a text; a condition in braces is joined to the line of its link."""
    joined = re.sub(r"\{\s*\n\s*(condition[^\n]*)\n\s*\}", r"{ \1 }", text)
    section = "declarations"
    for line in joined.split("\n"):
        if notation == "json" and (key := re.match(r'\s*"(\w+)": \[', line)):
            section = {"links": "control", "data_links": "data"}.get(key[1], "declarations")
        part = section if notation == "json" else _part_of_line(line, notation)
        yield part, re.findall(r"\w+", line), line


def _part_of_line(line: str, notation: str) -> str:
    if notation == "mermaid":
        return "data" if "-.-" in line else "control" if "-->" in line else "declarations"
    if notation == "bpmn":
        return "data" if "Association>" in line else "control" if "<sequenceFlow " in line else "declarations"
    if notation == "prose":
        data = re.search(r"' (reads|writes) '", line)
        control = re.match(r"\s*(After |The (sub-)?workflow (starts|ends))", line)
        return "data" if data else "control" if control else "declarations"
    return "data" if "-->" in line else "control" if "->" in line else "declarations"


def _levels(project: Workflow) -> Iterator[tuple[int, Workflow]]:
    """Yield every level of a project, each with the number of its workflow."""
    for number, whole in enumerate((project, *project.others)):
        waiting = [whole]
        for level in waiting:
            yield number, level
            waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow is not None)


def names_in(question: str, level_names: Collection[str]) -> list[str]:
    """Return the given names that a question mentions, in order: in quotes, or anywhere if none is in quotes."""
    quoted = [name for name in _quoted_names(question) if name in level_names]
    if quoted or not level_names:
        return quoted
    longest_first = "|".join(re.escape(name) for name in sorted(level_names, key=lambda name: (-len(name), name)))
    return re.findall(rf"(?<!\w)(?:{longest_first})(?!\w)", question)


def _quoted_names(question: str) -> list[str]:
    """Return the names in quotes in a question; of a path, the last name."""
    return [name.rpartition(".")[2] for quoted in re.findall("'([^']*)'", question) for name in quoted.split(", ")]


def _quoted_features(question: str, text: str) -> Iterator[tuple[str, float]]:
    """Yield how often the values in quotes occur in the text: names, kinds, properties, situations and others."""
    values = _quoted_names(question)
    counts = [_occurrences(value, text) for value in values]
    yield "quoted values", len(values)
    yield "quoted values that occur", sum(count["occurrences"] > 0 for count in counts)
    for position, occurrences in [*enumerate(counts[:2], 1), *([("last", counts[-1])] if counts else [])]:
        for what, count in occurrences.items():
            yield f"quoted value {position} {what}", count
    if len(counts) > 1:
        for what, count in counts[0].items():
            yield f"quoted values' difference of {what}", count - counts[1][what]


def _occurrences(value: str, text: str) -> dict[str, float]:
    """Return how often and where a value occurs in the text: as whole words, in quotes, and within words too."""
    places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text)] if value else []
    return {
        "occurrences": len(places),
        "occurrences in quotes": sum(text.count(f"{mark}{value}{mark}") for mark in "'\"`"),
        "occurrences within words too": text.count(value) if value else 0,
        "first place": places[0] / len(text) if places else NOWHERE,
        "last place": places[-1] / len(text) if places else NOWHERE,
    }


def _word_features(text: str, question: str, level_names: set[str]) -> Iterator[tuple[str, float]]:
    """Yield the counts of words and signs in the text, and the words of the question."""
    for word, times in Counter(re.findall(r"[A-Za-z]+|[^\sA-Za-z0-9_]", text)).items():
        if word not in level_names:
            yield f"text has {word}", times
    for word in set(re.findall("[A-Za-z]+", re.sub("'[^']*'", "", question))):
        yield f"question has {word}", 1.0


def _level_features(level: Workflow, level_name: str) -> Iterator[tuple[str, float]]:
    """Yield counts of a level."""
    guards = [link.guard for link in level.links if link.guard is not None]
    into, out = Counter(link.target for link in level.links), Counter(link.source for link in level.links)
    yield f"tasks of {level_name}", len(level.tasks)
    yield f"data of {level_name}", len(level.data)
    yield f"links of {level_name}", len(level.links)
    yield f"data links of {level_name}", len(level.data_links)
    yield f"links less tasks of {level_name}", len(level.links) - len(level.tasks) - len(level.gateways)
    yield f"gateways of {level_name}", len(level.gateways)
    yield f"splits less joins of {level_name}", sum(1 if gateway.role == "split" else -1 for gateway in level.gateways)
    yield f"guards of {level_name}", len(guards)
    yield f"composite tasks of {level_name}", sum(task.composite for task in level.tasks)
    yield f"links from START of {level_name}", out[START]
    yield f"links to END of {level_name}", into[END]
    yield f"tasks with several links out of {level_name}", sum(out[name] > 1 for name in level.task_names)
    yield f"tasks with several links in of {level_name}", sum(into[name] > 1 for name in level.task_names)
    yield "tasks without a link in or out", sum(not into[name] or not out[name] for name in level.task_names)
    yield (
        "nodes without a link in or out",
        sum(not into[gateway.name] or not out[gateway.name] for gateway in level.gateways),
    )
    yield from _sign_features(guards, level_name)


def _sign_features(guards: Sequence[str], guard_set: str) -> Iterator[tuple[str, float]]:
    """Yield the counts of each sign in the guards."""
    signs = Counter(sign for guard in guards for sign in _SIGN.findall(guard))
    for sign in SIGNS:
        yield f"guards of {guard_set} {sign}", signs[sign]
    yield f"guards of {guard_set} strict", signs["<"] + signs[">"]
    yield f"guards of {guard_set} not strict", signs["<="] + signs[">="]
    yield f"guards of {guard_set} strict less not", signs["<"] + signs[">"] - signs["<="] - signs[">="]
    yield f"guards of {guard_set} upper less lower", signs["<"] + signs["<="] - signs[">"] - signs[">="]


def _project_features(project: Workflow, levels: Sequence[tuple[int, Workflow]]) -> Iterator[tuple[str, float]]:
    """Yield counts of the whole project: its workflows, its references, and both together."""
    workflows = 1 + len(project.others)
    references = [(level, task.reference) for _, level in levels for task in level.tasks if task.reference is not None]
    targets = Counter(reference.name for _, reference in references)
    order = {workflow.name: number for number, workflow in enumerate((project, *project.others))}
    pairs = [(number, order.get(task.reference.name, -1)) for number, level in levels for task in level.tasks
             if task.reference is not None]  # fmt: skip
    tasks = sum(len(level.tasks) for _, level in levels)
    yield "workflows", workflows
    yield "levels", len(levels)
    yield "inline sub-workflows", len(levels) - workflows
    yield "all tasks", tasks
    yield "tasks for each level", tasks / len(levels)
    yield "references", len(references)
    yield "references minus workflows", len(references) - workflows
    yield "as many references as workflows", float(len(references) == workflows)
    yield "references for each workflow", len(references) / workflows
    yield "workflows referred to", len(targets)
    yield "references to the first workflow", targets[project.name]
    yield "workflows that nothing refers to", workflows - len(targets)
    yield "most references to one workflow", max(targets.values(), default=0)
    yield "references of a workflow to itself", sum(source == target for source, target in pairs)
    yield "references back in the text", sum(source > target for source, target in pairs)
    yield "references on in the text", sum(source < target for source, target in pairs)
    yield "workflows without a reference", workflows - len({number for number, _ in pairs})
    yield from _sign_features([link.guard for _, level in levels for link in level.links if link.guard], "all")
    yield "gateways of all", sum(len(level.gateways) for _, level in levels)


def _name_features(
    name: str, lines: Sequence[Line], levels: Sequence[tuple[int, Workflow]], asked_level: Workflow
) -> dict[str, float]:
    """Return positions and counts of a name, the kinds of its lines, and its degrees."""
    values: dict[str, float] = {}
    for part in PARTS:
        line_numbers = [
            i for i, (line_part, words, _) in enumerate(lines) if part in ("text", line_part) and name in words
        ]
        first = line_numbers[0] if line_numbers else NOWHERE
        values[f"first line in {part}"] = first
        values[f"relative first line in {part}"] = first / len(lines)
        values[f"last line in {part}"] = line_numbers[-1] if line_numbers else NOWHERE
        values[f"lines in {part}"] = len(line_numbers)
    lines_with_name = [line for _, words, line in lines if name in words]
    values["lines with a gateway"] = sum(bool(_GATEWAY.search(line)) for line in lines_with_name)
    values["lines with a condition"] = sum(bool(_CONDITION.search(line)) for line in lines_with_name)
    values["lines with a sub-workflow"] = sum(bool(_SUBWORKFLOW.search(line)) for line in lines_with_name)
    number, level = next(((n, lev) for n, lev in levels if name in _all_names(lev)), (0, asked_level))
    values["in a later workflow"] = float(number > 0)
    values["number of the workflow"] = number
    values["on the level asked about"] = float(name in _all_names(asked_level))
    values["number in the name"] = float(re.sub(r"\D", "", name) or 0)
    values["tasks beside it"] = len(level.tasks)
    values["composite"] = float(any(task.name == name and task.composite for task in level.tasks))
    values.update(_degree_features(name, level))
    return values


def _degree_features(name: str, level: Workflow) -> Iterator[tuple[str, float]]:
    gateways = {gateway.name for gateway in level.gateways}
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
    yield from _sign_features([link.guard for link in out if link.guard], "its links")


def _other_end(link: Link, way: str) -> str:
    return link.source if way == "in" else link.target


def _all_names(level: Workflow) -> tuple[str, ...]:
    return (*level.task_names, *(data.name for data in level.data))


def _joint_features(names: Sequence[str], lines: Sequence[Line]) -> Iterator[tuple[str, float]]:
    """Yield the order in which the names are mentioned, and the lines that several of them share."""
    for part in PARTS:
        first_places: dict[str, int] = {}
        for line_part, words, _ in lines:
            for word in words if part in ("text", line_part) else ():
                first_places.setdefault(word, len(first_places))
        pairs = [(first_places.get(a, NOWHERE), first_places.get(b, NOWHERE)) for a, b in pairwise(names)]
        yield f"names in order in {part}", sum(a < b for a, b in pairs) / len(pairs)
        shared = [words for line_part, words, _ in lines if part in ("text", line_part)]
        both = [words for words in shared if names[0] in words and names[1] in words]
        yield f"lines of {part} with both names", len(both)
        yield (
            f"lines of {part} with the first name before the second",
            sum(words.index(names[0]) < words.index(names[1]) for words in both),
        )
        yield (
            f"neighbours in the question on one line of {part}",
            sum(any(a in words and b in words for words in shared) for a, b in pairwise(names)),
        )
    for what, sign in (("gateway", _GATEWAY), ("condition", _CONDITION), ("sub-workflow", _SUBWORKFLOW)):
        of_each = [any(name in words and sign.search(line) for _, words, line in lines) for name in names]
        yield f"names on a line with a {what}", sum(of_each)
        yield f"both names on a line with a {what}", float(all(of_each))
