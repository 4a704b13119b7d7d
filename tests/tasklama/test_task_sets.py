"""Where tasks come from, how they are chosen, and the ids by which they are known."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.items import draw_items
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_sets import TaskSet, load
from pytest_taskgraph.families.tasklama.task_sets.task_set import with_ids
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings


def name(title: str, *context: str) -> ComplexTask:
    """Return a task of that title and context, as yet without an id."""
    return ComplexTask("", title, context, ("do it",), ())


def ids(*tasks: ComplexTask) -> list[str]:
    """Return the ids that the tasks get."""
    return [task.id for task in with_ids(tasks)]


# Sources.


def test_load_without_a_source_gives_the_embedded_tasks() -> None:
    tasks = load(TaskLamaSettings.of(Settings()))

    assert (tasks.source, tasks.problems) == ("embedded", ())
    assert min(len(tasks.train), len(tasks.validation), len(tasks.test)) >= 10
    for split in ("train", "validation", "test"):
        assert {task.split for task in tasks.split(split)} == {split}
        assert all(task.cluster for task in tasks.split(split))


def test_load_with_published_data_gives_them(tmp_path: Path) -> None:
    line = {"task": "Make tea", "assumptions": [], "substeps": [{"step": "boil water"}], "dependencies": []}
    (tmp_path / "test.jsonl").write_text(json.dumps(line), encoding="utf-8")

    tasks = load(TaskLamaSettings.of(Settings(data={"tasklama": str(tmp_path)})))

    assert (tasks.source, [task.id for task in tasks.test]) == ("published", ["make-tea"])


def test_load_of_published_data_that_are_not_stated_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"--taskgraph-data: the data set 'tasklama' is missing; add tasklama=PATH"):
        load(TaskLamaSettings(source="published"))


def test_load_of_generated_tasks_has_one_for_every_instance() -> None:
    tasks = load(TaskLamaSettings(source="generated", instances=40, seed=5))

    assert (tasks.source, tasks.problems) == ("generated", ())
    assert len(draw_items(tasks.test, 40, 5)) == 40


@pytest.mark.parametrize("source", ["embedded", "generated"])
def test_load_again_gives_the_tasks_that_are_kept(source: str) -> None:
    settings = TaskLamaSettings(source=source)  # type: ignore[arg-type]

    assert load(settings) is load(settings)


@pytest.mark.parametrize("source", ["embedded", "generated"])
def test_ids_of_our_tasks_are_unique_and_short(source: str) -> None:
    tasks = load(TaskLamaSettings(source=source))  # type: ignore[arg-type]
    task_ids = [task.id for task in (*tasks.train, *tasks.validation, *tasks.test)]

    assert len(set(task_ids)) == len(task_ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry) and len(entry) <= 60 for entry in task_ids)


def test_tasks_of_our_sets_survive_json() -> None:
    tasks: TaskSet = load(TaskLamaSettings())

    for task in tasks.test:
        assert ComplexTask.from_json(json.loads(json.dumps(task.to_json()))) == task


# Ids.


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (name("Plan a wedding", "In Italy"), "plan-a-wedding-in-italy"),
        (name("Plan a wedding", "In Italy", "For 40 guests"), "plan-a-wedding-in-italy-for-40-guests"),
        (name("Fix a bicycle's flat tire!"), "fix-a-bicycles-flat-tire"),
        (name("Crème brûlée"), "creme-brulee"),
        (name("作る"), "task"),
        (name("Plan a wedding", "x" * 50), "plan-a-wedding"),
        (name("Plan " + "a " * 40 + "wedding"), "plan-" + "-".join("a" * 28)),
        (name("x" * 70), "x" * 60),
    ],
)
def test_id_of_a_task_is_title_and_the_context_that_fits(task: ComplexTask, expected: str) -> None:
    assert ids(task) == [expected]


def test_ids_of_equal_titles_get_numbers_that_are_free() -> None:
    tasks = [name("Make tea"), name("Make tea 2"), name("Make tea"), name("Make tea!"), name("Make tea 2")]

    assert ids(*tasks) == ["make-tea", "make-tea-2", "make-tea-3", "make-tea-4", "make-tea-2-2"]


def test_ids_of_long_equal_titles_stay_short() -> None:
    task_ids = ids(*[name("x" * 70)] * 11)

    assert [task_ids[0], task_ids[1], task_ids[10]] == ["x" * 60, "x" * 58 + "-2", "x" * 57 + "-11"]


@given(st.lists(st.builds(name, st.sampled_from(["a", "a 2", "a-2-2", "b" * 59, "b" * 80, "é"]) | st.text(max_size=9))))
def test_ids_of_any_titles_are_unique_and_valid(tasks: list[ComplexTask]) -> None:
    task_ids = ids(*tasks)

    assert len(set(task_ids)) == len(task_ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry) and len(entry) <= 60 for entry in task_ids)


# Choosing.

MANY = with_ids(name(f"Task {number}") for number in range(60))


@given(st.integers(0, 80), st.integers(0, 5))
def test_draw_of_tasks_has_the_size_the_order_and_no_repetition(count: int, seed: int) -> None:
    chosen = draw_items(MANY, count, seed)

    assert len(chosen) == min(count, len(MANY))
    assert [task for task in MANY if task in chosen] == list(chosen)


def test_draw_of_more_keeps_the_fewer_ones() -> None:
    samples = [set(draw_items(MANY, count, 3)) for count in range(20)]

    assert all(few < more for few, more in pairwise(samples))


def test_draw_of_another_seed_has_other_tasks() -> None:
    assert len({draw_items(MANY, 4, seed) for seed in range(10)}) == 10


def test_sample_takes_every_task_equally_often() -> None:
    chosen = [task.id for seed in range(600) for task in draw_items(MANY, 6, seed)]

    counts = [chosen.count(task.id) for task in MANY]  # 60 expected of each, standard deviation about 7
    assert min(counts) > 30
    assert max(counts) < 90


def test_sample_does_not_depend_on_the_other_tasks_of_the_set() -> None:
    chosen = draw_items(MANY, 5, 0)
    fewer = [task for task in MANY if task in chosen or int(task.title.split()[1]) % 2]

    assert draw_items(fewer, 5, 0) == chosen
