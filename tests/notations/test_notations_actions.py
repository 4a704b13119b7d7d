"""Reading of GitHub Actions workflows: names, conditions, several files, what is left out and what is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError, UsageError
from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.notations.github_actions.expressions import read_rule
from pytest_taskgraph.notations.github_actions.job_graph import LARGEST
from pytest_taskgraph.notations.notation import Interpretation, combine_workflows
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import END, START, Workflow

ACTIONS = FILE_FORMATS["actions"]
CI = """\
name: CI
on: push
jobs:
  lint:
    name: Lint the code
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          ruff check
          ruff format --check
  test:
    needs: lint
    if: ${{ github.event_name == 'push' }}
    runs-on: ubuntu-latest
    steps:
      - name: Test
        id: unit
        run: pytest
"""


def interpret(jobs: str) -> Interpretation:
    return ACTIONS.interpret(f"name: CI\non: push\njobs:\n{jobs}", "ci.yml")


def steps(text: str) -> tuple[str, ...]:
    """Return the names of the steps of a job that are given as lines of YAML."""
    indented = "".join(f"      {line}\n" for line in text.splitlines())
    (job,) = interpret(f"  build:\n    steps:\n{indented}").workflows[0].tasks
    assert job.subworkflow is not None
    return job.subworkflow.task_names


def links(workflow: Workflow) -> list[tuple[str, str, str | None]]:
    return [(link.source, link.target, link.guard) for link in workflow.links]


def test_jobs_needs_conditions_and_steps_are_read() -> None:
    interpretation = ACTIONS.interpret(CI)
    (workflow,) = interpretation.workflows
    assert workflow.name == "CI"
    assert links(workflow) == [
        (START, "lint", None),
        ("lint", "test", "github.event_name == 'push'"),
        ("lint", END, None),
        ("test", END, None),
    ]
    inner = workflow.tasks[0].subworkflow
    assert inner is not None
    assert links(inner) == [
        (START, "actions/checkout@v4", None),
        ("actions/checkout@v4", "ruff check", None),
        ("ruff check", END, None),
    ]
    assert interpretation.spellings == {
        "CI": {
            "Lint the code": "lint",
            "Run actions/checkout@v4": "actions/checkout@v4",
            "Run ruff check": "ruff check",
            "unit": "Test",
            "Run Test": "Test",
        }
    }
    assert not interpretation.left_out
    assert not interpretation.unnamed


@pytest.mark.parametrize("needs", ["needs: a", "needs: [a]", "needs:\n      - a", "needs: [a, a]", "needs: &x [a]"])
def test_needs_are_a_word_or_a_list(needs: str) -> None:
    (workflow,) = interpret(f"  a: {{}}\n  b:\n    {needs}\n").workflows
    assert links(workflow) == [(START, "a", None), ("a", "b", None), ("b", END, None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- run: make\n- run: make test", ("make", "make test")),
        ("- run: |\n    make\n    make a\n- run: |\n    make\n    make b", ("make a", "make b")),
        ("- {uses: x, id: first}\n- {uses: x, id: second}", ("first", "second")),
        ("- {name: Go, run: a}\n- {name: Go, run: b}", ("a", "b")),
        ("- uses: x\n- uses: x\n- uses: x", ("x", "x (2)", "x (3)")),
        ("- {name: START, run: a}\n- {name: END, id: last}", ("a", "last")),
        ("- {name: 'Build ${{ matrix.os }}', run: a}", ("Build ${{ matrix.os }}",)),
        ("- {}\n- {}", ("step", "step (2)")),
        (f"- run: {'word ' * 40}", ("word " * 19 + "word",)),
    ],
)
def test_names_of_steps_are_unique_and_from_the_text(text: str, expected: tuple[str, ...]) -> None:
    assert steps(text) == expected


def test_conditional_step_has_a_way_around_it() -> None:
    (job,) = interpret("  a:\n    steps: [{run: x}, {run: y, if: inputs.y}, {run: z}]\n").workflows[0].tasks
    assert job.subworkflow is not None
    assert links(job.subworkflow) == [
        (START, "x", None),
        ("x", "y if", None),
        ("y if", "y", "`inputs.y`"),
        ("y if", "y end", "otherwise"),
        ("y", "y end", None),
        ("y end", "z", None),
        ("z", END, None),
    ]


def test_conditions_of_large_levels_are_not_computed() -> None:
    jobs = "".join(f"  a{i}: {{if: inputs.x}}\n" for i in range(LARGEST + 1))
    (workflow,) = interpret(jobs).workflows
    assert {link.guard for link in workflow.links if link.target != END} == {"${{ inputs.x }}"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("always()", True),
        ("${{ !cancelled() }}", True),
        ("!failure() && !cancelled()", True),
        ("success() || failure()", True),
        ("SUCCESS()", True),
        ("true", True),
        ("", True),
        ("failure()", False),
        ("cancelled() || failure()", False),
        ("failure() && github.ref == 'x'", False),
        ("false", False),
        ("always() && github.ref == 'x'", None),
        ("github.ref == 'x' || contains(github.event.labels.*.name, 'y')", None),
        ("fromJSON(needs.plan.outputs.val)[0].ci != null", None),
    ],
)
def test_conditions_in_runs_without_failure(text: str, holds: bool | None) -> None:
    condition = read_rule(text).condition
    assert (condition is None) == (holds is True)
    if condition is not None:
        assert condition.clear
        assert condition.never == (holds is False)


@pytest.mark.parametrize(
    "text",
    [
        "needs.a.result == 'success'",
        "needs['a-b'].result != 'skipped'",
        "contains(needs.*.result, 'failure')",
        "steps.x.outcome == 'failure'",
        "!success()",
        "failure() == true",
        "env.CI",
        "${{ github.ref }} == 'x'",
        "github.ref ==",
        "(a",
        "1 == 1",
        "!" * 200 + "a",
        "(" * 200 + "a" + ")" * 200,
        "a && " * 200 + "a",
    ],
)
def test_conditions_that_are_not_computed(text: str) -> None:
    condition = read_rule(text).condition
    assert condition is not None
    assert not condition.clear


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("github.ref == 'x'", True),
        ("success() && inputs.a", True),
        ("always() && inputs.a", False),
        ("always()", False),
    ],
)
def test_skipped_needs_skip_a_job_unless_its_condition_allows_it(text: str, follows: bool) -> None:
    assert read_rule(text).follows is follows


CALLER = "on: push\njobs:\n  plan: {}\n  build:\n    needs: plan\n    uses: ./.github/workflows/build.yml\n"
CALLED = "name: Build\non: workflow_call\njobs:\n  compile:\n    steps: [{run: make}]\n"


def test_called_workflow_of_the_text_is_inside_its_job() -> None:
    text = f"# file: ci.yml\n{CALLER}\n# file: build.yml\n# file: a comment of the user's\n{CALLED}"
    interpretation = ACTIONS.interpret(text, "ci.yml")
    caller, called = interpretation.workflows
    assert (caller.name, called.name) == ("ci.yml", "Build")
    assert caller.task("build").reference == called.qualified
    assert not problems(combine_workflows(interpretation.workflows))
    assert ACTIONS.references(CALLER) == ("./.github/workflows/build.yml",)
    assert any("uses a workflow file" in sentence for sentence in interpretation.guide)


def test_called_workflow_outside_the_text_is_left_out() -> None:
    interpretation = ACTIONS.interpret(CALLER, "ci.yml")
    assert not interpretation.workflows[0].task("build").composite
    assert interpretation.unnamed
    assert interpretation.left_out == (
        "'uses' of a job (ci.yml:6): the workflow that the job calls is not in the text, so the job is a task without "
        "an inside",
    )


def test_headings_keep_the_lines_of_errors() -> None:
    with pytest.raises(ReadError, match=r"all:10:\d+: found the need 'x' of the job 'a'"):
        ACTIONS.interpret(f"# file: ci.yml\n{CALLER}# file: b.yml\non: push\njobs: {{a: {{needs: x}}}}\n", "all")


def test_equal_names_of_workflows_are_told_apart_by_their_files() -> None:
    text = "".join(f"# file: {path}.yml\nname: CI\non: push\njobs: {{a: {{}}}}\n" for path in "xyz")
    assert [workflow.name for workflow in ACTIONS.interpret(text).workflows] == ["CI", "y.yml", "z.yml"]


def test_left_out_constructs_have_a_line_each() -> None:
    interpretation = interpret(
        "  a:\n    strategy: {matrix: {os: [x, y]}}\n    concurrency: ci\n    environment: prod\n"
        "    steps:\n      - {run: a, continue-on-error: true}\n      - {run: b, if: always()}\n"
        "      - {run: c, if: failure(), continue-on-error: true}\n  b:\n    needs: a\n    if: needs.a.result == 'x'\n"
    )
    assert [line.split(": ")[0] for line in interpretation.left_out] == [
        "matrix (ci.yml:5)",
        "continue-on-error (ci.yml:9 and 1 more)",
        "concurrency (ci.yml:6)",
        "environment (ci.yml:7)",
        "status functions in 'if' (ci.yml:10 and 1 more)",
        "'if' (ci.yml:14)",
    ]


def test_lines_of_what_is_left_out_are_those_of_its_own_file() -> None:
    later = "on: push\njobs:\n  a:\n    needs: []\n    if: always()\n"
    text = f"# file: ci.yml\n{CALLER}\n# file: b.yml\n{later}"
    places = [line.split(": ")[0] for line in ACTIONS.interpret(text, "all").left_out]
    assert places == ["'uses' of a job (ci.yml:6)", "status functions in 'if' (b.yml:5)"]


def test_constant_condition_is_no_status_function() -> None:
    assert interpret("  a: {if: false}\n  b: {if: true}\n").left_out == ()


def test_guide_says_that_a_skip_passes_over_jobs_that_run() -> None:
    assert any("at any distance" in sentence for sentence in interpret("  a: {if: inputs.x}\n").guide)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("on: push\njobs: {a: {needs: b}}", "ci.yml:2:19: found the need 'b' of the job 'a', expected a job of the"),
        ("on: push\njobs: {a: {needs: c}, b: {needs: a}, c: {needs: b}}", r"need each other: \w( -> \w){3}, "),
        ("on: push\njobs: {a: {needs: a}}", "jobs that need each other: a -> a"),
        ("on: push\njobs: {}", "expected a mapping with at least one job"),
        ("on: push\njobs: [a]", "found a list, expected a mapping with at least one job"),
        ("on: push\njobs: {a: [b]}", "found a list, expected a mapping for the job 'a'"),
        ("on: push\njobs: {a: {needs: {b: c}}}", "found an object, expected the name of a job"),
        ("on: push\njobs: {a: {if: [b]}}", "found a list, expected a condition behind 'if'"),
        ("on: push\njobs: {a: {steps: b}}", "expected a list of steps"),
        ("on: push\njobs: {a: {steps: [b]}}", "expected a mapping with 'run' or 'uses' for each step"),
        ("on: push\njobs: {a: {}}\n---\na: b", "ci.yml:4:1: found a second YAML document"),
        ("runs:\n  using: composite\n  steps: []", "found the key 'runs' of an action, whose steps run inside a job"),
        ("- a", "found a list, expected a mapping with the keys 'on' and 'jobs'"),
        ("on: push", "found no key 'jobs'"),
        ("", "expected"),
    ],
)  # fmt: skip
def test_invalid_workflows_are_refused(text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        ACTIONS.interpret(text, "ci.yml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CI, True),
        ("---\n# c\n  'on': push\n  jobs:\n    a: {}\n", True),
        ('"on": push\njobs: {}', True),
        ("runs:\n  using: composite\n", True),
        ("x:\n  on: push\n  jobs: {}\n", False),
        ("jobs: {}\n", False),
        ("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n", False),
        ("", False),
    ],
)
def test_workflows_are_recognised_by_their_keys(text: str, expected: bool) -> None:
    assert ACTIONS.recognises(text) is expected


def test_workflows_are_never_written() -> None:
    with pytest.raises(UsageError, match="actions is only read"):
        ACTIONS.write(Workflow("W"))


KEYS = st.sampled_from(["a", "b-c", "d_e", "f", "on", "if", "name"])
CONDITIONS = st.sampled_from([None, "always()", "failure()", "github.ref == 'x'", "inputs.y", "!(", "needs.a.result"])


@st.composite
def drawn_jobs(draw: st.DrawFn) -> dict[str, tuple[list[str], str | None, int]]:
    """Return jobs with needs among the earlier ones, a condition or none, and a number of steps."""
    keys = draw(st.lists(KEYS, min_size=1, unique=True))
    return {
        key: (
            draw(st.lists(st.sampled_from(keys[:i]), unique=True)) if i else [],
            draw(CONDITIONS),
            draw(st.integers(0, 3)),
        )
        for i, key in enumerate(keys)
    }


@given(drawn_jobs())
def test_what_is_written_is_read(jobs: dict[str, tuple[list[str], str | None, int]]) -> None:
    lines = []
    for key, (needs, condition, count) in jobs.items():
        lines += [f"  {key}:", f"    needs: [{', '.join(needs)}]"]
        lines += [f'    if: "{condition}"'] if condition else []
        lines += ["    steps:", *["      - run: same"] * count] if count else []
    interpretation = interpret("\n".join(lines))
    (workflow,) = interpretation.workflows
    for reading in (interpretation.workflows, interpretation.doubtful):
        assert not any(map(problems, reading))
    assert {task.name: len(task.subworkflow.tasks) if task.subworkflow else 0 for task in workflow.tasks} == {
        key: count for key, (_, _, count) in jobs.items()
    }
    found = {(link.source, link.target) for link in workflow.links if link.source != START and link.target != END}
    assert found == {(need, key) for key, (needs, _, _) in jobs.items() for need in needs}


YAML = st.recursive(
    st.sampled_from(["a", "", "null", "'b'", "*x", "${{ c }}", "1"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(["on", "jobs", "needs", "if", "steps", "uses", "a"]), inner, max_size=4).map(
            lambda members: "{" + ", ".join(f"{key}: {value}" for key, value in members.items()) + "}"
        ),
    ),
    max_leaves=12,
)


@given(YAML)
def test_any_text_is_read_or_refused(value: str) -> None:
    for text in (
        value,
        f"on: a\njobs: {value}",
        f"on: a\njobs: {{a: {value}}}",
        f"on: a\njobs: {{a: {{}}, b: {value}}}",
    ):
        with suppress(ReadError):
            assert ACTIONS.interpret(text).workflows


@given(st.text(alphabet="()!&|='a.[]*, \"$1{}`"))
def test_any_condition_is_read(text: str) -> None:
    assert read_rule(text).follows in (True, False)
