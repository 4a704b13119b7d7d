"""Functionality patterns: planted answers against the vocabularies, with independent code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import domain_oracle
import networkx as nx
import pytest
from drawn_workflows import generate
from planted_oracle import atomic, findings, known_tasks, problems_of, vocabulary

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS, Pattern, verdict
from pytest_taskgraph.families.understanding.patterns.scope import sentence
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.families.understanding.questions.sample import DrawnCase, draw, recipe_for
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.vocabularies import domain_names
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.graph import inputs, outputs, task_graph
from pytest_taskgraph.workflow.model import Task, Workflow
from pytest_taskgraph.workflow.references import levels

OURS = [pattern for pattern in catalogue().values() if pattern.category == "functionality"]
PLANTED = [pattern for pattern in OURS if pattern.planted]
DRAWS = 24
LARGE = pytest.param(40, marks=pytest.mark.exhaustive)  # tasks


@cache
def draw_cases(name: str, size: int = 12, draws: int = DRAWS) -> tuple[DrawnCase, ...]:
    return tuple(draw(PATTERNS[name], size, 51, ordinal) for ordinal in range(draws))


def answer(drawn_case: DrawnCase) -> Any:  # noqa: ANN401 - each form has its own
    return drawn_case.case.answer


def tasks_of(name: str) -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in vocabulary(name)["tasks"]}


def test_functionality_patterns_are_ten_eight_planted() -> None:
    assert [pattern.name for pattern in OURS] == [
        "describe_task", "describe_workflow", "inconsistent_task_description", "inconsistent_task_data",
        "inconsistent_task_name", "inconsistent_workflow_description", "contradicting_task_descriptions",
        "task_of_kind", "task_of_kind_before", "wrong_task_order",
    ]  # fmt: skip
    assert {pattern.name for pattern in OURS} - {p.name for p in PLANTED} == {"task_of_kind", "task_of_kind_before"}
    assert all(pattern.domain and len(pattern.templates) >= 2 for pattern in OURS)


@pytest.mark.parametrize("size", [3, 12, LARGE])
def test_describe_task_hides_only_asked_description(size: int) -> None:
    for drawn_case in draw_cases("describe_task", size):
        task, text = drawn_case.case.fields["task"], write_workflow(drawn_case.project, "wadl")
        assert answer(drawn_case) == tasks_of(drawn_case.project.package)[task]["description"]
        assert answer(drawn_case) not in text
        assert task in drawn_case.scope.workflow.task_names
        assert [t.name for t in atomic(drawn_case.project) if not t.description] == [task]


def test_describe_workflow_hides_purpose_of_name() -> None:
    for drawn_case in draw_cases("describe_workflow"):
        wholes = {whole["name"]: whole["description"] for whole in vocabulary(drawn_case.project.package)["workflows"]}
        assert answer(drawn_case) == wholes[drawn_case.project.name]
        assert answer(drawn_case) not in write_workflow(drawn_case.project, "wadl")
        assert all(task.description for task in atomic(drawn_case.project))


@pytest.mark.parametrize("size", [3, 12, LARGE])
def test_inconsistent_description_answer_lists_exact_tasks(size: int) -> None:
    for drawn_case in draw_cases("inconsistent_task_description", size):
        assert (
            answer(drawn_case)["tasks"]
            == findings(drawn_case.project).descriptions
            == sorted(answer(drawn_case)["reasons"])
        )
        shown_descriptions = [task.description for task in atomic(drawn_case.project)]
        for name in answer(drawn_case)["tasks"]:
            false = drawn_case.scope.workflow.task(name).description
            true = known_tasks()[name][1]
            [other] = [fields for _, fields in known_tasks().values() if fields["description"] == false]
            assert shown_descriptions.count(false) == 1
            assert other["kind"] != true["kind"]
            assert other["name"] not in {task.name for task in atomic(drawn_case.project)}
            assert false in answer(drawn_case)["reasons"][name]
            assert true["description"][1:-1] in answer(drawn_case)["reasons"][name]


@pytest.mark.parametrize("size", [3, 12, LARGE])
def test_inconsistent_data_answer_lists_exact_tasks(size: int) -> None:
    for drawn_case in draw_cases("inconsistent_task_data", size):
        inconsistent = []
        for _, level in levels(drawn_case.project):
            for task in level.tasks:
                own = known_tasks().get(task.name, ("", None))[1]
                data_names = {*inputs(level, task.name), *outputs(level, task.name)}
                expected = {*own["reads"], *own["writes"]} if own else data_names
                if own and not data_names <= expected:
                    inconsistent.append(task.name)
                    assert not data_names & expected
                    assert not words(*data_names) & words(own["name"], *expected)
        assert answer(drawn_case)["tasks"] == sorted(inconsistent)
        assert not any(task.description for task in atomic(drawn_case.project))


def words(*names: str) -> set[str]:
    return {part.lower()[:4] for name in names for part in re.findall("[A-Z][a-z]*", name)}


@pytest.mark.parametrize("size", [3, 12, LARGE])
def test_inconsistent_name_answer_lists_exact_tasks(size: int) -> None:
    for drawn_case in draw_cases("inconsistent_task_name", size):
        foreign = findings(drawn_case.project).foreign
        assert answer(drawn_case)["tasks"] == foreign
        assert 2 * len(foreign) < len(drawn_case.scope.workflow.tasks)
        assert {known_tasks()[name][0] for name in foreign} <= set(vocabulary(drawn_case.project.package)["far"])
        assert not any(task.description or task.kind for task in atomic(drawn_case.project))
        assert not any(level.data for _, level in levels(drawn_case.project))
        for name, reason in answer(drawn_case)["reasons"].items():
            assert known_tasks()[name][1]["description"][1:-1] in reason


def test_inconsistent_workflow_answer_agrees_with_vocabulary() -> None:
    purposes = {w["name"]: w["description"] for name in domain_names() for w in vocabulary(name)["workflows"]}
    domain = {w["name"]: name for name in domain_names() for w in vocabulary(name)["workflows"]}
    described = {text: name for name, text in purposes.items()}
    swapped = set()
    for drawn_case in draw_cases("inconsistent_workflow_description"):
        agree = drawn_case.project.description == purposes[drawn_case.project.name]
        assert answer(drawn_case)["answer"] == ("yes" if agree else "no")
        assert bool(answer(drawn_case)["reason"]) is not agree
        if not agree:
            assert drawn_case.project.description in answer(drawn_case)["reason"]
            swapped.add(domain[drawn_case.project.name] == drawn_case.project.package)
            other = domain[described[drawn_case.project.description]]
            assert other in vocabulary(domain[drawn_case.project.name])["far"]
    assert swapped == {True, False}  # either the name or the description


@pytest.mark.parametrize("size", [3, 12, LARGE])
def test_contradicting_answer_lists_exact_tasks(size: int) -> None:
    kinds = set()
    for drawn_case in draw_cases("contradicting_task_descriptions", size):
        contradictions = findings(drawn_case.project)
        assert answer(drawn_case)["tasks"] == contradictions.contradictions
        assert drawn_case.case.labels["difficulty"] == ("easy" if contradictions.foreign else "hard")
        assert not (contradictions.foreign and contradictions.goal)
        far = vocabulary(drawn_case.project.package)["far"]
        assert {known_tasks()[name][0] for name in contradictions.foreign} <= set(far)
        kinds.add(drawn_case.case.labels["difficulty"])
    assert kinds == {"easy", "hard"}


@pytest.mark.parametrize("size", [6, 12, LARGE])
def test_wrong_order_answer_is_only_violated_pair(size: int) -> None:
    for drawn_case in draw_cases("wrong_task_order", size, draws=12):
        [pair] = domain_oracle.out_of_order(drawn_case.project)
        assert answer(drawn_case)["tasks"] == sorted(pair)
        assert set(pair) <= set(drawn_case.scope.workflow.task_names)
        assert pair[0] in tasks_of(drawn_case.project.package)[pair[1]]["after"]


def test_task_of_kind_answer_agrees_with_counts() -> None:
    for drawn_case in draw_cases("task_of_kind", draws=40):
        counts = Counter(task.kind for task in drawn_case.scope.workflow.tasks if task.kind)
        kinds = {fields["kind"] for fields in tasks_of(drawn_case.project.package).values()}
        assert {task.kind for task in atomic(drawn_case.project)} < kinds
        kind, other = drawn_case.case.fields["kind"], drawn_case.case.fields["other"]
        assert answer(drawn_case) == ("yes" if counts[kind] > (counts[other] if other else 0) else "no")
        assert drawn_case.case.labels["difficulty"] == ("hard" if other else "easy")


def test_task_of_kind_name_does_not_reveal_answer() -> None:
    answers: dict[str, list[str]] = {}
    for drawn_case in draw_cases("task_of_kind", draws=200):
        answers.setdefault(f"{drawn_case.project.package}: {drawn_case.case.fields['kind']}", []).append(
            answer(drawn_case)
        )
    right = sum(max(values.count("yes"), values.count("no")) for values in answers.values())
    assert right <= 0.75 * 200


def test_task_of_kind_asks_about_kinds_of_domain() -> None:
    kinds = {task["kind"] for task in tasks_of("kitchen").values()}
    assert {"baking", "serving"} <= kinds
    cook = Workflow("Soup", tasks=(Task("A", kind="baking"), Task("B", kind="serving")))
    answers = {c.fields["kind"]: c.answer for c in PATTERNS["task_of_kind"].cases(cook) if not c.fields["other"]}
    assert answers == {kind: "yes" if kind in ("baking", "serving") else "no" for kind in kinds}
    compared = {
        (c.fields["kind"], c.fields["other"]): c.answer
        for c in PATTERNS["task_of_kind"].cases(cook)
        if c.fields["other"]
    }
    assert compared == {("baking", "serving"): "no", ("serving", "baking"): "no"}
    own = Workflow("Own", tasks=(Task("A", kind="mine"),), others=(Workflow("Two", tasks=(Task("B", kind="yours"),)),))
    assert {case.fields["kind"]: case.answer for case in PATTERNS["task_of_kind"].cases(own)} == {
        "mine": "yes", "yours": "no",
    }  # fmt: skip
    assert not list(PATTERNS["task_of_kind"].cases(replace(cook, tasks=(*cook.tasks, Task("C")))))


def test_task_of_kind_before_agrees_with_paths() -> None:
    for drawn_case in draw_cases("task_of_kind_before"):
        level = drawn_case.scope.workflow
        graph = nx.DiGraph([(a, b) for a, after in task_graph(level).items() for b in after])
        graph.add_nodes_from(level.task_names)
        kind, side, task = (drawn_case.case.fields[name] for name in ("kind", "side", "task"))
        same = {t.name for t in level.tasks if t.kind == kind and t.name != task}
        sides = {"before": nx.ancestors(graph, task), "after": nx.descendants(graph, task)}
        assert answer(drawn_case) == ("yes" if same & sides.pop(side) else "no")
        if answer(drawn_case) == "no":
            [there] = sides.values()
            assert same <= there  # all tasks of the kind are ordered with the task


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
@pytest.mark.parametrize("size", [6, *(pytest.param(size, marks=pytest.mark.exhaustive) for size in (12, 30))])
def test_planted_oracle_finds_exact_flaws(pattern: Pattern, size: int) -> None:
    for drawn_case in draw_cases(pattern.name, size, draws=12):
        assert problems_of(drawn_case.case, pattern.name, drawn_case.project) == []


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_planted_pattern_asks_only_about_its_flaw(pattern: Pattern) -> None:
    drawn_case = draw(pattern, 12, 52, 0)
    assert list(pattern.cases(drawn_case.scope.workflow)) == [drawn_case.case]
    assert not problems(drawn_case.project)
    assert not list(pattern.cases(replace(drawn_case.scope.workflow, flaw=None)))
    for other in PLANTED:
        if other is not pattern:
            assert not list(other.cases(drawn_case.scope.workflow))


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_flaw_of_domain_meaningless_names_refused(pattern: Pattern) -> None:
    recipe = replace(recipe_for(pattern, 12), goal=False, omit_kind=False)
    for flaw in [flaw for flaws in pattern.flaws.values() for flaw in flaws]:
        with pytest.raises(NoCaseError, match="is not of the tasks of one domain"):
            MUTATIONS[flaw](generate(recipe, 3), Random(1))


def test_swap_order_twice_refused() -> None:
    chain = generate(Recipe(tasks=20, vocabulary="travel"), 4)
    swapped = MUTATIONS["swap-order"](chain, Random(2))
    assert len(domain_oracle.out_of_order(swapped)) == 1
    with pytest.raises(NoCaseError, match="is out of order as it is"):
        MUTATIONS["swap-order"](swapped, Random(2))


@pytest.mark.parametrize(
    "name",
    [
        "inconsistent_task_description",
        "inconsistent_task_data",
        "inconsistent_task_name",
        "contradicting_task_descriptions",
    ],
)
def test_planted_question_does_not_reveal_number_of_tasks(name: str) -> None:
    texts: dict[int, set[str]] = {}
    for drawn_case in draw_cases(name):
        text = sentence(PATTERNS[name], 0, drawn_case.scope, drawn_case.case)
        text = re.sub("'[^']*'", "'…'", text).replace("composite task '…' of ", "")
        texts.setdefault(len(answer(drawn_case)["tasks"]), set()).add(text)
    assert texts.keys() == {1, 2}
    assert texts[1] == texts[2]


@pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
def test_functionality_draws_several_domains(pattern: Pattern) -> None:
    assert len({drawn_case.project.package for drawn_case in draw_cases(pattern.name)}) >= 4


def test_verdict_returns_yes_or_no() -> None:
    assert [verdict("yes"), verdict({"answer": "no", "reason": "so"}), verdict(["A"])] == ["yes", "no", ["A"]]
    assert verdict({"tasks": ["A"]}) == {"tasks": ["A"]}
