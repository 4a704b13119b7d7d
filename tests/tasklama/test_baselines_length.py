"""The steps that repeat a task, and the number of steps that is best on the validation tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from random import Random

import pytest

from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.task_baselines.list_length import tuned_length
from pytest_taskgraph.families.tasklama.task_baselines.repeat import repeat_similar, repeat_task
from pytest_taskgraph.scoring.task_graphs.step_matching import similarity_matrix


def task(title: str, *steps: str) -> ComplexTask:
    return ComplexTask("task", title, (), steps, ())


def similar_words(word: str) -> Sequence[str]:
    return {"smoothie": ["yogurt", "juice"], "green": ["blue"]}.get(word, [])


def test_repeat_task_gives_the_title_each_time() -> None:
    assert repeat_task("Make a smoothie") == ["Make a smoothie"] * 20


def test_repeat_similar_replaces_one_word_by_its_similar_ones_in_turn() -> None:
    steps = repeat_similar("Stir a green Smoothie", similar_words, seed=1)
    replaced = [step for step in steps if "Smoothie" not in step]
    assert set(steps) == {
        "Stir a green Smoothie",  # of "stir", nothing is similar
        "Stir a blue Smoothie", "Stir a green Yogurt", "Stir a green Juice",
    }  # fmt: skip
    assert replaced == [f"Stir a green {('Yogurt', 'Juice')[at % 2]}" for at in range(len(replaced))]


def test_repeat_similar_never_replaces_a_stop_word() -> None:
    assert repeat_similar("How to do it", lambda word: ["other"], seed=1) == ["How to do it"] * 20


def test_repeat_similar_depends_on_seed_and_title() -> None:
    steps = repeat_similar("Make a green smoothie", similar_words, seed=1)
    assert repeat_similar("Make a green smoothie", similar_words, seed=1) == steps
    assert any(repeat_similar("Make a green smoothie", similar_words, seed) != steps for seed in range(2, 9))


def test_tuned_length_of_a_worked_example_is_the_best() -> None:
    # One word of two is shared with each gold step: with m steps of 3, the matching is worth min(m, 3)/2,
    # and F1 is 2·min(m, 3)/2/(m + 3): 1/4, 2/5, 1/2, 3/7, ...
    assert tuned_length(repeat_task, [task("Bake bread", "Bake cake", "Cut bread", "Bake pie")]) == 3


def test_tuned_length_among_equals_is_the_smallest() -> None:
    assert tuned_length(repeat_task, [task("Plan a wedding", "Call someone")]) == 1
    assert tuned_length(lambda title: ["Cut bread"], [task("Bake bread", "Cut bread")]) == 1


def test_tuned_length_without_tasks_is_one() -> None:
    assert tuned_length(repeat_task, []) == 1


def brute_f1(steps: Sequence[str], gold: Sequence[str]) -> float:
    few, many = sorted((steps, gold), key=len)
    values = similarity_matrix({"steps": [*few], "dependencies": []}, {"steps": [*many], "dependencies": []})
    best = max(
        sum(row[at] for row, at in zip(values, chosen, strict=True))
        for chosen in permutations(range(len(many)), len(few))
    )
    return 2 * best / (len(steps) + len(gold))


@pytest.mark.parametrize("seed", range(8))
def test_tuned_length_of_random_tasks_is_that_of_brute_force(seed: int) -> None:
    rng = Random(seed)
    words = ["bake", "cut", "bread", "cake", "oven", "table"]

    def text() -> str:
        return " ".join(rng.sample(words, rng.randint(1, 3)))

    tasks = [task(f"title {at}", *(text() for _ in range(rng.randint(1, 4)))) for at in range(4)]
    steps = {task.title: [text() for _ in range(rng.randint(2, 6))] for task in tasks}
    means = [
        round(sum(brute_f1(steps[task.title][:length], task.steps) for task in tasks) / 4, 9) for length in range(1, 7)
    ]
    assert tuned_length(steps.__getitem__, tasks) == means.index(max(means)) + 1
