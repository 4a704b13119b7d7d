"""Thirty workflow files of different shapes, as users have them: what they hold, how large they are, how written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from drawn_workflows import generate

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
    frozenset({"kinds", "descriptions", "parallel"}),
)
OF_A_DOMAIN = len(SHAPES) - 1  # the shape whose tasks all have kinds and descriptions that mean something
SIZES = (8, 10, 14)


def write_thirty(folder: Path) -> list[Path]:
    """Write the files, of each shape three, into a folder and return their paths."""
    paths = []
    for i, shape in enumerate(SHAPES):
        for j, size in enumerate(SIZES):
            recipe = Recipe(tasks=size, features=shape)
            if i == OF_A_DOMAIN:
                recipe = replace(recipe, vocabulary="kitchen", complete=True, prose=True)
            workflow = generate(recipe, 100 * i + j)
            if i == OF_A_DOMAIN:
                workflow = replace(workflow, name="CookDinner", description="Cooks a dinner for a table of guests.")
            fitting = [notation for notation in NOTATIONS.values() if not features(workflow) & notation.unsupported]
            chosen = fitting[(i + j) % len(fitting)]
            paths.append(folder / f"own{i}{j}{chosen.suffixes[0]}")
            paths[-1].write_text(chosen.write(workflow), encoding="utf-8")
    return paths
