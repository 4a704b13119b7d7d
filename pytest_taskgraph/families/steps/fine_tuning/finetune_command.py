"""`steps finetune`: fine-tune a model on this machine on the training split of the classification."""

from __future__ import annotations

import argparse
import hashlib
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from ....errors import UsageError
from ....local_weights import check_local_extra, find_language_model, fingerprint_weights, load_weights
from ....reports.escape import one_line
from ..recipe_sets import MOST_RECIPES_KEPT, RecipeSet, read_stated
from .fine_tuning_parameters import FineTuningParameters
from .training_loop import ABOUT, FineTuned, fine_tune
from .training_samples import TuningSamples, learned_text, tuning_samples

SUMMARY: Final = "fine-tune a local model on the classification of STEPS, as Wang et al. (2023) do"
INTERRUPTED: Final = 130  # the exit code of what Ctrl-C ends
_WHOLE: Final = {
    "updates": "updates of the weights",
    "batch": "segments of an update",
    "segment": "tokens of a segment; no more than the model takes",
    "every": "updates between two validations",
    "dev": "dev samples that a validation compares",
    "at-once": "segments computed at a time, 0 for the whole batch; fewer need less memory",
    "seed": "decides on the order of the samples, the draws and the dropout",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    defaults = FineTuningParameters()
    parser.add_argument(
        "--model",
        metavar="PATH",
        required=True,
        help="folder or GGUF file of the model to begin with, or a name in the local cache",
    )
    parser.add_argument("--out", metavar="DIR", required=True, type=Path, help="new folder of the fine-tuned model")
    parser.add_argument(
        "--recipes",
        metavar="PATH",
        type=Path,
        help="Food.com's RAW_recipes.csv, its folder or its archive (default: the embedded recipes)",
    )
    parser.add_argument(
        "--published",
        metavar="PATH",
        type=Path,
        help="published questions that the model is to be asked: recipes that resemble theirs are left out",
    )
    parser.add_argument(
        "--most-recipes",
        metavar="N",
        type=int,
        default=MOST_RECIPES_KEPT,
        help="recipes of each split that are taken of Food.com's at most; 0: all (default: %(default)s)",
    )
    for name, text in _WHOLE.items():
        default = getattr(defaults, name.replace("-", "_"))
        parser.add_argument(f"--{name}", metavar="N", type=int, default=default, help=f"{text} (default: %(default)s)")
    parser.add_argument(
        "--learning-rate",
        metavar="X",
        type=float,
        default=defaults.learning_rate,
        help="of Adam (default: %(default)s)",
    )
    parser.add_argument("--device", metavar="NAME", default="", help="a device of torch (default: CUDA, else cpu)")
    parser.add_argument("--network", action="store_true", help="allow the download of a model by its name")


def run(options: argparse.Namespace) -> int:
    """Fine-tune the model, save its best checkpoint, and print the progress.

    Returns:
        0, or 130 if Ctrl-C ended it; the best checkpoint until then is kept.

    Raises:
        UsageError: if the extra `local` is missing, an argument is out of its range, the folder is not empty or cannot
            be made, or model or recipes cannot be used.
    """
    parameter_names = {field.name for field in fields(FineTuningParameters)}
    parameters = FineTuningParameters(
        **{name: value for name, value in vars(options).items() if name in parameter_names}
    )
    check_local_extra()
    _check_folder(options.out)
    recipes = _read_recipes(options.recipes, options.most_recipes, options.published)
    samples = tuning_samples(recipes, parameters.seed, parameters.dev)
    place = find_language_model(options.model, network=options.network)
    about = {
        "what": "STEPS, classification: fine-tuned as in Wang et al. (2023), section 3.4",
        "model": options.model,
        "model_weights": fingerprint_weights(place),
        "data": _about_data(recipes, options, samples),
    }
    report = partial(print, flush=True)
    report(f"{one_line(options.model)}: {recipes.source} recipes, {len(recipes.train)} train, {len(recipes.dev)} dev")
    for problem in recipes.problems:
        report(problem)
    weights = load_weights(place, precision="float32", device=options.device)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {options.out} cannot be made: {error.strerror or error}") from None
    try:
        tuned = fine_tune(weights, samples, parameters, options.out, about, report)
    finally:
        with suppress(OSError):
            options.out.rmdir()  # which holds nothing, or stays
    for line in _outcome_lines(tuned, options.out):
        report(line)
    return INTERRUPTED if tuned.interrupted else 0


def _check_folder(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--out: {out} exists already and is not an empty folder; name another one")


def _read_recipes(path: Path | None, most: int, published: Path | None) -> RecipeSet:
    """Return the recipes that are learned and validated with. Raises UsageError."""
    if most < 0:
        raise UsageError(f"--most-recipes: found {most}, expected at least 1, or 0 for all")
    recipes = read_stated(path, most or None)
    if published is None:
        return recipes
    from ....benchmarks.data_sets.data_files import restate_path
    from ..recipe_sets.published_files import FORMAT, read_published_samples
    from ..recipe_sets.recipe_resemblance import without_published

    with restate_path(published, FORMAT, f"--published={published}"):
        return without_published(recipes, read_published_samples(published))


def _about_data(recipes: RecipeSet, options: argparse.Namespace, samples: TuningSamples) -> dict[str, Any]:
    digest = hashlib.sha256()
    for sample in (*samples.train, *samples.dev):
        digest.update(f"{learned_text(sample)}\n".encode("utf-8", "surrogatepass"))
    return {
        "source": recipes.source,
        "path": None if options.recipes is None else str(options.recipes),
        "most_recipes": None if options.recipes is None else options.most_recipes,
        "published": None if options.published is None else str(options.published),
        "train_recipes": len(recipes.train),
        "dev_recipes": len(recipes.dev),
        "digest": digest.hexdigest(),
    }


def _outcome_lines(tuned: FineTuned, out: Path) -> list[str]:
    where = one_line(str(out))
    ended = [f"interrupted after {tuned.updates} updates"] if tuned.interrupted else []
    if tuned.best is None:
        return [*ended, "no checkpoint is saved: no validation followed an update"]
    return [
        *ended,
        f"best checkpoint: update {tuned.best.update}, saved to {where} with {ABOUT}",
        f"ask it: pytest suites/steps --model=local:{where}",
    ]
