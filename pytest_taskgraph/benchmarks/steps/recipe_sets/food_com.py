"""The recipes of Food.com (Majumder et al. 2019): `RAW_recipes.csv`, as it is, in a folder, or in its zip archive.

The file has the columns `name`, `id` and `steps`, the latter a list of texts in the spelling of Python, among others;
`n_steps`, where it is there, is compared with the list. It has some 230,000 rows: they are read as a stream.

The published splits are of reviews, not of recipes. Recipes are therefore dealt to train, dev and test by a hash of the
seed and their id, so that a recipe stays in its split when rows are added to the file or taken away.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from ....errors import UsageError
from ...data_sets.data_files import (
    DAMAGES,
    MOST_FILES,
    DataFile,
    DataFormat,
    Fingerprint,
    damage,
    data_files,
    fingerprint,
    nothing_usable,
)
from ...data_sets.data_problems import DataProblems, clean_text, excerpt
from ..step_recipe import StepRecipe
from ..steps_options import RecipeSplit
from .python_lists import PythonListError, read_text_list
from .recipe_rows import read_rows
from .recipe_set import RECIPE_SPLITS, RecipeSet

LARGEST_CSV: Final = 2_000_000_000  # bytes; the published file has about 300 million
LONGEST_STEP: Final = 5_000  # characters of a name or a step
MOST_RECIPES: Final = 2_000_000
COLUMNS: Final = ("name", "id", "steps")
FORMAT: Final = DataFormat(
    "steps-recipes",
    (".csv",),
    "recipe",
    "expected Food.com's RAW_recipes.csv, the folder or the zip archive that it is in",
    LARGEST_CSV,
)
_ID: Final = re.compile(r"[0-9A-Za-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class SplitShares:
    """The shares of the recipes that dev and test get; train gets the others."""

    dev: float = 0.05
    test: float = 0.05

    def __post_init__(self) -> None:
        if not (self.dev >= 0 and self.test >= 0 and self.dev + self.test <= 1):
            raise UsageError(f"shares: found dev {self.dev} and test {self.test}, expected at most 1 together")


DEFAULT_SHARES: Final = SplitShares()


def read_food_com(
    path: Path, *, seed: int | str = 0, shares: SplitShares = DEFAULT_SHARES, most: int | None = None
) -> RecipeSet:
    """Return the recipes at the path, in the order of the file; they are read again only if a file was changed.

    Args:
        path: The file, its folder, or its archive.
        seed: Decides on the splits.
        shares: How large they are.
        most: The recipes that each split keeps at most, chosen by the hash that decides on the splits; a larger number
            keeps those of a smaller. None: all. Memory is needed for those that are kept alone.

    Raises:
        UsageError: if nothing is there, or no recipe of it can be used.
    """
    return _read(str(path), fingerprint(path, FORMAT), seed, shares, most)


@lru_cache(maxsize=1)
def _read(text: str, _: Fingerprint, seed: int | str, shares: SplitShares, most: int | None) -> RecipeSet:
    path = Path(text)
    problems = DataProblems()
    heaps: dict[RecipeSplit, list[tuple[float, int, StepRecipe]]] = {split: [] for split in RECIPE_SPLITS}
    totals = dict.fromkeys(RECIPE_SPLITS, 0)
    with data_files(path, FORMAT) as files:
        for number, recipe in enumerate(_recipes(_recipe_files(path, files), problems)):
            rank = _rank(seed, recipe.id)
            split: RecipeSplit = "dev" if rank < shares.dev else "test" if rank < shares.dev + shares.test else "train"
            totals[split] += 1
            entry = (-rank, -number, replace(recipe, split=split))
            if most is None or len(heaps[split]) < most:
                heapq.heappush(heaps[split], entry)
            elif heaps[split]:
                heapq.heappushpop(heaps[split], entry)
        if not any(heaps.values()) and most != 0:
            raise nothing_usable(path, FORMAT, files, problems)
    recipes: Mapping[RecipeSplit, list[StepRecipe]] = {
        split: [recipe for _, _, recipe in sorted(entries, key=lambda entry: -entry[1])]
        for split, entries in heaps.items()
    }
    dropped = [
        f"{excerpt(path.name)}: only {len(recipes[split])} of {totals[split]} recipes of the {split} split are kept"
        for split in RECIPE_SPLITS
        if len(recipes[split]) < totals[split]
    ]
    return RecipeSet.of("food.com", recipes, [*problems.lines, *dropped])


def _rank(seed: int | str, recipe_id: str) -> float:
    """Return a number from 0 to 1 that the seed and an id decide."""
    return int.from_bytes(hashlib.sha256(f"{seed}|food.com|{recipe_id}".encode()).digest()[:6]) / 2**48


def _recipe_files(path: Path, files: list[DataFile]) -> list[DataFile]:
    """Return the files of recipes: of several, those whose names state it."""
    if path.is_file() and len(files) == 1:
        return files
    return [file for file in files if "recipes" in PurePosixPath(file.name).name.lower()][:MOST_FILES]


def _recipes(files: list[DataFile], problems: DataProblems) -> Iterator[StepRecipe]:
    """Yield the recipes of the files that can be used, as yet without a split."""
    seen: set[str] = set()
    for file in files:
        name = excerpt(file.name)
        try:
            if file.fault:
                raise OSError(file.fault)
            with file.open() as opened:
                for line, fields in read_rows(opened, name, COLUMNS, LARGEST_CSV, problems):
                    recipe = _recipe(fields, f"{name}, line {line}", problems)
                    if recipe is None:
                        continue
                    if recipe.id in seen:
                        place = f"{name}, line {line}"
                        problems.add("ids that occur twice", f"{place}: the id {recipe.id} again; the first is kept")
                        continue
                    if len(seen) == MOST_RECIPES:
                        problems.add("files with too many recipes", f"{name}: only {MOST_RECIPES} recipes are read")
                        return
                    seen.add(recipe.id)
                    yield recipe
        except DAMAGES as error:
            problems.add("files that cannot be read", f"{name}: {damage(error)}; the rest of it is left out")


def _recipe(fields: Mapping[str, str], place: str, problems: DataProblems) -> StepRecipe | None:
    """Return the recipe of a row; None if it cannot be used, which is noted."""
    title, recipe_id, steps = clean_text(fields["name"]), fields["id"].strip(), list[str]()
    fault = ""
    try:
        steps = [clean_text(step) for step in read_text_list(fields["steps"])]
    except PythonListError as error:
        fault = f"steps: {error}"
    if not fault and not _ID.fullmatch(recipe_id):
        fault = f"the id is {excerpt(recipe_id)!r}, expected letters, digits and hyphens"
    elif not fault and not title:
        fault = "the name is empty"
    elif not fault and not any(steps):
        fault = "there are no steps"
    elif not fault and max(map(len, (title, *steps))) > LONGEST_STEP:
        fault = f"a text of more than {LONGEST_STEP} characters"
    if fault:
        problems.add("rows that cannot be used", f"{place}: {fault}; the row is left out")
        return None
    stated = fields.get("n_steps", "").strip()
    if stated and stated != str(len(steps)):
        difference = f"n_steps is {excerpt(stated)!r}, and there are {len(steps)} steps"
        problems.add("rows with another number of steps", f"{place}: {difference}; the row is kept")
    return StepRecipe(recipe_id, title, tuple(steps))
