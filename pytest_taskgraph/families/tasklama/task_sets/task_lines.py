"""Lines of the published format: a task each, as a JSON object; and their problems.

A line holds `task`, the title; `assumptions`, a list of objects with the text `assumption`, or of texts; `substeps`, a
list of objects with the text `step`; and `dependencies`, a list of objects with the texts of two steps: `subtask1` must
be done before `subtask2`. `cluster` is read too, everything else is ignored. Where each step has a whole number of its
own as `stepId`, these state the order of the steps.

What cannot be used is left out and noted, and the rest is used. Texts come from strangers: their length and number are
limited, and control characters do not get through.

The published tasks of TaskLAMA, or a user's own in their format: `--taskgraph-data=tasklama=PATH`.

The path is that of the zip archive, of a folder with its files, or of a single file. Files are `.jsonl` or `.json` with
a task a line (`task_lines`). Their names state their split: train, validation (valid, val, dev) or test; where the name
of a file does not, those of its folders do, the innermost first. A single file whose name states no split holds tasks
of the split test.

An archive is read in memory and never unpacked, so the names in it can do no harm; every size is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....benchmarks.data_sets.data_files import (
    DataFile,
    DataFormat,
    contents,
    data_files,
    keep_until_changed,
    nothing_usable,
)
from ....benchmarks.data_sets.data_problems import DataProblems, Note, clean_text, excerpt, kind_of_value, step_key
from ....benchmarks.data_sets.json_lines import read_objects
from ....benchmarks.data_sets.splits import split_of
from ....benchmarks.option import SPLITS, Split
from ..complex_task import ComplexTask
from .task_set import TaskSet

LONGEST_TEXT: Final = 1_000  # characters of a title, an assumption or a step
MOST_STEPS: Final = 100
MOST_ASSUMPTIONS: Final = 20
PUBLISHED_TASKS: Final[Mapping[Split, int]] = {"train": 965, "validation": 169, "test": 478}
PUBLISHED_STEPS: Final = 12_118
PUBLISHED_DEPENDENCIES: Final = 11_105
FORMAT: Final = DataFormat(
    "tasklama",
    (".jsonl", ".json"),
    "task",
    "expected the archive tasklama.zip, its folder, or a file of it: .jsonl files with a task a line, their names with "
    "train, validation or test",
)


@dataclass(slots=True)
class StatedCounts:
    """Numbers of what the data state, whether it can be used or not.

    Args:
        steps: The steps.
        dependencies: The dependencies.
        backward: The dependencies that run against the order of the steps.
    """

    steps: int = 0
    dependencies: int = 0
    backward: int = 0


def read_tasks(
    content: bytes, file: str, split: Split, problems: DataProblems, counts: StatedCounts
) -> list[ComplexTask]:
    """Return the tasks of a file, as yet without ids; add what cannot be used to the problems.

    A byte-order mark and Windows line ends are allowed.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        split: The split of its tasks.
        problems: Lines and tasks that cannot be used are added here.
        counts: What the tasks state is added here.
    """
    records = read_objects(content, file, "a task", problems)
    return [task for place, record in records if (task := _task(record, split, place, problems, counts))]


def _task(
    record: dict[str, Any], split: Split, place: str, problems: DataProblems, counts: StatedCounts
) -> ComplexTask | None:
    title = _text(record.get("task"))

    def note(kind: str, problem: str) -> None:
        problems.add(kind, f"{place} ({excerpt(title) or 'no title'}): {problem}")

    steps = _steps(record.get("substeps"), note, counts)
    context = _assumptions(record.get("assumptions"), note)
    if not title or not steps:
        note("empty tasks", f"the task has no {'steps' if title else 'title'}; it is left out")
        return None
    if excess := _excess([title, *context, *steps], len(steps), len(context)):
        note("tasks that are too large", f"the task has {excess}; it is left out")
        return None
    dependencies = _dependencies(record.get("dependencies"), steps, note, counts)
    counts.backward += sum(before > after for before, after in dependencies)
    return ComplexTask("", title, context, steps, dependencies, _text(record.get("cluster")), split)


def _excess(texts: list[str], steps: int, assumptions: int) -> str:
    """Say what a task has too much of; an empty text if nothing."""
    longest = max(map(len, texts))
    if longest > LONGEST_TEXT:
        return f"a text of {longest} characters, more than {LONGEST_TEXT}"
    if steps > MOST_STEPS:
        return f"{steps} steps, more than {MOST_STEPS}"
    return f"{assumptions} assumptions, more than {MOST_ASSUMPTIONS}" if assumptions > MOST_ASSUMPTIONS else ""


def _assumptions(stated: object, note: Note) -> tuple[str, ...]:
    texts = (_field(assumption, "assumption") for assumption in _stated_list(stated, "assumptions", note))
    return tuple(dict.fromkeys(text for text in texts if text))


def _steps(stated: object, note: Note, counts: StatedCounts) -> tuple[str, ...]:
    """Return the different steps in their order; what is left out is noted."""
    step_of_key: dict[str, str] = {}
    for substep in _in_order(_stated_list(stated, "substeps", note)):
        counts.steps += 1
        step = _field(substep, "step")
        key = step_key(step)
        if not key:
            note("steps without a text", "a step has no text; it is left out")
        elif key in step_of_key:
            note("steps that occur twice in a task", f"the step {excerpt(step)!r} occurs twice; the first is kept")
        else:
            step_of_key[key] = step
    return tuple(step_of_key.values())


def _in_order(substeps: list[Any]) -> list[Any]:
    """Return the steps in the order of their numbers, where each has one of its own; else as they stand."""
    numbers = [substep.get("stepId") if isinstance(substep, dict) else None for substep in substeps]
    if any(type(number) is not int for number in numbers) or len(set(numbers)) < len(numbers):
        return substeps
    return sorted(substeps, key=lambda substep: int(substep["stepId"]))


def _dependencies(
    stated: object, steps: tuple[str, ...], note: Note, counts: StatedCounts
) -> tuple[tuple[int, int], ...]:
    """Return the different dependencies, without self-loops; what is left out is noted."""
    index = {step_key(step): at for at, step in enumerate(steps)}
    dependencies: dict[tuple[int, int], None] = {}
    for dependency in _stated_list(stated, "dependencies", note):
        counts.dependencies += 1
        texts = _field(dependency, "subtask1"), _field(dependency, "subtask2")
        before, after = (index.get(step_key(text)) for text in texts)
        if before is None or after is None:
            missing = texts[1] if before is not None else texts[0]
            description = f"on {excerpt(missing)!r}, which is none of its steps" if missing else "without two steps"
            note("dependencies on steps that do not exist", f"a dependency {description}; it is left out")
        elif before == after:
            note("dependencies of steps on themselves", f"the step {excerpt(texts[0])!r} depends on itself; left out")
        else:
            dependencies[before, after] = None
    return tuple(dependencies)


def _stated_list(stated: object, name: str, note: Note) -> list[Any]:
    if stated is None:
        return []
    if not isinstance(stated, list):
        note(f"{name} that are no list", f"{name} holds {kind_of_value(stated)}; expected a list; it is left out")
        return []
    return stated


def _field(stated: object, name: str) -> str:
    """Return the text of an object's field; a text stands for itself."""
    return _text(stated.get(name) if isinstance(stated, dict) else stated)


def _text(stated: object) -> str:
    """Return a text with single spaces and without control characters; empty for a value that is no text."""
    return clean_text(stated) if isinstance(stated, str) else ""


@keep_until_changed(FORMAT)
def read_published(path: Path) -> TaskSet:
    """Return the tasks at the path; they are read again only if a file was changed.

    Raises:
        UsageError: if nothing is there, or no task of it can be used.
    """
    with data_files(path, FORMAT) as files:
        single = len(files) == 1 and path.is_file() and files[0].name == path.name
        return _task_set(path, files, "test" if single else None)


def _task_set(path: Path, files: Sequence[DataFile], otherwise: Split | None) -> TaskSet:
    """Return the tasks of the files.

    Args:
        path: What the user stated.
        files: The files.
        otherwise: The split of a file whose name states none; None: such files are left out.
    """
    problems = DataProblems()
    counts = {split: StatedCounts() for split in SPLITS}
    tasks: dict[Split, list[ComplexTask]] = {split: [] for split in SPLITS}
    splits = {file.name: split_of(file.name) or otherwise for file in files}
    for file in files:
        if splits[file.name] is None:
            problems.add(
                "files without a split", f"{excerpt(file.name)}: its name states no split; the file is left out"
            )
    for file, content in contents([file for file in files if splits[file.name]], problems):
        split = splits[file.name]
        if split is not None:
            tasks[split] += read_tasks(content, file.name, split, problems, counts[split])
    if not any(tasks.values()):
        raise nothing_usable(path, FORMAT, files, problems)
    lines = [*problems.lines, *_backward(counts), *_differences(tasks, counts)]
    return TaskSet.of("published", tasks, lines)


def _backward(counts: Mapping[Split, StatedCounts]) -> Iterator[str]:
    for split, count in counts.items():
        if count.backward:
            yield f"{split}: {count.backward} dependencies run against the order of the steps; they are kept"


def _differences(tasks: Mapping[Split, Sequence[ComplexTask]], counts: Mapping[Split, StatedCounts]) -> Iterator[str]:
    """Yield a line if the data do not have the size that Yuan et al. (2024) state."""
    task_counts = {split: len(tasks[split]) for split in SPLITS}
    steps = sum(count.steps for count in counts.values())
    dependencies = sum(count.dependencies for count in counts.values())
    if (task_counts, steps, dependencies) != (PUBLISHED_TASKS, PUBLISHED_STEPS, PUBLISHED_DEPENDENCIES):
        yield (
            f"tasks: {_counts(task_counts)}; steps: {steps}; dependencies: {dependencies}. The published set has "
            f"{_counts(PUBLISHED_TASKS)}; {PUBLISHED_STEPS}; {PUBLISHED_DEPENDENCIES}: scores are not comparable with "
            "the paper's"
        )


def _counts(counts: Mapping[Split, int]) -> str:
    return ", ".join(f"{split} {count}" for split, count in counts.items())
