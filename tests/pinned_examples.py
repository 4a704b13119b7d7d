"""The pinned examples of tests/wording/examples: read them, find what they ask, and compare the answers.

An example is an entry `[[PATTERN]]` of a TOML file. It names a workflow of tests/wording/workflows, holds the full
question in both phrasings (`first`, `second`), and the answer that a careful reader gives from these words alone:

- yes-no, yes-no-reason: "yes" or "no"; task, condition, text: the text; number: the number;
- task-set, task-reasons, pair-reason: the list of names; groups: a list of lists;
- task-order: a list of orders, all of which are right;
- schedule: a list of schedules, from task to start, all of which are right.

`tempting` is a wrong answer that a careless reader would give: one more name in a set, a whole answer in other forms.
`flaw` describes what is planted: its kind and its details, as the patterns of functionality read them. `why` is for
the reader of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import (
    Scope,
    all_scopes,
    cases,
    scopes_by_own_name,
    sentence,
)
from pytest_taskgraph.notations.wadl import WADL
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import MODEL_METRICS, metric
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.model import Flaw, Workflow

FOLDER = Path(__file__).parent / "wording"
PHRASINGS = ("first", "second")
VERDICTS = ("yes", "no")
CHARACTERS_SHOWN = 160  # characters of a question in a message


@dataclass(frozen=True, eq=False)
class Example:
    """A question about a workflow in both phrasings, with its answer and a wrong one."""

    pattern: str
    place: str  # in which file it stands, and as which example of its pattern
    workflow: str
    questions: tuple[str, ...]
    answer: Any
    tempting: Any = None
    flaw: Flaw | None = None

    def __str__(self) -> str:
        return self.place


@cache
def examples() -> tuple[Example, ...]:
    """Return all pinned examples, in the order of the files."""
    return tuple(example for path in sorted((FOLDER / "examples").glob("*.toml")) for example in _of_file(path))


def _of_file(path: Path) -> Iterator[Example]:
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    for pattern, entries in read.items():
        for number, entry in enumerate(entries, 1):
            unknown = entry.keys() - {"workflow", "first", "second", "answer", "tempting", "flaw", "why"}
            assert not unknown, f"{path.name}: {pattern} {number}: unknown keys {sorted(unknown)}"
            yield Example(
                pattern,
                f"{path.stem}: {pattern} {number}",
                entry["workflow"],
                tuple(entry[phrasing] for phrasing in PHRASINGS),
                entry["answer"],
                entry.get("tempting"),
                Flaw(entry["flaw"]["kind"], tuple(entry["flaw"]["details"])) if "flaw" in entry else None,
            )


@cache
def project_of(name: str) -> Workflow:
    """Return the workflow of that file, all workflows of the file as one project."""
    project = WADL.read((FOLDER / "workflows" / f"{name}.xxp").read_text(encoding="utf-8"), f"{name}.xxp")
    check(project)
    return project


def shown_to(example: Example) -> Workflow:
    """Return the workflow of the example with its planted flaw."""
    return replace(project_of(example.workflow), flaw=example.flaw)


def all_questions(pattern: Pattern, phrasing: int, project: Workflow) -> Iterator[tuple[str, Scope, Case]]:
    """Yield every question of the pattern about the project, with levels named by place and by sub-workflow.

    A derived workflow is also asked about without the content of its base: a pattern has words for that, though no
    question of a suite uses them.
    """
    levels = all_scopes(project)
    derived = [Scope(project, f"workflow '{project.name}'", True)] if project.base is not None else []
    for scope in (*levels, *scopes_by_own_name(levels), *derived):
        for case in cases(pattern, scope):
            yield sentence(pattern, phrasing, scope, case), scope, case


def problem(pattern: Pattern, example: Example, phrasing: int) -> str:
    """Return what is wrong with the pattern's answer to the pinned question; the empty text if nothing is."""
    pinned = example.questions[phrasing]
    questions: dict[str, list[Case]] = {}
    for text, _, case in all_questions(pattern, phrasing, shown_to(example)):
        questions.setdefault(text, []).append(case)
    if pinned not in questions:
        nearest = get_close_matches(
            pinned[:CHARACTERS_SHOWN], {text[:CHARACTERS_SHOWN]: text for text in questions}, 1, 0.0
        )
        asks = f"it asks, for example, {nearest[0]!r}" if nearest else "it asks nothing about this workflow"
        return f"{example.place}: the pattern does not ask {pinned[:CHARACTERS_SHOWN]!r}; {asks}"
    if (
        pattern.metric or form(pattern.form).metric
    ) in MODEL_METRICS:  # measured by a model, to which no request is sent here
        return ""
    for case in questions[pinned]:
        if any(_score(pattern, right, case.answer) != 1.0 for right in _right_answers(pattern, example.answer)):
            answers = f"pinned answer {example.answer!r}, pattern's answer {case.answer!r}"
            return f"{example.place}: {pinned[:CHARACTERS_SHOWN]!r}: {answers}"
        if example.tempting is not None and _score(pattern, _tempting_answer(pattern, example), case.answer) == 1.0:
            tempting = f"the tempting answer {example.tempting!r} counts as right"
            return f"{example.place}: {pinned[:CHARACTERS_SHOWN]!r}: {tempting}"
    return ""


def _score(pattern: Pattern, given: Json, reference: Json) -> float | None:
    """Return the main score of an answer of the pattern's form."""
    name = pattern.metric or form(pattern.form).metric
    return measure_answer(name, metric(name), given, reference).value


def _right_answers(pattern: Pattern, answer: Any) -> list[Json]:  # noqa: ANN401 - each form has its own
    """Return the right answers of the example, as the form parses them."""
    answers = answer if pattern.form in ("task-order", "schedule") else [answer]
    return [_answer_of_form(pattern.form, right) for right in answers]


def _tempting_answer(pattern: Pattern, example: Example) -> Json:
    if pattern.form in ("task-set", "task-reasons"):
        return _answer_of_form(pattern.form, [*example.answer, example.tempting])
    return _answer_of_form(pattern.form, example.tempting)


def _answer_of_form(name: str, answer: Any) -> Json:  # noqa: ANN401 - each form has its own
    match name:
        case "task-reasons" | "pair-reason":
            return {"tasks": sorted(answer), "reasons": {}}
        case "yes-no-reason":
            return {"answer": answer, "reason": ""}
        case "task-set":
            return sorted(answer)
        case "schedule":
            return {"tasks": [*answer], "starts": [*answer.values()]}
        case _:
            unchanged: Json = answer
            return unchanged


@cache
def _mark_branches(template: str) -> tuple[Any, frozenset[str]]:
    """Return the template with a mark in every branch of its conditions, and all marks."""
    environment = ImmutableSandboxedEnvironment()
    tree = environment.parse(template)
    marks = frozenset(_put_marks(tree.body, ""))
    return environment.from_string(tree), marks


def _put_marks(body: list[nodes.Node], around: str) -> Iterator[str]:
    """Put a mark into every branch, such as "flow control, not direct", and yield the marks."""
    for branch in [node for node in body if isinstance(node, nodes.If)]:
        sides = [("", branch.body), ("not ", branch.else_)]
        turned = isinstance(branch.test, nodes.Not)
        for (prefix, _), (_, inner) in zip(reversed(sides) if turned else sides, sides, strict=True):
            mark = f"{around}, {prefix}{_condition(branch.test)}".removeprefix(", ")
            yield mark
            yield from _put_marks(inner, mark)
            inner.insert(0, nodes.Output([nodes.TemplateData(f"\0{mark}\0")]))


def _condition(test: nodes.Node) -> str:
    names = [node.name for node in test.find_all(nodes.Name)] or [getattr(test, "name", "")]
    constants = [str(node.value) for node in test.find_all(nodes.Const)]
    return " ".join((*names, *constants))


def branches(template: str) -> frozenset[str]:
    """Return a name for each branch of the template's conditions; one without a name for the whole template."""
    return _mark_branches(template)[1] | {""}


def branches_taken(template: str, fields: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the branches that the template takes with these fields."""
    parts = str(_mark_branches(template)[0].render(fields)).split("\0")
    return frozenset(parts[1::2]) | {""}
