"""Laws of drawing: balance, identical in any process, more instances extend fewer, any size or a clear refusal."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import bounded_process
import pytest

import pytest_taskgraph
from pytest_taskgraph.benchmarks.family import QuestionReference
from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.families.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.recipe import implied_features
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.plain_json import digest
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
each_pattern = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
PLACE = re.compile(r"sub-workflow '[^']*'|composite task '[^']*' of workflow '[^']*'")
PRINTED = """
from hashlib import sha256
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.families.understanding.understanding_family import understanding
chosen = UnderstandingSettings(seed=4, notations=("wadl-separate", "mermaid"), instances=1)
for reference in understanding.references(chosen, {}):
    question = understanding.question(reference, chosen)
    print(question.id, sha256(repr(question.prompt + repr(question.reference)).encode()).hexdigest(), question.digests)
"""


def least_size(pattern: Pattern, size: int) -> int:
    """Return the size, or the least possible one if it is refused."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return error.least
    return size


def build_questions(pattern: Pattern, chosen: UnderstandingSettings) -> dict[QuestionReference, Question]:
    references = understanding.references(chosen, {"patterns": [pattern]})
    return {reference: understanding.question(reference, chosen) for reference in references}


@each_pattern
def test_draw_ordinal_parity_decides_answer(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 0, ordinal) for ordinal in range(4)]
    if pattern.yes_no:
        assert [verdict(drawn_case.case.answer) for drawn_case in drawn_cases] == ["yes", "no"] * 2
    if len(pattern.templates) == 2:
        assert [drawn_case.phrasing for drawn_case in drawn_cases] == [0, 0, 1, 1]


@pytest.mark.exhaustive  # test_plugin_determinism.py asks every pattern under two hash seeds
def test_questions_any_hash_seed_are_identical() -> None:
    def printed(seed: str) -> str:
        paths = {"PYTHONPATH": str(Path(pytest_taskgraph.__file__).parent.parent), "PYTHONHASHSEED": seed}
        run = [sys.executable, "-c", PRINTED]
        return bounded_process.run(run, env={**os.environ, **paths}).stdout

    first = printed("1")
    assert len(first.splitlines()) > 2 * 15
    assert printed("2") == first


@each_pattern
def test_references_more_instances_extend_fewer(pattern: Pattern) -> None:
    def references(instances: int) -> list[QuestionReference]:
        chosen = UnderstandingSettings(instances=instances, notations=("wadl", "json"))
        return list(understanding.references(chosen, {"patterns": [pattern]}))

    few, many = references(20), references(40)
    assert [reference for reference in many if reference.payload["ordinal"] < 20] == few
    assert len({reference.id for reference in many}) == len(many) == 2 * len(few)
    last = few[-1]
    fewer, more = UnderstandingSettings(instances=20), UnderstandingSettings(instances=40)
    assert understanding.question(last, fewer) == understanding.question(last, more)


@each_pattern
def test_questions_other_seed_differ(pattern: Pattern) -> None:
    ours, theirs = (build_questions(pattern, UnderstandingSettings(seed=seed, instances=2)) for seed in (0, 1))
    assert not {q.prompt for q in ours.values()} & {q.prompt for q in theirs.values()}
    assert len({reference.id for reference in (*ours, *theirs)}) == 4


@each_pattern
def test_draw_independent_of_notation_and_prompt(pattern: Pattern) -> None:
    notations = tuple(
        name for name in NOTATIONS if name not in ("wadl-expanded", "mermaid") or "references" not in pattern.needs
    )
    plain = UnderstandingSettings(notations=("json",), instances=2)
    variants = [
        plain,
        replace(plain, notations=notations),
        replace(plain, prompt="direct"),
        replace(plain, parsing="strict"),
    ]
    variants_by_ordinal: dict[int, set[tuple[str, ...]]] = {}
    for chosen in variants:
        for reference, question in build_questions(pattern, chosen).items():
            text = PLACE.sub("…", question.text)  # a sub-workflow's own name, where the notation writes it
            content = (text, repr(question.reference), question.cluster, repr(question.names))
            variants_by_ordinal.setdefault(reference.payload["ordinal"], set()).add(content)
    assert {ordinal: len(content) for ordinal, content in variants_by_ordinal.items()} == {0: 1, 1: 1}


@each_pattern
@pytest.mark.parametrize("sizes", [(3, 20), pytest.param((4, 5, 6, 7, 8, 12, 40), marks=pytest.mark.exhaustive)])
def test_draw_any_size_or_refused_with_least(pattern: Pattern, sizes: tuple[int, ...]) -> None:
    for size in sizes:
        least = least_size(pattern, size)
        if least > size:
            with pytest.raises(RecipeTooSmallError, match=f"at least {least} are needed"):
                draw(pattern, size, 0, 0)
        counts = [sum(_task_counts(draw(pattern, least, 0, ordinal).project)) for ordinal in (0, 1)]
        assert counts == [least, least]


@each_pattern
def test_draw_has_needed_and_no_avoided_features(pattern: Pattern) -> None:
    for ordinal in range(4):
        features_of_workflow = features(draw(pattern, 12, 0, ordinal).project)
        planted = {"loop", "references", "hierarchy"} if pattern.flaws else set()
        assert pattern.needs - planted <= features_of_workflow
        assert not pattern.avoids & features_of_workflow - planted.union(*map(implied_features, pattern.varies))


@each_pattern
def test_references_notation_supports_drawn_features(pattern: Pattern) -> None:
    chosen = UnderstandingSettings(notations=tuple(NOTATIONS), instances=2)
    for reference in understanding.references(chosen, {"patterns": [pattern]}):
        drawn_case = draw(pattern, reference.payload["tasks"], 0, reference.payload["ordinal"])
        assert not features(drawn_case.project) & NOTATIONS[reference.payload["notation"]].unsupported


@each_pattern
def test_question_cluster_is_digest_of_workflow(pattern: Pattern) -> None:
    for reference, question in build_questions(pattern, UnderstandingSettings(instances=2)).items():
        drawn_case = draw(pattern, reference.payload["tasks"], 0, reference.payload["ordinal"])
        assert question.cluster == question.digests["workflow"] == digest(drawn_case.project)


def _task_counts(project: Workflow) -> list[int]:
    """Return the number of tasks of every level, including those inside composite tasks."""
    waiting, counts = [project, *project.others], []
    for level in waiting:
        counts.append(len(level.tasks))
        waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow)
    return counts
