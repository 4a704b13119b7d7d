"""Further spellings of names in answers: found as names are, and replaced by them in every form."""

from __future__ import annotations

import pytest

from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.grade import NAMING, accepted_names, resolve_spellings
from pytest_taskgraph.trial import Json

SPELLINGS = {"b": "Build image", "Build<br/>image": "Build image", "t": "Test"}


@pytest.mark.parametrize(
    ("form", "given", "expected"),
    [
        ("task", "b", "Build image"),
        ("task", "Other", "Other"),
        ("task-set", ["Build image", "b", "t"], ["Build image", "Test"]),
        ("task-order", ["t", "b", "t"], ["Test", "Build image", "Test"]),
        ("groups", [["t"], ["b", "Build image"]], [["Test"], ["Build image"]]),
        ("task-reasons", {"tasks": ["b"], "reasons": {"b": "why"}},
         {"tasks": ["Build image"], "reasons": {"Build image": "why"}}),
        ("text", "b", "b"),
        ("yes-no", "yes", "yes"),
        ("letter", "B", "B"),
        ("number", 2, 2),
    ],
)  # fmt: skip
def test_resolve_spellings_replaces_them_where_form_holds_names(form: str, given: Json, expected: Json) -> None:
    assert resolve_spellings(given, SPELLINGS, form) == expected


def test_accepted_names_leaves_out_spellings_with_separators() -> None:
    spellings = {"a, b": "A B", "x -> y": "X Y", "plain": "P"}
    assert accepted_names(["A B"], spellings, "task-set") == ["A B", "a, b", "x -> y", "plain"]
    assert (
        accepted_names(["A B"], spellings, "groups")
        == accepted_names(["A B"], spellings, "task-order")
        == ["A B", "plain"]
    )


def test_accepted_names_adds_texts_of_options_to_letters() -> None:
    assert accepted_names(["A", "B"], {"Toss  well": "A"}, "letter") == ["A", "B", "A\tToss well"]
    assert accepted_names(["A", "B"], {}, "letter") == ["A", "B"]


def test_naming_forms_are_known_forms() -> None:
    assert set(FORMS) >= NAMING
