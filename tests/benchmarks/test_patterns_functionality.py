"""The functionality patterns: every planted answer is right by the vocabularies, read here by other code."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import networkx as nx
import pytest

from pytest_taskgraph.benchmarks.understanding.asked import written
from pytest_taskgraph.benchmarks.understanding.catalogue import catalogue
from pytest_taskgraph.benchmarks.understanding.pattern import PATTERNS, Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.sample import Drawn, draw, recipe_for
from pytest_taskgraph.benchmarks.understanding.scope import sentence
from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.generation.build import generate
from pytest_taskgraph.generation.mutate import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.vocabularies import domain_names
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.graph import inputs, outputs, task_graph
from pytest_taskgraph.workflow.model import Task, Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category == "functionality"]
PLANTED = [pattern for pattern in OURS if pattern.planted]
DRAWS = 24


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """The file itself, read without the loader."""
    return tomllib.loads(files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def tasks_of(name: str) -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in vocabulary(name)["tasks"]}


@cache
def known_tasks() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every task of every domain, with its domain."""
    return {task: (name, told) for name in domain_names() for task, told in tasks_of(name).items()}


def drawn(name: str, size: int = 12, draws: int = DRAWS) -> list[Drawn]:
    return [draw(PATTERNS[name], size, 51, ordinal) for ordinal in range(draws)]


def answer(one: Drawn) -> Any:  # noqa: ANN401 - each form has its own
    return one.case.answer


def bare(name: str) -> str:
    return name.rstrip("0123456789")


def misdescribed(workflow: Workflow) -> list[str]:
    """The tasks whose description is not the one that their name has."""
    return sorted(t.name for t in workflow.tasks if t.description != known_tasks()[bare(t.name)][1]["description"])


def test_there_are_nine_and_all_but_two_are_planted() -> None:
    assert [pattern.name for pattern in OURS] == [
        "describe_task", "describe_workflow", "inconsistent_task_description", "inconsistent_task_data",
        "inconsistent_workflow_description", "contradicting_task_descriptions", "task_of_kind", "task_of_kind_before",
        "wrong_task_order",
    ]  # fmt: skip
    assert {pattern.name for pattern in OURS} - {p.name for p in PLANTED} == {"task_of_kind", "task_of_kind_before"}
    assert all(pattern.domain and len(pattern.templates) >= 2 for pattern in OURS)


@pytest.mark.parametrize("size", [3, 12, 30])
def test_the_description_that_is_asked_for_is_the_only_one_that_is_not_shown(size: int) -> None:
    for one in drawn("describe_task", size):
        task, text = one.case.fields["task"], written(one.project, "wadl")
        assert answer(one) == tasks_of(one.project.package)[bare(task)]["description"]
        assert answer(one) not in text
        assert {t for t in one.project.task_names if not one.project.task(t).description} >= {task}
        assert all(bare(t.name) == bare(task) for t in one.project.tasks if not t.description)


def test_the_purpose_that_is_asked_for_is_that_of_the_name_and_is_not_shown() -> None:
    for one in drawn("describe_workflow"):
        wholes = {whole["name"]: whole["description"] for whole in vocabulary(one.project.package)["workflows"]}
        assert answer(one) == wholes[one.project.name]
        assert answer(one) not in written(one.project, "wadl")
        assert all(task.description for task in one.project.tasks)


@pytest.mark.parametrize("size", [3, 12, 30])
def test_just_the_tasks_of_the_answer_are_described_as_others(size: int) -> None:
    for one in drawn("inconsistent_task_description", size):
        assert answer(one)["tasks"] == misdescribed(one.project) == sorted(answer(one)["reasons"])
        shown = [task.description for task in one.project.tasks]
        for name in answer(one)["tasks"]:
            false = one.project.task(name).description
            true = known_tasks()[bare(name)][1]
            [other] = [told for _, told in known_tasks().values() if told["description"] == false]
            assert shown.count(false) == 1
            assert other["kind"] != true["kind"]
            assert other["name"] not in set(map(bare, one.project.task_names))
            assert false in answer(one)["reasons"][name]
            assert true["description"][1:-1] in answer(one)["reasons"][name]


@pytest.mark.parametrize("size", [3, 12, 30])
def test_just_the_tasks_of_the_answer_have_data_that_their_names_know_nothing_of(size: int) -> None:
    for one in drawn("inconsistent_task_data", size):
        strange = []
        for name in one.project.task_names:
            own = known_tasks()[bare(name)][1]
            found = {bare(d) for d in (*inputs(one.project, name), *outputs(one.project, name))}
            named = {*own["reads"], *own["writes"]}
            if not found <= named:
                strange.append(name)
                assert not found & named
                assert not words(*found) & words(own["name"], *named)
        assert answer(one)["tasks"] == sorted(strange)
        assert not any(task.description for task in one.project.tasks)


def words(*names: str) -> set[str]:
    return {part.lower()[:4] for name in names for part in re.findall("[A-Z][a-z]*", name)}


def test_a_workflow_is_named_and_described_as_one_thing_if_and_only_if_the_answer_is_yes() -> None:
    meant = {w["name"]: w["description"] for name in domain_names() for w in vocabulary(name)["workflows"]}
    domain = {w["name"]: name for name in domain_names() for w in vocabulary(name)["workflows"]}
    swapped = set()
    for one in drawn("inconsistent_workflow_description"):
        agree = one.project.description == meant[one.project.name]
        assert answer(one)["answer"] == ("yes" if agree else "no")
        assert bool(answer(one)["reason"]) is not agree
        if not agree:
            assert one.project.description in answer(one)["reason"]
            swapped.add(domain[one.project.name] == one.project.package)
    assert swapped == {True, False}  # either the name or the description


def test_just_the_tasks_of_the_answer_are_of_another_domain() -> None:
    for one in drawn("contradicting_task_descriptions"):
        foreign = [t for t in one.project.task_names if known_tasks()[bare(t)][0] != one.project.package]
        assert answer(one)["tasks"] == sorted(foreign)
        assert not misdescribed(one.project)
        assert all(one.project.task(t).description[1:-1] in answer(one)["reasons"][t] for t in foreign)


def out_of_order(workflow: Workflow) -> list[tuple[str, str]]:
    """The pairs of which the vocabulary wants the first before the second, and no path leads from it there."""
    known = tasks_of(workflow.package)
    wanted = nx.DiGraph([(before, name) for name, told in known.items() for before in told["after"]])
    graph = nx.DiGraph([(a, b) for a, after in task_graph(workflow).items() for b in after])
    return [
        (a, b)
        for a in workflow.task_names
        for b in workflow.task_names
        if a != b and bare(a) != bare(b) and a[len(bare(a)) :] == b[len(bare(b)) :]
        and nx.has_path(wanted, bare(a), bare(b)) and not nx.has_path(graph, a, b)
    ]  # fmt: skip


@pytest.mark.parametrize("size", [4, 12, 30])
def test_just_the_two_tasks_of_the_answer_are_out_of_order(size: int) -> None:
    for one in drawn("wrong_task_order", size, draws=12):
        [pair] = out_of_order(one.project)
        assert answer(one)["tasks"] == sorted(pair)
        assert out_of_order(exchanged(one.project, *pair)) == []


def exchanged(workflow: Workflow, a: str, b: str) -> Workflow:
    other = {a: b, b: a}
    links = [
        replace(x, source=other.get(x.source, x.source), target=other.get(x.target, x.target)) for x in workflow.links
    ]
    return replace(workflow, links=tuple(links))


def test_kinds_are_there_or_not_and_each_workflow_lacks_one_of_its_domain() -> None:
    for one in drawn("task_of_kind", draws=40):
        held = {task.kind for task in one.project.tasks}
        kinds = {told["kind"] for told in tasks_of(one.project.package).values()}
        assert held < kinds
        assert answer(one) == ("yes" if one.case.fields["kind"] in held else "no")


def test_a_kind_does_not_tell_whether_it_is_there() -> None:
    answers: dict[str, list[str]] = {}
    for one in drawn("task_of_kind", draws=200):
        answers.setdefault(f"{one.project.package}: {one.case.fields['kind']}", []).append(answer(one))
    right = sum(max(found.count("yes"), found.count("no")) for found in answers.values())
    assert right <= 0.75 * 200


def test_kinds_of_a_domain_are_asked_of_a_level_that_has_some_of_them() -> None:
    cook = Workflow("Soup", tasks=(Task("A", kind="shopping"), Task("B", kind="serving")))
    answers = {case.fields["kind"]: case.answer for case in PATTERNS["task_of_kind"].cases(cook)}
    assert answers == {
        "shopping": "yes", "serving": "yes", "planning": "no", "ingredient preparation": "no",
        "cooking with heat": "no", "cleaning up": "no",
    }  # fmt: skip
    own = Workflow("Own", tasks=(Task("A", kind="mine"),), others=(Workflow("Two", tasks=(Task("B", kind="yours"),)),))
    assert {case.fields["kind"]: case.answer for case in PATTERNS["task_of_kind"].cases(own)} == {
        "mine": "yes", "yours": "no",
    }  # fmt: skip
    assert not list(PATTERNS["task_of_kind"].cases(replace(cook, tasks=(*cook.tasks, Task("C")))))


def test_a_task_of_a_kind_runs_before_or_after_another_if_a_path_leads_there() -> None:
    for one in drawn("task_of_kind_before"):
        graph = nx.DiGraph([(a, b) for a, after in task_graph(one.project).items() for b in after])
        kind, side, task = (one.case.fields[name] for name in ("kind", "side", "task"))
        same = {t.name for t in one.project.tasks if t.kind == kind and t.name != task}
        sides = {"before": nx.ancestors(graph, task), "after": nx.descendants(graph, task)}
        assert answer(one) == ("yes" if same & sides.pop(side) else "no")
        if answer(one) == "no":
            [there] = sides.values()
            assert same <= there  # none in no order with the task


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_a_planted_pattern_asks_one_thing_of_its_flaw_and_nothing_of_any_other(pattern: Pattern) -> None:
    one = draw(pattern, 12, 52, 0)
    assert list(pattern.cases(one.scope.workflow)) == [one.case]
    assert not problems(one.project)
    assert not list(pattern.cases(replace(one.project, flaw=None)))
    for other in PLANTED:
        if other is not pattern:
            assert not list(other.cases(one.project))


@pytest.mark.parametrize("pattern", PLANTED, ids=lambda pattern: pattern.name)
def test_flaws_of_a_domain_are_refused_where_names_tell_nothing_or_tasks_are_nested(pattern: Pattern) -> None:
    recipe = recipe_for(pattern, 12)
    nested = replace(recipe, features=recipe.features | {"hierarchy"}, avoid=frozenset(), vocabulary="kitchen")
    for flaw in pattern.flaws.values():
        for one in (recipe, nested):
            with pytest.raises(NoCaseError, match="is not one level of tasks of a domain"):
                MUTATIONS[flaw](generate(one, 3), Random(1))


def test_a_chain_of_a_domain_has_nothing_out_of_order_and_a_flaw_in_it_is_refused_a_second_time() -> None:
    chain = generate(Recipe(tasks=10, vocabulary="travel"), 4)
    assert out_of_order(chain) == []
    swapped = MUTATIONS["swap-order"](chain, Random(2))
    with pytest.raises(NoCaseError, match="has nothing to be put out of order"):
        MUTATIONS["swap-order"](swapped, Random(2))


@pytest.mark.parametrize(
    "name", ["inconsistent_task_description", "inconsistent_task_data", "contradicting_task_descriptions"]
)
def test_one_or_two_tasks_are_planted_and_the_question_does_not_tell_which(name: str) -> None:
    texts: dict[int, set[str]] = {}
    for one in drawn(name):
        text = sentence(PATTERNS[name], 0, one.scope, one.case)
        texts.setdefault(len(answer(one)["tasks"]), set()).add(re.sub("'[^']*'", "'…'", text))
    assert texts.keys() == {1, 2}
    assert texts[1] == texts[2]


@pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
def test_several_domains_are_drawn(pattern: Pattern) -> None:
    assert len({one.project.package for one in drawn(pattern.name)}) >= 4


def test_the_verdict_of_an_answer_is_its_yes_or_no() -> None:
    assert [verdict("yes"), verdict({"answer": "no", "reason": "so"}), verdict(["A"])] == ["yes", "no", ["A"]]
    assert verdict({"tasks": ["A"]}) == {"tasks": ["A"]}
