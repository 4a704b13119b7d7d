"""Invariance: a variation of a question has the same answer and the same subject."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from canonical_form import canonical

from pytest_taskgraph.errors import NoCaseError, UnknownNameError
from pytest_taskgraph.families.understanding import variations as vary
from pytest_taskgraph.families.understanding.baselines import BASELINES
from pytest_taskgraph.families.understanding.baselines.prompt_view import find_workflow
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Cases, Pattern, case
from pytest_taskgraph.families.understanding.questions.assembly import check, notices, question, references
from pytest_taskgraph.families.understanding.questions.ingredients import PatternQuestion, PatternReference
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.renaming import names_of, random_renaming, with_texts
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.builder import shuffle_declarations
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Request, Trial
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Configuration, Effect, Link, Parameter, Task, Workflow

RELATION_NAMES = tuple(vary.RELATIONS)
SETTINGS = UnderstandingSettings(instances=1, vary=RELATION_NAMES, seed=3)
PATTERNS = {"patterns": ["structure", "behaviour"]}


def run_baseline(name: str, posed: Question) -> Trial:
    reply = asyncio.run(BASELINES[name]().answer(Request([{"role": "user", "content": posed.prompt}])))
    score = grade(posed, reply)
    return Trial(posed, name, "right" if score.value >= posed.pass_threshold else "wrong", reply, score)


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.exhaustive)])
def all_questions(request: pytest.FixtureRequest) -> list[Question]:
    settings = replace(SETTINGS, instances=request.param)
    return [question(reference, settings) for reference in references(settings, PATTERNS)]


def pairs(all_questions: list[Question], relation: str) -> Iterator[tuple[Question, Question]]:
    by_id = {each.id: each for each in all_questions}
    return ((by_id[each.twin], each) for each in all_questions if each.relation == relation)


def names_without_gateways(workflow: Workflow) -> set[str]:
    """Return the names except those of gateways, which not every notation writes."""
    return {name for name, kind in names_of(workflow).items() if kind != "gateway"}


def test_variations_every_question_in_every_relation(all_questions: list[Question]) -> None:
    plain = [each for each in all_questions if not each.relation]
    assert {each.group for each in plain} >= {"next_tasks", "parallel_pair"}
    for relation in RELATION_NAMES:
        assert [old for old, _ in pairs(all_questions, relation)] == plain
    assert all(
        new.id == f"{old.id}-vary-{new.relation}" for rel in RELATION_NAMES for old, new in pairs(all_questions, rel)
    )


def test_reader_questions_and_variations_right(all_questions: list[Question]) -> None:
    tally = Tally()
    for each in all_questions:
        trial = run_baseline("reader", each)
        assert trial.passed, (each.id, each.text, each.reference, trial.score)
        tally.add(trial)
    assert {row.name: row.share for row in tally.relations()} == dict.fromkeys(RELATION_NAMES, 1.0)


def test_variation_names_shares_no_name(all_questions: list[Question]) -> None:
    for old, new in pairs(all_questions, "names"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        assert not names_without_gateways(before) & names_without_gateways(after)
        assert features(before) == features(after)
        assert old.form != "yes-no" or old.reference == new.reference


def test_variation_order_keeps_workflow_changes_text(all_questions: list[Question]) -> None:
    for old, new in pairs(all_questions, "order"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        assert canonical(before) == canonical(after)
        assert old.prompt != new.prompt


def test_variation_notation_or_phrasing_keeps_answer(all_questions: list[Question]) -> None:
    for old, new in pairs(all_questions, "notation"):
        assert (old.text, old.reference) == (new.text, new.reference)
        assert new.labels["notation"] not in ("wadl", "wadl-separate", "wadl-expanded")
    for old, new in pairs(all_questions, "phrasing"):
        assert old.text != new.text
        assert old.reference == new.reference
        assert old.labels["phrasing"] != new.labels["phrasing"]


def test_variation_distractor_shares_no_name(all_questions: list[Question]) -> None:
    for old, new in pairs(all_questions, "distractor"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        (added,) = {workflow.name for workflow in after.others} - {workflow.name for workflow in before.others}
        other = next(workflow for workflow in after.others if workflow.name == added)
        assert not names_without_gateways(before) & names_without_gateways(replace(other, others=()))
        assert (old.text, old.reference) == (new.text, new.reference)


def test_variations_are_deterministic() -> None:
    few = replace(SETTINGS, instances=1)
    few_references = references(few, {"patterns": "next_tasks"})
    assert [question(reference, few) for reference in few_references] == [
        question(reference, few) for reference in few_references
    ]
    assert [reference.relation for reference in few_references] == ["", *RELATION_NAMES]


def test_variations_collected_can_be_built() -> None:
    few = replace(SETTINGS, instances=1, tasks=(16,))
    few_references = references(few, {"patterns": "*"})
    assert all(question(reference, few).relation == reference.relation for reference in few_references)
    assert not any(catalogue()[each.pattern].planted for each in few_references if each.relation == "names")


def test_check_unknown_relation_lists_relations() -> None:
    with pytest.raises(UnknownNameError, match=r"'nmes'.*distractor, names, notation, order, phrasing"):
        check(UnderstandingSettings(vary=("nmes",)))


def test_variations_own_file_only_phrasing(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("own") / "w.xxp"
    path.write_text(
        "package p;\nworkflow W { define task A; define task B; START -> A -> B -> END; }", encoding="utf-8"
    )
    own = replace(SETTINGS, workflows=(str(path),), instances=1)
    only = {"patterns": "next_tasks"}
    assert [reference.relation for reference in references(own, only)] == ["", "phrasing"]
    assert [line for line in notices(own, only) if "variation in names" in line] == [
        "1 of 1 questions have no variation in names: own files are shown verbatim; "
        "add --taskgraph-notation to convert them"
    ]
    converted = references(replace(own, convert=True, notations=("mermaid",)), only)
    assert [reference.relation for reference in converted] == ["", *RELATION_NAMES]
    assert all(
        question(reference, replace(own, convert=True, notations=("mermaid",))).prompt for reference in converted
    )


def fragile(workflow: Workflow) -> Cases:
    yield case([workflow.task_names[0]], about="the first")


def by_name(workflow: Workflow) -> Cases:
    yield from (case(name.startswith("Task"), task=name) for name in workflow.task_names)


@pytest.mark.parametrize(("cases", "lost"), [(fragile, {"order"}), (by_name, {"names"})])
def test_variation_changed_answer_refused(cases: object, lost: set[str]) -> None:
    form = "yes-no" if cases is by_name else "task-set"
    own = Pattern("own", "Why?", ("Which in {{ place }}?", "What?"), form, cases)  # type: ignore[arg-type]
    drawn_case = draw(catalogue()["next_tasks"], 12, 1, 0)
    level = drawn_case.scope.workflow
    first: Case = next(iter(own.cases(level)))
    posed = PatternQuestion(own, own, drawn_case.project, drawn_case.scope, first, 0, "wadl", "")
    refused = set()
    for relation in RELATION_NAMES:
        try:
            vary.vary_question(relation, posed, Random(1))
        except NoCaseError:
            refused.add(relation)
    assert refused == lost


def test_variation_names_of_planted_pattern_refused() -> None:
    drawn_case = draw(catalogue()["next_tasks"], 12, 1, 0)
    planted = replace(catalogue()["next_tasks"], planted=True)
    posed = PatternQuestion(planted, planted, drawn_case.project, drawn_case.scope, drawn_case.case, 0, "wadl", "")
    with pytest.raises(NoCaseError, match="names are what"):
        vary.vary_question("names", posed, Random(1))
    assert vary.vary_question("order", posed, Random(1)).case == drawn_case.case


def test_random_renaming_changes_guards_and_configurations() -> None:
    project = Workflow(
        "W", tasks=(Task("A b", description="A b follows A", effects=(Effect("n", "n + 1"),)), Task("A")),
        links=(Link("A", "A b", "n > 1 and nn = 2"),), parameters=(Parameter("n"),),
        configurations=(Configuration("A", parameters=(Parameter("speed"),)),),
    )  # fmt: skip
    change = random_renaming(names_of(project), frozenset(names_of(project)), Random(0))
    new = with_texts(project, change)
    first, second, n = change("A b"), change("A"), change("n")
    assert new.task_names == (first, second)
    assert new.tasks[0].description == f"{first} follows {second}"
    assert new.tasks[0].effects == (Effect(n, f"{n} + 1"),)
    assert new.links == (Link(second, first, f"{n} > 1 and nn = 2"),)
    assert new.configurations[0].target == second
    assert new.configurations[0].of == "task"
    assert new.configurations[0].parameters[0].name == change("speed") != "speed"
    assert len({first, second, n, change("W"), change("speed")}) == 5


def test_varied_projects_are_well_formed() -> None:
    for name in ("next_tasks", "task_loop"):
        if name not in catalogue():
            continue
        project = draw(catalogue()[name], 20, 5, 0).project
        change = random_renaming(names_of(project), frozenset(names_of(project)), Random(2))
        assert not problems(with_texts(project, change))
        assert not problems(shuffle_declarations(project, Random(2)))


def test_relations_share_equals_equal_verdicts(all_questions: list[Question]) -> None:
    tally, right = Tally(), {}
    for each in all_questions:
        trial = run_baseline("constant", each)
        right[each.id] = trial.passed
        tally.add(trial)
    for row in tally.relations():
        varied_pairs = list(pairs(all_questions, row.name))
        assert row.pairs == len(varied_pairs)
        assert row.same == sum(right[old.id] == right[new.id] for old, new in varied_pairs)
        assert row.name != "phrasing" or row.share == 1.0


def test_pattern_reference_defaults_to_no_relation() -> None:
    reference = PatternReference("a", "p", "wadl", 0)
    assert (reference.relation, reference.twin) == ("", "")
