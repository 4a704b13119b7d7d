from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families.understanding.patterns import catalogue, select
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS, Cases, Pattern, case, pattern
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.workflow.model import Workflow


@pytest.fixture
def own_pattern() -> Iterator[Pattern]:
    @pattern("How is {{ place }} called?", form="task")
    def the_name(workflow: Workflow) -> Cases:
        """Check that the model sees the name."""
        yield case(workflow.name)

    yield the_name
    del PATTERNS["the_name"]


def test_catalogue_patterns_are_complete() -> None:
    assert list(catalogue()) == [each.name for each in catalogue().values()]
    for each in catalogue().values():
        assert len(each.templates) >= 2
        assert each.rationale
        assert each.form in FORMS
        assert each.category in ("structure", "behaviour", "functionality", "timing")
        assert set(each.flaws) <= {"yes", "no", ""}
        assert not each.needs & each.avoids


def test_catalogue_own_pattern_comes_last(own_pattern: Pattern) -> None:
    assert list(catalogue().values())[-1] is own_pattern
    assert (own_pattern.category, own_pattern.topic) == ("custom", "test_catalogue")
    assert select(["custom", "task_list"]) == (catalogue()["task_list"], own_pattern)


def test_select_any_selector_keeps_catalogue_order() -> None:
    every = tuple(catalogue().values())
    assert select("*") == select(every[::-1]) == every
    assert select("structure") == tuple(each for each in every if each.category == "structure")
    assert [each.name for each in select(["task_*", every[0]])] == [
        name for name in catalogue() if name.startswith("task_")
    ]
    assert select(every[2]) == (every[2],)


def test_select_unknown_word_lists_names_and_categories() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown pattern 'nextt_tasks'; known: .*next_tasks.*structure"):
        select(["task_list", "nextt_tasks"])
    with pytest.raises(UsageError, match="a suite without patterns"):
        select([])


def test_pattern_incomplete_or_unknown_feature_refused() -> None:
    def bare(workflow: Workflow) -> Cases:
        yield case(True)

    with pytest.raises(UsageError, match="pattern 'bare': a template or the docstring"):
        pattern("Is it?", form="yes-no")(bare)
    bare.__doc__ = "Is it?"
    with pytest.raises(UsageError, match="pattern 'bare': a template or the docstring"):
        pattern(form="yes-no")(bare)
    with pytest.raises(UnknownNameError, match=r"unknown feature \(pattern 'bare'\) 'forks'; known: .*parallel"):
        pattern("Is it?", form="yes-no", needs={"forks"})(bare)


def test_pattern_name_of_another_module_refused() -> None:
    def task_list(workflow: Workflow) -> Cases:
        """Check that a built-in pattern has that name."""
        yield case(True)

    with pytest.raises(UsageError, match=r"pattern 'task_list' of .*test_catalogue is defined in .*structure"):
        pattern("Is it?", form="yes-no")(task_list)
