"""A file as Food.com's, written for a test."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_recipes(path: Path, recipes: Iterable[tuple[str, int, Sequence[str]]]) -> str:
    """Write a file with the columns `name`, `id` and `steps`, and return its path.

    Args:
        path: Where it is written.
        recipes: The title, id and steps of each recipe.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "id", "steps"])
        rows.writerows([title, recipe_id, repr([*steps])] for title, recipe_id, steps in recipes)
    return str(path)


def write_soups(path: Path, count: int) -> str:
    """Write so many recipes of five steps, none of which resemble each other, and return the path."""
    return write_recipes(
        path, ((f"soup {at}", at, [f"do part {step} of {at}" for step in range(1, 6)]) for at in range(count))
    )
