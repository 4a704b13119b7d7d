"""The published tasks of TaskLAMA, or a user's own in their format: `--taskgraph-data=tasklama=PATH`.

The path is that of the zip archive, of a folder with its files, or of a single file. Files are `.jsonl` or `.json` with
a task a line (`task_lines`). Their names state their split: train, validation (valid, val, dev) or test; where the name
of a file does not, those of its folders do, the innermost first. A single file whose name states no split holds tasks
of the split test.

An archive is read in memory and never unpacked, so the names in it can do no harm; every size is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ....benchmarks.data_sets.data_files import (
    DataFile,
    DataFormat,
    contents,
    data_files,
    keep_until_changed,
    nothing_usable,
)
from ....benchmarks.data_sets.data_problems import DataProblems, excerpt
from ....benchmarks.data_sets.splits import SPLITS, Split, split_of
from ..complex_task import ComplexTask
from .task_lines import StatedCounts, read_tasks
from .task_set import TaskSet

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
