from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from described_runs import PATTERNS, about_run
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.results.comparison import FAIL_ON, RunComparison, compare, comparison_case, parse_fail_on
from pytest_taskgraph.results.comparison.pairing import find_changes
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

REPLIES = count(1)  # no reply says the same as another
OF_TEMPLATE = "digest of chain-of-thought"


def asked(
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


def answered(question: Question, right: bool | float | Outcome, model: str = "m") -> Trial:
    if isinstance(right, str):
        return Trial(question, model, right, failure=Failure("timeout", "none came"))
    value = float(right)
    given: Json = question.reference if value == 1 else "Bake"
    outcome: Outcome = "graded" if question.graded else "right" if value >= question.pass_threshold else "wrong"
    return Trial(question, model, outcome, Reply(f"Final answer: x, number {next(REPLIES)}"), Score(value, given=given))


def run(trials: Iterable[Trial]) -> dict[str, Any]:
    kept = list(trials)
    return build(kept, about_run("0.1.0", models=tuple(sorted({one.model for one in kept}))))


def runs(before: str, after: str, **more: Any) -> RunComparison:  # noqa: ANN401
    """One question a letter, "+" right, "-" wrong, "e" an error, " " not asked."""
    records = [
        run(
            answered(asked(f"q{at:03d}", **more), "error" if mark == "e" else mark == "+")
            for at, mark in enumerate(marks)
            if mark != " "
        )
        for marks in (before, after)
    ]
    return compare(records[0], records[1])


def test_the_same_run_twice_is_not_worse_if_there_are_enough_questions() -> None:
    found = runs("+" * 80, "+" * 80)
    assert (found.verdict, found.paired, found.loss, found.needed) == ("not worse", 80, 0.0, None)
    assert found.reason == "+0.000 over 80 paired questions; the loss is at most 0.046, below the margin of 0.05"


def test_compare_few_questions_without_change_names_number_needed() -> None:
    found = runs("+" * 20, "+" * 20)
    assert found.verdict == "inconclusive"
    assert found.needed == 96
    assert "about 96 questions needed for a decision" in found.reason


def test_compare_same_replies_is_identical_whatever_the_number() -> None:
    for questions in (1, 20, 400):
        record = run(answered(asked(f"q{at:03d}"), at % 4 > 0) for at in range(questions))
        found = compare(record, record)
        told = f"{questions} paired question{'s' if questions > 1 else ''} got the same replies in both runs"
        assert (found.verdict, found.reason, found.needed) == ("identical replies", told, None)
        assert comparison_case(found, frozenset({"regression", "inconclusive"})) == (
            "passed",
            f"identical replies: {told}",
        )


def test_compare_one_other_reply_or_score_is_not_identical() -> None:
    trials = [answered(asked(f"q{at:03d}"), True) for at in range(20)]
    other = [*trials[:-1], answered(trials[-1].question, True)]
    assert compare(run(trials), run(other)).verdict == "inconclusive"
    worse = [*trials[:-1], replace(trials[-1], outcome="wrong", score=Score(0.0, given="Bake"))]
    assert compare(run(trials), run(worse)).verdict == "inconclusive"
    unknown = [replace(one, reply=None) for one in trials]
    assert compare(run(unknown), run(unknown)).verdict == "inconclusive"


def test_compare_agents_with_other_turns_is_not_identical() -> None:
    turns: list[list[dict[str, Any]]] = [
        [{"role": "subject", "text": text, "calls": []}, {"role": "judge", "text": text}] for text in "aab"
    ]
    runs_of = [
        run(
            [
                replace(
                    answered(asked("q0"), True), reply=Reply("A"), exchanges=[*one, {"role": "judge", "text": str(at)}]
                )
            ]
        )
        for at, one in enumerate(turns)
    ]
    assert compare(runs_of[0], runs_of[1]).verdict == "identical replies", "what a judge says is not compared"
    assert compare(runs_of[0], runs_of[2]).verdict == "inconclusive"


def test_six_lost_and_none_won_is_worse_and_five_are_not() -> None:
    assert runs("+" * 100, "-" * 6 + "+" * 94).verdict == "worse"
    assert runs("+" * 100, "-" * 5 + "+" * 95).verdict == "inconclusive"
    assert runs("-" * 6 + "+" * 94, "+" * 100).verdict == "better"


def test_p_is_that_of_mcnemar_where_each_workflow_has_one_question() -> None:
    found = runs("+" * 8 + "-" * 2, "-" * 8 + "+" * 2)
    assert found.p == pytest.approx(sum((45, 10, 1)) / 1024)
    assert found.groups[0].p == found.p


def among(workflows: int, before: str, after: str) -> RunComparison:
    """One question a letter as in `runs`, the workflows taking turns."""
    records = [
        run(answered(asked(f"q{at:03d}", workflow=f"w{at % workflows}"), mark == "+") for at, mark in enumerate(marks))
        for marks in (before, after)
    ]
    return compare(records[0], records[1])


def test_questions_about_one_of_six_workflows_count_as_one_case() -> None:
    found = among(6, "+" * 60, ("-" + "+" * 5) * 10)
    assert found.loss == pytest.approx(1 / 6)
    assert found.p == 0.5
    assert found.verdict == "inconclusive"
    assert "only" not in found.reason


@pytest.mark.parametrize(("workflows", "told"), [(1, "this 1 workflow"), (5, "these 5 workflows")])
def test_a_collapse_over_few_workflows_is_worse_and_told_of_these_only(workflows: int, told: str) -> None:
    found = among(workflows, "+" * 60, "-" * 20 + "+" * 40)
    assert found.verdict == "worse on these workflows"
    assert found.groups[0].verdict == "worse on these workflows"
    assert found.p == pytest.approx(2**-20)
    assert found.reason.endswith(f"; over {told} only, tested question by question")
    assert comparison_case(found, frozenset({"regression"}))[0] == "failed"
    assert among(workflows, "-" * 20 + "+" * 40, "+" * 60).verdict == "better on these workflows"


def test_few_workflows_draws_of_demonstrations_count_as_one_case() -> None:
    def record(lost: int) -> dict[str, Any]:
        return run(
            answered(asked(f"q{at}-{seed}", text=f"{at}?", workflow=f"w{at % 2}", labels={"seed": seed}), at >= lost)
            for at in range(20)
            for seed in range(6)
        )

    found = compare(record(0), record(4))
    assert found.p == 2**-4
    assert found.verdict == "inconclusive"


def test_few_workflows_without_a_change_are_not_worse_themselves() -> None:
    found = among(2, "+" * 80, "+" * 80)
    assert found.verdict == "not worse on these workflows"
    assert found.reason.endswith("below the margin of 0.05; over these 2 workflows only, tested question by question")
    few = among(2, "+" * 20, "+" * 20)
    assert (few.verdict, few.needed) == ("inconclusive", 96)
    assert "about 96 questions needed for a decision; over these 2 workflows only" in few.reason


def test_an_exchange_of_right_and_wrong_within_one_workflow_is_no_difference() -> None:
    found = among(1, "+" * 30 + "-" * 30, "-" * 30 + "+" * 30)
    assert found.verdict == "inconclusive"


def test_where_workflows_have_several_questions_the_workflows_that_decide_are_told() -> None:
    found = among(10, "+" * 200, "+" * 200)
    assert (found.verdict, found.needed) == ("inconclusive", 1500)
    assert "about 1,500 questions on 75 workflows needed for a decision" in found.reason


@pytest.mark.parametrize("margin", [5e-324, 1e-300, 1e-160, 1e-9])
def test_a_margin_next_to_nothing_takes_more_questions_than_can_be_asked(margin: float) -> None:
    question = [run(answered(asked(f"q{at}"), True) for at in range(9)) for _ in range(2)]
    found = compare(question[0], question[1], margin)
    assert (found.verdict, found.needed) == ("inconclusive", None)
    assert found.reason.endswith(f"the margin is {margin:g}; a decision needs more questions than can be asked")


def test_a_single_pattern_can_make_it_worse() -> None:
    def made(lost: int, won: int) -> dict[str, Any]:
        first = [answered(asked(f"a{at:03d}", group="chain"), at >= lost) for at in range(40)]
        return run([*first, *(answered(asked(f"b{at:03d}", group="loop"), at < won) for at in range(40))])

    found = compare(made(0, 20), made(10, 32))
    assert found.p is not None
    assert found.p > 0.025
    assert found.verdict == "worse"
    assert "worse in chain" in found.reason
    assert [(one.name, one.verdict) for one in found.groups] == [("chain", "worse"), ("loop", "better")]
    assert found.groups[0].adjusted_p == pytest.approx(2 / 1024)


def test_categories_are_shown_and_not_tested() -> None:
    found = runs("+" * 10, "-" * 10)
    (category,) = found.sections
    assert (category.name, category.n, category.p, category.verdict) == ("structure", 10, None, "")
    assert (category.rate_before, category.rate_after, category.lost) == (1.0, 0.0, 10)


def test_graded_patterns_are_tested_by_their_scores() -> None:
    def made(value: float) -> dict[str, Any]:
        return run(answered(asked(f"q{at:02d}", pass_threshold=0.0), value + at / 100) for at in range(30))

    found = compare(made(0.6), made(0.5))
    assert found.verdict == "worse"
    assert found.loss == pytest.approx(0.1)
    (pattern,) = found.groups
    assert (pattern.graded, pattern.rate_before, pattern.rate_after) == (True, None, None)
    assert pattern.change == pytest.approx(-0.1)
    assert found.total is not None
    assert (found.total.n, found.total.graded, found.notes) == (30, True, ())


def test_graded_questions_beside_others_are_in_no_total() -> None:
    def made(score: float) -> dict[str, Any]:
        graded = [asked(f"g{at:02d}", group="describe_task", pass_threshold=0.0) for at in range(30)]
        others = [answered(asked(f"q{at:02d}"), True) for at in range(100)]
        return run([*others, *(answered(one, score + at / 100) for at, one in enumerate(graded))])

    found = compare(made(0.6), made(0.5))
    assert (found.verdict, found.paired, found.loss) == ("worse", 130, 0.0)
    assert found.reason == "+0.000 over 100 paired questions, worse in describe_task"
    assert found.total is not None
    assert (found.total.n, found.total.rate_after) == (100, 1.0)
    assert [(one.name, one.n, one.graded) for one in found.sections] == [("structure", 100, False)]
    assert "30 graded questions stand apart: tested by pattern, by score, and in no total" in found.notes


def test_a_graded_score_flips_where_it_moves_far_or_the_answer_is_gone() -> None:
    def made(*scores: float | None) -> dict[str, Any]:
        trials = [answered(asked(f"g{at}", pass_threshold=0.0), score or 0.0) for at, score in enumerate(scores)]
        unread = [replace(one, outcome="unparseable") for one in trials]
        return run(bad if score is None else one for one, bad, score in zip(trials, unread, scores, strict=True))

    found = compare(made(0.9, 0.4, 0.3, None), made(0.2, 0.3, None, 0.1))
    assert [(one.id, one.lost, one.after_outcome) for one in found.flips] == [
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
def test_runs_of_different_question_sets_are_not_compared(
    before: dict[str, int], after: dict[str, int], why: str
) -> None:
    old, new = ({**run([answered(asked("q"), True)]), "question_sets": sets} for sets in (before, after))
    if not why:
        assert compare(old, new).paired == 1
        return
    with pytest.raises(UsageError, match=f"{why}, the run after version 2: .*; record the baseline again"):
        compare(old, new)


def test_repetitions_are_one_question() -> None:
    def made(*marks: bool) -> list[Trial]:
        return [
            answered(asked(f"q-r{at}" if at > 1 else "q", cluster="w", repetition=at), mark)
            for at, mark in enumerate(marks, 1)
        ]

    found = compare(run(made(True, True, False)), run(made(True, False, False)))
    assert found.paired == 1
    assert found.loss == pytest.approx(1 / 3)
    assert [(one.id, one.before_outcome, one.after_outcome) for one in found.flips] == [("q", "right", "wrong")]


def test_flipped_questions_are_told_with_what_was_answered() -> None:
    found = runs("+-++", "++-+")
    told = [(one.id, one.lost, one.before_answer, one.after_answer) for one in found.flips]
    assert told == [("q002", True, "Mix", "Bake"), ("q001", False, "Bake", "Mix")]
    assert found.flips[0].expected == "Mix"


def test_errors_are_counted_and_not_paired() -> None:
    found = runs("++e+", "+e++")
    assert found.paired == 2
    assert [(one.id, one.run, one.reason) for one in found.missing] == [
        ("q001", "after", "timeout: none came"),
        ("q002", "before", "timeout: none came"),
    ]
    assert comparison_case(found, frozenset({"missing"}))[0] == "failed"
    assert comparison_case(found)[0] == "passed"


def test_questions_of_one_run_only_are_listed() -> None:
    found = runs("++ ", " ++")
    assert (found.paired, found.only_before, found.only_after) == (1, ("q000",), ("q002",))
    outcome, reason = comparison_case(found, frozenset({"missing"}))
    assert outcome == "failed"
    assert "1 of the baseline were not asked" in reason


def test_compare_without_pairs_is_inconclusive_and_fails() -> None:
    found = runs("++  ", "  ++")
    assert (found.verdict, found.paired, found.p, found.needed) == ("inconclusive", 0, None, None)
    assert comparison_case(found)[0] == "failed"
    assert comparison_case(found, frozenset({"missing"}))[0] == "failed"
    empty = compare(run([]), run([]))
    assert (empty.verdict, empty.total) == ("inconclusive", None)


def test_worse_fails_where_nothing_else_is_asked() -> None:
    found = runs("+" * 20, "-" * 20)
    assert comparison_case(found, frozenset())[0] == comparison_case(found)[0] == "failed"
    assert comparison_case(found, frozenset({"inconclusive"}))[0] == "passed"


def test_inconclusive_fails_only_where_that_is_asked() -> None:
    found = runs("+" * 5, "+" * 5)
    assert comparison_case(found, frozenset({"regression"}))[0] == "passed"
    assert comparison_case(found, frozenset({"regression", "inconclusive"}))[0] == "failed"


def test_fail_on_refuses_the_former_name_of_inconclusive() -> None:
    with pytest.raises(UsageError, match="--fail-on: the value 'undecided' is renamed to 'inconclusive'"):
        parse_fail_on(["regression, undecided"], "--fail-on")


def test_a_comparison_fails_only_on_what_there_is_to_fail_on() -> None:
    assert parse_fail_on(FAIL_ON, "--fail-on") == parse_fail_on([" , ".join(FAIL_ON)], "--fail-on") == set(FAIL_ON)
    with pytest.raises(UsageError, match="--fail-on: no value; expected some of regression, inconclusive"):
        parse_fail_on([","], "--fail-on")
    with pytest.raises(UnknownNameError, match=r"value of --fail-on 'worse'; known: inconclusive, missing, regression"):
        parse_fail_on(["regression", "worse"], "--fail-on")


def test_varied_questions_never_enter() -> None:
    varied = answered(asked("q-names", relation="names", twin="q"), False)
    found = compare(run([answered(asked("q"), True)]), run([answered(asked("q"), True), varied]))
    assert (found.paired, found.only_after) == (1, ())


def test_one_model_each_is_paired_whatever_it_is_called() -> None:
    question = asked("q")
    assert compare(run([answered(question, True, "old")]), run([answered(question, True, "new")])).paired == 1


def test_several_models_are_paired_by_name_and_tested_apart() -> None:
    questions = [asked(f"q{at:02d}") for at in range(30)]
    before = run(answered(one, True, model) for one in questions for model in ("a", "b"))
    after = run(answered(one, model == "a", model) for one in questions for model in ("a", "b"))
    found = compare(before, after)
    assert [(one.model, one.verdict) for one in found.groups] == [("a", "inconclusive"), ("b", "worse")]
    assert {one.model for one in found.flips} == {"b"}
    single = compare(before, run(answered(one, False, "b") for one in questions))
    assert (single.paired, len(single.only_before)) == (30, 30)


def test_another_prompt_is_compared_and_told_loudly() -> None:
    before = run([answered(asked("q"), True)])
    after = run([answered(asked("q-short", template="short", workflow="w-q", text="What comes after q?"), False)])
    found = compare(before, after)
    assert found.paired == 1
    assert [(one.id, one.what, one.paired) for one in found.changed] == [("q-short", ("prompt template",), True)]
    assert found.notes == ("the prompt template changed for 1 question: this compares the prompt template",)
    (difference,) = found.differences
    assert difference.lines[0] == "- chain-of-thought"
    assert "+ short" in difference.lines
    other = compare(before, run([answered(asked("q", template="short"), False, "another")]))
    assert other.notes == (
        "the prompt template changed for 1 question: this compares prompt template and model together",
    )


def of_prompts(*prompts: str, right: str = "", **more: Any) -> list[Trial]:  # noqa: ANN401
    """Thirty questions that look alike but for the prompt; right with the prompt `right`, with each where it is ""."""
    return [
        answered(
            asked(f"q{at:02d}-{prompt}", template=prompt, workflow=f"w{at}", text=f"What comes after q{at}?", **more),
            right in ("", prompt),
        )
        for at in range(30)
        for prompt in prompts
    ]


def test_compare_grids_pairs_within_each_prompt_and_tests_apart() -> None:
    before, after = of_prompts("direct", "guided"), of_prompts("direct", "guided", right="direct")
    found = compare(run(before), run(after))
    assert (found.paired, found.changed, found.only_before, found.only_after) == (60, (), (), ())
    assert [(one.prompt, one.n, one.verdict) for one in found.groups] == [
        ("direct", 30, "inconclusive"),
        ("guided", 30, "worse"),
    ]
    assert "worse in next_tasks with guided" in found.reason
    assert {one.id.partition("-")[2] for one in found.flips} == {"guided"}


def test_compare_grids_of_several_models_pairs_within_prompt_and_model() -> None:
    grid = [replace(one, model=model) for one in of_prompts("direct", "guided") for model in "ab"]
    found = compare(run(grid), run(grid))
    assert (found.paired, found.changed, found.only_before) == (120, (), ())
    assert {(one.prompt, one.model, one.n) for one in found.groups} == {
        (prompt, model, 30) for prompt in ("direct", "guided") for model in "ab"
    }


def test_compare_grids_pairs_other_ids_within_prompt_and_tells_changed_template() -> None:
    before, after = of_prompts("direct", "guided"), of_prompts("direct", "guided")
    edited = [
        replace(
            one,
            question=replace(
                one.question,
                id=f"new-{one.question.id}",
                digests=one.question.digests | {"prompt_template": f"edited {one.question.labels['prompt']}"},
            ),
        )
        for one in after
    ]
    found = compare(run(before), run(edited))
    assert found.paired == 60
    assert found.notes == ("the prompt template changed for 60 questions: this compares the prompt template",)


@pytest.mark.parametrize("turned", [False, True])
def test_compare_grid_with_single_prompt_pairs_prompt_of_that_name(turned: bool) -> None:
    grid, single = run(of_prompts("direct", "guided")), run(of_prompts("guided"))
    found = compare(single, grid) if turned else compare(grid, single)
    alone = found.only_after if turned else found.only_before
    assert (found.paired, found.changed) == (30, ())
    assert len(alone) == 30
    assert all(one.endswith("-direct") for one in alone)


def test_compare_grid_with_prompt_it_has_not_pairs_nothing() -> None:
    found = compare(run(of_prompts("direct", "guided")), run(of_prompts("few-shot")))
    assert (found.paired, len(found.only_before), len(found.only_after)) == (0, 60, 30)


def test_compare_prompt_of_one_group_changed_beside_another_group_is_paired() -> None:
    other = of_prompts("direct", group="reachable")
    for one in other:
        one.question.digests["workflow"] += "-other"
    found = compare(run([*of_prompts("guided"), *other]), run([*of_prompts("few-shot"), *other]))
    assert (found.paired, len(found.changed)) == (60, 30)


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
def test_another_question_under_the_same_id_is_listed_and_not_paired(what: str, changed: dict[str, Any]) -> None:
    found = compare(run([answered(asked("q"), True)]), run([answered(asked("q", **changed), False)]))
    assert (found.paired, found.verdict) == (0, "inconclusive")
    assert [(one.what, one.paired) for one in found.changed] == [((what,), False)]
    assert found.notes[0] == f"the {what} changed for 1 question: not compared, because the questions differ"


def test_what_was_asked_goes_before_the_id_it_had() -> None:
    """Another seed asks about the user's own files under the same ids, some of it in another place."""

    def made(*tasks: str, right: bool) -> dict[str, Any]:
        return run(
            answered(asked(f"own-{at}", workflow="w", text=f"What comes after {task}?", prompt=task), right)
            for at, task in enumerate(tasks)
        )

    found = compare(made("Stir", "Bake", "Mix", right=True), made("Cool", "Stir", "Mix", right=False))
    assert [(one.id, one.question) for one in found.flips] == [
        ("own-1", "What comes after Stir?"),
        ("own-2", "What comes after Mix?"),
    ]
    assert (found.changed, found.only_before, found.only_after) == ((), ("own-1",), ("own-0",))


def test_another_case_shows_both_questions() -> None:
    there, back = (run([answered(asked("q", workflow="w", text=text), True)]) for text in ("After A?", "After B?"))
    found = compare(there, back)
    assert found.notes == ("the case changed for 1 question: not compared, because the questions differ",)
    assert found.differences[0].lines == ("- After A?", "+ After B?")


def test_questions_that_look_alike_are_paired_by_their_ids() -> None:
    twice = [asked(name, workflow="w", text="What is first?") for name in ("a", "b")]
    found = compare(run(answered(one, True) for one in twice), run([answered(twice[1], False)]))
    assert ([one.id for one in found.flips], found.only_before) == (["b"], ("a",))


def test_another_notation_has_another_id_and_is_listed_all_the_same() -> None:
    shown = asked("q-json", workflow="w-q", text="What comes after q?", labels={"notation": "json", "prompt": "f"})
    found = compare(run([answered(asked("q"), True)]), run([answered(shown, False)]))
    assert (found.paired, found.only_before, found.only_after) == (0, (), ())
    assert found.changed[0].what == ("notation", "prompt template")


def test_a_template_that_says_the_same_is_compared() -> None:
    question = asked("q")
    assert find_changes(question, replace(question, digests={**question.digests, "template": "u"}), PATTERNS) == (
        "wording",
    )
    assert find_changes(question, replace(question, system="Be brief."), PATTERNS) == ("prompt",)
    assert find_changes(question, replace(question, episode="agent"), PATTERNS) == ("presentation",)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+-e "), st.sampled_from("+-e ")), max_size=25), st.integers(1, 30))
def test_turned_round_worse_is_better(marks: list[tuple[str, str]], workflows: int) -> None:
    before, after = ("".join(column) for column in zip(*marks, strict=True)) if marks else ("", "")
    there, back = runs(before, after), runs(after, before)
    assert (there.p, there.p_better) == (back.p_better, back.p)
    assert sorted(one.id for one in there.flips) == sorted(one.id for one in back.flips)
    assert there.paired + len({one.id for one in there.missing}) + len(there.only_before) <= len(marks)


def test_a_margin_outside_of_the_scores_is_refused() -> None:
    with pytest.raises(UsageError, match="margin"):
        compare(run([]), run([]), 1.5)
