"""Law 2: the reference answer, written in its form, has the score 1.0; any reply is within 0.0 to 1.0."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.prompts import PROMPTS
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Parsing, Question, Reply

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
PARSINGS: tuple[Parsing, ...] = ("lenient", "strict")
each_pattern = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)


@cache
def build_questions(pattern: Pattern, prompt: str, parsing: Parsing = "lenient") -> list[Question]:
    chosen = UnderstandingSettings(prompt=prompt, parsing=parsing, instances=2)
    references = understanding.references(chosen, {"patterns": [pattern]})
    return [understanding.question(reference, chosen) for reference in references]


def ideal_reply(question: Question) -> str:
    """Return a reply as the prompt template asks for it, with the reference answer."""
    text = form(question.form).write(question.reference, question.names)
    around = {
        "whole": "{}",
        "marker": "First I look at the links.\nThen I follow them.\n\nFinal answer: {}",
        "first-line": "{}\n\nThat is so because of the links, as one sees.",
    }
    return around[question.place].format(text)


@each_pattern
def test_grade_reference_any_prompt_is_right(pattern: Pattern) -> None:
    for prompt, parsing in product(sorted(PROMPTS), PARSINGS):
        for question in build_questions(pattern, prompt, parsing):
            if question.place == "first-line" and parsing == "strict" and question.form == "groups":
                continue  # strictly, an answer is on the first line; groups take several
            score = grade(question, Reply(ideal_reply(question)))
            result = (score.value, score.status, score.missing, score.extra)
            assert result == (1.0, "read", [], []), (question.id, parsing)


@each_pattern
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_grade_any_reply_within_bounds(pattern: Pattern, data: st.DataObject) -> None:
    question = data.draw(st.sampled_from(build_questions(pattern, data.draw(st.sampled_from(sorted(PROMPTS))))))
    text = data.draw(st.one_of(st.text(max_size=80), mutated_texts(ideal_reply(question))))
    score = grade(question, Reply(text))
    assert 0.0 <= score.value <= 1.0
    assert all(value is None or 0.0 <= value <= 1.0 for value in score.metrics.values())
    assert score.status == "read" or score.value == 0.0


@each_pattern
def test_grade_cut_off_reply_is_provider_error(pattern: Pattern) -> None:
    question = build_questions(pattern, "chain-of-thought")[0]
    with pytest.raises(ProviderError, match="cut off"):
        grade(question, Reply("Let me look at the links first", finish_reason="length"))


@st.composite
def mutated_texts(draw: st.DrawFn, text: str) -> str:
    """Draw the text with a piece removed, doubled, or replaced."""
    cuts = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    before, piece, after = text[: cuts[0]], text[cuts[0] : cuts[1]], text[cuts[1] :]
    replaced = draw(st.sampled_from(["", piece + piece, piece.upper(), ", ", "\n", "Final answer:", "no", "'", "```"]))
    return before + replaced + after
