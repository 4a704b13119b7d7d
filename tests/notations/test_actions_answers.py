"""Answers about GitHub Actions workflows, worked out by hand from GitHub's documentation of workflow syntax.

"Jobs run in parallel by default"; `needs` "identifies any jobs that must complete successfully before this job will
run"; "if a job fails or is skipped, all jobs that need it are skipped unless the jobs use a conditional expression that
causes the job to continue"; "a default status check of success() is applied unless you include one of these functions".
None in place of an answer: the question must not be asked, because the answer is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.scope import all_scopes, cases
from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.notations.notation import combine_workflows
from pytest_taskgraph.trial import Json

FULL = "name: CI\non: [push, pull_request]\njobs:\n"


def answers(jobs: str, pattern: str, *fields: str, job: str = "") -> Mapping[Any, Json]:
    """Return the answers of a pattern that are the same in both readings, by the values of some fields."""
    interpretation = FILE_FORMATS["actions"].interpret(FULL + jobs)
    readings = [interpretation.workflows, interpretation.doubtful or interpretation.workflows]
    found: list[dict[Any, Json]] = []
    for reading in readings:
        scopes = all_scopes(combine_workflows(reading))
        (scope,) = [scope for scope in scopes if scope.root.name == "CI" and scope.path == ((job,) if job else ())]
        found.append(
            {
                tuple(case.fields[name] for name in fields) if len(fields) != 1 else case.fields[fields[0]]: case.answer
                for case in cases(catalogue()[pattern], scope)
                if case.fields.get("flow", "control") == "control"
            }
        )
    return {key: answer for key, answer in found[0].items() if key in found[1] and found[1][key] == answer}


def names(text: str) -> list[str]:
    return text.split()


CHAIN = "  a: {}\n  b: {needs: a}\n  c: {needs: [b]}\n"
DIAMOND = "  a: {}\n  b: {needs: a}\n  c: {needs: a}\n  d: {needs: [b, c]}\n"
REDUNDANT = "  a: {}\n  b: {needs: a}\n  c: {needs: [a, b]}\n"
APART = "  a: {}\n  b: {}\n  c: {needs: b}\n"
SKIPPED = "  a: {}\n  b: {needs: a, if: github.ref == 'refs/heads/main'}\n  c: {needs: b}\n"
SKIPPED_JOIN = "  a: {}\n  b: {if: inputs.docs, needs: a}\n  c: {needs: [a, b]}\n"
ALWAYS = "  a: {}\n  b: {needs: a, if: inputs.docs}\n  c: {needs: b, if: always()}\n"
ALWAYS_JOIN = "  a: {}\n  b: {needs: a, if: inputs.docs}\n  c: {needs: [a, b], if: '!cancelled()'}\n"
BEHIND_ALWAYS = f"{ALWAYS_JOIN}  d: {{needs: c}}\n"
FAILURE = "  a: {}\n  b: {needs: a}\n  c: {needs: a, if: failure()}\n"
EXCLUSIVE = (
    "  a: {}\n  b: {needs: a, if: github.event_name == 'push'}\n  c: {needs: a, if: github.event_name == 'release'}\n"
)
UNRELATED = "  a: {}\n  b: {needs: a, if: inputs.docs}\n  c: {needs: a, if: vars.DEPLOY == 'yes'}\n"
RELATED = (
    "  a: {}\n  b: {needs: a, if: github.event_name == 'push'}\n"
    "  c:\n    needs: a\n    if: startsWith(github.ref, 'x')\n"
)
RESULT = "  a: {}\n  b: {needs: a, if: always() && needs.a.result == 'success'}\n  c: {needs: b}\n"
NEVER = "  a: {}\n  b: {needs: a, if: false}\n  c: {needs: b}\n"
NEGATED = (
    "  a: {}\n  b: {needs: a, if: inputs.x}\n  c: {needs: b}\n  d: {needs: b, if: '!(inputs.x)'}\n  e: {needs: a}\n"
)
UNCOMPUTED = "  a: {}\n  b: {needs: a, if: needs.a.result == 'failure'}\n  c: {needs: a}\n"
FAR_SKIP = (
    "  a: {}\n  b: {needs: a, if: failure()}\n  c: {needs: [a, b], if: always()}\n  d: {needs: c}\n  e: {needs: a}\n"
)
UNCOMPUTED_SKIP = FAR_SKIP.replace("failure()", "needs.a.result == 'failure'")
FAR_NEGATED = (
    "  a: {}\n  b: {needs: a, if: inputs.x}\n  c: {needs: b, if: always()}\n  d: {needs: c}\n"
    "  e: {needs: a, if: '!(inputs.x)'}\n  f: {needs: a}\n"
)
EITHER = "  a: {}\n  b: {needs: a, if: success() || failure()}\n"


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        (CHAIN, {"a": ["b"], "b": ["c"], "c": []}),
        (DIAMOND, {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}),
        (REDUNDANT, {"a": ["b", "c"], "b": ["c"], "c": []}),
        (APART, {"a": [], "b": ["c"], "c": []}),
        (SKIPPED, {"a": ["b"], "b": ["c"], "c": []}),  # c is skipped with b, so nothing else follows a
        (SKIPPED_JOIN, {"a": ["b", "c"], "b": ["c"], "c": []}),
        (ALWAYS, {"b": ["c"], "c": []}),  # a: where b is skipped, c comes directly after a
        (ALWAYS_JOIN, {"a": ["b", "c"], "b": ["c"], "c": []}),
        (FAILURE, {"a": ["b", "c"], "b": [], "c": []}),
        (EXCLUSIVE, {"a": ["b", "c"], "b": [], "c": []}),
        (RESULT, {"a": ["b"], "b": ["c"], "c": []}),
    ],
)
def test_next_jobs(jobs: str, expected: Mapping[str, list[str]]) -> None:
    assert answers(jobs, "next_tasks", "task") == expected


@pytest.mark.parametrize(
    ("jobs", "first", "last"),
    [
        (CHAIN, "a", ["c"]),
        (DIAMOND, "a", ["d"]),
        (APART, None, ["a", "c"]),
        (SKIPPED, "a", ["c"]),
        (ALWAYS_JOIN, "a", ["c"]),
        (FAILURE, "a", ["b", "c"]),
        (RESULT, "a", ["c"]),
    ],
)
def test_first_and_last_jobs(jobs: str, first: str | None, last: list[str]) -> None:
    assert answers(jobs, "flow_start").get(()) == first
    assert answers(jobs, "flow_end")[()] == last


@pytest.mark.parametrize(
    ("jobs", "together", "apart"),
    [
        (CHAIN, "", "ab ac bc"),
        (DIAMOND, "bc", "ab ac ad bd cd"),
        (REDUNDANT, "", "ab ac bc"),
        (APART, "ab ac", "bc"),
        (SKIPPED, "", "ab ac bc"),
        (FAILURE, "", "ab ac"),  # b, c: not together, as c runs only if a fails, which skips b; not asked
        (EXCLUSIVE, "", "ab ac bc"),
        (UNRELATED, "bc", "ab ac"),
        (RELATED, "", "ab ac"),  # b, c: whether a push can have such a ref is not in the file
        (RESULT, "", "ab ac bc"),
        (NEVER, "", "ab ac bc"),
        (NEGATED, "be ce", "ab ac ad ae bc bd"),  # d never runs: it needs b, which the opposite condition skips
        (UNCOMPUTED, "", "ab ac"),  # b never runs, as a does not fail
        (FAR_SKIP, "ce", "ab ac ad ae bc bd cd"),  # d never runs: b is skipped, though c runs
        (UNCOMPUTED_SKIP, "ce", "ab ac ad ae bc bd cd"),
        (FAR_NEGATED, "cf", "ab ac ad ae af bc bd cd"),  # d, e: never together, as a skip of b skips d
    ],
)
def test_jobs_that_run_together(jobs: str, together: str, apart: str) -> None:
    found = {"".join(pair): answer for pair, answer in answers(jobs, "parallel_pair", "a", "b").items()}
    assert [pair for pair, answer in found.items() if answer == "yes"] == names(together)
    assert [pair for pair, answer in found.items() if answer == "no" and pair in names(apart)] == [
        pair for pair in names(apart) if pair in found
    ]
    assert set(found) <= {*names(together), *names(apart)}


@pytest.mark.parametrize(
    ("jobs", "always", "skippable"),
    [
        (DIAMOND, "a b c d", ""),
        (SKIPPED, "a", "b c"),
        (SKIPPED_JOIN, "a", "b c"),
        (ALWAYS, "a", "b"),  # c runs although b is skipped: not expressed, so not asked
        (ALWAYS_JOIN, "a c", "b"),
        (BEHIND_ALWAYS, "a c", "b"),  # d: GitHub skips it with b, though c has run; not asked
        (FAILURE, "a b", "c"),
        (EXCLUSIVE, "a", "b c"),
        (RELATED, "", ""),
        (RESULT, "", ""),
        (NEVER, "a", "b c"),
        (FAR_SKIP, "a c e", "b d"),
        (UNCOMPUTED_SKIP, "", ""),
        (EITHER, "a b", ""),
    ],
)
def test_jobs_that_may_be_skipped(jobs: str, always: str, skippable: str) -> None:
    found = answers(jobs, "every_situation", "task")
    assert [job for job, answer in found.items() if answer == "yes"] == names(always)
    assert [job for job, answer in found.items() if answer == "no"] == names(skippable)


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        (SKIPPED, {"a": ["b"], "b": [], "c": []}),
        (SKIPPED_JOIN, {"b": [], "c": []}),  # a: the link to c passes a condition that is not c's own
        (ALWAYS_JOIN, {"c": []}),  # a, b: whether `!cancelled()` counts as a condition is open
        (UNRELATED, {"a": ["b", "c"], "b": [], "c": []}),
        (RESULT, {"a": ["b"], "b": [], "c": []}),
        (FAILURE, {"a": ["c"], "b": [], "c": []}),
    ],
)
def test_conditional_links(jobs: str, expected: Mapping[str, list[str]]) -> None:
    assert answers(jobs, "conditional_links", "task") == expected


@pytest.mark.parametrize(
    ("jobs", "pattern", "yes", "no"),
    [
        (DIAMOND, "order_of_two", "ab ac ad bd cd", "ba ca da db dc"),
        (SKIPPED, "order_of_two_conditional", "ab ac bc", "ba ca cb"),
        (ALWAYS_JOIN, "order_of_two_conditional", "ab ac bc", "ba ca cb"),
        (UNRELATED, "order_of_two_conditional", "ab ac", "ba ca bc cb"),
        (EXCLUSIVE, "order_of_two_conditional", "ab ac", "ba ca"),
        (RELATED, "order_of_two_conditional", "", ""),
        (RESULT, "order_of_two_conditional", "", ""),
    ],
)
def test_jobs_before_others(jobs: str, pattern: str, yes: str, no: str) -> None:
    found = {"".join(pair): answer for pair, answer in answers(jobs, pattern, "a", "b").items()}
    assert {pair for pair, answer in found.items() if answer == "yes"} == {*names(yes)}
    assert {pair for pair, answer in found.items() if answer == "no"} == {*names(no)}


STEPS = (
    "  build:\n    steps:\n      - uses: actions/checkout@v4\n"
    "      - name: Cache\n        if: inputs.cache\n        uses: x\n"
    "      - run: make\n      - name: Report\n        if: failure()\n        run: report\n"
    "      - name: Clean\n        if: always()\n        run: rm\n"
)


def test_steps_are_inside_their_job_in_sequence() -> None:
    checkout = "actions/checkout@v4"
    assert answers(STEPS, "nested_tasks")[()] == sorted([checkout, "Cache", "make", "Report", "Clean"])
    assert answers(STEPS, "next_tasks", "task", job="build") == {
        checkout: ["Cache", "make"],  # a step that is skipped is passed over
        "Cache": ["make"],
        "make": ["Clean", "Report"],
        "Report": ["Clean"],
        "Clean": [],
    }
    assert answers(STEPS, "flow_start", job="build") == {(): checkout}
    assert answers(STEPS, "flow_end", job="build") == {(): ["Clean"]}
    assert answers(STEPS, "every_situation", "task", job="build") == {
        checkout: "yes",
        "Cache": "no",
        "make": "yes",
        "Report": "no",
        "Clean": "yes",
    }
    assert set(answers(STEPS, "parallel_pair", "a", "b", job="build").values()) == {"no"}
    assert answers(STEPS, "operator_block", "task", "operator", job="build") == {}


DEPENDENT_STEPS = (
    "  build:\n    steps:\n      - {name: probe, id: p, run: probe}\n"
    "      - name: compile\n        if: steps.p.outputs.src != ''\n"
    "      - name: ship\n        if: steps.p.outputs.src != '' && github.ref == 'x'\n"
    "      - name: tell\n        if: ${{ !(steps.p.outputs.src != '') }}\n"
    "      - {name: sum, run: echo}\n"
)


def test_steps_whose_conditions_depend_on_each_other_are_asked_about_as_a_sequence_only() -> None:
    for pattern in ("next_step_possible", "next_step_choice", "order_of_two_conditional", "every_situation"):
        assert answers(DEPENDENT_STEPS, pattern, job="build") == {}
    # the condition of `ship` holds only with that of `compile`, and that of `tell` only without it
    assert answers(DEPENDENT_STEPS, "next_tasks", "task", job="build") == {"tell": ["sum"], "sum": []}
    assert answers(DEPENDENT_STEPS, "flow_end", job="build") == {(): ["sum"]}


def test_situations_are_never_stated() -> None:
    for pattern in ("next_task_in_situation", "determine_order_conditional", "trace"):
        assert answers(EXCLUSIVE, pattern, "situation") == {}
