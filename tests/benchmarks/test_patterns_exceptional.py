"""Patterns about exceptional links, and what the others ask where there are some."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from drawn_workflows import generate

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.scope import cases
from pytest_taskgraph.families.understanding.patterns.structure.links import (
    exceptional_link_existence,
    exceptional_links,
)
from pytest_taskgraph.families.understanding.questions.assembly import question, references
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS, notation
from pytest_taskgraph.notations.notation import EXCEPTIONAL_LINKS
from pytest_taskgraph.workflow.model import END, Link, Workflow

KIOSK = notation("wadl").read(
    """package main; workflow Kiosk {
    START -> Choose -> Charge -> Print -> END; Pay -> Print; Charge !-> Pay; Print !-> Charge; Choose !-> PARALLEL_1;
    PARALLEL_1 -> Call; PARALLEL_1 -> Wait;
    task Choose {} task Charge {} task Pay {} task Print {} task Call {} task Wait {} }"""
)
NOT_ASKED = {
    "link_existence", "task_after_task", "next_tasks", "flow_cycle", "flow_start", "flow_end", "flow_connected",
    "operator_existence", "parallel_block", "all_parallel_tasks", "operator_block", "dependency_existence",
    "dependency_list", "task_of_kind_before", "wrong_task_order",
}  # fmt: skip
"""Built-in patterns whose answer a level with exceptional links leaves open."""


def test_exceptional_link_existence_cases_of_kiosk() -> None:
    found = {
        (c.fields["a"], c.fields["b"]): (c.answer, c.stratum, c.rank) for c in exceptional_link_existence.cases(KIOSK)
    }
    assert found == {
        ("Charge", "Pay"): ("yes", "exceptional", 0),
        ("Print", "Charge"): ("yes", "exceptional", 0),
        ("Charge", "Print"): ("no", "regular", 1),
        ("Pay", "Charge"): ("no", "reversed", 1),
        ("Print", "Pay"): ("no", "crossed", 0),
    }  # fmt: skip


def test_exceptional_links_cases_of_kiosk_leave_out_gateways() -> None:
    found = {case.fields["task"]: (case.answer, case.rank) for case in exceptional_links.cases(KIOSK)}
    assert found == {"Charge": (["Pay"], 0), "Print": (["Charge"], 0), "Pay": ([], 1)}


@pytest.mark.parametrize("pattern", [exceptional_link_existence, exceptional_links], ids=lambda pattern: pattern.name)
def test_exceptional_pattern_without_exceptional_links_has_no_case(pattern: Pattern) -> None:
    assert not list(pattern.cases(replace(KIOSK, exceptional_links=())))


def test_exceptional_link_existence_tasks_do_not_reveal_answer() -> None:
    """Both tasks of most questions have exceptional links, the first one out of it and the second one into it."""
    kinds: Counter[tuple[str, bool]] = Counter()
    linked: Counter[tuple[str, bool]] = Counter()
    for ordinal in range(80):
        drawn = draw(exceptional_link_existence, 12, 3, ordinal)
        level, a, b = drawn.scope.workflow, drawn.case.fields["a"], drawn.case.fields["b"]
        ends = [(link.source, link.target) for link in level.exceptional_links]
        kinds[str(drawn.case.answer), any(a == s for s, _ in ends) and any(b == t for _, t in ends)] += 1
        linked[str(drawn.case.answer), (a, b) in [(link.source, link.target) for link in level.links] + ends] += 1
    assert kinds["yes", True] == 40
    assert kinds["no", True] >= 36
    assert linked["no", True] >= 20


def test_exceptional_links_draws_vary_in_number() -> None:
    numbers = Counter(draw(exceptional_links, 12, 3, ordinal).case.labels["answers"] for ordinal in range(40))
    assert numbers.keys() == {1, 2}


@pytest.mark.parametrize("pattern", catalogue().values(), ids=lambda pattern: pattern.name)
def test_pattern_about_level_with_exceptional_links_asks_as_defined(pattern: Pattern) -> None:
    """Where a pattern asks, its answers are those of the workflow without exceptional links."""
    if pattern in (exceptional_link_existence, exceptional_links):
        return
    assert pattern.exceptional is (pattern.name not in NOT_ASKED)
    drawn = draw(pattern, max(12, pattern.least), 5, 0)
    level = drawn.scope.workflow
    fails = Link(level.task_names[0], END)
    changed = replace(drawn.scope, workflow=replace(level, exceptional_links=(fails,)))
    plain, found = list(cases(pattern, drawn.scope)), list(cases(pattern, changed))
    assert plain
    assert found == (plain if pattern.exceptional else [])


@pytest.mark.parametrize("name", NOTATIONS)
def test_prompt_tells_of_exceptional_links_where_there_are_some(name: str) -> None:
    settings = UnderstandingSettings(notations=(name,), instances=1)
    prompts = {
        pattern: question(references(settings, {"patterns": pattern})[0], settings).prompt
        for pattern in ("exceptional_links", "conditional_links")
    }
    told = f"{notation(name).exceptional_guide} {EXCEPTIONAL_LINKS}"
    assert told in " ".join(prompts["exceptional_links"].split())
    assert "xceptional" not in prompts["conditional_links"]


def test_own_file_with_exceptional_links_is_asked_about_them(tmp_path: Path) -> None:
    path = tmp_path / "kiosk.xxp"
    path.write_text(notation("wadl").write(KIOSK), encoding="utf-8")
    settings = UnderstandingSettings(workflows=(str(path),), instances=4)
    asked = Counter(reference.pattern for reference in references(settings, {"patterns": "*"}))
    assert asked["exceptional_link_existence"] == 4
    assert asked["exceptional_links"] == 3
    assert asked["task_list"] == 1
    assert not asked.keys() & NOT_ASKED


def test_generated_exceptional_links_cross_links_of_another_kind() -> None:
    """Of a workflow with room, tasks with exceptional links have others, and so have the tasks that they lead to."""
    for seed in range(20):
        workflow = generate(Recipe(10, features=frozenset({"exceptional", "parallel"})), seed)
        ends = [(link.source, link.target) for link in workflow.links]
        exceptional = [(link.source, link.target) for link in workflow.exceptional_links]
        assert not set(ends) & set(exceptional)
        if len(exceptional) > 1:
            sources, targets = {a for a, _ in exceptional}, {b for _, b in exceptional}
            assert len([pair for pair in ends if pair[0] in sources and pair[1] in targets]) >= 2


def test_generated_smallest_workflow_has_exceptional_link() -> None:
    for seed in range(10):
        workflow: Workflow = generate(Recipe(3, features=frozenset({"exceptional"})), seed)
        assert workflow.exceptional_links
