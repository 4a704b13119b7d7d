from __future__ import annotations

from pathlib import Path

import pytest
from tasklama_episodes import make_task

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.prompts import PROMPTS
from pytest_taskgraph.families.tasklama.sequences.step_methods import draw_examples, icl_prompt
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings

WEDDING = ComplexTask("w", "Plan a\nwedding", ("In Italy", "Outdoors"), ("book a church",), (), "parties")
TRAIN = [make_task(number, cluster=f"c{number}") for number in range(20)]


def own_prompt(folder: Path, name: str, text: str) -> Settings:
    (folder / "tasklama").mkdir()
    (folder / "tasklama" / name).write_text(text, encoding="utf-8")
    return Settings(templates=str(folder))


def test_icl_prompt_with_examples_ends_with_the_asked_task() -> None:
    examples = [make_task(1, context=("With glue",)), make_task(2)]
    prompt = icl_prompt(WEDDING, examples, TaskLamaSettings())
    expected_start = (
        "Task: Build shelf 1\nContext: With glue\n1. buy board 1\n2. saw board 1\n\n"
        "Task: Build shelf 2\n1. buy board 2\n2. saw board 2\n\n"
    )
    assert expected_start in prompt
    assert prompt.endswith("\n\nTask: Plan a wedding\nContext: In Italy; Outdoors")
    assert "book a church" not in prompt


def test_icl_prompt_without_context_and_examples_shows_neither() -> None:
    prompt = icl_prompt(make_task(3), [], TaskLamaSettings())
    assert prompt.endswith("\n\nTask: Build shelf 3")
    assert "Context:" not in prompt
    assert "other tasks" not in prompt
    assert "saw board" not in prompt


def test_icl_prompt_template_of_the_user_stands_in(tmp_path: Path) -> None:
    settings = own_prompt(tmp_path, "steps.jinja", "How do I {{ title }} ({{ context }})?")
    assert icl_prompt(WEDDING, [], TaskLamaSettings.of(settings)) == "How do I Plan a wedding (In Italy; Outdoors)?"


def test_render_mistake_in_template_is_told_with_its_file(tmp_path: Path) -> None:
    settings = own_prompt(tmp_path, "steps.jinja", "{{ titel }}")
    with pytest.raises(UsageError, match=r"steps\.jinja: 'titel' is undefined; the template sees: title"):
        PROMPTS.render("steps", {"title": "x"}, settings)


def test_check_unknown_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="step"):
        PROMPTS.check(own_prompt(tmp_path, "step.jinja", ""))


def test_check_broken_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"steps\.jinja:2"):
        PROMPTS.check(own_prompt(tmp_path, "steps.jinja", "a\n{% if %}"))


def test_check_good_template_or_none_is_accepted(tmp_path: Path) -> None:
    PROMPTS.check(Settings())
    PROMPTS.check(own_prompt(tmp_path, "steps.jinja", "{{ title }}"))


def test_draw_examples_same_seed_gives_same_examples_to_all_tasks() -> None:
    examples = draw_examples(TRAIN, WEDDING, 3, 7)
    assert len(set(examples)) == 3
    assert examples == draw_examples(TRAIN, make_task(99), 3, 7)
    assert examples[:2] == draw_examples(TRAIN, WEDDING, 2, 7)
    assert len({draw_examples(TRAIN, WEDDING, 3, seed) for seed in range(9)}) > 1


@pytest.mark.parametrize(("title", "cluster"), [("BUILD  shelf {0}", ""), ("Other", "c{0}")])
def test_draw_examples_like_the_task_are_replaced_by_the_next(title: str, cluster: str) -> None:
    first, second, third = draw_examples(TRAIN, WEDDING, 3, 0)
    number = int(first.id[1:])
    resembling_task = make_task(77, title.format(number), cluster.format(number))
    assert draw_examples(TRAIN, resembling_task, 2, 0) == (second, third)


def test_draw_examples_few_tasks_without_cluster_gives_all() -> None:
    train = [make_task(number) for number in range(3)]
    assert set(draw_examples(train, train[0], 5, 0)) == set(train[1:])
