"""Argo manifests: answers worked out by hand from Argo's documentation, refusals, and what is left out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError, UsageError
from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.notations.argo.depends_logic import parse_depends
from pytest_taskgraph.notations.notation import Interpretation, combine_workflows
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.graph import ancestors, ends, starts, successors
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import recursion
from pytest_taskgraph.workflow.semantics.all_runs import executed_in_every_situation
from pytest_taskgraph.workflow.semantics.concurrency import can_run_in_parallel

ARGO = FILE_FORMATS["argo"]
OPEN = "open"  # no question is asked about it
LEAF = "  - name: run\n    container: {image: busybox}\n"


def manifest(*templates: str, head: str = "kind: Workflow\nmetadata: {name: whole}\n", spec: str = "") -> str:
    body = "".join(templates)
    return f"apiVersion: argoproj.io/v1alpha1\n{head}spec:\n  entrypoint: main\n{spec}  templates:\n{body}{LEAF}"


def dag(*tasks: str, name: str = "main") -> str:
    """Return a template with a dag; a task is written "B depends: A", or with any further keys in braces."""
    lines = "".join(f"      - {{name: {task}}}\n" for task in map(_task, tasks))
    return f"  - name: {name}\n    dag:\n      tasks:\n{lines}"


def steps(*groups: tuple[str, ...], name: str = "main") -> str:
    lines = "".join(
        f"    {'- ' if i == 0 else '  '}- {{name: {_task(task)}}}\n" for group in groups for i, task in enumerate(group)
    )
    return f"  - name: {name}\n    steps:\n{lines}"


def _task(task: str) -> str:
    stated = any(key in task for key in (", template:", "templateRef:", "inline:"))
    return task if stated else f"{task}, template: run"


HEADS = 'when: "{{tasks.A.outputs.result}} == heads"'
TAILS = 'when: "{{tasks.A.outputs.result}} == tails"'
DAEMON = "  - name: server\n    daemon: true\n    container: {image: nginx}\n"

# Each answer is worked out by hand. `open` where Argo's answer and the text's answer differ, or conditions may be
# linked; "together" and "skippable" may be left open, but never answered otherwise.
TABLE: dict[str, tuple[str, dict[str, str]]] = {
    "diamond": (
        manifest(dag("A", "B, dependencies: [A]", "C, dependencies: [A]", "D, dependencies: [B, C]")),
        {
            "next A": "B C", "before D": "B C", "next D": "", "first": "A", "last": "D", "together B C": "yes",
            "together A D": "no", "skippable D": "no", "conditional": "",
        },
    ),
    "several roots": (
        manifest(dag("A", "B", "C, depends: A", "D, depends: A && B")),
        {"first": "A B", "last": "C D", "next A": "C D", "before D": "A B"}
        | {"together C D": "yes", "together B C": "yes"},
    ),
    "redundant dependency": (
        manifest(dag("A", "B, depends: A", "C, depends: A && B")),
        {"next A": "B C", "before C": "A B", "together A C": "no", "together B C": "no", "ancestors C": "A B"},
    ),
    "either of two is waited for": (
        manifest(dag("A", "B", "C, depends: A || B")),
        {"before C": "A B", "together A C": "no", "skippable C": "no"},
    ),
    "outcome without importance": (
        manifest(dag("A", "B, depends: A", "C, depends: A", 'D, depends: "B && (C.Succeeded || C.Failed)"')),
        {"before D": "B C", "skippable D": "no", "last": "D"},
    ),
    "on failure": (
        manifest(dag("A", "B, depends: A.Succeeded", "C, depends: A.Failed", "D, depends: C")),
        {"next A": "B", "before D": "C", "exceptional": "A-C", "before B": "A"},
    ),
    "failure beside another task": (
        manifest(dag("A", "B", 'C, depends: "A.Failed && B"', "D, depends: B")),
        {"next A": OPEN, "next B": OPEN, "together A B": OPEN, "skippable D": OPEN},
    ),
    "if it was never reached": (
        manifest(dag("A", "B, depends: A.Failed", "C, depends: B.Omitted")),
        {"next B": OPEN, "skippable C": OPEN, "before B": OPEN},
    ),
    "skipped last": (
        manifest(dag("A", f"B, depends: A, {HEADS}", "C, depends: A")),
        {
            "next A": "B C", "conditional": "B", "last": "B C", "together B C": "yes", "skippable B": "yes",
            "skippable C": "no", "first": "A",
        },
    ),
    "skipped task with another behind it": (
        manifest(dag("A", f"B, depends: A, {HEADS}", "C, depends: B")),
        {
            "next B": "C", "next A": OPEN, "before C": OPEN, "ancestors C": "A B", "conditional": "B", "last": "C",
            "together B C": "no", "skippable B": "yes", "skippable C": "no", "first": "A",
        },
    ),
    "only if it was not skipped": (
        manifest(dag("A", f"B, depends: A, {HEADS}", "C, depends: B.Succeeded")),
        {"next A": "B", "next B": "C", "before C": "B", "last": "C", "skippable C": "yes", "together B C": "no"},
    ),
    "if it was skipped": (
        manifest(dag("A", f"B, depends: A, {HEADS}", "C, depends: B.Skipped")),
        {"next A": OPEN, "skippable C": OPEN},
    ),
    "conditions of one task that exclude each other": (
        manifest(dag("A", f"B, depends: A, {HEADS}", f"C, depends: A, {TAILS}", "D, depends: B && C")),
        {"next A": OPEN, "together B C": OPEN, "conditional": "B C", "skippable D": "no", "skippable C": "yes"},
    ),
    "conditions in different places that may exclude each other": (
        manifest(dag("A", "P, depends: A", "Q, depends: A", f"B, depends: P, {HEADS}", f"C, depends: Q, {TAILS}")),
        {"together B C": OPEN, "together P Q": "yes", "together P C": "yes", "next P": "B", "last": "B C"},
    ),
    "the same condition twice": (
        manifest(dag("A", "P, depends: A", "Q, depends: A", f"B, depends: P, {HEADS}", f"C, depends: Q, {HEADS}")),
        {"together B C": "yes", "skippable B": "yes"},
    ),
    "steps": (
        manifest(steps(("A",), ("B", "C"), ("D", "E"), ("F",))),
        {
            "first": "A", "next A": "B C", "next B": "D E", "before E": "B C", "before F": "D E", "last": "F",
            "together B C": "yes", "together B D": "no", "skippable F": "no",
        },
    ),
    "coin flip in steps": (
        manifest(steps(("A",), (f"B, {HEADS}", f"C, {TAILS}"))),
        {"next A": "B C", "last": "B C", "conditional": "B C", "together B C": OPEN}
        | {"skippable A": "no", "skippable B": "yes"},
    ),
    "skipped step does not stop the next group": (
        manifest(steps(("A",), (f"B, {HEADS}", "C"), ("D",))),
        {"next C": "D", "next A": OPEN, "together B C": "yes", "skippable D": "no", "before B": "A"},
    ),
    "loop counts as one task": (
        manifest(dag("A", "B, depends: A, withItems: [1, 2]", "C, depends: B.AnySucceeded")),
        {"next A": "B", "next B": "C", "skippable C": "no", "together A C": "no"},
    ),
    "daemon runs beside what waits for it": (
        manifest(DAEMON, dag("A", "B, depends: A, template: server", "C, depends: B")),
        {"together B C": OPEN, "next B": OPEN, "before C": OPEN, "ancestors C": OPEN, "together A C": "no"},
    ),
    "nested": (
        manifest(dag("A", "B, depends: A, template: inner"), steps(("X",), ("Y",), name="inner")),
        {"inside B": "X Y", "inside A": "", "next A": "B", "cycle": "no"}
        | {"next X of inner": "Y", "first of inner": "X"},
    ),
    "recursive": (
        manifest(steps(("A",), (f"B, template: main, {TAILS}", f"C, {HEADS}"))),
        {"inside B": "A B C", "cycle": "yes", "next A": "B C"},
    ),
    "inline": (
        manifest(dag("A", "B, depends: A, inline: {steps: [[{name: X, template: run}], [{name: Y, template: run}]]}")),
        {"inside B": "X Y", "next A": "B"},
    ),
    "single leaf": (
        manifest(head="kind: Workflow\nmetadata: {generateName: hello-}\n").replace(": main", ": run"),
        {"first of hello-": "run", "last of hello-": "run", "skippable run of hello-": "no"},
    ),
}  # fmt: skip


def readings(text: str) -> Interpretation:
    interpretation = ARGO.interpret(text, "w.yml")
    for workflows in filter(None, (interpretation.workflows, interpretation.doubtful)):
        assert problems(combine_workflows(workflows)) == ()
    return interpretation


def fact(workflow: Workflow, kind: str, names: list[str]) -> str:
    def before(task: str) -> Iterable[str]:
        return (other for other in workflow.task_names if task in successors(workflow, other))

    def inside(task: str) -> Iterable[str]:
        used = workflow.task(task)
        others = [whole for whole in (workflow, *workflow.others) if whole.qualified == used.reference]
        return next((whole.task_names for whole in (used.subworkflow, *others) if whole), ())

    if missing := [name for name in names if name not in workflow.task_names]:
        return f"{missing} is unknown"
    facts: dict[str, Callable[[], object]] = {
        "next": lambda: successors(workflow, names[0]),
        "before": lambda: before(*names),
        "ancestors": lambda: ancestors(workflow, names[0]),
        "first": lambda: starts(workflow),
        "last": lambda: ends(workflow),
        "inside": lambda: inside(*names),
        "together": lambda: can_run_in_parallel(workflow, *names),
        "skippable": lambda: {True: False, False: True, None: None}[executed_in_every_situation(workflow, *names)],
        "conditional": lambda: dict.fromkeys(link.target for link in workflow.links if link.guard is not None),
        "exceptional": lambda: [f"{link.source}-{link.target}" for link in workflow.exceptional_links],
        "cycle": lambda: bool(recursion(workflow)),
    }
    value = facts[kind]()
    if value is None or isinstance(value, bool):
        return {None: OPEN, True: "yes", False: "no"}[value]
    assert isinstance(value, Iterable)
    return " ".join(value)


def answer(text: str, question: str) -> str:
    """Return the answer in both readings; OPEN where they differ, so that no question is asked about it."""
    question, _, name = question.partition(" of ")
    kind, *tasks = question.split()
    interpretation, answers = readings(text), set[str]()
    for workflows in filter(None, (interpretation.workflows, interpretation.doubtful)):
        at = next(i for i, each in enumerate(workflows) if each.name == (name or "main"))
        rest = (*workflows[:at], *workflows[at + 1 :])
        answers.add(fact(combine_workflows([workflows[at], *rest]), kind, tasks))
    return answers.pop() if len(answers) == 1 else OPEN


QUESTIONS = [(title, question) for title, (_, answers) in TABLE.items() for question in answers]


@pytest.mark.parametrize(("title", "question"), QUESTIONS, ids=lambda part: part)
def test_manifest_is_read_as_worked_out_by_hand(title: str, question: str) -> None:
    text, answers = TABLE[title]
    found = answer(text, question)
    assert found == answers[question] or (found == OPEN and question.startswith(("together", "skippable")))


def test_table_leaves_few_answers_open_that_are_known() -> None:
    known = [
        (text, question, right)
        for text, answers in TABLE.values()
        for question, right in answers.items()
        if right != OPEN
    ]
    left_open = [question for text, question, _ in known if answer(text, question) == OPEN]
    assert len(known) > 90
    assert len(left_open) < len(known) / 6


REFUSED = {
    "unknown template": (manifest(dag("A, template: nowhere")), "the unknown template 'nowhere'"),
    "unknown entrypoint": (manifest(dag("A", name="other")), "the unknown entrypoint 'main'"),
    "unknown dependency": (manifest(dag("A", "B, depends: A && X")), "a dependency on the unknown task 'X'"),
    "unknown result": (manifest(dag("A", "B, depends: A.Done")), "the unknown result 'Done'"),
    "cycle": (manifest(dag("A, depends: B", "B, depends: A")), "tasks that wait for each other: "),
    "both kinds": (manifest(dag("A", "B, depends: A", "C, dependencies: [A]")), "'depends' beside the 'dependencies'"),
    "repeated task": (manifest(dag("A", "A")), "a second task 'A'"),
    "repeated template": (manifest(dag("A"), dag("B")), "a second template 'main'"),
    "no tasks": (manifest("  - name: main\n    dag: {tasks: []}\n"), "dag without tasks"),
    "steps without groups": (manifest("  - name: main\n    steps: [{name: A, template: run}]\n"), "expected a group"),
    "task without template": (manifest("  - name: main\n    dag: {tasks: [{name: A}]}\n"), "a task without a template"),
    "task without name": (manifest("  - name: main\n    dag: {tasks: [{template: run}]}\n"), "a task without a name"),
    "library of leaves": (manifest().replace("  entrypoint: main\n", ""), "only templates that run one thing"),
    "another kind": ("apiVersion: v1\nkind: ConfigMap\n", "no workflow of Argo"),
    "no spec": ("apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nspec: {}\n", "without spec.workflowSpec"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), REFUSED.values(), ids=REFUSED)
def test_manifest_that_argo_refuses_is_refused_with_its_place(text: str, found: str) -> None:
    with pytest.raises(ReadError) as raised:
        ARGO.interpret(text, "w.yml")
    assert found in str(raised.value)
    assert str(raised.value).startswith("w.yml:")


LEFT_OUT = {
    "withItems (w.yml:11)": manifest(dag("A", "B, withItems: [1]")),
    "onExit": manifest(dag("A"), spec="  onExit: run\n"),
    "hooks": manifest(dag("A, hooks: {exit: {template: run}}")),
    "continueOn": manifest(dag("A, continueOn: {failed: true}")),
    "failFast": manifest("  - name: main\n    dag:\n      failFast: false\n      tasks: [{name: A, template: run}]\n"),
    "parallelism": manifest(dag("A"), spec="  parallelism: 1\n"),
    "retryStrategy": manifest(dag("A")) + "    retryStrategy: {limit: 2}\n",
    "target": manifest(dag("A") + "      target: A\n"),
    "when without '{{'": manifest(dag('A, when: "false"')),
    "when on the result of a task": manifest(dag("A", 'B, depends: A, when: "{{tasks.A.status}} == Failed"')),
    "depends": manifest(dag("A", "B", "C, depends: A.Failed || B.Failed")),
    "outputs of tasks": manifest(
        dag("A", 'B, depends: A, arguments: {parameters: [{name: x, value: "{{tasks.A.outputs.result}}"}]}')
    ),
    "templateRef to elsewhere/there": manifest(dag("A, templateRef: {name: elsewhere, template: there}")),
    "a document of kind Secret": manifest(dag("A")) + "---\nkind: Secret\n",
}  # fmt: skip


@pytest.mark.parametrize(("construct", "text"), LEFT_OUT.items(), ids=LEFT_OUT)
def test_construct_without_a_meaning_is_named_with_its_place(construct: str, text: str) -> None:
    (line,) = readings(text).left_out
    assert line.startswith(construct)
    assert "w.yml:" in line


def test_plain_manifest_leaves_nothing_out_and_nothing_open() -> None:
    interpretation = readings(TABLE["diamond"][0])
    assert (interpretation.left_out, interpretation.doubtful) == ((), ())


@pytest.mark.parametrize("text", [LEFT_OUT["target"], LEFT_OUT["when without '{{'"], LEFT_OUT["depends"]])
def test_level_that_cannot_be_expressed_is_not_asked_about(text: str) -> None:
    assert readings(text).doubtful[0].tasks == ()


@pytest.mark.parametrize(
    "when",
    [
        "{{steps.A.status}} == Failed",
        "{{ workflow.status }} != Succeeded",
        "{{=steps['A'].status == 'Succeeded'}}",
        "{{steps.A.exitCode}} == 0",
        "{{workflow.parameters.x}} == y && {{steps.A.status}} == Succeeded",
    ],
)
def test_level_with_a_condition_on_a_result_is_not_asked_about(when: str) -> None:
    assert readings(manifest(steps(("A",), (f'B, when: "{when}"',)))).doubtful[0].tasks == ()


def test_condition_on_a_parameter_called_status_is_a_condition() -> None:
    text = manifest(steps(("A",), ('B, when: "{{workflow.parameters.status}} == Failed"',)))
    assert readings(text).doubtful[0].task_names == ("A", "B")


def test_exit_hook_is_said_to_run_after_its_task() -> None:
    (line,) = readings(LEFT_OUT["hooks"]).left_out
    assert "`exit` after it" in line


def test_template_of_another_document_is_entered() -> None:
    library = manifest(dag("X", name="inner"), head="kind: WorkflowTemplate\nmetadata: {name: library}\n", spec="")
    library = library.replace("  entrypoint: main\n", "")
    user = manifest(dag("A, templateRef: {name: library, template: inner}"))
    workflows = readings(f"{user}---\n{library}").workflows
    assert [workflow.name for workflow in workflows] == ["main", "inner"]
    assert str(workflows[0].tasks[0].reference) == "inner"


def test_templates_of_one_name_are_told_apart_by_their_documents() -> None:
    first, second = manifest(dag("A")), manifest(dag("B"), head="kind: Workflow\nmetadata: {name: other}\n")
    interpretation = readings(f"{first}---\n{second}")
    assert [str(workflow.qualified) for workflow in interpretation.workflows] == ["whole.main", "other.main"]
    assert any("`document.template`" in sentence for sentence in interpretation.guide)


def test_cron_workflow_holds_its_workflow_under_workflow_spec() -> None:
    nested = "".join(f"  {line}\n" for line in manifest(dag("A")).partition("spec:\n")[2].splitlines())
    head = "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: nightly}\nspec:\n  workflowSpec:\n"
    text = head + nested
    assert readings(text).workflows[0].task_names == ("A",)


def test_manifest_of_the_page_is_read_as_the_page_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "notations.md"
    fenced = [part.partition("```")[0] for part in page.read_text(encoding="utf-8").split("```yaml\n")[1:]]
    (text,) = [part for part in fenced if "argoproj" in part]
    first, second = readings(text).workflows
    assert (first.name, second.name) == ("supper", "cooking")
    assert successors(first, "chop") == ("cook",)
    assert successors(second, "stir") == ("season",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TABLE["steps"][0], True),
        ("kind: CronWorkflow\napiVersion: argoproj.io/v1alpha1\n", True),
        ("apiVersion: argoproj.io/v1alpha1\nkind: Sensor\n", False),
        ("apiVersion: apps/v1\nkind: Workflow\n", False),
        ("on: push\njobs: {}\n", False),
    ],
)
def test_argo_manifest_is_recognised_by_its_keys(text: str, expected: bool) -> None:
    assert ARGO.recognises(text) is expected


def test_argo_manifest_is_never_written() -> None:
    with pytest.raises(UsageError, match="only read"):
        ARGO.write(Workflow("w"))


@pytest.mark.parametrize(
    ("expression", "tasks"),
    [("a && (b-1.Succeeded || !c)", ("a", "b-1", "c")), ("", ()), ("a", ("a",)), ("a&&a", ("a",))],
)
def test_depends_names_tasks_once_in_their_order(expression: str, tasks: tuple[str, ...]) -> None:
    assert parse_depends(expression).tasks == tasks


@pytest.mark.parametrize("expression", ["a &&", "a b", "(a", "a ? b : c", "!" * 2000 + "a", "(" * 2000 + "a"])
def test_depends_outside_its_grammar_has_no_logic(expression: str) -> None:
    assert parse_depends(expression).logic is None


NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,5}", fullmatch=True), min_size=1, max_size=8, unique=True)


@given(NAMES, st.data())
def test_random_dag_is_read_as_it_was_written(names: list[str], data: st.DataObject) -> None:
    expected, tasks = set[tuple[str, str]](), []
    for i, name in enumerate(names):
        before = data.draw(st.lists(st.sampled_from(names[:i]), unique=True)) if i else []
        expected |= {(other, name) for other in before}
        tasks.append(f"'{name}'" + (f", dependencies: [{', '.join(map(repr, before))}]" if before else ""))
    (workflow,) = readings(manifest(dag(*tasks))).workflows
    found = {(a, b) for a, b in product(names, names) if b in successors(workflow, a)}
    assert (workflow.task_names, found) == (tuple(names), expected)


YAML_VALUES = st.recursive(
    st.sampled_from(["A", "B", "main", "run", "{{x}}", "A && B", "", 1, None, True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "template", "dag", "steps", "tasks", "depends", "dependencies", "when", "templateRef"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(YAML_VALUES, st.sampled_from(["Workflow", "WorkflowTemplate", "CronWorkflow"]))
def test_random_manifest_is_read_or_refused(templates: object, kind: str) -> None:
    spec = {"templates": templates, "entrypoint": "main"}
    whole = {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "spec": {"workflowSpec": spec, **spec}}
    with contextlib.suppress(ReadError):
        readings(json.dumps(whole))
