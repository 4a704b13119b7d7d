"""Thirty workflow files of different shapes, as users have them: what they hold, how large they are, how written."""

from __future__ import annotations

from pathlib import Path

from pytest_taskgraph.generation.build import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.workflow.features import features

SHAPES: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"parallel"}),
    frozenset({"exclusive"}),
    frozenset({"parallel", "data"}),
    frozenset({"exclusive", "guards", "loop"}),
    frozenset({"inclusive", "guards", "mixed"}),
    frozenset({"parallel", "exclusive", "hierarchy"}),
    frozenset({"hierarchy", "references", "data"}),
    frozenset({"exclusive", "loop", "effects", "domains"}),
    frozenset({"kinds", "data", "parallel", "implementations"}),
)
SIZES = (8, 10, 14)


def write_thirty(folder: Path) -> list[Path]:
    """Write the files, of each shape three, into a folder and return their paths."""
    paths = []
    for i, shape in enumerate(SHAPES):
        for j, size in enumerate(SIZES):
            workflow = generate(Recipe(tasks=size, features=shape), 100 * i + j)
            fitting = [one for one in NOTATIONS.values() if not features(workflow) & one.loses]
            chosen = fitting[(i + j) % len(fitting)]
            paths.append(folder / f"own{i}{j}{chosen.suffixes[0]}")
            paths[-1].write_text(chosen.write(workflow), encoding="utf-8")
    return paths
