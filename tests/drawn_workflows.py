"""Workflows of a recipe and a seed."""

from __future__ import annotations

from random import Random

from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Workflow


def generate(recipe: Recipe, seed: int | str) -> Workflow:
    """Return the workflow of the recipe and the seed."""
    return build(recipe, Random(seed))
