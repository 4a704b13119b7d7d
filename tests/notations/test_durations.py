"""Durations in every notation: read from text written by hand, written and read back, and told in the guide."""

from __future__ import annotations

import pytest
from canonical_form import canonical

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations import NOTATIONS, Notation, notation
from pytest_taskgraph.notations.notation import DURATIONS
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import END, START, Configuration, Duration, Link, Task, Workflow
from pytest_taskgraph.workflow.references import assemble

INSIDE = Workflow(
    "Dry", tasks=(Task("Air", duration=Duration(1, "days")),), links=(Link(START, "Air"), Link("Air", END))
)
LAUNDRY = Workflow(
    "Wash",
    tasks=(
        Task("Soak", duration=Duration(90, "minutes")),
        Task("Rinse", duration=Duration(1, "hours")),
        Task("duration", duration=Duration(45, "seconds")),
        Task("Dry", subworkflow=INSIDE),
    ),
    links=(
        Link(START, "Soak"),
        Link("Soak", "Rinse"),
        Link("Rinse", "duration"),
        Link("duration", "Dry"),
        Link("Dry", END),
    ),
)
each_notation = pytest.mark.parametrize("each", NOTATIONS.values(), ids=lambda each: each.name)


@each_notation
def test_written_durations_are_read_back(each: Notation) -> None:
    read = each.read(each.write(LAUNDRY))
    assert not problems(read)
    assert canonical(read) == canonical(LAUNDRY)


@each_notation
def test_guide_tells_durations_only_with_feature(each: Notation) -> None:
    assert "duration" not in each.guide_to({"exceptional"})
    assert each.guide_to({"durations"}) == f"{each.guide} {each.duration_guide} {DURATIONS}"


@pytest.mark.parametrize(
    ("amount", "unit", "seconds"), [(45, "seconds", 45), (90, "minutes", 5400), (2, "hours", 7200), (1, "days", 86400)]
)
def test_duration_seconds_is_length(amount: int, unit: str, seconds: int) -> None:
    assert Duration(amount, unit).seconds == seconds  # type: ignore[arg-type]


def test_durations_of_equal_length_in_other_units_are_unequal() -> None:
    assert Duration(60, "minutes") != Duration(1, "hours")


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("duration 0 minutes;", "the duration 0 minutes"),
        ("duration 1.5 hours;", "the duration 1.5 hours"),
        ("duration 3 weeks;", "the duration 3 weeks"),
        ("duration 3 min;", "the duration 3 min"),
        ("duration 3;", "`;`"),
        ("duration 3 hours; duration 4 hours;", "a second `duration`"),
    ],
)
def test_read_wadl_other_duration_refused(item: str, found: str) -> None:
    with pytest.raises(ReadError, match="expected") as raised:
        notation("wadl").read(f"package main; workflow W {{ START -> A -> END; task A {{ {item} }} }}", "w.xxp")
    assert found in str(raised.value)


def test_read_wadl_word_duration_is_name_outside_of_tasks() -> None:
    text = "package main; workflow W { START -> duration -> END; task duration { param duration = 3; } }"
    read = notation("wadl").read(text)
    assert (read.task_names, read.task("duration").duration) == (("duration",), None)


def test_read_wadl_derived_workflow_overrides_duration_of_base() -> None:
    base = "package p; workflow B { task A { duration 1 hour; } task C { duration 2 hours; } START -> A -> C -> END; }"
    derived = "package main; workflow W from p.B { configure task A { duration 5 hours; } }"
    tasks = assemble(notation("wadl-separate").read(f"{derived} {base}")).tasks
    assert [task.duration for task in tasks] == [Duration(5, "hours"), Duration(2, "hours")]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The task 'A' takes 0 minutes.", "'0 minutes'"),
        ("The task 'A' takes half an hour.", "'half an hour'"),
        ("The task 'A' takes 1 hour.\nThe task 'A' takes 1 hour.", "the duration a second time"),
        ("The task 'B' takes 1 hour.", "the unknown task 'B'"),
    ],
)
def test_read_prose_other_duration_refused(sentence: str, found: str) -> None:
    with pytest.raises(ReadError, match="expected") as raised:
        notation("prose").read(f"Workflow 'W':\nThe workflow has the task 'A'.\n{sentence}", "w.txt")
    assert found in str(raised.value)


@pytest.mark.parametrize(
    "value",
    [
        '{"amount": 0, "unit": "hours"}',
        '{"amount": true, "unit": "hours"}',
        '{"amount": 1.5, "unit": "hours"}',
        '{"amount": 1, "unit": "weeks"}',
        '"1 hour"',
    ],
)
def test_read_json_other_duration_refused(value: str) -> None:
    task = f'{{"name": "A", "duration": {value}}}'
    with pytest.raises(ReadError, match="expected"):
        notation("json").read(f'{{"format": "taskgraph-workflow", "version": 1, "name": "W", "tasks": [{task}]}}')


def test_read_mermaid_label_line_is_duration() -> None:
    read = notation("mermaid").read(
        'flowchart TD\nA["Bake<br/>duration: 1 hour"] --> B["Cool<br>duration: 20 minutes"]'
    )
    assert [(task.name, task.duration) for task in read.tasks] == [
        ("Bake", Duration(1, "hours")),
        ("Cool", Duration(20, "minutes")),
    ]


def test_read_mermaid_duration_in_other_words_is_part_of_name() -> None:
    read = notation("mermaid").read('flowchart TD\nA["Bake<br/>duration: an hour or so"] --> B[Cool]')
    assert [(task.name, task.duration) for task in read.tasks] == [
        ("Bake duration: an hour or so", None),
        ("Cool", None),
    ]


def test_interpret_mermaid_guide_tells_duration_line_where_there_is_one() -> None:
    mermaid = notation("mermaid")
    with_one = " ".join(mermaid.interpret('flowchart TD\nA["Bake<br/>duration: 1 hour"] --> B').guide)
    without = " ".join(mermaid.interpret('flowchart TD\nA["Bake<br/>kind: user"] --> B').guide)
    assert f"{mermaid.duration_guide} {DURATIONS}" in with_one
    assert "duration" not in without


@pytest.mark.parametrize(
    ("label", "name", "duration"),
    [
        ("Bake (30 min)", "Bake (30 min)", Duration(30, "minutes")),
        ("Bake (2 h)", "Bake (2 h)", Duration(2, "hours")),
        ("Bake (45s)", "Bake (45s)", Duration(45, "seconds")),
        ("Bake<br/>30 minutes", "Bake 30 minutes", Duration(30, "minutes")),
        ("Bake<br/>(1 Day)", "Bake (1 Day)", Duration(1, "days")),
        ("Bake (2 h)<br/>kind: user", "Bake (2 h)", Duration(2, "hours")),
        ("Bake (2 h)<br/>duration: 3 hours", "Bake (2 h)", Duration(3, "hours")),
        ("Order (3 days notice)", "Order (3 days notice)", None),
        ("Run 30 minutes", "Run 30 minutes", None),
        ("30 minutes", "30 minutes", None),
        ("Lay (5 m)", "Lay (5 m)", None),
        ("Bake (1.5 h)", "Bake (1.5 h)", None),
        ("Bake (2-3 h)", "Bake (2-3 h)", None),
        ("Bake (0 min)", "Bake (0 min)", None),
        ("Bake (30 min) slowly", "Bake (30 min) slowly", None),
    ],
)
def test_read_mermaid_time_at_end_of_name(label: str, name: str, duration: Duration | None) -> None:
    read = notation("mermaid").read(f'flowchart TD\nA["{label}"] --> B[Cool]')
    assert (read.tasks[0].name, read.tasks[0].duration) == (name, duration)


def test_read_mermaid_time_in_title_of_composite_is_no_duration() -> None:
    read = notation("mermaid").read('flowchart TD\nsubgraph P ["Bake (2 h)"]\nA["Mix (5 min)"]\nend\nP --> B[Cool]')
    assert read.task("Bake (2 h)").duration is None


def test_write_mermaid_name_like_a_time_is_read_back_without_duration() -> None:
    workflow = Workflow("W", tasks=(Task("A (3 h)"),), links=(Link(START, "A (3 h)"), Link("A (3 h)", END)))
    mermaid = notation("mermaid")
    assert mermaid.read(mermaid.write(workflow)).tasks == workflow.tasks


def test_interpret_mermaid_guide_tells_times_in_names_where_there_are_some() -> None:
    mermaid = notation("mermaid")
    [*_, told, meaning] = mermaid.interpret('flowchart TD\nA["Bake (1 h)"] --> B').guide
    assert 'as in "(30 min)"' in told
    assert meaning == DURATIONS
    assert "(30 min)" not in " ".join(mermaid.interpret('flowchart TD\nA["Bake (1 hour ago)"] --> B').guide)


def test_problems_duration_below_one_is_told() -> None:
    task = Workflow("W", tasks=(Task("A", duration=Duration(0, "hours")),), links=(Link(START, "A"), Link("A", END)))
    configured = Workflow("V", tasks=(Task("A"),), configurations=(Configuration("A", duration=Duration(-1, "days")),))
    for workflow, found in ((task, "0 hours"), (configured, "-1 days")):
        [problem] = [each for each in problems(workflow) if "duration" in each]
        assert f"task 'A' has the duration {found}; expected a whole number of at least 1" in problem
