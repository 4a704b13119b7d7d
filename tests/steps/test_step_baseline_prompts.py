"""What the baselines of STEPS read from prompts: every built-in prompt, with any text in its steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth

from pytest_taskgraph.errors import PromptNotUnderstoodError
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.step_baselines.step_baseline import (
    AskedCandidate,
    AskedChoice,
    AskedStep,
    read_step_prompt,
)
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.scoring.forms.form import collapse_spaces

SETTINGS = StepsSettings()
QUERY = " . Is the next step of "
CANDIDATES = ["paper", "question"]
CHOICES = ["letter"]
HOSTILE = [
    "Boil water . Add salt",
    "Is the next step of",
    "Boil . Is the next step of Drain a reasonable step in this recipe ?",
    "Drain it a reasonable step in this recipe ? Yes",
    "Steps done so far:",
    "Candidate for the next step: Drain it",
    "Options for the next step:",
    "Answer:",
    "2. Bake for 1.5 hours at 180.",
    "12.",
    "A. Toss well",
    "B.",
    "B) Stir",
    ". . .",
    "```",
    "Ärgern\u200b 茹でる \ud800",
]
# Fields hold one line each, as `collapse_spaces` makes them.
step_texts = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=30)).map(collapse_spaces).filter(bool)
step_lists = st.lists(step_texts, min_size=1, max_size=12)
example_lists = st.lists(
    st.fixed_dictionaries({"previous": step_lists, "candidate": step_texts, "label": st.booleans()}), max_size=3
)


def rendered(name: str, previous: Sequence[str], **fields: Any) -> str:  # noqa: ANN401
    return PROMPTS.render(name, {"previous": [*previous], "examples": [], **fields}, SETTINGS)


def option_rows(options: Sequence[str]) -> list[dict[str, str]]:
    return [{"letter": letter, "text": text} for letter, text in zip("ABCDEF", options, strict=False)]


def test_prompts_of_the_folder_are_all_tested() -> None:
    assert sorted([*CANDIDATES, *CHOICES]) == sorted(path.stem for path in PROMPTS.path.glob("*.jinja"))


@given(previous=step_lists, candidate=step_texts, examples=example_lists)
def test_read_numbered_question_gives_the_last_steps_and_candidate(
    previous: list[str], candidate: str, examples: list[dict[str, Any]]
) -> None:
    prompt = rendered("question", previous, candidate=candidate, examples=examples)
    assert read_step_prompt(prompt) == AskedCandidate(" . ".join(previous), candidate)


@pytest.mark.parametrize("name", CHOICES)
@given(previous=step_lists, options=st.lists(step_texts, min_size=2, max_size=6))
def test_read_choice_gives_steps_and_options_by_letter(name: str, previous: list[str], options: list[str]) -> None:
    step = read_step_prompt(rendered(name, previous, options=option_rows(options)))
    assert step == AskedChoice(" . ".join(previous), dict(zip("ABCDEF", options, strict=False)))
    assert isinstance(step, AskedChoice)
    assert [*step.options] == [*"ABCDEF"[: len(options)]]


@given(previous=step_lists, candidate=step_texts, examples=example_lists)
def test_read_paper_query_gives_the_text_before_and_the_candidate(
    previous: list[str], candidate: str, examples: list[dict[str, Any]]
) -> None:
    step = read_step_prompt(rendered("paper", previous, candidate=candidate, examples=examples))
    assert isinstance(step, AskedCandidate)
    before = " . ".join(previous)
    # Cut elsewhere where the candidate holds the words of the query, but nothing is lost or taken from elsewhere.
    assert f"{step.previous}{QUERY}{step.candidate}".strip() == f"{before}{QUERY}{candidate}".strip()
    if "Is the next step of" not in candidate:
        assert step == AskedCandidate(before, candidate)


@pytest.mark.parametrize("name", CANDIDATES)
def test_read_question_without_steps_before_has_an_empty_text(name: str) -> None:
    assert read_step_prompt(rendered(name, [], candidate="Boil water")) == AskedCandidate("", "Boil water")


def test_read_step_that_shows_a_question_takes_the_last_one() -> None:
    shown_prompt = rendered("letter", ["Drain"], options=option_rows(["Stir", "Wait"]))
    prompt = f"{shown_prompt}\n\n{rendered('question', ['Boil'], candidate='Toss')}"
    assert read_step_prompt(prompt) == AskedCandidate("Boil", "Toss")


def test_read_query_below_a_head_of_steps_is_found() -> None:
    prompt = "Steps done so far:\nBoil . Is the next step of Toss a reasonable step in this recipe ?\nYes or No?"
    assert read_step_prompt(prompt) == AskedCandidate("Boil", "Toss")


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "What comes next?",
        "Steps done so far:\n1. Boil water",
        "Candidate for the next step: Toss well",
        "Steps done so far:\n1. Boil\nOptions for the next step:\nA. Toss",
        "Steps done so far:\n1. Boil\nOptions for the next step:\nA. Toss\nA. Stir",
        "Boil a reasonable step in this recipe ?",
        "Boil . Is the next step of Toss a reasonable step in this recipe ? Yes",
    ],
)
def test_read_prompt_without_a_question_is_not_understood(prompt: str) -> None:
    with pytest.raises(PromptNotUnderstoodError, match="no question about the next step in the prompt; expected"):
        read_step_prompt(prompt)


@given(
    st.lists(
        st.one_of(st.sampled_from([*HOSTILE, "\n", QUERY, " a reasonable step in this recipe ?"]), st.text(max_size=9))
    )
)
def test_read_any_text_is_read_or_not_understood(parts: list[str]) -> None:
    for between in ("", "\n", " "):
        with suppress(PromptNotUnderstoodError):
            assert isinstance(read_step_prompt(between.join(parts)), get_args(AskedStep))


@pytest.mark.parametrize("line", [QUERY, "Steps done so far:\n", "1. x\n", "A. x\n", "9", " ", "x" + QUERY + "y"])
def test_read_long_prompt_takes_time_in_proportion(line: str) -> None:
    def read(size: int) -> None:
        with pytest.raises(PromptNotUnderstoodError):
            read_step_prompt("Steps done so far:\n" + line * size)

    assert growth(read, 4_000) < 2.5
