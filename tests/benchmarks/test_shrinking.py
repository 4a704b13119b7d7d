"""Shrinking of questions about workflows: answers stay right, and the cause of a failure is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from parallel_blocks import parallel_blocks

from pytest_taskgraph.benchmarks.instances import Instance
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import verdict
from pytest_taskgraph.families.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import feasible_size
from pytest_taskgraph.families.understanding.question_soundness.reducible_question import (
    AskedCase,
    ReducedWorkflow,
    ReducibleQuestion,
    nearest_case,
)
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import notation
from pytest_taskgraph.notations.plain_json import JSON
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.soundness.reduction import AskModel, Reduction, ReductionLimits, reduce
from pytest_taskgraph.trial import Reply
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Workflow

COMPUTED = sorted(name for name, pattern in catalogue().items() if not pattern.planted)
PLANTED = sorted(name for name, pattern in catalogue().items() if pattern.planted and pattern.form != "text")
DETERMINISTIC = ReductionLimits(calls=100, needed=1, votes=1)


def questions(group: str, settings: UnderstandingSettings) -> Iterator[ReducibleQuestion]:
    for reference in understanding.references(settings, {"patterns": group}):
        reducible = understanding.reducible(reference, settings)
        assert isinstance(reducible, ReducibleQuestion)
        yield reducible


def workflow_of(instance: Instance) -> Workflow:
    (text,) = instance.files.values()
    return JSON.read(text)


def failing_model(cause: Callable[[Workflow], bool], hit: float = 1.0, miss: float = 0.0, seed: str = "") -> AskModel:
    """Return a model that errs with one probability where the cause is given, and with another where it is not."""

    async def asks(instance: Instance, repetition: int) -> bool:
        chance = Random(f"{seed}|{instance.question.prompt}|{repetition}").random()
        return chance < (hit if cause(workflow_of(instance)) else miss)

    return asks


def has_two_blocks(project: Workflow) -> bool:
    return parallel_blocks(project) > 1


class CachedQuestion:
    """A reducible question that caches candidates and questions for many trials."""

    def __init__(self, question: ReducibleQuestion) -> None:
        self.start, self.key, self.size = question.start, cache(question.key), question.size
        self.instance = cache(question.instance)
        self._smaller = cache(lambda subject: tuple(question.smaller(subject)))

    def smaller(self, subject: ReducedWorkflow) -> tuple[ReducedWorkflow, ...]:
        """Return the candidates."""
        return self._smaller(subject)


@cache
def starts(count: int, tasks: int) -> tuple[ReducibleQuestion, ...]:
    settings = UnderstandingSettings(tasks=(tasks,), instances=60)
    candidates = (each for each in questions("parallel_pair", settings) if has_two_blocks(each.start.workflow))
    return tuple(islice(candidates, count))


def check_scored_by_own_reference(instance: Instance) -> None:
    """Check that the reference, written in its form, is right, as it is for every question."""
    question = instance.question
    lead = "Final answer: " if question.place == "marker" else ""
    score = grade(question, Reply(lead + form(question.form).write(question.reference, question.names)))
    assert score is not None
    assert score.value == 1.0


@pytest.mark.parametrize("start", [0, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(1, 12))])
def test_shrinking_parallel_blocks_reaches_smallest(start: int) -> None:
    question = starts(start + 1, 20)[start]
    assert question.size(question.start) == 20
    reduction = asyncio.run(reduce(question, failing_model(has_two_blocks), DETERMINISTIC))
    assert parallel_blocks(reduction.subject.workflow) == 2
    assert reduction.smallest.size == 3  # a block in a branch of the other
    assert reduction.calls <= 100
    assert reduction.rounds <= 15
    assert problems(workflow_of(reduction.smallest)) == ()
    check_scored_by_own_reference(reduction.smallest)


def test_shrinking_random_errors_keeps_cause() -> None:
    cached = CachedQuestion(starts(1, 8)[0])
    kept_cause, sizes = 0, []
    for trial in range(10):
        asks = failing_model(has_two_blocks, hit=0.8, miss=0.05, seed=f"{trial}")
        reduction = asyncio.run(reduce(cached, asks, ReductionLimits(calls=100, needed=3, votes=4)))
        kept_cause += has_two_blocks(reduction.subject.workflow)
        sizes.append(reduction.smallest.size)
    assert kept_cause >= 9
    assert sorted(sizes)[5] <= 5


def reduce_question(question: ReducibleQuestion, asks: AskModel) -> Reduction[ReducedWorkflow]:
    return asyncio.run(reduce(question, asks, DETERMINISTIC))


async def always_fails(instance: Instance, repetition: int) -> bool:
    """Err whatever is asked."""
    return True


@pytest.mark.parametrize(("tasks", "instances"), [(6, 1), pytest.param(12, 2, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("group", COMPUTED)
def test_shrinking_any_pattern_keeps_right_reference(group: str, tasks: int, instances: int) -> None:
    settings = UnderstandingSettings(instances=instances, tasks=(feasible_size(catalogue()[group], tasks),))
    for question in questions(group, settings):
        reduction = reduce_question(question, always_fails)
        assert reduction.smallest.size <= (5 if catalogue()[group].timed else 4)  # three branches for two workers
        check_scored_by_own_reference(reduction.smallest)
        pattern, smallest = catalogue()[group], reduction.smallest.question
        shown_workflow = notation("wadl").read(notation("wadl").write(reduction.subject.workflow))
        answers = [case.answer for scope in scopes(shown_workflow) for case in cases(pattern, scope)]
        assert smallest.reference in answers  # for the workflow as the model sees it


@pytest.mark.parametrize("group", PLANTED)
def test_shrinking_planted_pattern_keeps_flaw(group: str) -> None:
    for question in questions(group, UnderstandingSettings(instances=2)):
        start = question.instance(question.start)
        reduction = reduce_question(question, always_fails)
        assert start is not None
        assert reduction.smallest.size < start.size
        assert verdict(reduction.smallest.question.reference) == verdict(start.question.reference)
        assert workflow_of(reduction.smallest).flaw == question.original.workflow.flaw
        check_scored_by_own_reference(reduction.smallest)


def test_reducible_planted_text_is_none() -> None:
    settings = UnderstandingSettings(instances=1)
    (reference,) = understanding.references(settings, {"patterns": "describe_workflow"})
    assert understanding.reducible(reference, settings) is None


@pytest.mark.parametrize("settings", [
    UnderstandingSettings(instances=2, prompt="direct", notations=("mermaid", "json"), phrasing="second"),
    UnderstandingSettings(instances=2, notations=("prose",)),
])  # fmt: skip
def test_reducible_start_equals_original_question(settings: UnderstandingSettings) -> None:
    for reference in understanding.references(settings, {"patterns": ["next_tasks", "parallel_pair"]}):
        original, reducible = understanding.question(reference, settings), understanding.reducible(reference, settings)
        assert reducible is not None
        start = reducible.instance(reducible.start)
        assert start is not None
        assert (start.question.text, start.question.reference) == (original.text, original.reference)
        if original.labels["notation"] != "mermaid":  # its guide depends on the text
            assert start.question.prompt == original.prompt


def test_reducible_smaller_yields_each_key_once() -> None:
    (question,) = questions("parallel_pair", UnderstandingSettings(instances=1, tasks=(8,)))
    candidates = list(question.smaller(question.start))
    keys = [question.key(candidate) for candidate in candidates]
    assert len(set(keys)) == len(keys)
    assert question.key(question.start) not in keys
    assert candidates == list(question.smaller(question.start))


def test_reducible_smallest_has_plain_names() -> None:
    (question,) = questions("next_tasks", UnderstandingSettings(instances=1, names="domain"))
    reduction = reduce_question(question, always_fails)
    assert reduction.smallest.question.text.count("'Task1'") == 1
    assert reduction.subject.workflow.task_names == ("Task1",)
    assert reduction.subject.workflow.package == ""


def test_reducible_own_file_keeps_notation(tmp_path: Path) -> None:
    text = "graph TD\n" + "".join(f"    A{at} --> A{at + 1}\n" for at in range(12))
    path = tmp_path / "own.mmd"
    path.write_text(text, encoding="utf-8")
    settings = UnderstandingSettings(workflows=(str(path),), instances=1)
    (reference,) = understanding.references(settings, {"patterns": "next_tasks"})
    reducible = understanding.reducible(reference, settings)
    assert reducible is not None
    reduction = asyncio.run(reduce(reducible, always_fails, DETERMINISTIC))
    assert reduction.smallest.size == 1
    assert "flowchart" in reduction.smallest.question.prompt


def test_nearest_case_prefers_same_fields_then_same_verdict() -> None:
    pattern = catalogue()["task_after_task"]
    settings = UnderstandingSettings(instances=2)
    for question in questions("task_after_task", settings):
        original = question.original
        original_case = AskedCase(original.scope, original.case)
        same = nearest_case(pattern, original.workflow, original_case)
        assert same is not None
        assert same.case.fields == original.case.fields
        missing = replace(original.case, fields=dict.fromkeys(original.case.fields, "Nowhere"))
        near = nearest_case(pattern, original.workflow, AskedCase(original.scope, missing))
        assert near is not None
        assert verdict(near.case.answer) == verdict(original.case.answer)


def test_nearest_case_without_cases_is_none() -> None:
    (question,) = questions("next_tasks", UnderstandingSettings(instances=1))
    original_case = AskedCase(question.original.scope, question.original.case)
    assert nearest_case(catalogue()["next_tasks"], Workflow("Empty"), original_case) is None
