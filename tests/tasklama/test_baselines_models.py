"""The baselines as models: what they answer to each kind of prompt, and what they need for it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import bounded_process
import pytest

from pytest_taskgraph.errors import NotAskedError, PromptNotUnderstoodError, UsageError
from pytest_taskgraph.families.tasklama.sequences import draw_examples, icl_prompt
from pytest_taskgraph.families.tasklama.task_baselines import BASELINES
from pytest_taskgraph.families.tasklama.task_baselines.task_baseline import read_prompt
from pytest_taskgraph.families.tasklama.task_sets import load
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.scoring.forms.task_graph_form import read_steps
from pytest_taskgraph.trial import Request

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = """\
plan a wedding\twedding venues\twedding invitations
plan a wedding\twedding venues\twedding rings
how to plan a wedding\twedding venues
["wedding invitations", "plan a wedding"]
wedding dress\twedding rings
"""
NEEDY = ["co-occurrence", "hierarchy"]


@pytest.fixture
def settings(tmp_path: Path) -> TaskLamaSettings:
    path = tmp_path / "sessions.tsv"
    path.write_text(SESSIONS, encoding="utf-8")
    return TaskLamaSettings(data={"tasklama-queries": str(path)})


def ask(name: str, settings: TaskLamaSettings, prompt: str) -> str:
    request = Request(messages=[{"role": "user", "content": prompt}])
    return asyncio.run(BASELINES[name](settings).answer(request)).text


def published(folder: Path, split: str, title: str, *steps: str) -> None:
    row = {"task": title, "assumptions": [], "substeps": [{"step": step} for step in steps], "dependencies": []}
    (folder / f"{split}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_gives_steps_of_every_embedded_task(name: str, settings: TaskLamaSettings) -> None:
    tasks = load(settings)
    model = BASELINES[name](settings)
    lengths = set()
    for task in tasks.test:
        prompt = icl_prompt(task, draw_examples(tasks.train, task, 3, seed=0), settings)
        reply = asyncio.run(model.answer(Request(messages=[{"role": "user", "content": prompt}])))
        assert reply.source == model.name == f"baseline:{name}"
        lengths.add(len(read_steps(reply.text)))
    assert 1 <= max(lengths) <= 20
    assert name in NEEDY or len(lengths) == 1


def test_repeat_task_length_is_the_best_on_the_validation_tasks(tmp_path: Path) -> None:
    published(tmp_path, "test", "Paint a wall", "Buy paint")
    published(tmp_path, "validation", "Bake bread", "Bake cake", "Cut bread", "Bake pie")
    settings = TaskLamaSettings(source="published", data={"tasklama": str(tmp_path)})
    assert ask("repeat-task", settings, "Task: Paint a wall") == "1. Paint a wall\n2. Paint a wall\n3. Paint a wall"


def test_baseline_without_validation_tasks_is_tuned_on_the_embedded_ones(tmp_path: Path) -> None:
    published(tmp_path, "test", "Paint a wall", "Buy paint")
    settings = TaskLamaSettings(source="published", data={"tasklama": str(tmp_path)})
    for name in ("repeat-task", "repeat-similar"):
        assert ask(name, settings, "Task: Paint a wall") == ask(name, TaskLamaSettings(), "Task: Paint a wall")


def test_repeat_similar_takes_the_words_of_the_user(tmp_path: Path) -> None:
    similar = tmp_path / "similar.txt"
    similar.write_text("zither\tukulele\n", encoding="utf-8")
    published(tmp_path, "validation", "Tune a zither", "Tune an ukulele")
    settings = TaskLamaSettings(source="published", data={"tasklama": str(tmp_path), "tasklama-similar": str(similar)})
    assert ask("repeat-similar", settings, "Task: A zither") == "1. A ukulele"


def test_co_occurrence_gives_queries_of_the_same_sessions(tmp_path: Path, settings: TaskLamaSettings) -> None:
    published(tmp_path, "validation", "Plan a wedding", "Visit venues", "Send invitations")
    settings = TaskLamaSettings(source="published", data={**settings.data, "tasklama": str(tmp_path)})
    assert ask("co-occurrence", settings, "Task: Plan a big wedding") == "1. wedding venues\n2. wedding invitations"
    assert ask("co-occurrence", settings, "Task: Change a tyre") == "1. Change a tyre"


def test_hierarchy_gives_queries_of_a_similar_intent(tmp_path: Path, settings: TaskLamaSettings) -> None:
    published(tmp_path, "validation", "Plan a wedding", "Visit venues", "Send invitations", "Buy rings", "Buy dress")
    settings = TaskLamaSettings(source="published", data={**settings.data, "tasklama": str(tmp_path)})
    # The dress, which no session has beside the planning, is as similar by words as the rings are: one of three.
    assert ask("hierarchy", settings, "Task: Plan a wedding").splitlines() == [
        "1. wedding venues", "2. wedding invitations", "3. wedding rings", "4. wedding dress",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NEEDY)
def test_baseline_without_sessions_names_option_and_format(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="add --taskgraph-data=tasklama-queries=FILE; its format: a session a line"):
        BASELINES[name](TaskLamaSettings())
    missing = TaskLamaSettings(data={"tasklama-queries": str(tmp_path / "none.tsv")})
    with pytest.raises(UsageError, match="tasklama-queries: there is no file"):
        BASELINES[name](missing)


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_that_is_opened_reads_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "queries").write_bytes(b"\xff")
    data = {"tasklama-queries": str(tmp_path / "queries"), "tasklama": str(tmp_path / "none")}
    BASELINES[name](TaskLamaSettings(source="published", data=data))


@pytest.mark.parametrize("kind", ["score", "embed"])
def test_baseline_does_not_answer_other_kinds_of_requests(kind: str) -> None:
    request = Request(kind=kind, texts=["1. Bake bread"], context="Task: Bake bread")  # type: ignore[arg-type]
    with pytest.raises(NotAskedError, match=f"baseline:repeat-task cannot answer a request of kind '{kind}'"):
        asyncio.run(BASELINES["repeat-task"](TaskLamaSettings()).answer(request))


def test_baseline_does_not_call_tools() -> None:
    request = Request(messages=[{"role": "user", "content": "Task: Bake bread"}], tools=[{"type": "function"}])
    with pytest.raises(NotAskedError, match="cannot call tools"):
        asyncio.run(BASELINES["repeat-task"](TaskLamaSettings()).answer(request))


@pytest.mark.parametrize("prompt", ["", "Write the steps.", "Task:   ", "1. Task: Bake bread"])
def test_prompt_without_a_task_is_not_understood(prompt: str) -> None:
    with pytest.raises(PromptNotUnderstoodError, match="no line 'Task: TITLE'"):
        read_prompt(prompt)


def test_prompt_with_examples_asks_about_the_last_task() -> None:
    asked_task = read_prompt("Task: Bake bread\n1. Knead\n\nTask: Plan a wedding: yours\nContext: In 3 -> 4 days\n")
    assert (asked_task.kind, asked_task.title, asked_task.numbers) == ("steps", "Plan a wedding: yours", ())


@pytest.mark.parametrize("text", ["Task: " + "a" * 300_000, "Task: x\n" * 100_000, "1" * 300_000 + "\nTask: x"])
def test_prompt_of_hostile_size_is_read(text: str) -> None:
    asked_task = read_prompt(text)
    assert asked_task.kind == "steps"
    assert len(asked_task.title) <= 500


@pytest.mark.exhaustive
def test_replies_are_the_same_for_every_hash_seed(settings: TaskLamaSettings) -> None:
    code = (
        "import asyncio, json, sys\n"
        "from pytest_taskgraph.families.tasklama.task_baselines import BASELINES\n"
        "from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings\n"
        "from pytest_taskgraph.trial import Request\n"
        "settings = TaskLamaSettings(data=json.loads(sys.argv[1]))\n"
        "for name, opened in BASELINES.items():\n"
        "    for title in ('Plan a wedding', 'Bake sourdough bread', 'Organize a birthday party'):\n"
        "        request = Request(messages=[{'role': 'user', 'content': f'Task: {title}'}])\n"
        "        print(name, asyncio.run(opened(settings).answer(request)).text)\n"
    )
    replies = {
        bounded_process.run(
            [sys.executable, "-c", code, json.dumps(dict(settings.data))],
            env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT,
        ).stdout
        for seed in ("0", "17")
    }  # fmt: skip
    assert len(replies) == 1
    assert "repeat-similar 1. " in replies.pop()
