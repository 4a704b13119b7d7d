"""What is wrong with an answer, in words."""

import dataclasses
from collections.abc import Callable

import pytest

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.scoring.forms import FORMS, explain_answer
from pytest_taskgraph.trial import Json


def _explain_length(reference: Json, given: Json) -> list[str]:
    return [f"{len(str(given)) - len(str(reference))} characters too long"]


def _raise_key_error(reference: Json, given: Json) -> list[str]:
    raise KeyError("begin")


@pytest.mark.parametrize(
    ("explain", "sentences"), [(_explain_length, ["2 characters too long"]), (_raise_key_error, [])]
)
def test_explain_answer_of_registered_form_asks_the_form(
    explain: Callable[[Json, Json], list[str]], sentences: list[str]
) -> None:
    with registrations() as opened:
        opened.add(FORMS.kind, "own", dataclasses.replace(FORMS["text"], name="own", explain=explain), "conftest.py")
        assert explain_answer("own", "ab", "abcd") == sentences


def test_explain_answer_of_unknown_form_is_empty() -> None:
    assert explain_answer("nonesuch", "a", "b") == []


def test_explain_answer_without_an_answer_is_empty() -> None:
    assert explain_answer("number", 3, None) == []
