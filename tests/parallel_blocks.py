"""How many parallel blocks a workflow has: the cause of the failures of scripted models."""

from __future__ import annotations

from functools import cache

from workflow_builders import block_tree

from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.semantics.block_structure import Block


@cache
def parallel_blocks(project: Workflow) -> int:
    """Return how many blocks have several branches with tasks, all of which run."""

    def has_task(block: Block) -> bool:
        return block.kind == "task" or any(map(has_task, block.children))

    def count(block: Block) -> int:
        forks = block.kind == "parallel" and sum(map(has_task, block.children)) > 1
        return forks + sum(map(count, block.children))

    tree = block_tree(project)
    return 0 if tree is None else count(tree)
