"""Command `show`: one trial of a record in full, or what is read of a file of the user's own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from ..diagram import Diagram, unpack
from ..errors import UsageError
from ..families import FAMILIES
from ..reports.drawing.svg import svg
from ..reports.escape import json_text, one_line, printable
from ..reports.trial_text import trial_lines
from ..results import record
from ..results.record.saved import LAST, load
from ..trial import Trial
from .compare import STORE

SUMMARY = "show one trial in full, or what is read of a file of your own"
MOST: Final = 20  # candidates that a message lists
_ALIKE: Final = 0.6
_LONGEST: Final = 200  # characters of an id or a name in a message


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "id",
        metavar="ID|FILE",
        nargs="?",
        default="",
        help="the id of a question, or a part that no other id has (default: the first that was not answered right); "
        "or a file, a folder or 'FOLDER/*' in quotes: a path that exists is no id",
    )
    parser.add_argument("--as", dest="form", metavar="FORM", default="", help="of a file: print it converted to FORM")
    parser.add_argument(
        "--output", metavar="FILE.svg", type=Path, help="of a file: also write a drawing (of several: FILE-2.svg, …)"
    )
    parser.add_argument(
        "--record",
        metavar="PATH|NAME",
        default=LAST,
        help="a record, or the name of a saved run (default: %(default)s)",
    )
    parser.add_argument("--model", metavar="NAME", help="the model, or a part of its name, if there are several")
    parser.add_argument(
        "--store", metavar="PATH", type=Path, default=STORE, help="folder of the saved runs (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the trial, or what is read of the file.

    Returns:
        0; 1 if parts of a file cannot be converted.

    Raises:
        UsageError: if no trial or several trials match the id and the model, or record or file cannot be read.
    """
    if _is_path(options.id):
        return _show_file(options)
    if options.form or options.output:
        raise UsageError(f"--as and --output are for files; {_printable_name(options.id) or 'nothing'} is no file")
    trials = record.trials(load(options.store, options.record))
    trial = find_trial(trials, options.id, options.model) if options.id else _first_not_right(trials, options.model)
    print(json_text(_as_json(trial)) if options.json else "\n".join(trial_lines(trial)))
    return 0


def _is_path(text: str) -> bool:
    """Return True for a path that exists, and for one with asterisks, which no id has."""
    try:
        return bool(text) and ("*" in text or Path(text).exists())
    except (OSError, ValueError):
        return False


def _show_file(options: argparse.Namespace) -> int:
    """Print what a family reads of the file, and on stderr what is lost."""
    form = options.form or ("json" if options.json else "")
    shown = next(filter(None, (family.show_file(options.id, form) for family in FAMILIES.values())), None)
    if shown is None:
        raise UsageError(f"{options.id}: no family reads such files")
    if shown.lines:
        print("\n".join(map(printable, shown.lines)))
    for remark in shown.remarks:
        print(one_line(remark), file=sys.stderr)
    if options.output:
        _write_drawings(options.output, shown.diagrams)
    return 0 if shown.lines else 1


def _write_drawings(path: Path, diagrams: Sequence[Diagram]) -> None:
    """Write the drawings to the path, those after the first with a number in the name."""
    if path.suffix.lower() != ".svg":
        raise UsageError(f"--output: {path}: expected a path that ends in .svg")
    for number, diagram in enumerate(diagrams, 1):
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            file.write_text(svg(diagram.to_json()), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--output: {file}: cannot be written: {error.strerror or error}") from None
        print(f"wrote {file}", file=sys.stderr)


def find_trial(trials: Sequence[Trial], wanted: str, model: str | None = None) -> Trial:
    """Return the trial of an id and a model; a part of either suffices if no other contains it.

    Args:
        trials: The trials of a record.
        wanted: An id, a part of one, or the id of a test item, such as `test_it[ID-MODEL]`.
        model: The name of a model; None for any.

    Raises:
        UsageError: if there is none, or more than one; the message lists ids or models.
    """
    ids = dict.fromkeys(trial.question.id for trial in trials)
    matches = _matching_ids(ids, wanted)
    if not matches:
        close = get_close_matches(wanted, ids, 3, _ALIKE) or list(ids)[:3]
        raise UsageError(
            f"{_printable_name(wanted)}: no id of the record contains this; the record holds {_join_names(close)}"
        )
    if len(matches) > 1:
        raise UsageError(f"{_printable_name(wanted)}: {len(matches)} ids contain this: {_join_names(matches)}")
    trials_by_model = {trial.model: trial for trial in trials if trial.question.id == matches[0]}
    names = [name for name in trials_by_model if model is None or model == name] or [
        name for name in trials_by_model if str(model) in name
    ]
    if not names:
        raise UsageError(
            f"--model: {_printable_name(str(model))}: {matches[0]} was sent to {_join_names(list(trials_by_model))}"
        )
    if len(names) > 1:
        raise UsageError(
            f"{_printable_name(matches[0])}: several models; choose one with --model: {_join_names(names)}"
        )
    return trials_by_model[names[0]]


def _first_not_right(trials: Sequence[Trial], model: str | None) -> Trial:
    """Return the first trial that was answered, and not right; the first of all if there is none.

    Raises:
        UsageError: if the record holds no trial, or none of the model.
    """
    chosen = [trial for trial in trials if model is None or model in trial.model]
    if not chosen:
        raise UsageError(
            "the record holds no question" + (f" that {_printable_name(model)} was asked" if model else "")
        )
    answered = (trial for trial in chosen if trial.outcome in ("wrong", "unparseable", "refused"))
    return next(answered, chosen[0])


def _matching_ids(ids: Sequence[str] | dict[str, None], wanted: str) -> list[str]:
    """Return the id itself, else that of the test item, else all ids that contain the text."""
    if wanted in ids:
        return [wanted]
    item = wanted.partition("[")[2].removesuffix("]")
    if item:
        return (
            [max(item_ids, key=len)]
            if (item_ids := [question_id for question_id in ids if f"{item}-".startswith(f"{question_id}-")])
            else []
        )
    return [question_id for question_id in ids if wanted in question_id]


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(map(_printable_name, names[:MOST])) + more


def _printable_name(name: str) -> str:
    return one_line(name, _LONGEST)


def _as_json(trial: Trial) -> dict[str, Any]:
    drawings = {name: text and unpack(text) for name in ("diagram", "diagram_pair") if (text := getattr(trial, name))}
    return {**trial.to_json(), "diagram": None, "diagram_pair": None, **drawings}
