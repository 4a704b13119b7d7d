"""`show ID`: one trial of a record in full, with prompt, exchanges, reply, score and drawing."""

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
    parser.add_argument("id", metavar="ID", help="the id of a question, or a part that no other id has")
    parser.add_argument(
        "--record",
        metavar="PATH|NAME",
        default=LAST,
        help="a record, or the name of a saved run (default: %(default)s)",
    )
    parser.add_argument("--model", metavar="NAME", help="the model, or a part of its name, where several were asked")
    parser.add_argument(
        "--store", metavar="PATH", type=Path, default=STORE, help="where saved runs stand (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the trial.

    Returns:
        0.

    Raises:
        UsageError: if no trial or more than one is of that id and model, or the record cannot be read.
    """
    trial = find_trial(record.trials(load(options.store, options.record)), options.id, options.model)
    print(json_text(_as_json(trial)) if options.json else "\n".join(trial_lines(trial)))
    return 0


def find_trial(trials: Sequence[Trial], wanted: str, model: str | None = None) -> Trial:
    """Return the trial of an id and a model; a part of either does if it is a part of no other.

    Args:
        trials: The trials of a record.
        wanted: An id, a part of one, or the id of a test item, such as `test_it[ID-MODEL]`.
        model: The name of a model; None if any.

    Raises:
        UsageError: if there is none, or more than one; the message lists ids or models.
    """
    ids = dict.fromkeys(trial.question.id for trial in trials)
    found = _matching_ids(ids, wanted)
    if not found:
        close = get_close_matches(wanted, ids, 3, _ALIKE) or list(ids)[:3]
        raise UsageError(f"{_shown(wanted)}: no id of the record contains this; known are {_listed(close)}")
    if len(found) > 1:
        raise UsageError(f"{_shown(wanted)}: {len(found)} ids contain this: {_listed(found)}")
    asked = {trial.model: trial for trial in trials if trial.question.id == found[0]}
    names = [name for name in asked if model is None or model == name] or [name for name in asked if str(model) in name]
    if not names:
        raise UsageError(f"--model: {_shown(str(model))}: {found[0]} was put to {_listed(list(asked))}")
    if len(names) > 1:
        raise UsageError(f"{_shown(found[0])}: several models; choose one with --model: {_listed(names)}")
    return asked[names[0]]


def _matching_ids(ids: Sequence[str] | dict[str, None], wanted: str) -> list[str]:
    """Return the id itself, else that of the test item, else all ids that contain the text."""
    if wanted in ids:
        return [wanted]
    item = wanted.partition("[")[2].removesuffix("]")
    if item:
        return [max(named, key=len)] if (named := [id for id in ids if f"{item}-".startswith(f"{id}-")]) else []
    return [id for id in ids if wanted in id]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(map(_shown, names[:MOST])) + more


def _shown(name: str) -> str:
    return one_line(name, _LONGEST)


def _as_json(trial: Trial) -> dict[str, Any]:
    drawings = {name: text and unpack(text) for name in ("diagram", "diagram_pair") if (text := getattr(trial, name))}
    return {**trial.to_json(), "diagram": None, "diagram_pair": None, **drawings}
