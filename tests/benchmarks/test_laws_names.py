"""Answers do not depend on names, nor on the order of declaration (the notation: test_laws_reading)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import all_scopes, cases, sentence
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import shuffle_declarations
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.notations.plain_json import JSON, dumps
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom" and not pattern.planted]
each_pattern = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
each_ordinal = pytest.mark.parametrize("ordinal", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
few_examples = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
SYMMETRIC = {"parallel_pair"}  # asked of a pair in the order of declaration
Change = Callable[[str], str]


def answers(pattern: Pattern, project: Workflow) -> dict[str, Json]:
    """Return the questions of the pattern about the project, in its first phrasing, with the answers."""
    return {
        _sort_situations(sentence(pattern, 0, scope, variant)): _normalize_answer(case.answer)
        for scope in all_scopes(project)
        for case in cases(pattern, scope)
        for variant in _equivalent_cases(pattern, case)
    }


def _equivalent_cases(pattern: Pattern, case: Case) -> Iterator[Case]:
    """Yield the case; a case about an unordered pair also reversed, because it is the same question."""
    yield case
    if pattern.name in SYMMETRIC:
        yield replace(case, fields={**case.fields, "a": case.fields["b"], "b": case.fields["a"]})


def _sort_situations(text: str) -> str:
    """Return the text with every situation in alphabetical order: the order of its values is irrelevant."""
    return re.sub("'[^']* = [^']*'", lambda match: f"'{', '.join(sorted(match[0][1:-1].split(', ')))}'", text)


def _normalize_answer(answer: Json) -> Json:
    """Return the answer with lists and groups in alphabetical order, and a partial order by its names."""
    if isinstance(answer, dict) and "before" in answer:
        return _order_by_names(answer)
    return sorted((_normalize_answer(part) for part in answer), key=repr) if isinstance(answer, list) else answer


def _order_by_names(order: dict[str, Json]) -> Json:
    """Return the executions and their ordered pairs, numbered by task."""
    tasks, before = order["tasks"], order["before"]
    assert isinstance(tasks, list)
    assert isinstance(before, list)
    times = [f"{task} {tasks[:i].count(task)}" for i, task in enumerate(tasks)]
    pairs = [f"{times[pair[0]]} before {times[pair[1]]}" for pair in before]  # type: ignore[index]
    return {"runs": [*sorted(times)], "pairs": [*sorted(pairs)]}


def _rename_answer(answer: Json, change: Change) -> Json:
    if isinstance(answer, list):
        return _normalize_answer([_rename_answer(part, change) for part in answer])
    if isinstance(answer, dict):
        return {change(key): _rename_answer(part, change) for key, part in answer.items()}
    return change(answer) if isinstance(answer, str) else answer


def reversing_renaming(project: Workflow) -> Change:
    """Return a function that renames tasks, data, gateways and parameters, with their order reversed."""
    names: set[str] = set()
    waiting = [project, *project.others]
    for level in waiting:
        for nodes in (level.tasks, level.data, level.gateways, level.parameters):
            names.update(node.name for node in nodes)
        names.update(parameter.name for task in level.tasks for parameter in task.parameters)
        names.update(parameter.name for each in level.configurations for parameter in each.parameters)
        waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow)
    new_names = {name: f"N{len(names) - i:03d}X" for i, name in enumerate(sorted(names))}
    word = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b")
    return lambda text: word.sub(lambda match: new_names[match[1]], text)


def renamed_answers(pattern: Pattern, project: Workflow) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the questions about the renamed project, and the renamed questions about the project."""
    change = reversing_renaming(project)  # names stand in descriptions and guards too, so the whole text is changed
    theirs = JSON.read(change(dumps(project)))
    assert not problems(theirs)
    ours = {
        _sort_situations(re.sub("'[^']*'", lambda quoted: change(quoted[0]), text)): _rename_answer(answer, change)
        for text, answer in answers(pattern, project).items()
    }
    return answers(pattern, theirs), ours


@each_pattern
@each_ordinal
def test_answers_drawn_workflow_renamed_unchanged(pattern: Pattern, ordinal: int) -> None:
    theirs, ours = renamed_answers(pattern, draw(pattern, 12, 0, ordinal).project)
    assert theirs == ours
    assert ours


@each_pattern
@each_ordinal
def test_answers_drawn_workflow_reordered_unchanged(pattern: Pattern, ordinal: int) -> None:
    project = draw(pattern, 12, 0, ordinal).project
    assert answers(pattern, shuffle_declarations(project, Random(ordinal))) == answers(pattern, project)


@few_examples
@given(project=workflows(recipes(max_tasks=14)))
def test_answers_any_workflow_renamed_unchanged(project: Workflow) -> None:
    for pattern in OURS:
        theirs, ours = renamed_answers(pattern, project)
        assert theirs == ours, pattern


@settings(few_examples, max_examples=2)
@given(project=workflows(recipes(max_tasks=10)), rng=st.randoms(use_true_random=False))
def test_answers_any_workflow_reordered_unchanged(project: Workflow, rng: Random) -> None:
    for pattern in OURS:
        assert answers(pattern, shuffle_declarations(project, rng)) == answers(pattern, project), pattern
