from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue, select
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import PATTERNS, Cases, Pattern, case, pattern
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.workflow.model import Workflow


@pytest.fixture
def mine() -> Iterator[Pattern]:
    @pattern("How is {{ place }} called?", form="task")
    def the_name(workflow: Workflow) -> Cases:
        """Check that the model sees the name."""
        yield case(workflow.name)

    yield the_name
    del PATTERNS["the_name"]


def test_every_pattern_has_phrasings_a_rationale_a_known_form_and_a_topic() -> None:
    assert list(catalogue()) == [one.name for one in catalogue().values()]
    for one in catalogue().values():
        assert len(one.templates) >= 2
        assert one.rationale
        assert one.form in FORMS
        assert one.category in ("structure", "behaviour", "functionality")
        assert set(one.flaws) <= {"yes", "no", ""}
        assert not one.needs & one.avoids


def test_the_users_patterns_come_after_ours(mine: Pattern) -> None:
    assert list(catalogue().values())[-1] is mine
    assert (mine.category, mine.topic) == ("custom", "test_catalogue")
    assert select(["custom", "task_list"]) == (catalogue()["task_list"], mine)


def test_words_globs_categories_and_patterns_select_in_the_order_of_the_catalogue() -> None:
    every = tuple(catalogue().values())
    assert select("*") == select(every[::-1]) == every
    assert select("structure") == tuple(one for one in every if one.category == "structure")
    assert [one.name for one in select(["task_*", every[0]])] == [
        name for name in catalogue() if name.startswith("task_")
    ]
    assert select(every[2]) == (every[2],)


def test_what_fits_nothing_is_answered_with_categories_and_names() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown pattern 'nextt_tasks'; known: .*next_tasks.*structure"):
        select(["task_list", "nextt_tasks"])
    with pytest.raises(UsageError, match="a suite without patterns"):
        select([])


def test_a_pattern_needs_a_template_and_a_rationale_and_known_features() -> None:
    def bare(workflow: Workflow) -> Cases:
        yield case(True)

    with pytest.raises(UsageError, match="pattern 'bare': a template or the docstring"):
        pattern("Is it?", form="yes-no")(bare)
    bare.__doc__ = "Is it?"
    with pytest.raises(UsageError, match="pattern 'bare': a template or the docstring"):
        pattern(form="yes-no")(bare)
    with pytest.raises(UnknownNameError, match=r"unknown feature \(pattern 'bare'\) 'forks'; known: .*parallel"):
        pattern("Is it?", form="yes-no", needs={"forks"})(bare)


def test_a_name_that_stands_in_another_module_is_refused() -> None:
    def task_list(workflow: Workflow) -> Cases:
        """Ours has that name."""
        yield case(True)

    with pytest.raises(UsageError, match=r"pattern 'task_list' of .*test_catalogue is defined in .*structure"):
        pattern("Is it?", form="yes-no")(task_list)
