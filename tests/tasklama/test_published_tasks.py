"""The reader of the published format: tasks and splits, bad data, and the numbers (`test_data_files`: the files)."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_sets import TaskSet, task_lines
from pytest_taskgraph.families.tasklama.task_sets.task_lines import (
    LONGEST_TEXT,
    MOST_STEPS,
    StatedCounts,
    read_published,
    read_tasks,
)

COUNTS = "tasks: "  # how the line on the numbers begins


def record(title: str, steps: Sequence[str], pairs: Sequence[tuple[str, str]] = (), **more: object) -> dict[str, Any]:
    """Return a task as a line of the published format states it."""
    return {
        "task": title,
        "assumptions": [],
        "substeps": [{"step": step} for step in steps],
        "dependencies": [{"subtask1": before, "subtask2": after} for before, after in pairs],
        **more,
    }


def lines(*records: Mapping[str, Any]) -> bytes:
    """Return the records as JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


RICE = record("Cook rice", ["wash rice", "boil water", "cook rice"], [("wash rice", "cook rice")])
TEA = record("Make tea", ["boil water", "steep tea"], [("boil water", "steep tea")])


def read(content: bytes) -> tuple[list[ComplexTask], list[str]]:
    """Return the tasks of a file and the lines for the user."""
    problems = DataProblems()
    return read_tasks(content, "test.jsonl", "test", problems, StatedCounts()), problems.lines


def wrong(tasks: TaskSet) -> list[str]:
    """Return what is wrong with the data, without the line on the numbers."""
    return [line for line in tasks.problems if not line.startswith(COUNTS)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a folder in the published layout with a task in each split."""
    for split, content in {"train": RICE, "validation": TEA, "test": record("Fry an egg", ["fry egg"])}.items():
        (tmp_path / "data" / f"{split}.jsonl").parent.mkdir(exist_ok=True)
        (tmp_path / "data" / f"{split}.jsonl").write_bytes(lines(content))
    return tmp_path / "data"


def packed(folder: Path) -> Path:
    """Return an archive of the folder."""
    path = folder.with_name("tasklama.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


# What a line says.


def test_line_as_published_gives_task_with_its_graph() -> None:
    stated = record("Make a burger", ["form patty", "grill patty"], [("form patty", "grill patty")])
    stated |= {"assumptions": [{"assumption": "On a charcoal grill"}], "cluster": "burgers", "annotator": 7}

    assert read(lines(stated)) == (
        [
            ComplexTask(
                "",
                "Make a burger",
                ("On a charcoal grill",),
                ("form patty", "grill patty"),
                ((0, 1),),
                "burgers",
                "test",
            )
        ],
        [],
    )


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ([{"assumption": "In Italy"}, {"assumption": "In May"}], ("In Italy", "In May")),
        (["In Italy", "In May"], ("In Italy", "In May")),
        (["In Italy", {"assumption": " In  Italy "}, {"assumption": ""}, {}, None], ("In Italy",)),
        ([], ()),
        (None, ()),
    ],
)
def test_assumptions_in_each_shape_become_the_context(stated: object, expected: tuple[str, ...]) -> None:
    (task,), problems = read(lines(TEA | {"assumptions": stated}))

    assert (task.context, problems) == (expected, [])


def test_assumptions_missing_give_an_empty_context() -> None:
    (task,), problems = read(lines({key: TEA[key] for key in TEA if key != "assumptions"}))

    assert (task.context, problems) == ((), [])


def test_steps_with_numbers_of_their_own_stand_in_that_order() -> None:
    substeps = [{"step": "steep tea", "stepId": 2}, {"step": "boil water", "stepId": 1}]

    (task,), _ = read(lines(TEA | {"substeps": substeps}))

    assert (task.steps, task.dependencies) == (("boil water", "steep tea"), ((0, 1),))


@pytest.mark.parametrize("numbers", [[2, 2], [2, "1"], [2, None], [True, 0]])
def test_steps_without_numbers_of_their_own_stay_as_they_stand(numbers: list[object]) -> None:
    substeps = [{"step": f"step {at}", "stepId": number} for at, number in enumerate(numbers)]

    (task,), _ = read(lines(record("Task", []) | {"substeps": substeps}))

    assert task.steps == ("step 0", "step 1")


def test_dependency_of_a_step_on_itself_is_left_out_and_reported() -> None:
    tasks, problems = read(lines(record("Make tea", ["boil water"], [("boil water", "Boil water.")])))

    assert tasks[0].dependencies == ()
    assert problems == ["test.jsonl, line 1 (Make tea): the step 'boil water' depends on itself; left out"]


def test_dependency_stated_twice_counts_once() -> None:
    (task,), problems = read(lines(TEA | {"dependencies": 2 * TEA["dependencies"]}))

    assert (task.dependencies, problems) == (((0, 1),), [])


def test_dependency_with_other_case_spaces_and_full_stop_is_found() -> None:
    stated = record("Make tea", ["Boil water.", "Steep the tea"], [("boil  water", " steep the TEA. ")])

    assert read(lines(stated))[0][0].dependencies == ((0, 1),)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("heat milk", "steep tea"), "a dependency on 'heat milk', which is none of its steps"),
        (("boil water", "drink tea"), "a dependency on 'drink tea', which is none of its steps"),
        (("boil water", ""), "a dependency without two steps"),
    ],
)
def test_dependency_on_unknown_step_is_left_out_and_reported(pair: tuple[str, str], message: str) -> None:
    tasks, problems = read(lines(RICE, record("Make tea", ["boil water", "steep tea"], [pair])))

    assert tasks[1].dependencies == ()
    assert problems == [f"test.jsonl, line 2 (Make tea): {message}; it is left out"]


@pytest.mark.parametrize("stated", [{"before": "boil water"}, 7])
def test_dependency_of_another_shape_is_left_out_and_reported(stated: object) -> None:
    (task,), problems = read(lines(TEA | {"dependencies": [stated]}))

    assert task.dependencies == ()
    assert len(problems) == 1
    assert "line 1 (Make tea): a dependency" in problems[0]


def test_step_that_occurs_twice_is_kept_once_with_all_dependencies() -> None:
    steps = ["boil water", "steep tea", "Boil water."]
    stated = record("Make tea", steps, [("Boil water.", "steep tea")])

    (task,), problems = read(lines(stated))

    assert (task.steps, task.dependencies) == (("boil water", "steep tea"), ((0, 1),))
    assert problems == ["test.jsonl, line 1 (Make tea): the step 'Boil water.' occurs twice; the first is kept"]


@pytest.mark.parametrize(
    ("stated", "name", "lacks"),
    [
        (record("Make tea", []), "Make tea", "steps"),
        (record("", ["boil water"]), "no title", "title"),
        ({"task": 7, "substeps": [{"step": "boil water"}]}, "no title", "title"),
    ],
)
def test_empty_task_is_left_out_and_reported(stated: dict[str, Any], name: str, lacks: str) -> None:
    tasks, problems = read(lines(TEA, stated, RICE))

    assert [task.title for task in tasks] == ["Make tea", "Cook rice"]
    assert problems == [f"test.jsonl, line 2 ({name}): the task has no {lacks}; it is left out"]


@pytest.mark.parametrize("step", [" .", None, {"step": ["boil water"]}, {}])
def test_step_without_a_text_is_left_out_and_reported(step: object) -> None:
    (task,), problems = read(lines(TEA | {"substeps": [{"step": "boil water"}, step, {"step": "steep tea"}]}))

    assert (task.steps, task.dependencies) == (("boil water", "steep tea"), ((0, 1),))
    assert problems == ["test.jsonl, line 1 (Make tea): a step has no text; it is left out"]


@pytest.mark.parametrize("name", ["assumptions", "dependencies"])
@pytest.mark.parametrize("value", ["text", {}, False])
def test_field_that_is_no_list_is_left_out_and_reported(name: str, value: object) -> None:
    (task,), problems = read(lines(TEA | {name: value}))

    assert task.steps == ("boil water", "steep tea")
    assert len(problems) == 1
    assert f"line 1 (Make tea): {name} holds " in problems[0]


# Bad lines and tasks.


def test_text_that_is_too_long_leaves_the_task_out() -> None:
    tasks, problems = read(lines(record("Make tea", ["boil", "b" * (LONGEST_TEXT + 1)]), RICE))

    assert [task.title for task in tasks] == ["Cook rice"]
    assert problems == [
        "test.jsonl, line 1 (Make tea): the task has a text of 1001 characters, more than 1000; it is left out"
    ]


def test_task_with_too_many_steps_is_left_out() -> None:
    tasks, problems = read(lines(record("Make tea", [f"step {at}" for at in range(MOST_STEPS + 1)]), RICE))

    assert [task.title for task in tasks] == ["Cook rice"]
    assert "101 steps, more than 100" in problems[0]


def test_control_characters_and_half_pairs_become_spaces() -> None:
    content = b'{"task": "Make\\u001b[31m tea\\n", "substeps": [{"step": "boil\\ud800 water\\u0000"}]}\n'

    (task,), _ = read(content)

    assert (task.title, task.steps) == ("Make [31m tea", ("boil water",))
    assert "\x1b" not in "".join(read(b'{"task": "\\u001b[31m"}\n')[1])


def test_problems_of_one_kind_are_summed_up_after_five() -> None:
    bad = record("Make tea", ["boil water", "steep tea"], [("heat milk", "steep tea")])

    tasks, problems = read(b"{\n" + lines(*[bad] * 12) + b"[\n")

    assert len(tasks) == 12
    assert [line.partition(":")[0] for line in problems] == [
        "test.jsonl, line 1",
        "test.jsonl, line 14",
        *(f"test.jsonl, line {number} (Make tea)" for number in range(2, 7)),
        "and 7 more",
    ]
    assert problems[-1] == "and 7 more: dependencies on steps that do not exist"


def test_dependencies_against_the_order_are_kept_and_counted(folder: Path) -> None:
    backward = record("Make tea", ["steep tea", "boil water"], [("boil water", "steep tea")])
    (folder / "test.jsonl").write_bytes(lines(backward, backward, RICE))

    tasks = read_published(folder)

    assert tasks.test[0].dependencies == ((1, 0),)
    assert wrong(tasks) == ["test: 2 dependencies run against the order of the steps; they are kept"]


# Files, folders and archives.


def test_folder_as_published_gives_three_splits(folder: Path) -> None:
    tasks = read_published(folder)

    assert [task.id for split in ("train", "validation", "test") for task in tasks.split(split)] == [
        "cook-rice",
        "make-tea",
        "fry-an-egg",
    ]
    assert [task.split for task in (*tasks.train, *tasks.validation, *tasks.test)] == ["train", "validation", "test"]
    assert (tasks.source, wrong(tasks)) == ("published", [])


def test_folder_with_split_folders_gives_their_files(tmp_path: Path) -> None:
    for name in ("a/train/one.jsonl", "a/train/two.json", "a/dev/one.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(lines(TEA))

    tasks = read_published(tmp_path)

    assert [task.id for task in (*tasks.train, *tasks.validation)] == ["make-tea", "make-tea-2", "make-tea-3"]
    assert tasks.test == ()


def test_folder_with_other_files_reads_only_data_with_a_split(folder: Path) -> None:
    (folder / "README.md").write_text("train", encoding="utf-8")
    (folder / "tasks.json").write_bytes(lines(TEA))
    (folder / ".train.jsonl").write_bytes(b"\x00")
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._test.jsonl").write_bytes(b"\x00")

    tasks = read_published(folder)

    assert [len(tasks.train), len(tasks.validation), len(tasks.test)] == [1, 1, 1]
    assert wrong(tasks) == ["tasks.json: its name states no split; the file is left out"]


def test_archive_of_a_folder_gives_the_same_tasks(folder: Path) -> None:
    bad = record("Make tea", ["boil water"], [("heat milk", "boil water")])
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "test-more.json").write_bytes(b"{\n" + lines(bad))

    assert read_published(packed(folder)) == read_published(folder)


def test_single_file_has_the_split_of_its_name_else_test(tmp_path: Path) -> None:
    for name in ("train.jsonl", "mine.jsonl"):
        (tmp_path / name).write_bytes(lines(TEA))

    assert len(read_published(tmp_path / "train.jsonl").train) == 1
    assert [task.split for task in read_published(tmp_path / "mine.jsonl").test] == ["test"]


# Nothing that can be used.


def test_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tasklama=.*nowhere: no such file or folder; expected the archive"):
        read_published(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"found no \.jsonl or \.json file; expected"),
        ({"notes.txt": b"train"}, r"found no \.jsonl or \.json file; expected"),
        ({"tasks.jsonl": lines(TEA)}, r"found tasks\.jsonl; tasks\.jsonl: its name states no split"),
        ({"test.jsonl": b"{\n"}, r"found test\.jsonl; test\.jsonl, line 1: broken JSON"),
        ({"test.jsonl": b""}, r"found test\.jsonl; expected"),
    ],
)
def test_data_without_a_task_are_refused(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    (tmp_path / "data").mkdir()
    for name, content in files.items():
        (tmp_path / "data" / name).write_bytes(content)

    with pytest.raises(UsageError, match=rf"no task that can be used; {message}"):
        read_published(tmp_path / "data")


def test_file_that_is_no_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(range(256)) * 10)

    with pytest.raises(UsageError, match=r"found picture\.png; picture\.png, line 1: "):
        read_published(tmp_path / "picture.png")


# The numbers, and reading once.


def test_counts_unlike_the_published_ones_are_one_line(folder: Path) -> None:
    assert read_published(folder).problems == (
        "tasks: train 1, validation 1, test 1; steps: 6; dependencies: 2. The published set has train 965, "
        "validation 169, test 478; 12118; 11105: scores are not comparable with the paper's",
    )


def test_counts_like_the_published_ones_are_no_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_lines, "PUBLISHED_TASKS", {"train": 1, "validation": 1, "test": 1})
    monkeypatch.setattr(task_lines, "PUBLISHED_STEPS", 6)
    monkeypatch.setattr(task_lines, "PUBLISHED_DEPENDENCIES", 2)

    assert read_published(folder).problems == ()


def test_counts_include_steps_and_dependencies_that_are_left_out(folder: Path) -> None:
    stated = record("Make tea", ["boil water", "Boil water"], [("boil water", "boil water"), ("x", "y")])
    (folder / "test.jsonl").write_bytes(lines(stated))

    assert "test 1; steps: 7; dependencies: 4." in read_published(folder).problems[-1]


def test_data_are_read_once_until_a_file_changes(folder: Path) -> None:
    first = read_published(folder)
    assert read_published(folder) is first

    (folder / "test.jsonl").write_bytes(lines(RICE))
    os.utime(folder / "test.jsonl", ns=(1, 1))

    assert [task.title for task in read_published(folder).test] == ["Cook rice"]


# Any task set that is written in the format reads back equal.

words = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8).filter(lambda one: one.strip("."))
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)


@st.composite
def complex_tasks(draw: st.DrawFn) -> ComplexTask:
    """Draw a task, as yet without an id."""
    steps = draw(st.lists(texts, min_size=1, max_size=6, unique_by=lambda text: text.casefold().rstrip(" .")))
    places = st.integers(0, len(steps) - 1)
    pairs = st.tuples(places, places).filter(lambda pair: pair[0] != pair[1])
    return ComplexTask(
        "",
        draw(texts),
        tuple(draw(st.lists(texts, max_size=3, unique=True))),
        tuple(steps),
        tuple(draw(st.lists(pairs, max_size=8, unique=True))) if len(steps) > 1 else (),
        draw(st.one_of(st.just(""), texts)),
        "test",
    )


def published_record(task: ComplexTask) -> dict[str, Any]:
    """Return the task in the published format."""
    pairs = [(task.steps[before], task.steps[after]) for before, after in task.dependencies]
    assumptions = [{"assumption": assumption} for assumption in task.context]
    return record(task.title, task.steps, pairs, assumptions=assumptions, cluster=task.cluster)


@given(st.lists(complex_tasks(), max_size=4))
def test_tasks_written_in_the_format_read_back_equal(tasks: list[ComplexTask]) -> None:
    assert read(lines(*map(published_record, tasks))) == (tasks, [])


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_as_data_never_raise(content: bytes) -> None:
    read(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["task", "assumptions", "substeps", "dependencies", "step", "stepId", "subtask1", "subtask2"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_as_a_line_never_raises_and_keeps_indices_valid(value: object) -> None:
    for task in read(json.dumps(value).encode())[0]:
        assert task.title
        assert task.steps
        assert all(0 <= at < len(task.steps) for pair in task.dependencies for at in pair)
