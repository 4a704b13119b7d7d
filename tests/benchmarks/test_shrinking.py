"""Questions about workflows that become small: their answers stay right, and the cause of a failure stays in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from parallel_blocks import parallel_blocks

from pytest_taskgraph.benchmarks.instances import Instance
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import verdict
from pytest_taskgraph.benchmarks.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.benchmarks.understanding.question_soundness.nearest_case import AskedCase, nearest_case
from pytest_taskgraph.benchmarks.understanding.question_soundness.reducible_question import (
    ReducedWorkflow,
    ReducibleQuestion,
)
from pytest_taskgraph.notations import notation
from pytest_taskgraph.notations.plain_json import loads
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.soundness.reduction import AskModel, Reduction, ReductionLimits, reduce
from pytest_taskgraph.trial import Reply
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Workflow

COMPUTED = sorted(name for name, one in catalogue().items() if not one.planted)
PLANTED = sorted(name for name, one in catalogue().items() if one.planted and one.form != "text")
DETERMINISTIC = ReductionLimits(calls=100, needed=1, votes=1)


def questions(group: str, settings: UnderstandingSettings) -> Iterator[ReducibleQuestion]:
    for reference in understanding.references(settings, {"patterns": group}):
        found = understanding.reducible(reference, settings)
        assert isinstance(found, ReducibleQuestion)
        yield found


def workflow_of(instance: Instance) -> Workflow:
    (text,) = instance.files.values()
    return loads(text)


def errs_where(cause: Callable[[Workflow], bool], hit: float = 1.0, miss: float = 0.0, seed: str = "") -> AskModel:
    """Return a model that errs with one probability where the cause is given, and with another where it is not."""

    async def asks(instance: Instance, repetition: int) -> bool:
        chance = Random(f"{seed}|{instance.question.prompt}|{repetition}").random()
        return chance < (hit if cause(workflow_of(instance)) else miss)

    return asks


def two_blocks(project: Workflow) -> bool:
    return parallel_blocks(project) > 1


class Remembered:
    """A reducible question that makes the same candidates and questions once, for many trials."""

    def __init__(self, question: ReducibleQuestion) -> None:
        self.start, self.key, self.size = question.start, cache(question.key), question.size
        self.instance = cache(question.instance)
        self._listed = cache(lambda subject: tuple(question.smaller(subject)))

    def smaller(self, subject: ReducedWorkflow) -> tuple[ReducedWorkflow, ...]:
        """Return the candidates."""
        return self._listed(subject)


def starts(count: int, tasks: int) -> list[ReducibleQuestion]:
    settings = UnderstandingSettings(tasks=(tasks,), instances=60)
    held = (one for one in questions("parallel_pair", settings) if two_blocks(one.start.workflow))
    return [one for one, _ in zip(held, range(count), strict=False)]


def check_scored_by_own_reference(instance: Instance) -> None:
    """Check that the reference, written in its form, is right, as it is for every question."""
    question = instance.question
    marked = "Final answer: " if question.place == "marker" else ""
    score = grade(question, Reply(marked + form(question.form).write(question.reference, question.names)))
    assert score is not None
    assert score.value == 1.0


@pytest.mark.parametrize("start", range(12))
def test_shrinking_two_parallel_blocks_reaches_the_smallest_in_100_calls(start: int) -> None:
    question = starts(12, 20)[start]
    assert question.size(question.start) == 20
    found = asyncio.run(reduce(question, errs_where(two_blocks), DETERMINISTIC))
    assert parallel_blocks(found.subject.workflow) == 2
    assert found.smallest.size == 3  # a block in a branch of the other
    assert found.calls <= 100
    assert found.rounds <= 15
    assert problems(workflow_of(found.smallest)) == ()
    check_scored_by_own_reference(found.smallest)


def test_shrinking_a_model_that_errs_by_chance_keeps_the_cause() -> None:
    held = [Remembered(one) for one in starts(2, 12)]
    kept, sizes = 0, []
    for trial in range(50):
        asks = errs_where(two_blocks, hit=0.8, miss=0.05, seed=f"{trial}")
        found = asyncio.run(reduce(held[trial % 2], asks, ReductionLimits(calls=100, needed=3, votes=4)))
        kept += two_blocks(found.subject.workflow)
        sizes.append(found.smallest.size)
    assert kept >= 45
    assert sorted(sizes)[25] <= 5


def reduced(question: ReducibleQuestion, asks: AskModel) -> Reduction[ReducedWorkflow]:
    return asyncio.run(reduce(question, asks, DETERMINISTIC))


async def always(instance: Instance, repetition: int) -> bool:
    """Err whatever is asked."""
    return True


@pytest.mark.parametrize("group", COMPUTED)
def test_shrinking_any_pattern_keeps_a_question_with_its_own_answer(group: str) -> None:
    settings = UnderstandingSettings(instances=2)
    for question in questions(group, settings):
        found = reduced(question, always)
        assert found.smallest.size <= 4
        check_scored_by_own_reference(found.smallest)
        pattern, asked = catalogue()[group], found.smallest.question
        shown = notation("wadl").read(notation("wadl").write(found.subject.workflow))
        answers = [one.answer for scope in scopes(shown) for one in cases(pattern, scope)]
        assert asked.reference in answers  # of the workflow as the model sees it


@pytest.mark.parametrize("group", PLANTED)
def test_shrinking_a_planted_pattern_keeps_the_flaw(group: str) -> None:
    for question in questions(group, UnderstandingSettings(instances=2)):
        start = question.instance(question.start)
        found = reduced(question, always)
        assert start is not None
        assert found.smallest.size < start.size
        assert verdict(found.smallest.question.reference) == verdict(start.question.reference)
        assert workflow_of(found.smallest).flaw == question.original.workflow.flaw
        check_scored_by_own_reference(found.smallest)


def test_reducible_planted_text_is_none() -> None:
    settings = UnderstandingSettings(instances=1)
    (reference,) = understanding.references(settings, {"patterns": "describe_workflow"})
    assert understanding.reducible(reference, settings) is None


@pytest.mark.parametrize("settings", [
    UnderstandingSettings(instances=2, prompt="direct", notations=("mermaid", "json"), phrasing="second"),
    UnderstandingSettings(instances=2, notations=("prose",)),
])  # fmt: skip
def test_reducible_start_is_put_as_the_question_was(settings: UnderstandingSettings) -> None:
    for reference in understanding.references(settings, {"patterns": ["next_tasks", "parallel_pair"]}):
        asked, reducible = understanding.question(reference, settings), understanding.reducible(reference, settings)
        assert reducible is not None
        start = reducible.instance(reducible.start)
        assert start is not None
        assert (start.question.text, start.question.reference) == (asked.text, asked.reference)
        if asked.labels["notation"] != "mermaid":  # whose guide tells of the text
            assert start.question.prompt == asked.prompt


def test_reducible_smaller_yields_each_key_once_and_never_the_subject() -> None:
    (question,) = questions("parallel_pair", UnderstandingSettings(instances=1))
    found = list(question.smaller(question.start))
    keys = [question.key(one) for one in found]
    assert len(set(keys)) == len(keys)
    assert question.key(question.start) not in keys
    assert found == list(question.smaller(question.start))


def test_reducible_names_become_plain_at_the_end() -> None:
    (question,) = questions("next_tasks", UnderstandingSettings(instances=1, names="domain"))
    found = reduced(question, always)
    assert found.smallest.question.text.count("'Task1'") == 1
    assert found.subject.workflow.task_names == ("Task1",)
    assert found.subject.workflow.package == ""


def test_reducible_own_file_is_shrunk_in_its_notation(tmp_path: Path) -> None:
    text = "graph TD\n" + "".join(f"    A{at} --> A{at + 1}\n" for at in range(12))
    path = tmp_path / "own.mmd"
    path.write_text(text, encoding="utf-8")
    settings = UnderstandingSettings(workflows=(str(path),), instances=1)
    (reference,) = understanding.references(settings, {"patterns": "next_tasks"})
    reducible = understanding.reducible(reference, settings)
    assert reducible is not None
    found = asyncio.run(reduce(reducible, always, DETERMINISTIC))
    assert found.smallest.size == 1
    assert "flowchart" in found.smallest.question.prompt


def test_nearest_case_prefers_same_fields_then_same_verdict() -> None:
    pattern = catalogue()["task_after_task"]
    settings = UnderstandingSettings(instances=2)
    for question in questions("task_after_task", settings):
        original = question.original
        wanted = AskedCase(original.scope, original.case)
        same = nearest_case(pattern, original.workflow, wanted)
        assert same is not None
        assert same.case.fields == original.case.fields
        gone = replace(original.case, fields=dict.fromkeys(original.case.fields, "Nowhere"))
        near = nearest_case(pattern, original.workflow, AskedCase(original.scope, gone))
        assert near is not None
        assert verdict(near.case.answer) == verdict(original.case.answer)


def test_nearest_case_of_a_pattern_without_cases_is_none() -> None:
    (question,) = questions("next_tasks", UnderstandingSettings(instances=1))
    wanted = AskedCase(question.original.scope, question.original.case)
    assert nearest_case(catalogue()["next_tasks"], Workflow("Empty"), wanted) is None
