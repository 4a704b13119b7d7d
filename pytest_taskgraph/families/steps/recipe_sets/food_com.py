"""The recipes of Food.com (Majumder et al. 2019): `RAW_recipes.csv`, as it is, in a folder, or in its zip archive.

The file has the columns `name`, `id` and `steps`, the latter a list of texts in the spelling of Python, among others;
`n_steps`, where it is there, is compared with the list. It has some 230,000 rows: they are read as a stream.

The published splits are of reviews, not of recipes. Recipes are therefore dealt to train, dev and test by a hash of
their id, so that a recipe stays in its split when rows are added to the file or taken away.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import heapq
import io
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Final

from ....benchmarks.data_sets.data_files import (
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
from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt
from ..next_step_samples import StepRecipe
from ..steps_options import RecipeSplit
from .recipe_set import RECIPE_SPLITS, RecipeSet

LARGEST_CSV: Final = 2_000_000_000  # characters; the published file has about 300 million
LARGEST_ROW: Final = 500_000  # characters
LONGEST_LIST: Final = 100_000  # characters of the list of steps
LONGEST_STEP: Final = 5_000  # characters of a name or a step
MOST_STEPS: Final = 1_000
MOST_RECIPES: Final = 2_000_000
COLUMNS: Final = ("name", "id", "steps")
FORMAT: Final = DataFormat(
    "steps-recipes",
    (".csv",),
    "recipe",
    "expected Food.com's RAW_recipes.csv, the folder or the zip archive that it is in",
    LARGEST_CSV,
)
DEV_SHARE: Final = 0.05
"""The share of the recipes that are dealt to dev; test has the same, and train the others."""
_ID: Final = re.compile(r"[0-9A-Za-z-]{1,40}")


def read_food_com(path: Path, *, most: int | None = None) -> RecipeSet:
    """Return the recipes at the path, in the order of the file; they are read again only if a file was changed.

    Args:
        path: The file, its folder, or its archive.
        most: The recipes that each split keeps at most, chosen by the hash that decides on the splits; a larger number
            keeps those of a smaller. None: all. Memory is needed for those that are kept alone.

    Raises:
        UsageError: if nothing is there, or no recipe of it can be used.
    """
    return _read(path, fingerprint(path, FORMAT), most)


@lru_cache(maxsize=1)
def _read(path: Path, _: Fingerprint, most: int | None) -> RecipeSet:
    problems = DataProblems()
    heaps: dict[RecipeSplit, list[tuple[float, int, StepRecipe]]] = {split: [] for split in RECIPE_SPLITS}
    totals = dict.fromkeys(RECIPE_SPLITS, 0)
    with data_files(path, FORMAT) as files:
        for number, recipe in enumerate(_recipes(_recipe_files(path, files), problems)):
            rank = _rank(recipe.id)
            split: RecipeSplit = "dev" if rank < DEV_SHARE else "test" if rank < 2 * DEV_SHARE else "train"
            totals[split] += 1
            heapq.heappush(heaps[split], (-rank, -number, replace(recipe, split=split)))
            if most is not None and len(heaps[split]) > most:
                heapq.heappop(heaps[split])
        if not any(heaps.values()):
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


def _rank(recipe_id: str) -> float:
    """Return a number from 0 to 1 that an id decides."""
    return int.from_bytes(hashlib.sha256(f"0|food.com|{recipe_id}".encode()).digest()[:6]) / 2**48


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
            with file.open() as opened, io.TextIOWrapper(opened, "utf-8-sig", "replace", newline="") as text:
                for line, fields in _rows(text, name, problems):
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


class _Lines:
    """The lines of a file for a CSV reader; rows that are too large end in csv.Error.

    Args:
        text: The text of the file, with a replacement character for each byte that is not UTF-8.
    """

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self._row_size = 0
        self._line = 1
        self.size = 0
        self.undecodable = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(LARGEST_ROW)
        if not line or self.size > LARGEST_CSV:
            raise StopIteration
        self.size += len(line)
        self._line += line.endswith(("\n", "\r"))
        self.undecodable += "\ufffd" in line
        self._row_size += len(line)
        if self._row_size >= LARGEST_ROW:
            raise csv.Error(f"the row has more than {LARGEST_ROW} characters; is a quotation mark unclosed?")
        return line

    def begin_row(self) -> int:
        """Begin a new row, and return the number of its first line."""
        self._row_size = 0
        return self._line


def _rows(text: IO[str], name: str, problems: DataProblems) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with the number of their first line, from 1, and their fields by column.

    Quotation marks are read strictly, so that an unclosed one loses the rows up to the next mark, not the file.

    Args:
        text: The text of the file; its first row names the columns.
        name: Its name in problems.
        problems: Rows that cannot be used are added here.
    """
    lines = _Lines(text)
    reader = csv.reader(lines, strict=True)
    header: list[str] = []
    while True:
        line = lines.begin_row()
        try:
            row = next(reader, None)
        except csv.Error as error:
            problems.add("broken rows", f"{name}, line {line}: {excerpt(str(error))}; the row is left out")
            continue
        if row is None:
            break
        if not header:
            header = [column.strip() for column in row]
            if missing := [column for column in COLUMNS if column not in header]:
                problems.add("files of other columns", f"{name}: the first row lacks {', '.join(missing)}; left out")
                return
        elif len(row) == len(header):
            yield line, dict(zip(header, row, strict=True))
        elif row:
            found = f"{len(row)} fields, expected {len(header)}"
            problems.add("broken rows", f"{name}, line {line}: {found}; the row is left out")
    if lines.size > LARGEST_CSV:
        problems.add("files that are too large", f"{name}: only its first {LARGEST_CSV} characters are read")
    if lines.undecodable:
        problems.add("bytes", f"{name}: {lines.undecodable} lines are not UTF-8; such bytes are read as \ufffd")


def _recipe(fields: Mapping[str, str], place: str, problems: DataProblems) -> StepRecipe | None:
    """Return the recipe of a row; None if it cannot be used, which is noted."""
    title, recipe_id = clean_text(fields["name"]), fields["id"].strip()
    steps = _read_steps(fields["steps"])
    if isinstance(steps, str):
        fault = f"steps: {steps}"
    elif not _ID.fullmatch(recipe_id):
        fault = f"the id is {excerpt(recipe_id)!r}, expected letters, digits and hyphens"
    elif not title:
        fault = "the name is empty"
    elif not any(steps):
        fault = "there are no steps"
    elif max(map(len, (title, *steps))) > LONGEST_STEP:
        fault = f"a text of more than {LONGEST_STEP} characters"
    else:
        stated = fields.get("n_steps", "").strip()
        if stated and stated != str(len(steps)):
            difference = f"n_steps is {excerpt(stated)!r}, and there are {len(steps)} steps"
            problems.add("rows with another number of steps", f"{place}: {difference}; the row is kept")
        return StepRecipe(recipe_id, title, tuple(steps))
    problems.add("rows that cannot be used", f"{place}: {fault}; the row is left out")
    return None


def _read_steps(source: str) -> list[str] | str:
    """Return the steps of a list in the spelling of Python, or why they cannot be read."""
    if len(source) > LONGEST_LIST:
        return f"found {len(source)} characters, expected at most {LONGEST_LIST}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash that begins no escape stands for itself
            steps = ast.literal_eval(clean_text(source))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        steps = None
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        return f"found {excerpt(source, 40)!r}, expected a list of texts such as ['mix', 'bake']"
    if len(steps) > MOST_STEPS:
        return f"found {len(steps)} steps, expected at most {MOST_STEPS}"
    return [clean_text(step) for step in steps]
