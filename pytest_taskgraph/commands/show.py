"""Command `show ID`: one trial of a record in full, with prompt, exchanges, reply, score and drawing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from ..diagram import unpack
from ..errors import UsageError
from ..reports.escape import json_text, one_line
from ..reports.trial_text import trial_lines
from ..results import record
from ..results.record.saved import LAST, load
from ..trial import Trial
from .compare import STORE

SUMMARY = "show one trial in full: question, prompt, reply, score and drawing"
MOST: Final = 20  # candidates that a message lists
_ALIKE: Final = 0.6
_LONGEST: Final = 200  # characters of an id or a name in a message


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "id",
        metavar="ID",
        nargs="?",
        default="",
        help="the id of a question, or a part that no other id has (default: the first that was not answered right)",
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
    """Print the trial.

    Returns:
        0.

    Raises:
        UsageError: if no trial or several trials match the id and the model, or the record cannot be read.
    """
    trials = record.trials(load(options.store, options.record))
    trial = find_trial(trials, options.id, options.model) if options.id else _first_not_right(trials, options.model)
    print(json_text(_as_json(trial)) if options.json else "\n".join(trial_lines(trial)))
    return 0


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
