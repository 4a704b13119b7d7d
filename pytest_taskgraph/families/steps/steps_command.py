"""`steps build`: questions of STEPS are built from recipes and written to files like the published ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ...benchmarks.data_sets.data_files import LARGEST_FILE
from ...benchmarks.data_sets.items import draw_items
from ...benchmarks.data_sets.json_lines import MOST_LINES
from ...errors import UsageError
from ...reports.escape import one_line
from ...results.record import atomic_files
from .construction import ConstructionCounts, ConstructionRule, build_choices, build_classification
from .next_step_samples import StepRecipe
from .recipe_sets import RecipeSet, RecipeSplit, read_stated
from .recipe_sets.published_files import (
    CHOICE_FOLDER,
    CLASSIFICATION_FOLDER,
    choice_lines,
    classification_lines,
    separable_steps,
)
from .recipe_sets.recipe_set import RECIPE_SPLITS
from .sample_sets import usable_recipes

SUMMARY: Final = "build the questions of STEPS from recipes, and write them to files like the published ones"
_KINDS: Final = (CLASSIFICATION_FOLDER, CHOICE_FOLDER)
"""The folders of the two kinds of questions."""


@dataclass(slots=True)
class _FileSize:
    """How many lines and bytes are written to a file."""

    path: Path
    lines: int = 0
    bytes: int = 0

    def measure(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines, and count them."""
        for line in lines:
            self.lines += 1
            self.bytes += len(line.encode())
            yield line


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="build")
    build = actions.add_parser("build", help=SUMMARY, description=SUMMARY)
    build.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="the folder that the files are written to"
    )
    build.add_argument(
        "--recipes", metavar="PATH", type=Path, help="Food.com's RAW_recipes.csv (default: the embedded recipes)"
    )
    build.add_argument("--force", action="store_true", help="replace files that exist")
    build.add_argument(
        "--seed", metavar="N", type=int, default=0, help="decides on drawn wrong steps and recipes (default: 0)"
    )
    for split in RECIPE_SPLITS:
        build.add_argument(
            f"--{split}", metavar="N", type=_parse_count, help=f"recipes of the {split} split (default: all)"
        )
    _add_rule(build)


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number of at least 0")
    return int(text)


def _add_rule(parser: argparse.ArgumentParser) -> None:
    rule = parser.add_argument_group("which questions are built (default: the rule of Wang et al. 2023)")
    rule.add_argument(
        "--first", metavar="N", type=int, default=2, help="place of the first step that is asked for (default: 2)"
    )
    rule.add_argument(
        "--last", metavar="N", type=int, default=-1, help="place of the last; -1: the last but one (default: -1)"
    )
    rule.add_argument(
        "--negatives", choices=("all", "one"), default="all", help="wrong candidates: all later steps, or one"
    )
    rule.add_argument("--one-word", choices=("keep", "drop"), default="keep", help="what becomes of steps of one word")
    rule.add_argument(
        "--shortest", metavar="N", type=int, default=4, help="steps that a recipe has at least (default: 4)"
    )
    rule.add_argument(
        "--longest", metavar="N", type=int, default=10, help="steps that it has at most; 0: any (default: 10)"
    )


def _stated_rule(options: argparse.Namespace) -> ConstructionRule:
    """Return the rule that the options state. Raises UsageError."""
    try:
        return ConstructionRule(
            options.first, options.last, options.negatives, options.shortest, options.longest or None, options.one_word
        )
    except UsageError as error:
        raise UsageError(f"--{str(error).replace('shortest, longest', 'shortest, --longest')}") from None


def run(options: argparse.Namespace) -> int:
    """Build the questions, write the files, and print the numbers. Raises UsageError."""
    rule = _stated_rule(options)
    files = {(kind, split): options.out / kind / f"{split}.txt" for split in RECIPE_SPLITS for kind in _KINDS}
    existing = [path for path in files.values() if path.exists()]
    if existing and not options.force:
        raise UsageError(
            f"--out={options.out}: {existing[0]} exists already; state another folder, or --force to replace the files"
        )
    recipes, warnings = _separable_recipes(read_stated(options.recipes))
    chosen = {split: _draw_recipes(recipes, split, rule, options) for split in RECIPE_SPLITS}
    if not any(chosen.values()):
        raise UsageError(
            "the rule gives no question from any of the recipes; state other numbers for --shortest, --longest, "
            "--first or --last, or other recipes"
        )
    for split in RECIPE_SPLITS:
        sizes = [_FileSize(files[kind, split]) for kind in _KINDS]
        counts = _write_split(chosen[split], rule, options.seed, sizes)
        lines = [usable_recipes(recipes, split, rule).line, f"recipes written: {len(chosen[split])}"]
        print("\n".join(f"{split}: {line}" for line in [*lines, *counts.lines()[1:]]))
        warnings += _size_warnings(split, sizes)
    print(f"files written: {', '.join(one_line(str(path)) for path in files.values())}")
    for warning in warnings:
        print(f"warning: {one_line(warning)}", file=sys.stderr)
    return 0


def _separable_recipes(recipes: RecipeSet) -> tuple[RecipeSet, list[str]]:
    """Return the recipes with steps that can be separated in a line, and warnings about the recipes."""
    separable_recipes: dict[RecipeSplit, list[StepRecipe]] = {split: [] for split in RECIPE_SPLITS}
    changed = 0
    for split in RECIPE_SPLITS:
        for recipe in recipes.split(split):
            separable, number = separable_steps(recipe)
            separable_recipes[split].append(separable)
            changed += number
    warnings = [*recipes.problems]
    if changed:
        warnings.append(
            f"steps that hold a tab, a line end or a full stop between spaces: {changed}; these separate samples and "
            "steps: a space stands for the first two, and the full stop is joined to the word before it"
        )
    return RecipeSet.of(recipes.source, separable_recipes), warnings


def _draw_recipes(
    recipes: RecipeSet, split: RecipeSplit, rule: ConstructionRule, options: argparse.Namespace
) -> tuple[StepRecipe, ...]:
    """Return the recipes that the questions of a split are built from."""
    usable = usable_recipes(recipes, split, rule).recipes
    most: int | None = getattr(options, split)
    return usable if most is None else draw_items(usable, most, options.seed)


def _write_split(
    recipes: Sequence[StepRecipe], rule: ConstructionRule, seed: int, sizes: Sequence[_FileSize]
) -> ConstructionCounts:
    """Write the file of each kind of questions, and return the numbers."""
    counts, choice_counts = ConstructionCounts(), ConstructionCounts()
    lines = (
        classification_lines(build_classification(recipes, rule, seed, counts)),
        choice_lines(build_choices(recipes, rule, seed, choice_counts)),
    )
    for size, of_kind in zip(sizes, lines, strict=True):
        atomic_files.replace_file(size.path, size.measure(of_kind), "file of questions")
    return replace(counts, choices=choice_counts.choices)


def _size_warnings(split: RecipeSplit, sizes: Sequence[_FileSize]) -> Iterator[str]:
    """Yield a warning for each file of a split that is empty, or too large to be asked about."""
    for size in sizes:
        if not size.lines:
            yield f"{size.path}: the file is empty, as no question is built for it"
        if split == "test" and (size.lines > MOST_LINES or size.bytes > LARGEST_FILE):
            yield (
                f"{size.path}: {size.lines} lines, {size.bytes} bytes; a run reads {MOST_LINES} lines and "
                f"{LARGEST_FILE} bytes of a file at most; state fewer recipes by --test=N"
            )
