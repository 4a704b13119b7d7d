"""Law 5: answers do not depend on names, nor on the order of declaration (the notation: test_laws_reading)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import all_scopes, cases, sentence
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import shuffle_declarations
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.notations.plain_json import dumps, loads
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom" and not pattern.planted]
every = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
few = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
SYMMETRIC = {"parallel_pair"}  # asked of a pair in the order of declaration
Change = Callable[[str], str]


def answers(pattern: Pattern, project: Workflow) -> dict[str, Json]:
    """What the pattern asks about the project, in its first phrasing, with the answers."""
    return {
        _even(sentence(pattern, 0, scope, way)): _sorted(case.answer)
        for scope in all_scopes(project)
        for case in cases(pattern, scope)
        for way in _every_way(pattern, case)
    }


def _every_way(pattern: Pattern, case: Case) -> Iterator[Case]:
    """The case; one about a pair in no order also the other way round, for it is the same question."""
    yield case
    if pattern.name in SYMMETRIC:
        yield replace(case, fields={**case.fields, "a": case.fields["b"], "b": case.fields["a"]})


def _even(text: str) -> str:
    """The text with every situation in alphabetical order: the order of its values means nothing."""
    return re.sub("'[^']* = [^']*'", lambda told: f"'{', '.join(sorted(told[0][1:-1].split(', ')))}'", text)


def _sorted(answer: Json) -> Json:
    """Lists in alphabetical order, groups too: the order of groups means nothing. A partial order by its names."""
    if isinstance(answer, dict) and "before" in answer:
        return _by_names(answer)
    return sorted((_sorted(item) for item in answer), key=repr) if isinstance(answer, list) else answer


def _by_names(order: dict[str, Json]) -> Json:
    """What runs and what is before what, for each time that a task runs."""
    tasks, before = order["tasks"], order["before"]
    assert isinstance(tasks, list)
    assert isinstance(before, list)
    times = [f"{task} {tasks[:i].count(task)}" for i, task in enumerate(tasks)]
    pairs = [f"{times[pair[0]]} before {times[pair[1]]}" for pair in before]  # type: ignore[index]
    return {"runs": [*sorted(times)], "pairs": [*sorted(pairs)]}


def _in_answer(answer: Json, change: Change) -> Json:
    if isinstance(answer, list):
        return _sorted([_in_answer(item, change) for item in answer])
    if isinstance(answer, dict):
        return {change(key): _in_answer(item, change) for key, item in answer.items()}
    return change(answer) if isinstance(answer, str) else answer


def renaming(project: Workflow) -> Change:
    """Replaces each name of a task, of data, of a gateway or a parameter, wherever it stands; their order is turned."""
    names: set[str] = set()
    waiting = [project, *project.others]
    for level in waiting:
        for held in (level.tasks, level.data, level.gateways, level.parameters):
            names.update(one.name for one in held)
        names.update(one.name for task in level.tasks for one in task.parameters)
        names.update(one.name for item in level.configurations for one in item.parameters)
        waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow)
    new = {name: f"N{len(names) - i:03d}X" for i, name in enumerate(sorted(names))}
    word = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b")
    return lambda text: word.sub(lambda found: new[found[1]], text)


def renamed_answers(pattern: Pattern, project: Workflow) -> tuple[dict[str, Json], dict[str, Json]]:
    """What is asked about the renamed project, and what is asked about the project, renamed."""
    change = renaming(project)  # names stand in descriptions and guards too, so the whole text is changed
    theirs = loads(change(dumps(project)))
    assert not problems(theirs)
    ours = {
        _even(re.sub("'[^']*'", lambda quoted: change(quoted[0]), text)): _in_answer(answer, change)
        for text, answer in answers(pattern, project).items()
    }
    return answers(pattern, theirs), ours


@every
def test_names_do_not_change_the_answers_about_what_is_drawn(pattern: Pattern) -> None:
    for ordinal in range(4):
        theirs, ours = renamed_answers(pattern, draw(pattern, 12, 21, ordinal).project)
        assert theirs == ours
        assert ours


@every
def test_the_order_of_declaration_does_not_change_the_answers_about_what_is_drawn(pattern: Pattern) -> None:
    for ordinal in range(4):
        project = draw(pattern, 12, 22, ordinal).project
        assert answers(pattern, shuffle_declarations(project, Random(ordinal))) == answers(pattern, project)


@few
@given(project=workflows(recipes(max_tasks=14)))
def test_names_change_no_answer_about_any_workflow(project: Workflow) -> None:
    for pattern in OURS:
        theirs, ours = renamed_answers(pattern, project)
        assert theirs == ours, pattern


@settings(few, max_examples=4)
@given(project=workflows(recipes(max_tasks=10)), rng=st.randoms(use_true_random=False))
def test_the_order_of_declaration_changes_no_answer_about_any_workflow(project: Workflow, rng: Random) -> None:
    for pattern in OURS:
        assert answers(pattern, shuffle_declarations(project, rng)) == answers(pattern, project), pattern
