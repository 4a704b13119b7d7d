"""Law 3: the pattern, applied to the workflow read back from the shown text, gives the same answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import Phrasing, UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import all_scopes, cases, sentence
from pytest_taskgraph.benchmarks.understanding.prompts import PROMPTS
from pytest_taskgraph.benchmarks.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw, recipe_for
from pytest_taskgraph.errors import RecipeTooSmallError
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Request
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom" and not pattern.planted]
every = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
UNFENCED = """{# answer: marker #}
You are shown a specification. It is written in {{ notation }}.
{{ workflow }}

{{ question }}
Reply with "Final answer:" and your answer. {{ instruction }}
"""


def answers(pattern: Pattern, project: Workflow, phrasing: int, entered: bool = False) -> dict[str, Json]:
    """What the pattern asks about the project, with the answers."""
    return {
        sentence(pattern, phrasing, scope, case): case.answer
        for scope in all_scopes(project, entered)
        for case in cases(pattern, scope)
    }


def read_back(pattern: Pattern, project: Workflow, notation: str, phrasing: int) -> dict[str, Json]:
    """The same of the shown text; a composite task may be written inline or elsewhere."""
    back = NOTATIONS[notation].read(write_workflow(project, notation))
    return answers(pattern, back, phrasing, entered=True) | answers(pattern, back, phrasing)


def reply_of_the_reader(question: Question) -> Reply:
    request = Request(messages=[{"role": "user", "content": question.prompt}])
    return asyncio.run(understanding.baseline("reader", UnderstandingSettings()).answer(request))


@every
@pytest.mark.parametrize(("size", "seed", "ordinals"), [(8, 3, (0, 1)), (12, 1, (2,)), (20, 2, (5,))])
def test_the_case_stands_in_every_notation_that_can_say_it(
    pattern: Pattern, size: int, seed: int, ordinals: tuple[int, ...]
) -> None:
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        size = error.least
    for ordinal in ordinals:
        drawn = draw(pattern, size, seed, ordinal)
        text = sentence(pattern, drawn.phrasing, drawn.scope, drawn.case)
        told = [name for name, one in NOTATIONS.items() if not features(drawn.project) & one.unsupported]
        assert "json" in told
        for name in told:
            assert read_back(pattern, drawn.project, name, drawn.phrasing)[text] == drawn.case.answer, name


@every
def test_the_reader_is_right_in_every_prompt_phrasing_and_notation(pattern: Pattern) -> None:
    phrasings: tuple[Phrasing, ...] = ("first", "second")
    names = tuple(NOTATIONS)
    for i, prompt in enumerate(PROMPTS):
        for phrasing in phrasings:
            chosen = UnderstandingSettings(prompt=prompt, phrasing=phrasing, notations=names, instances=1, seed=i)
            found = understanding.references(chosen, {"patterns": [pattern]})
            for reference in found[i::3]:
                question = understanding.question(reference, chosen)
                assert grade(question, reply_of_the_reader(question)).value == 1.0, question.prompt


@every
def test_the_reader_finds_a_workflow_that_no_fence_surrounds(pattern: Pattern, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.jinja"
    prompt.write_text(UNFENCED, encoding="utf-8")
    chosen = UnderstandingSettings(prompt=str(prompt), notations=tuple(NOTATIONS), instances=1, seed=5)
    references = understanding.references(chosen, {"patterns": [pattern]})
    for reference in references[OURS.index(pattern) % 3 :: 3]:  # each notation for a third of the patterns
        question = understanding.question(reference, chosen)
        assert grade(question, reply_of_the_reader(question)).value == 1.0, question.prompt


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(pattern=st.sampled_from(OURS), size=st.integers(3, 16), seed=st.integers(0, 999), ordinal=st.integers(0, 9))
def test_all_that_can_be_asked_about_a_workflow_can_be_answered_from_its_text(
    pattern: Pattern, size: int, seed: int, ordinal: int
) -> None:
    try:
        project = draw(pattern, size, seed, ordinal).project
    except RecipeTooSmallError:
        assume(False)
    names = [name for name, notation in NOTATIONS.items() if not features(project) & notation.unsupported]
    for other in OURS:
        told = answers(other, project, 0)
        for name in names:
            found = read_back(other, project, name, 0)
            assert {text: found.get(text) for text in told} == told, (other, name)
