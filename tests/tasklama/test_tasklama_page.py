"""docs/benchmarks/tasklama.md: its numbers, methods, options and baselines are those of the family."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_taskgraph import Settings, tasklama
from pytest_taskgraph.families.tasklama.edges.dependency_methods import MOST_PAIRED_STEPS
from pytest_taskgraph.families.tasklama.methods import METHODS
from pytest_taskgraph.families.tasklama.sequences.multiple_sequences import NEAR_DUPLICATE, TEMPERATURE
from pytest_taskgraph.families.tasklama.task_sets.embedded import read_embedded
from pytest_taskgraph.families.tasklama.task_sets.task_lines import PUBLISHED_TASKS
from pytest_taskgraph.families.tasklama.tasklama_options import SHOTS
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.scoring.task_graphs.shared_parts import ALIKE

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks" / "tasklama.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| method \| .*\n\|.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)


def first_cells(rows: str) -> list[str]:
    """Return the names in the first column of a Markdown table."""
    return [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_page_states_the_size_of_the_embedded_and_published_sets() -> None:
    tasks = read_embedded()
    splits = (len(tasks.train), len(tasks.validation), len(tasks.test))
    assert f"{sum(splits)} tasks of ten domains ({splits[0]} train, {splits[1]} validation, {splits[2]} test)" in PAGE
    train, validation, test = (PUBLISHED_TASKS[split] for split in ("train", "validation", "test"))
    assert f"({train}\ntasks in train, {validation} in validation, {test} in test)" in PAGE
    assert f"--taskgraph-instances={train} " in PAGE


def test_page_counts_the_questions_and_requests_of_the_default_run() -> None:
    settings = Settings()
    questions = [tasklama.question(reference, settings) for reference in tasklama.references(settings, {})]
    assert (len(questions), len({question.prompt for question in questions})) == (12, 8)
    assert "twelve questions with eight requests" in PAGE
    benchmarks = (Path(__file__).parents[2] / "docs" / "benchmarks" / "index.md").read_text(encoding="utf-8")
    assert "`suites/tasklama` adds twelve graded questions" in benchmarks
    assert list(dict.fromkeys(question.group for question in questions)) == ["icl", "golden_whole", "linear"]


def test_tables_of_the_page_list_the_methods_by_section() -> None:
    by_section = [
        {name for name, method in METHODS.items() if method.section == section} for section in METHODS.sections
    ]
    assert [set(first_cells(rows)) for rows in TABLES] == by_section
    assert sum(len(first_cells(rows)) for rows in TABLES) == len(METHODS)


def test_page_explains_every_option_and_baseline() -> None:
    options = [f"`--taskgraph-{option.name}" for option in tasklama.options]
    assert [option for option in options if option not in PAGE and option.strip("`") not in PAGE] == []
    (rows,) = re.findall(r"^\| baseline \| .*\n\|.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert first_cells(rows) == [*tasklama.baselines]


def test_page_states_the_numbers_that_the_code_uses() -> None:
    settings = TaskLamaSettings()
    assert f"in-context examples, {SHOTS} by default" in PAGE
    assert f"`--taskgraph-tasklama-sequences` is their number | {settings.sequences} |" in PAGE
    assert f"`--taskgraph-tasklama-samples` is their number | {settings.samples} |" in PAGE
    assert f"several sequences at temperature {TEMPERATURE}" in PAGE
    assert f"F1 of at least\n{NEAR_DUPLICATE}" in PAGE
    assert f"the first {MOST_PAIRED_STEPS} steps" in PAGE
    assert f"if their similarity is at\nleast {ALIKE}." in PAGE
