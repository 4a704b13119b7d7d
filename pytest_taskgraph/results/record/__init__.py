"""The record of a run: self-contained, versioned JSON, of which every report is a function.

`docs/reference/record.schema.json` is its JSON Schema. Texts that many trials share stand once, in `texts`, under the
SHA-256 digest of their UTF-8; a prompt is a list of such digests, whose texts joined are the prompt. The diagram of
what questions are about stands once, in `diagrams`, under their cluster. Settings never hold keys.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from ...diagram import pack
from ...errors import ReadError, UsageError
from ...family_description import FamilyDescription
from ...trial import Trial
from .. import aggregates, tables
from ..descriptions import descriptions_of
from ..tally import Tally
from .atomic_files import replace_file
from .exchanges import foreign_texts, lean_exchanges
from .facts import REAL_NAMES, About, Usage
from .older_records import KNOWN_SCHEMAS, upgrade_record
from .record_builder import RecordBuilder, build, build_tally, encode_record

FIRST_QUESTION_SET = 1  # which all questions are of in records that say nothing of it

__all__ = [
    "REAL_NAMES",
    "About",
    "RecordBuilder",
    "about_of",
    "build",
    "load",
    "load_whole",
    "question_sets_of",
    "save",
    "tally_of",
    "trials",
]


def save(path: str | Path, record: Mapping[str, Any] | RecordBuilder) -> None:
    """Nothing; the record stands at `path` as a whole, or what stood there before. Missing folders are made.

    Raises UsageError, with the path, where it cannot be written.
    """
    # Piece by piece: as one text, a record of 20,000 trials would take 500 MB more.
    pieces = record.iterate_text() if isinstance(record, RecordBuilder) else encode_record(record)
    replace_file(path, chain(pieces, "\n"), "record")


def load(path: str | Path) -> dict[str, Any]:
    """The record that stands at `path`. Raises UsageError where there is none, or one of a schema not known here, and
    for one of which a part is not of its kind: all that reads it may then rely on that.
    """
    from .shape import find_faults  # brings pydantic

    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ReadError(str(path), error.lineno, error.colno, error.msg, "the JSON of a record") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the record {path} cannot be read: {error}") from error
    if not isinstance(record, dict) or "schema" not in record:
        raise UsageError(
            f"{path} is no record of a run: it has no schema number; expected a file that --taskgraph-report "
            "json=FILE or --taskgraph-save wrote"
        )
    found = record["schema"]
    if type(found) is not int or found not in KNOWN_SCHEMAS:
        known = ", ".join(map(str, KNOWN_SCHEMAS))
        raise UsageError(
            f"{path}: found schema {found!r:.40}, expected one that is known here ({known}); "
            "read it with the version of pytest-taskgraph-bench that wrote it, or make the record again"
        )
    record = upgrade_record(record)
    for where, fault in find_faults(record):
        raise UsageError(f"{path}: {_damaged(where, fault)}")
    return record


def load_whole(path: str | Path) -> dict[str, Any]:
    """As `load`, and all that the record holds can be read. Raises UsageError, with the path, where it is damaged."""
    found = load(path)
    try:
        about_of(found)
        tally_of(found)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return found


def _finite(number: str) -> float:
    """The number; also 1e999 is none that JSON could hold. Raises ValueError."""
    value = float(number)
    if not isfinite(value):
        raise ValueError(f"found {number:.40}, expected a finite number")
    return value


def trials(record: Mapping[str, Any]) -> list[Trial]:
    """The trials of a record, by question id, then model. Raises UsageError for a record that is damaged."""
    return list(tally_of(record))


def tally_of(record: Mapping[str, Any]) -> Tally:
    """Return the tally of a record's trials, attempts included. Raises UsageError as `trials` does."""
    try:
        known = descriptions_of(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise _unusable("families", error) from error
    for one in known:
        if told := aggregates.find_aggregate_mistake(one.aggregates) or tables.find_table_mistake(one):
            raise _damaged(f"family {one.name!r:.200}", told)
    return build_tally(_read_trials(record), known)


def about_of(record: Mapping[str, Any]) -> About:
    """What the run of a record was. Raises UsageError for a record that is damaged."""
    try:
        later: dict[str, Any] = {
            "gates": [],
            "lost": [],
            "interrupted": False,
            "usage": None,
            "families": [],
        }  # older records have none
        later["question_sets"] = question_sets_of(record)
        facts = {name: (later | dict(record))[name] for name in About.__dataclass_fields__}
        facts["usage"] = None if facts["usage"] is None else _usage(facts["usage"])
        facts["families"] = tuple(map(FamilyDescription.from_json, facts["families"]))
        return About(**facts | {name: tuple(facts[name]) for name in ("models", "prompts", "gates", "lost", "fail_on")})
    except (KeyError, TypeError) as error:
        raise _unusable("what the run was", error) from error


def _usage(told: Mapping[str, Any]) -> Usage:
    return Usage(**{name: told[name] for name in Usage.__dataclass_fields__ if name in told})


def question_sets_of(record: Mapping[str, Any]) -> dict[str, int]:
    """Return the version of the questions of each family that has one, as the record says; the first in older records.

    Raises:
        UsageError: if the record is damaged.
    """
    if "question_sets" in record:
        return dict(record["question_sets"])
    try:
        families = sorted({str(one["question"]["family"]) for one in record["trials"]})
    except (KeyError, TypeError) as error:
        raise _unusable("trials", error) from error
    return dict.fromkeys(families, FIRST_QUESTION_SET)


def _unusable(where: str, error: Exception) -> UsageError:
    """The error of a part of a record that cannot be read, without the words of Python."""
    why = f"{error} is missing" if isinstance(error, KeyError) else "a value is not of the kind that was expected"
    return _damaged(where, why)


def _damaged(where: str, why: str) -> UsageError:
    return UsageError(f"the record is damaged: {where}: {why:.300}; make it again")


def _read_trials(record: Mapping[str, Any]) -> Iterator[tuple[Trial, int]]:
    at = 0
    places: dict[tuple[str, str], int] = {}
    try:
        # Older records have none. Those of several trials are one text in memory.
        diagrams = {cluster: pack(one) for cluster, one in record.get("diagrams", {}).items()}
        for one in record["trials"]:
            at += 1
            prompt = "".join(record["texts"][digest] for digest in one["question"]["prompt"])
            whole = {**one, "question": {**one["question"], "prompt": prompt}}
            diagram = diagrams.get(whole["question"]["cluster"], "")
            pair = whole.get("diagram_pair")
            packed = {"diagram": diagram, "diagram_pair": pack(pair) if pair else ""}
            said = lean_exchanges(whole.get("exchanges", ()))  # the oldest records have none
            trial = Trial.from_json(whole | packed | {"exchanges": said, "texts": {}})
            if texts := foreign_texts(trial.question, trial.exchanges, record["texts"]):
                trial = dataclasses.replace(trial, texts=texts)
            first = places.setdefault((trial.question.id, trial.model), at)
            if first != at:
                same = f"the same question and model as trial {first}, {trial.question.id!r:.200}"
                raise _damaged(f"trial {at}", same)
            yield trial, int(one["attempts"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unusable(f"trial {at}" if at else "trials", error) from error
