"""Invariance: a question asked varied has the same answer, and asks about the same thing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding import variations as vary
from pytest_taskgraph.benchmarks.understanding.baselines import BASELINES
from pytest_taskgraph.benchmarks.understanding.baselines.prompt_view import find_workflow
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Cases, Pattern, case
from pytest_taskgraph.benchmarks.understanding.questions.assembly import check, notices, question, references
from pytest_taskgraph.benchmarks.understanding.questions.ingredients import PatternQuestion, PatternReference
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.benchmarks.understanding.renaming import names_of, random_renaming, with_texts
from pytest_taskgraph.errors import NoCaseError, UnknownNameError
from pytest_taskgraph.generation.builder import shuffle_declarations
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Request, Trial
from pytest_taskgraph.workflow.canonical import canonical
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Configuration, Effect, Link, Parameter, Task, Workflow

ALL = tuple(vary.RELATIONS)
SETTINGS = UnderstandingSettings(instances=2, vary=ALL, seed=3)
PATTERNS = {"patterns": ["structure", "behaviour"]}


def asked(name: str, one: Question) -> Trial:
    reply = asyncio.run(BASELINES[name]().answer(Request([{"role": "user", "content": one.prompt}])))
    score = grade(one, reply)
    return Trial(one, name, "right" if score.value >= one.pass_threshold else "wrong", reply, score)


@pytest.fixture(scope="module")
def made() -> list[Question]:
    return [question(one, SETTINGS) for one in references(SETTINGS, PATTERNS)]


def pairs(made: list[Question], relation: str) -> Iterator[tuple[Question, Question]]:
    by_id = {one.id: one for one in made}
    return ((by_id[one.twin], one) for one in made if one.relation == relation)


def told(workflow: Workflow) -> set[str]:
    """The names but those of gateways, which not every notation writes."""
    return {name for name, kind in names_of(workflow).items() if kind != "gateway"}


def test_every_question_is_asked_once_more_in_every_relation(made: list[Question]) -> None:
    plain = [one for one in made if not one.relation]
    assert {one.group for one in plain} >= {"next_tasks", "parallel_pair"}
    for relation in ALL:
        assert [old for old, _ in pairs(made, relation)] == plain
    assert all(new.id == f"{old.id}-vary-{new.relation}" for rel in ALL for old, new in pairs(made, rel))


def test_the_reader_answers_every_question_and_every_varied_one_right(made: list[Question]) -> None:
    tally = Tally()
    for one in made:
        trial = asked("reader", one)
        assert trial.passed, (one.id, one.text, one.reference, trial.score)
        tally.add(trial)
    assert {one.name: one.share for one in tally.relations()} == dict.fromkeys(ALL, 1.0)


def test_renamed_questions_share_no_name_of_a_task_with_the_question_as_it_is(made: list[Question]) -> None:
    for old, new in pairs(made, "names"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        assert not told(before) & told(after)
        assert features(before) == features(after)
        assert old.form != "yes-no" or old.reference == new.reference


def test_shuffled_questions_are_about_the_same_workflow_in_another_text(made: list[Question]) -> None:
    for old, new in pairs(made, "order"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        assert canonical(before) == canonical(after)
        assert old.prompt != new.prompt


def test_other_notations_and_phrasings_change_nothing_else(made: list[Question]) -> None:
    for old, new in pairs(made, "notation"):
        assert (old.text, old.reference) == (new.text, new.reference)
        assert new.labels["notation"] not in ("wadl", "wadl-separate", "wadl-expanded")
    for old, new in pairs(made, "phrasing"):
        assert old.text != new.text
        assert old.reference == new.reference
        assert old.labels["phrasing"] != new.labels["phrasing"]


def test_a_distractor_stands_beside_the_workflow_and_shares_no_name_with_it(made: list[Question]) -> None:
    for old, new in pairs(made, "distractor"):
        before, after = find_workflow(old.prompt), find_workflow(new.prompt)
        assert before
        assert after
        (added,) = {one.name for one in after.others} - {one.name for one in before.others}
        other = next(one for one in after.others if one.name == added)
        assert not told(before) & told(replace(other, others=()))
        assert (old.text, old.reference) == (new.text, new.reference)


def test_varied_questions_are_the_same_in_every_process() -> None:
    few = replace(SETTINGS, instances=1)
    ones = references(few, {"patterns": "next_tasks"})
    assert [question(one, few) for one in ones] == [question(one, few) for one in ones]
    assert [one.relation for one in ones] == ["", *ALL]


def test_whatever_is_collected_varied_can_be_asked() -> None:
    few = replace(SETTINGS, instances=1, tasks=(16,))
    ones = references(few, {"patterns": "*"})
    assert all(question(one, few).relation == one.relation for one in ones)
    assert not any(catalogue()[one.pattern].planted for one in ones if one.relation == "names")


def test_an_unknown_relation_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownNameError, match=r"'nmes'.*distractor, names, notation, order, phrasing"):
        check(UnderstandingSettings(vary=("nmes",)))


def test_own_files_are_shown_as_they_are_so_only_the_phrasing_varies(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("own") / "w.xxp"
    path.write_text(
        "package p;\nworkflow W { define task A; define task B; START -> A -> B -> END; }", encoding="utf-8"
    )
    own = replace(SETTINGS, workflows=(str(path),), instances=1)
    only = {"patterns": "next_tasks"}
    assert [one.relation for one in references(own, only)] == ["", "phrasing"]
    assert [one for one in notices(own, only) if "varied in names" in one] == [
        "1 of 1 questions have no variation in names: own files are shown verbatim; "
        "add --taskgraph-notation to convert them"
    ]
    converted = references(replace(own, convert=True, notations=("mermaid",)), only)
    assert [one.relation for one in converted] == ["", *ALL]
    assert all(question(one, replace(own, convert=True, notations=("mermaid",))).prompt for one in converted)


def fragile(workflow: Workflow) -> Cases:
    yield case([workflow.task_names[0]], about="the first")


def by_name(workflow: Workflow) -> Cases:
    yield from (case(name.startswith("Task"), task=name) for name in workflow.task_names)


@pytest.mark.parametrize(("cases", "lost"), [(fragile, {"order"}), (by_name, {"names"})])
def test_where_the_answer_of_an_own_pattern_does_change_it_is_not_varied_so(cases: object, lost: set[str]) -> None:
    form = "yes-no" if cases is by_name else "task-set"
    own = Pattern("own", "Why?", ("Which in {{ place }}?", "What?"), form, cases)  # type: ignore[arg-type]
    drawn = draw(catalogue()["next_tasks"], 12, 1, 0)
    level = drawn.scope.workflow
    first: Case = next(iter(own.cases(level)))
    posed = PatternQuestion(own, own, drawn.project, drawn.scope, first, 0, "wadl", "")
    refused = set()
    for relation in ALL:
        try:
            vary.vary_question(relation, posed, Random(1))
        except NoCaseError:
            refused.add(relation)
    assert refused == lost


def test_planted_answers_hang_on_names_so_these_stay() -> None:
    drawn = draw(catalogue()["next_tasks"], 12, 1, 0)
    planted = replace(catalogue()["next_tasks"], planted=True)
    posed = PatternQuestion(planted, planted, drawn.project, drawn.scope, drawn.case, 0, "wadl", "")
    with pytest.raises(NoCaseError, match="names are what"):
        vary.vary_question("names", posed, Random(1))
    assert vary.vary_question("order", posed, Random(1)).case == drawn.case


def test_a_renaming_reaches_guards_effects_descriptions_and_what_is_configured() -> None:
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


def test_baselines_that_guess_are_as_steady_as_their_verdicts(made: list[Question]) -> None:
    tally, right = Tally(), {}
    for one in made:
        trial = asked("constant", one)
        right[one.id] = trial.passed
        tally.add(trial)
    for row in tally.relations():
        ones = list(pairs(made, row.name))
        assert row.pairs == len(ones)
        assert row.same == sum(right[old.id] == right[new.id] for old, new in ones)
        assert row.name != "phrasing" or row.share == 1.0


def test_references_stay_small() -> None:
    one = PatternReference("a", "p", "wadl", 0)
    assert (one.relation, one.twin) == ("", "")
