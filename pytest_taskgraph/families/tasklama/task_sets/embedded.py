"""The tasks that come with the package: our own, in the published format, split by clusters of similar tasks."""

from __future__ import annotations

from functools import cache

from ....benchmarks.data_sets.data_problems import DataProblems
from ....benchmarks.option import SPLITS
from .task_lines import StatedCounts, read_tasks
from .task_set import TaskSet


@cache
def read_embedded() -> TaskSet:
    """Return the embedded tasks; its problems are empty unless the installation is damaged."""
    from importlib.resources import files

    problems = DataProblems()
    folder = files(__package__).joinpath("data")
    return TaskSet.of(
        "embedded",
        {
            split: read_tasks(
                folder.joinpath(f"{split}.jsonl").read_bytes(), f"{split}.jsonl", split, problems, StatedCounts()
            )
            for split in SPLITS
        },
        problems.lines,
    )
