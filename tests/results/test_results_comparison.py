from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from described_runs import PATTERNS, about_run
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.results.comparison import FAIL_ON, RunComparison, compare, comparison_case, parse_fail_on
from pytest_taskgraph.results.comparison.pairing import find_changes
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

REPLIES = count(1)  # no reply says the same as another
OF_TEMPLATE = "digest of chain-of-thought"


def make_question(
    name: str,
    *,
    group: str = "next_tasks",
    workflow: str | None = None,
    template: str = "chain-of-thought",
    **more: object,
) -> Question:
    at = workflow or f"w-{name}"
    digests = {
        "workflow": at,
        "prompt_template": f"digest of {template}",
        "template": "t",
        "reference": "r",
        "prompt": name + template,
    }
    facts: dict[str, Any] = {
        "section": "structure", "text": f"What comes after {name}?", "prompt": f"{template}\nWhat comes after {name}?",
        "form": "task", "reference": "Mix", "metric": "correctness", "cluster": at, "digests": digests,
        "labels": {"notation": "wadl", "prompt": template},
    }  # fmt: skip
    return Question(name, "understanding", group, **{**facts, **more})


def make_trial(question: Question, right: bool | float | Outcome, model: str = "m") -> Trial:
    if isinstance(right, str):
        return Trial(question, model, right, failure=Failure("timeout", "none came"))
    value = float(right)
    given: Json = question.reference if value == 1 else "Bake"
    outcome: Outcome = "graded" if question.graded else "right" if value >= question.pass_threshold else "wrong"
    return Trial(question, model, outcome, Reply(f"Final answer: x, number {next(REPLIES)}"), Score(value, given=given))


def record_of(trials: Iterable[Trial]) -> dict[str, Any]:
    all_trials = list(trials)
    return build(all_trials, about_run("0.1.0", models=tuple(sorted({trial.model for trial in all_trials}))))


def compare_marks(before: str, after: str, **more: Any) -> RunComparison:  # noqa: ANN401
    """Compare two runs with a question a letter: "+" right, "-" wrong, "e" an error, " " not asked."""
    records = [
        record_of(
            make_trial(make_question(f"q{at:03d}", **more), "error" if mark == "e" else mark == "+")
            for at, mark in enumerate(marks)
            if mark != " "
        )
        for marks in (before, after)
    ]
    return compare(records[0], records[1])


def test_compare_many_equal_questions_is_not_worse() -> None:
    comparison = compare_marks("+" * 80, "+" * 80)
    assert (comparison.verdict, comparison.paired, comparison.loss, comparison.needed) == ("not worse", 80, 0.0, None)
    assert comparison.reason == "+0.000 over 80 paired questions; the loss is at most 0.046, below the margin of 0.05"


def test_compare_few_unchanged_questions_names_number_needed() -> None:
    comparison = compare_marks("+" * 20, "+" * 20)
    assert comparison.verdict == "inconclusive"
    assert comparison.needed == 96
    assert comparison.reason == (
        "+0.000 over 20 paired questions; a loss is neither shown nor excluded: it may be up to 0.161, the margin "
        "is 0.05; about 96 questions needed for a decision if nothing is lost"
    )


def test_compare_enough_questions_if_nothing_is_lost_names_assumed_change() -> None:
    comparison = compare_marks("-" * 10 + "+" * 390, "+" * 10 + "-" * 20 + "+" * 370)
    assert (comparison.verdict, comparison.needed) == ("inconclusive", 940)
    assert comparison.reason.endswith("about 940 questions needed for a decision if the change stays -0.025")


def test_compare_same_replies_is_identical_for_any_number() -> None:
    for questions in (1, 20, 400):
        record = record_of(make_trial(make_question(f"q{at:03d}"), at % 4 > 0) for at in range(questions))
        comparison = compare(record, record)
        reason = f"{questions} paired question{'s' if questions > 1 else ''} got the same replies in both runs"
        assert (comparison.verdict, comparison.reason, comparison.needed) == ("identical replies", reason, None)
        assert comparison_case(comparison, frozenset({"regression", "inconclusive"})) == (
            "passed",
            f"identical replies: {reason}",
        )


def test_compare_single_different_reply_is_not_identical() -> None:
    trials = [make_trial(make_question(f"q{at:03d}"), True) for at in range(20)]
    other = [*trials[:-1], make_trial(trials[-1].question, True)]
    assert compare(record_of(trials), record_of(other)).verdict == "inconclusive"
    worse = [*trials[:-1], replace(trials[-1], outcome="wrong", score=Score(0.0, given="Bake"))]
    assert compare(record_of(trials), record_of(worse)).verdict == "inconclusive"
    unknown = [replace(trial, reply=None) for trial in trials]
    assert compare(record_of(unknown), record_of(unknown)).verdict == "inconclusive"


def exchange_of(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "messages": [], "text": text}


def test_compare_agents_with_different_turns_is_not_identical() -> None:
    turns: list[list[dict[str, Any]]] = [
        [exchange_of("subject", text) | {"calls": []}, exchange_of("judge", text)] for text in "aab"
    ]
    runs_of = [
        record_of(
            [
                replace(
                    make_trial(make_question("q0"), True),
                    reply=Reply("A"),
                    exchanges=[*turn, exchange_of("judge", str(at))],
                )
            ]
        )
        for at, turn in enumerate(turns)
    ]
    assert compare(runs_of[0], runs_of[1]).verdict == "identical replies", "what a judge says is not compared"
    assert compare(runs_of[0], runs_of[2]).verdict == "inconclusive"


def test_compare_six_lost_is_worse_and_five_inconclusive() -> None:
    assert compare_marks("+" * 100, "-" * 6 + "+" * 94).verdict == "worse"
    assert compare_marks("+" * 100, "-" * 5 + "+" * 95).verdict == "inconclusive"
    assert compare_marks("-" * 6 + "+" * 94, "+" * 100).verdict == "better"


def test_compare_single_questions_has_p_of_mcnemar() -> None:
    comparison = compare_marks("+" * 8 + "-" * 2, "-" * 8 + "+" * 2)
    assert comparison.p == pytest.approx(sum((45, 10, 1)) / 1024)
    assert comparison.groups[0].p == comparison.p


def compare_in_workflows(workflows: int, before: str, after: str) -> RunComparison:
    """Compare two runs as `compare_marks` does, with questions distributed over the workflows in turn."""
    records = [
        record_of(
            make_trial(make_question(f"q{at:03d}", workflow=f"w{at % workflows}"), mark == "+")
            for at, mark in enumerate(marks)
        )
        for marks in (before, after)
    ]
    return compare(records[0], records[1])


def test_compare_loss_in_single_workflow_counts_as_one_case() -> None:
    comparison = compare_in_workflows(6, "+" * 60, ("-" + "+" * 5) * 10)
    assert comparison.loss == pytest.approx(1 / 6)
    assert comparison.p == 0.5
    assert comparison.verdict == "inconclusive"
    assert "only" not in comparison.reason


@pytest.mark.parametrize(("workflows", "restriction"), [(1, "this 1 workflow"), (5, "these 5 workflows")])
def test_compare_collapse_in_few_workflows_is_worse_on_these(workflows: int, restriction: str) -> None:
    comparison = compare_in_workflows(workflows, "+" * 60, "-" * 20 + "+" * 40)
    assert comparison.verdict == "worse on these workflows"
    assert comparison.groups[0].verdict == "worse on these workflows"
    assert comparison.p == pytest.approx(2**-20)
    assert comparison.reason.endswith(f"; over {restriction} only, tested question by question")
    assert comparison_case(comparison, frozenset({"regression"}))[0] == "failed"
    assert compare_in_workflows(workflows, "-" * 20 + "+" * 40, "+" * 60).verdict == "better on these workflows"


def test_compare_few_workflows_counts_draws_as_one_case() -> None:
    def record(lost: int) -> dict[str, Any]:
        return record_of(
            make_trial(
                make_question(f"q{at}-{seed}", text=f"{at}?", workflow=f"w{at % 2}", labels={"seed": seed}), at >= lost
            )
            for at in range(20)
            for seed in range(6)
        )

    comparison = compare(record(0), record(4))
    assert comparison.p == 2**-4
    assert comparison.verdict == "inconclusive"


def test_compare_few_unchanged_workflows_is_not_worse_on_these() -> None:
    comparison = compare_in_workflows(2, "+" * 80, "+" * 80)
    assert comparison.verdict == "not worse on these workflows"
    assert comparison.reason.endswith(
        "below the margin of 0.05; over these 2 workflows only, tested question by question"
    )
    few = compare_in_workflows(2, "+" * 20, "+" * 20)
    assert (few.verdict, few.needed) == ("inconclusive", 96)
    assert "about 96 questions needed for a decision if nothing is lost; over these 2 workflows only" in few.reason


def test_compare_swapped_results_in_workflow_is_inconclusive() -> None:
    comparison = compare_in_workflows(1, "+" * 30 + "-" * 30, "-" * 30 + "+" * 30)
    assert comparison.verdict == "inconclusive"


def test_compare_inconclusive_names_questions_and_workflows() -> None:
    comparison = compare_in_workflows(10, "+" * 200, "+" * 200)
    assert (comparison.verdict, comparison.needed) == ("inconclusive", 1500)
    assert "about 1,500 questions on 75 workflows needed for a decision if nothing is lost" in comparison.reason


@pytest.mark.parametrize("margin", [5e-324, 1e-300, 1e-160, 1e-9])
def test_compare_tiny_margin_needs_too_many_questions(margin: float) -> None:
    question = [record_of(make_trial(make_question(f"q{at}"), True) for at in range(9)) for _ in range(2)]
    comparison = compare(question[0], question[1], margin)
    assert (comparison.verdict, comparison.needed) == ("inconclusive", None)
    assert comparison.reason.endswith(f"the margin is {margin:g}; a decision needs more questions than can be asked")


def test_compare_single_worse_pattern_is_worse() -> None:
    def record_with(lost: int, won: int) -> dict[str, Any]:
        first = [make_trial(make_question(f"a{at:03d}", group="chain"), at >= lost) for at in range(40)]
        return record_of(
            [*first, *(make_trial(make_question(f"b{at:03d}", group="loop"), at < won) for at in range(40))]
        )

    comparison = compare(record_with(0, 20), record_with(10, 32))
    assert comparison.p is not None
    assert comparison.p > 0.025
    assert comparison.verdict == "worse"
    assert "worse in chain" in comparison.reason
    assert [(group.name, group.verdict) for group in comparison.groups] == [("chain", "worse"), ("loop", "better")]
    assert comparison.groups[0].adjusted_p == pytest.approx(2 / 1024)


def test_compare_sections_are_not_tested() -> None:
    comparison = compare_marks("+" * 10, "-" * 10)
    (category,) = comparison.sections
    assert (category.name, category.n, category.p, category.verdict) == ("structure", 10, None, "")
    assert (category.rate_before, category.rate_after, category.lost) == (1.0, 0.0, 10)


def test_compare_graded_patterns_tests_scores() -> None:
    def record_with(value: float) -> dict[str, Any]:
        return record_of(
            make_trial(make_question(f"q{at:02d}", pass_threshold=0.0), value + at / 100) for at in range(30)
        )

    comparison = compare(record_with(0.6), record_with(0.5))
    assert comparison.verdict == "worse"
    assert comparison.loss == pytest.approx(0.1)
    (pattern,) = comparison.groups
    assert (pattern.graded, pattern.rate_before, pattern.rate_after) == (True, None, None)
    assert pattern.change == pytest.approx(-0.1)
    assert comparison.total is not None
    assert (comparison.total.n, comparison.total.graded, comparison.notes) == (30, True, ())


def test_compare_graded_beside_others_not_in_total() -> None:
    def record_with(score: float) -> dict[str, Any]:
        graded = [make_question(f"g{at:02d}", group="describe_task", pass_threshold=0.0) for at in range(30)]
        others = [make_trial(make_question(f"q{at:02d}"), True) for at in range(100)]
        return record_of([*others, *(make_trial(question, score + at / 100) for at, question in enumerate(graded))])

    comparison = compare(record_with(0.6), record_with(0.5))
    assert (comparison.verdict, comparison.paired, comparison.loss) == ("worse", 130, 0.0)
    assert comparison.reason == "+0.000 over 100 paired questions, worse in describe_task"
    assert comparison.total is not None
    assert (comparison.total.n, comparison.total.rate_after) == (100, 1.0)
    assert [(section.name, section.n, section.graded) for section in comparison.sections] == [("structure", 100, False)]
    assert "30 graded questions stand apart: tested by pattern, by score, and in no total" in comparison.notes


def test_compare_graded_flips_on_large_change_or_lost_answer() -> None:
    def record_with(*scores: float | None) -> dict[str, Any]:
        trials = [
            make_trial(make_question(f"g{at}", pass_threshold=0.0), score or 0.0) for at, score in enumerate(scores)
        ]
        unparseable = [replace(trial, outcome="unparseable") for trial in trials]
        return record_of(
            bad if score is None else trial for trial, bad, score in zip(trials, unparseable, scores, strict=True)
        )

    comparison = compare(record_with(0.9, 0.4, 0.3, None), record_with(0.2, 0.3, None, 0.1))
    assert [(flip.id, flip.lost, flip.after_outcome) for flip in comparison.flips] == [
        ("g0", True, "graded"),
        ("g2", True, "unparseable"),
        ("g3", False, "graded"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({"understanding": 2}, {"understanding": 2}, ""),
        ({}, {"understanding": 2}, ""),
        ({"understanding": 1}, {}, ""),
        ({"understanding": 1, "steps": 3}, {"understanding": 2}, "version 1 of the questions of 'understanding'"),
    ],
)
def test_compare_different_question_sets_is_refused(before: dict[str, int], after: dict[str, int], why: str) -> None:
    old, new = (
        {**record_of([make_trial(make_question("q"), True)]), "question_sets": sets} for sets in (before, after)
    )
    if not why:
        assert compare(old, new).paired == 1
        return
    with pytest.raises(UsageError, match=f"{why}, the run after version 2: .*; record the baseline again"):
        compare(old, new)


def test_compare_repetitions_count_as_one_question() -> None:
    def repetitions(*marks: bool) -> list[Trial]:
        return [
            make_trial(make_question(f"q-r{at}" if at > 1 else "q", cluster="w", repetition=at), mark)
            for at, mark in enumerate(marks, 1)
        ]

    comparison = compare(record_of(repetitions(True, True, False)), record_of(repetitions(True, False, False)))
    assert comparison.paired == 1
    assert comparison.loss == pytest.approx(1 / 3)
    assert [(flip.id, flip.before_outcome, flip.after_outcome) for flip in comparison.flips] == [
        ("q", "right", "wrong")
    ]


def test_compare_flips_state_both_answers() -> None:
    comparison = compare_marks("+-++", "++-+")
    flips = [(flip.id, flip.lost, flip.before_answer, flip.after_answer) for flip in comparison.flips]
    assert flips == [("q002", True, "Mix", "Bake"), ("q001", False, "Bake", "Mix")]
    assert comparison.flips[0].expected == "Mix"


def test_compare_errors_are_missing_not_paired() -> None:
    comparison = compare_marks("++e+", "+e++")
    assert comparison.paired == 2
    assert [(answer.id, answer.run, answer.reason) for answer in comparison.missing] == [
        ("q001", "after", "timeout: none came"),
        ("q002", "before", "timeout: none came"),
    ]
    assert comparison_case(comparison, frozenset({"missing"}))[0] == "failed"
    assert comparison_case(comparison)[0] == "skipped", "inconclusive"


def test_compare_questions_of_one_run_are_listed() -> None:
    comparison = compare_marks("++ ", " ++")
    assert (comparison.paired, comparison.only_before, comparison.only_after) == (1, ("q000",), ("q002",))
    outcome, reason = comparison_case(comparison, frozenset({"missing"}))
    assert outcome == "failed"
    assert "1 of the baseline were not asked" in reason


def test_compare_without_pairs_is_inconclusive_and_fails() -> None:
    comparison = compare_marks("++  ", "  ++")
    assert (comparison.verdict, comparison.paired, comparison.p, comparison.needed) == ("inconclusive", 0, None, None)
    assert comparison_case(comparison)[0] == "failed"
    assert comparison_case(comparison, frozenset({"missing"}))[0] == "failed"
    empty = compare(record_of([]), record_of([]))
    assert (empty.verdict, empty.total) == ("inconclusive", None)


def test_comparison_case_worse_fails_by_default() -> None:
    comparison = compare_marks("+" * 20, "-" * 20)
    assert comparison_case(comparison, frozenset())[0] == comparison_case(comparison)[0] == "failed"
    assert comparison_case(comparison, frozenset({"inconclusive"}))[0] == "passed"


def test_comparison_case_inconclusive_is_not_passed_and_fails_on_request() -> None:
    comparison = compare_marks("+" * 5, "+" * 5)
    assert comparison_case(comparison, frozenset({"regression"}))[0] == "skipped"
    assert comparison_case(comparison, frozenset({"regression", "inconclusive"}))[0] == "failed"


def test_parse_fail_on_unknown_or_empty_is_refused() -> None:
    assert parse_fail_on(FAIL_ON, "--fail-on") == parse_fail_on([" , ".join(FAIL_ON)], "--fail-on") == set(FAIL_ON)
    with pytest.raises(UsageError, match="--fail-on: no value; expected some of regression, inconclusive"):
        parse_fail_on([","], "--fail-on")
    with pytest.raises(UnknownNameError, match=r"value of --fail-on 'worse'; known: inconclusive, missing, regression"):
        parse_fail_on(["regression", "worse"], "--fail-on")


def test_compare_varied_questions_left_out() -> None:
    varied = make_trial(make_question("q-names", relation="names", twin="q"), False)
    comparison = compare(
        record_of([make_trial(make_question("q"), True)]), record_of([make_trial(make_question("q"), True), varied])
    )
    assert (comparison.paired, comparison.only_after) == (1, ())


def test_compare_single_models_paired_despite_names() -> None:
    question = make_question("q")
    assert (
        compare(record_of([make_trial(question, True, "old")]), record_of([make_trial(question, True, "new")])).paired
        == 1
    )


def test_compare_several_models_paired_by_name() -> None:
    questions = [make_question(f"q{at:02d}") for at in range(30)]
    before = record_of(make_trial(question, True, model) for question in questions for model in ("a", "b"))
    after = record_of(make_trial(question, model == "a", model) for question in questions for model in ("a", "b"))
    comparison = compare(before, after)
    assert [(group.model, group.verdict) for group in comparison.groups] == [("a", "inconclusive"), ("b", "worse")]
    assert {flip.model for flip in comparison.flips} == {"b"}
    single = compare(before, record_of(make_trial(question, False, "b") for question in questions))
    assert (single.paired, len(single.only_before)) == (30, 30)


def test_compare_changed_prompt_is_compared_and_noted() -> None:
    before = record_of([make_trial(make_question("q"), True)])
    after = record_of(
        [make_trial(make_question("q-short", template="short", workflow="w-q", text="What comes after q?"), False)]
    )
    comparison = compare(before, after)
    assert comparison.paired == 1
    assert [(change.id, change.what, change.paired) for change in comparison.changed] == [
        ("q-short", ("prompt template",), True)
    ]
    assert comparison.notes == ("the prompt template changed for 1 question: this compares the prompt template",)
    (difference,) = comparison.differences
    assert difference.lines[0] == "- chain-of-thought"
    assert "+ short" in difference.lines
    other = compare(before, record_of([make_trial(make_question("q", template="short"), False, "another")]))
    assert other.notes == (
        "the prompt template changed for 1 question: this compares prompt template and model together",
    )


def test_compare_changed_system_message_is_shown() -> None:
    question = make_question("q")
    brief = replace(question, system="Be brief.", digests={**question.digests, "prompt": "other"})
    comparison = compare(record_of([make_trial(question, True)]), record_of([make_trial(brief, True)]))
    (difference,) = comparison.differences
    assert (difference.what, difference.lines) == ("prompt", ("+ Be brief.",))


def test_compare_runs_of_two_versions_is_noted() -> None:
    trials = [make_trial(make_question("q"), True)]
    before, after = (build(trials, about_run(version)) for version in ("0.1.0", "0.2.0"))
    assert compare(before, after).notes == ("the runs are of versions 0.1.0 and 0.2.0",)
    assert compare(before, before).notes == ()


def of_prompts(*prompts: str, right: str = "", **more: Any) -> list[Trial]:  # noqa: ANN401
    """Return 30 questions that differ in their prompt only, right with the prompt `right`, or with each if it is ""."""
    return [
        make_trial(
            make_question(
                f"q{at:02d}-{prompt}", template=prompt, workflow=f"w{at}", text=f"What comes after q{at}?", **more
            ),
            right in ("", prompt),
        )
        for at in range(30)
        for prompt in prompts
    ]


def test_compare_grids_tested_within_each_prompt() -> None:
    before, after = of_prompts("direct", "guided"), of_prompts("direct", "guided", right="direct")
    comparison = compare(record_of(before), record_of(after))
    assert (comparison.paired, comparison.changed, comparison.only_before, comparison.only_after) == (60, (), (), ())
    assert [(group.prompt, group.n, group.verdict) for group in comparison.groups] == [
        ("direct", 30, "inconclusive"),
        ("guided", 30, "worse"),
    ]
    assert "worse in next_tasks with guided" in comparison.reason
    assert {flip.id.partition("-")[2] for flip in comparison.flips} == {"guided"}


def test_compare_grids_of_models_paired_within_prompt_and_model() -> None:
    grid = [replace(trial, model=model) for trial in of_prompts("direct", "guided") for model in "ab"]
    comparison = compare(record_of(grid), record_of(grid))
    assert (comparison.paired, comparison.changed, comparison.only_before) == (120, (), ())
    assert {(group.prompt, group.model, group.n) for group in comparison.groups} == {
        (prompt, model, 30) for prompt in ("direct", "guided") for model in "ab"
    }


def test_compare_grids_with_other_ids_note_changed_template() -> None:
    before, after = of_prompts("direct", "guided"), of_prompts("direct", "guided")
    edited = [
        replace(
            trial,
            question=replace(
                trial.question,
                id=f"new-{trial.question.id}",
                digests=trial.question.digests | {"prompt_template": f"edited {trial.question.labels['prompt']}"},
            ),
        )
        for trial in after
    ]
    comparison = compare(record_of(before), record_of(edited))
    assert comparison.paired == 60
    assert comparison.notes == ("the prompt template changed for 60 questions: this compares the prompt template",)


@pytest.mark.parametrize("turned", [False, True])
def test_compare_grid_with_single_prompt_pairs_same_name(turned: bool) -> None:
    grid, single = record_of(of_prompts("direct", "guided")), record_of(of_prompts("guided"))
    comparison = compare(single, grid) if turned else compare(grid, single)
    alone = comparison.only_after if turned else comparison.only_before
    assert (comparison.paired, comparison.changed) == (30, ())
    assert len(alone) == 30
    assert all(question_id.endswith("-direct") for question_id in alone)


def test_compare_grid_with_unknown_prompt_pairs_nothing() -> None:
    comparison = compare(record_of(of_prompts("direct", "guided")), record_of(of_prompts("few-shot")))
    assert (comparison.paired, len(comparison.only_before), len(comparison.only_after)) == (0, 60, 30)


def test_compare_changed_prompt_of_one_group_is_paired() -> None:
    other = of_prompts("direct", group="reachable")
    for trial in other:
        trial.question.digests["workflow"] += "-other"
    comparison = compare(record_of([*of_prompts("guided"), *other]), record_of([*of_prompts("few-shot"), *other]))
    assert (comparison.paired, len(comparison.changed)) == (60, 30)


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("workflow", {"digests": {"workflow": "other", "template": "t", "prompt_template": OF_TEMPLATE}}),
        ("reference", {"reference": "Bake"}),
        (
            "template",
            {"text": "Which?", "digests": {"workflow": "w-q", "template": "u", "prompt_template": OF_TEMPLATE}},
        ),
        ("case", {"text": "What comes after Stir?"}),
        ("case", {"text": "What comes after Stir?", "reference": "Bake"}),
        ("notation", {"labels": {"notation": "json", "prompt": "chain-of-thought"}}),
        ("scoring", {"metric": "jaccard"}),
        ("scoring", {"parsing": "strict"}),
    ],
)
def test_compare_different_question_of_same_id_not_paired(what: str, changed: dict[str, Any]) -> None:
    comparison = compare(
        record_of([make_trial(make_question("q"), True)]), record_of([make_trial(make_question("q", **changed), False)])
    )
    assert (comparison.paired, comparison.verdict) == (0, "inconclusive")
    assert [(change.what, change.paired) for change in comparison.changed] == [((what,), False)]
    assert comparison.notes[0] == f"the {what} changed for 1 question: not compared, because the questions differ"


def test_compare_same_content_is_paired_before_same_id() -> None:
    """Another seed asks about the user's own files under the same ids, partly in another order."""

    def record_with(*tasks: str, right: bool) -> dict[str, Any]:
        return record_of(
            make_trial(make_question(f"own-{at}", workflow="w", text=f"What comes after {task}?", prompt=task), right)
            for at, task in enumerate(tasks)
        )

    comparison = compare(
        record_with("Stir", "Bake", "Mix", right=True), record_with("Cool", "Stir", "Mix", right=False)
    )
    assert [(flip.id, flip.question) for flip in comparison.flips] == [
        ("own-1", "What comes after Stir?"),
        ("own-2", "What comes after Mix?"),
    ]
    assert (comparison.changed, comparison.only_before, comparison.only_after) == ((), ("own-1",), ("own-0",))


def test_compare_changed_case_shows_both_questions() -> None:
    before, after = (
        record_of([make_trial(make_question("q", workflow="w", text=text), True)]) for text in ("After A?", "After B?")
    )
    comparison = compare(before, after)
    assert comparison.notes == ("the case changed for 1 question: not compared, because the questions differ",)
    assert comparison.differences[0].lines == ("- After A?", "+ After B?")


def test_compare_ambiguous_questions_paired_by_id() -> None:
    twice = [make_question(name, workflow="w", text="What is first?") for name in ("a", "b")]
    comparison = compare(
        record_of(make_trial(question, True) for question in twice), record_of([make_trial(twice[1], False)])
    )
    assert ([flip.id for flip in comparison.flips], comparison.only_before) == (["b"], ("a",))


def test_compare_changed_notation_is_listed_not_paired() -> None:
    json_question = make_question(
        "q-json", workflow="w-q", text="What comes after q?", labels={"notation": "json", "prompt": "f"}
    )
    comparison = compare(
        record_of([make_trial(make_question("q"), True)]), record_of([make_trial(json_question, False)])
    )
    assert (comparison.paired, comparison.only_before, comparison.only_after) == (0, (), ())
    assert comparison.changed[0].what == ("notation", "prompt template")


def test_find_changes_wording_prompt_and_presentation() -> None:
    question = make_question("q")
    assert find_changes(question, replace(question, digests={**question.digests, "template": "u"}), PATTERNS) == (
        "wording",
    )
    assert find_changes(question, replace(question, system="Be brief."), PATTERNS) == ("prompt",)
    assert find_changes(question, replace(question, episode="agent"), PATTERNS) == ("presentation",)


@given(st.lists(st.tuples(st.sampled_from("+-e "), st.sampled_from("+-e ")), max_size=25), st.integers(1, 30))
def test_compare_swapped_runs_swaps_worse_and_better(marks: list[tuple[str, str]], workflows: int) -> None:
    before, after = ("".join(column) for column in zip(*marks, strict=True)) if marks else ("", "")
    forward, backward = compare_marks(before, after), compare_marks(after, before)
    assert (forward.p, forward.p_better) == (backward.p_better, backward.p)
    assert sorted(flip.id for flip in forward.flips) == sorted(flip.id for flip in backward.flips)
    assert forward.paired + len({answer.id for answer in forward.missing}) + len(forward.only_before) <= len(marks)


def test_compare_margin_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="margin"):
        compare(record_of([]), record_of([]), 1.5)
