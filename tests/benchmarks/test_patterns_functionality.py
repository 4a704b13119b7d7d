"""The functionality patterns: every planted answer is right by the vocabularies, read here by other code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import domain_oracle
import networkx as nx
import pytest
from planted_oracle import atomic, findings, known_tasks, problems_of, vocabulary

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import PATTERNS, Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.patterns.scope import sentence
from pytest_taskgraph.benchmarks.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.benchmarks.understanding.questions.sample import DrawnCase, draw, recipe_for
from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.builder import generate
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


def drawn(name: str, size: int = 12, draws: int = DRAWS) -> list[DrawnCase]:
    return [draw(PATTERNS[name], size, 51, ordinal) for ordinal in range(draws)]


def answer(one: DrawnCase) -> Any:  # noqa: ANN401 - each form has its own
    return one.case.answer


def tasks_of(name: str) -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in vocabulary(name)["tasks"]}


def test_there_are_nine_and_all_but_two_are_planted() -> None:
    assert [pattern.name for pattern in OURS] == [
        "describe_task", "describe_workflow", "inconsistent_task_description", "inconsistent_task_data",
        "inconsistent_workflow_description", "contradicting_task_descriptions", "task_of_kind", "task_of_kind_before",
        "wrong_task_order",
    ]  # fmt: skip
    assert {pattern.name for pattern in OURS} - {p.name for p in PLANTED} == {"task_of_kind", "task_of_kind_before"}
    assert all(pattern.domain and len(pattern.templates) >= 2 for pattern in OURS)


@pytest.mark.parametrize("size", [3, 12, 40])
def test_the_description_that_is_asked_for_is_the_only_one_that_is_not_shown(size: int) -> None:
    for one in drawn("describe_task", size):
        task, text = one.case.fields["task"], write_workflow(one.project, "wadl")
        assert answer(one) == tasks_of(one.project.package)[task]["description"]
        assert answer(one) not in text
        assert task in one.scope.workflow.task_names
        assert [t.name for t in atomic(one.project) if not t.description] == [task]


def test_the_purpose_that_is_asked_for_is_that_of_the_name_and_is_not_shown() -> None:
    for one in drawn("describe_workflow"):
        wholes = {whole["name"]: whole["description"] for whole in vocabulary(one.project.package)["workflows"]}
        assert answer(one) == wholes[one.project.name]
        assert answer(one) not in write_workflow(one.project, "wadl")
        assert all(task.description for task in atomic(one.project))


@pytest.mark.parametrize("size", [3, 12, 40])
def test_just_the_tasks_of_the_answer_are_described_as_others(size: int) -> None:
    for one in drawn("inconsistent_task_description", size):
        assert answer(one)["tasks"] == findings(one.project).descriptions == sorted(answer(one)["reasons"])
        shown = [task.description for task in atomic(one.project)]
        for name in answer(one)["tasks"]:
            false = one.scope.workflow.task(name).description
            true = known_tasks()[name][1]
            [other] = [told for _, told in known_tasks().values() if told["description"] == false]
            assert shown.count(false) == 1
            assert other["kind"] != true["kind"]
            assert other["name"] not in {task.name for task in atomic(one.project)}
            assert false in answer(one)["reasons"][name]
            assert true["description"][1:-1] in answer(one)["reasons"][name]


@pytest.mark.parametrize("size", [3, 12, 40])
def test_just_the_tasks_of_the_answer_have_data_that_their_names_know_nothing_of(size: int) -> None:
    for one in drawn("inconsistent_task_data", size):
        strange = []
        for _, level in levels(one.project):
            for task in level.tasks:
                own = known_tasks().get(task.name, ("", None))[1]
                found = {*inputs(level, task.name), *outputs(level, task.name)}
                named = {*own["reads"], *own["writes"]} if own else found
                if own and not found <= named:
                    strange.append(task.name)
                    assert not found & named
                    assert not words(*found) & words(own["name"], *named)
        assert answer(one)["tasks"] == sorted(strange)
        assert not any(task.description for task in atomic(one.project))


def words(*names: str) -> set[str]:
    return {part.lower()[:4] for name in names for part in re.findall("[A-Z][a-z]*", name)}


def test_a_workflow_is_named_and_described_as_one_thing_if_and_only_if_the_answer_is_yes() -> None:
    meant = {w["name"]: w["description"] for name in domain_names() for w in vocabulary(name)["workflows"]}
    domain = {w["name"]: name for name in domain_names() for w in vocabulary(name)["workflows"]}
    described = {told: name for name, told in meant.items()}
    swapped = set()
    for one in drawn("inconsistent_workflow_description"):
        agree = one.project.description == meant[one.project.name]
        assert answer(one)["answer"] == ("yes" if agree else "no")
        assert bool(answer(one)["reason"]) is not agree
        if not agree:
            assert one.project.description in answer(one)["reason"]
            swapped.add(domain[one.project.name] == one.project.package)
            other = domain[described[one.project.description]]
            assert other in vocabulary(domain[one.project.name])["far"]
    assert swapped == {True, False}  # either the name or the description


@pytest.mark.parametrize("size", [3, 12, 40])
def test_just_the_tasks_of_the_answer_contradict_the_goal(size: int) -> None:
    kinds = set()
    for one in drawn("contradicting_task_descriptions", size):
        found = findings(one.project)
        assert answer(one)["tasks"] == found.contradictions
        assert one.case.labels["difficulty"] == ("easy" if found.foreign else "hard")
        assert not (found.foreign and found.goal)
        far = vocabulary(one.project.package)["far"]
        assert {known_tasks()[name][0] for name in found.foreign} <= set(far)
        kinds.add(one.case.labels["difficulty"])
    assert kinds == {"easy", "hard"}


@pytest.mark.parametrize("size", [6, 12, 40])
def test_just_the_two_tasks_of_the_answer_are_out_of_order(size: int) -> None:
    for one in drawn("wrong_task_order", size, draws=12):
        [pair] = domain_oracle.out_of_order(one.project)
        assert answer(one)["tasks"] == sorted(pair)
        assert set(pair) <= set(one.scope.workflow.task_names)
        assert pair[0] in tasks_of(one.project.package)[pair[1]]["after"]


def test_kinds_are_there_or_more_and_each_workflow_lacks_one_of_its_domain() -> None:
    for one in drawn("task_of_kind", draws=40):
        held = Counter(task.kind for task in one.scope.workflow.tasks if task.kind)
        kinds = {told["kind"] for told in tasks_of(one.project.package).values()}
        assert {task.kind for task in atomic(one.project)} < kinds
        kind, other = one.case.fields["kind"], one.case.fields["other"]
        assert answer(one) == ("yes" if held[kind] > (held[other] if other else 0) else "no")
        assert one.case.labels["difficulty"] == ("hard" if other else "easy")


def test_a_kind_does_not_tell_whether_it_is_there() -> None:
    answers: dict[str, list[str]] = {}
    for one in drawn("task_of_kind", draws=200):
        answers.setdefault(f"{one.project.package}: {one.case.fields['kind']}", []).append(answer(one))
    right = sum(max(found.count("yes"), found.count("no")) for found in answers.values())
    assert right <= 0.75 * 200


def test_kinds_of_a_domain_are_asked_of_a_level_that_has_some_of_them() -> None:
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


def test_a_task_of_a_kind_runs_before_or_after_another_if_a_path_leads_there() -> None:
    for one in drawn("task_of_kind_before"):
        level = one.scope.workflow
        graph = nx.DiGraph([(a, b) for a, after in task_graph(level).items() for b in after])
        graph.add_nodes_from(level.task_names)
        kind, side, task = (one.case.fields[name] for name in ("kind", "side", "task"))
        same = {t.name for t in level.tasks if t.kind == kind and t.name != task}
        sides = {"before": nx.ancestors(graph, task), "after": nx.descendants(graph, task)}
        assert answer(one) == ("yes" if same & sides.pop(side) else "no")
        if answer(one) == "no":
            [there] = sides.values()
            assert same <= there  # none in no order with the task


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
@pytest.mark.parametrize("size", [6, 12, 30])
def test_checkers_find_exactly_what_was_planted(pattern: Pattern, size: int) -> None:
    for one in drawn(pattern.name, size, draws=12):
        assert problems_of(one.case, pattern.name, one.project) == []


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_a_planted_pattern_asks_one_thing_of_its_flaw_and_nothing_of_any_other(pattern: Pattern) -> None:
    one = draw(pattern, 12, 52, 0)
    assert list(pattern.cases(one.scope.workflow)) == [one.case]
    assert not problems(one.project)
    assert not list(pattern.cases(replace(one.scope.workflow, flaw=None)))
    for other in PLANTED:
        if other is not pattern:
            assert not list(other.cases(one.scope.workflow))


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_flaw_of_domain_is_refused_where_names_tell_nothing(pattern: Pattern) -> None:
    recipe = replace(recipe_for(pattern, 12), goal=False, omit_kind=False)
    for flaw in [flaw for flaws in pattern.flaws.values() for flaw in flaws]:
        with pytest.raises(NoCaseError, match="is not of the tasks of one domain"):
            MUTATIONS[flaw](generate(recipe, 3), Random(1))


def test_wrong_order_is_refused_a_second_time() -> None:
    chain = generate(Recipe(tasks=20, vocabulary="travel"), 4)
    swapped = MUTATIONS["swap-order"](chain, Random(2))
    assert len(domain_oracle.out_of_order(swapped)) == 1
    with pytest.raises(NoCaseError, match="is out of order as it is"):
        MUTATIONS["swap-order"](swapped, Random(2))


@pytest.mark.parametrize(
    "name", ["inconsistent_task_description", "inconsistent_task_data", "contradicting_task_descriptions"]
)
def test_one_or_two_tasks_are_planted_and_the_question_does_not_tell_which(name: str) -> None:
    texts: dict[int, set[str]] = {}
    for one in drawn(name):
        text = sentence(PATTERNS[name], 0, one.scope, one.case)
        text = re.sub("'[^']*'", "'…'", text).replace("composite task '…' of ", "")
        texts.setdefault(len(answer(one)["tasks"]), set()).add(text)
    assert texts.keys() == {1, 2}
    assert texts[1] == texts[2]


@pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
def test_several_domains_are_drawn(pattern: Pattern) -> None:
    assert len({one.project.package for one in drawn(pattern.name)}) >= 4


def test_the_verdict_of_an_answer_is_its_yes_or_no() -> None:
    assert [verdict("yes"), verdict({"answer": "no", "reason": "so"}), verdict(["A"])] == ["yes", "no", ["A"]]
    assert verdict({"tasks": ["A"]}) == {"tasks": ["A"]}
