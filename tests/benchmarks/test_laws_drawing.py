"""Law 4 and what drawing promises: balance, the same in any process, more extend fewer, any size or a plain refusal."""

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
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.generation.recipe import implied_features
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.plain_json import digest
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
every = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
PLACE = re.compile(r"sub-workflow '[^']*'|composite task '[^']*' of workflow '[^']*'")
PRINTED = """
from hashlib import sha256
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding import understanding
chosen = UnderstandingSettings(seed=4, notations=("wadl-separate", "mermaid"))
for reference in understanding.references(chosen, {}):
    question = understanding.question(reference, chosen)
    print(question.id, sha256(repr(question.prompt + repr(question.reference)).encode()).hexdigest(), question.digests)
"""


def least_size(pattern: Pattern, size: int) -> int:
    """The size, or the least that will do where it is refused."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return error.least
    return size


def asked(pattern: Pattern, chosen: UnderstandingSettings) -> dict[QuestionReference, Question]:
    found = understanding.references(chosen, {"patterns": [pattern]})
    return {reference: understanding.question(reference, chosen) for reference in found}


@every
def test_even_ordinals_are_yes_and_odd_ones_no(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 8, ordinal) for ordinal in range(8)]
    if pattern.yes_no:
        assert [verdict(one.case.answer) for one in drawn] == ["yes", "no"] * 4
    assert [one.phrasing for one in drawn] == [0, 0, 1, 1] * 2 if len(pattern.templates) == 2 else True


def test_the_same_seed_gives_the_same_questions_under_any_hash_seed() -> None:
    def printed(seed: str) -> str:
        paths = {"PYTHONPATH": str(Path(pytest_taskgraph.__file__).parent.parent), "PYTHONHASHSEED": seed}
        run = [sys.executable, "-c", PRINTED]
        return bounded_process.run(run, env={**os.environ, **paths}).stdout

    first = printed("1")
    assert len(first.splitlines()) > 2 * 4 * 15
    assert printed("2") == first


@every
def test_forty_instances_extend_twenty(pattern: Pattern) -> None:
    def found(instances: int) -> list[QuestionReference]:
        chosen = UnderstandingSettings(instances=instances, notations=("wadl", "json"))
        return list(understanding.references(chosen, {"patterns": [pattern]}))

    few, many = found(20), found(40)
    assert [one for one in many if one.payload["ordinal"] < 20] == few
    assert len({one.id for one in many}) == len(many) == 2 * len(few)
    last = few[-1]
    fewer, more = UnderstandingSettings(instances=20), UnderstandingSettings(instances=40)
    assert understanding.question(last, fewer) == understanding.question(last, more)


@every
def test_another_seed_gives_other_questions(pattern: Pattern) -> None:
    ours, theirs = ({q.prompt for q in asked(pattern, UnderstandingSettings(seed=seed)).values()} for seed in (1, 2))
    assert not ours & theirs
    ids = {one.id for seed in (1, 2) for one in asked(pattern, UnderstandingSettings(seed=seed))}
    assert len(ids) == 8


@every
def test_nothing_drawn_depends_on_notation_prompt_or_number_of_instances(pattern: Pattern) -> None:
    shown = tuple(
        name for name in NOTATIONS if name not in ("wadl-expanded", "mermaid") or "references" not in pattern.needs
    )
    plain = UnderstandingSettings(seed=6, notations=("json",), instances=2)
    variants = [
        plain,
        replace(plain, notations=shown),
        replace(plain, prompt="direct"),
        replace(plain, parsing="strict"),
    ]
    drawn: dict[int, set[tuple[str, ...]]] = {}
    for chosen in variants:
        for reference, question in asked(pattern, chosen).items():
            text = PLACE.sub("…", question.text)  # a sub-workflow's own name, where the notation writes it
            told = (text, repr(question.reference), question.cluster, repr(question.names))
            drawn.setdefault(reference.payload["ordinal"], set()).add(told)
    assert {ordinal: len(told) for ordinal, told in drawn.items()} == {0: 1, 1: 1}


@every
@pytest.mark.parametrize("size", [*range(3, 9), 12, 20, 40])
def test_a_size_is_drawn_or_refused_with_the_least_that_will_do(pattern: Pattern, size: int) -> None:
    least = least_size(pattern, size)
    if least > size:
        with pytest.raises(RecipeTooSmallError, match=f"at least {least} are needed"):
            draw(pattern, size, 1, 0)
        size = least
    for ordinal in (0, 1):
        drawn = draw(pattern, size, 1, ordinal)
        assert sum(_tasks(drawn.project)) == size


@every
def test_what_is_drawn_has_what_the_pattern_needs_and_nothing_that_it_avoids(pattern: Pattern) -> None:
    for ordinal in range(4):
        found = features(draw(pattern, 12, 3, ordinal).project)
        planted = {"loop", "references", "hierarchy"} if pattern.flaws else set()
        assert pattern.needs - planted <= found
        assert not pattern.avoids & found - planted.union(*map(implied_features, pattern.varies))


@every
def test_a_notation_is_only_chosen_if_it_can_say_what_is_drawn(pattern: Pattern) -> None:
    chosen = UnderstandingSettings(seed=9, notations=tuple(NOTATIONS))
    for reference in understanding.references(chosen, {"patterns": [pattern]}):
        drawn = draw(pattern, reference.payload["tasks"], 9, reference.payload["ordinal"])
        assert not features(drawn.project) & NOTATIONS[reference.payload["notation"]].unsupported


@every
def test_the_cluster_is_the_digest_of_the_workflow(pattern: Pattern) -> None:
    for reference, question in asked(pattern, UnderstandingSettings(seed=2)).items():
        drawn = draw(pattern, reference.payload["tasks"], 2, reference.payload["ordinal"])
        assert question.cluster == question.digests["workflow"] == digest(drawn.project)


def _tasks(project: Workflow) -> list[int]:
    """The number of tasks of every level, those inside composite tasks included."""
    waiting, found = [project, *project.others], []
    for one in waiting:
        found.append(len(one.tasks))
        waiting.extend(task.subworkflow for task in one.tasks if task.subworkflow)
    return found
