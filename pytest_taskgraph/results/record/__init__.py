"""The record of a run: self-contained, versioned JSON, of which every report is a function.

`docs/reference/record.schema.json` is its JSON Schema. Texts that many trials share are stored once, in `texts`, under
the SHA-256 digest of their UTF-8; a prompt is a list of such digests, whose texts joined are the prompt. The diagram
that belongs to a cluster of questions is stored once, in `diagrams`, under the cluster. Settings never contain keys.
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
from ...trial import Trial, read_fields
from .. import aggregates
from ..descriptions import descriptions_of
from ..table_mistakes import find_table_mistake
from ..tally import Tally
from .atomic_files import replace_file
from .exchanges import foreign_texts, lean_exchanges
from .facts import REAL_NAMES, SEEDS, About, Provenance, RunUsage
from .record_builder import SCHEMA, RecordBuilder, build, build_tally, encode_record

__all__ = [
    "REAL_NAMES",
    "SEEDS",
    "About",
    "RecordBuilder",
    "about_of",
    "build",
    "load",
    "load_whole",
    "save",
    "tally_of",
    "trials",
]


def save(path: str | Path, record: Mapping[str, Any] | RecordBuilder) -> None:
    """Write the record to `path`, completely or not at all; missing folders are made.

    Raises:
        UsageError: if it cannot be written; the message names the path.
    """
    # Piece by piece: as a single text, a record of 20,000 trials takes 500 MB more.
    pieces = record.iterate_text() if isinstance(record, RecordBuilder) else encode_record(record)
    replace_file(path, chain(pieces, "\n"), "record")


def load(path: str | Path) -> dict[str, Any]:
    """Read the record at `path`, with every part checked for its type.

    Raises:
        UsageError: if it cannot be read, has another schema, or a part is of another type than the schema states.
    """
    from .record_schema import find_faults  # brings pydantic

    try:
        record = json.loads(
            Path(path).read_text(encoding="utf-8"), parse_constant=_finite_number, parse_float=_finite_number
        )
    except json.JSONDecodeError as error:
        raise ReadError(str(path), error.lineno, error.colno, error.msg, "the JSON of a record") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the record {path} cannot be read: {error}") from error
    if not isinstance(record, dict) or "schema" not in record:
        raise UsageError(
            f"{path} is not the record of a run: it has no schema number; expected a file that --taskgraph-report "
            "json=FILE or --taskgraph-save wrote"
        )
    schema = record["schema"]
    if type(schema) is not int or schema != SCHEMA:
        raise UsageError(
            f"{path} has schema {schema!r:.40}, written by another version of pytest-taskgraph-bench; expected "
            f"{SCHEMA}: record the run again"
        )
    for where, fault in find_faults(record):
        raise UsageError(f"{path}: {_damaged_error(where, fault)}")
    return record


def load_whole(path: str | Path) -> dict[str, Any]:
    """Read a record as `load` does, and check that its facts and all its trials can be read.

    Raises:
        UsageError: if it is damaged; the message names the path.
    """
    record = load(path)
    try:
        about_of(record)
        tally_of(record)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return record


def _finite_number(number: str) -> float:
    """Return the number.

    Raises:
        ValueError: if it is not finite, as 1e999.
    """
    value = float(number)
    if not isfinite(value):
        raise ValueError(f"found {number:.40}, expected a finite number")
    return value


def trials(record: Mapping[str, Any]) -> list[Trial]:
    """Return the trials of a record, by question id, then model.

    Raises:
        UsageError: if the record is damaged.
    """
    return list(tally_of(record))


def tally_of(record: Mapping[str, Any], *, diagrams: bool = True) -> Tally:
    """Return the tally of a record's trials, attempts included.

    Args:
        record: The record.
        diagrams: False to leave out the diagrams of what questions are about, which the record has by cluster.

    Raises:
        UsageError: if the record is damaged.
    """
    try:
        descriptions = descriptions_of(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise _unusable_error("families", error) from error
    for family in descriptions:
        if mistake := aggregates.find_aggregate_mistake(family.aggregates) or find_table_mistake(family):
            raise _damaged_error(f"family {family.name!r:.200}", mistake)
    return build_tally(_read_trials(record, diagrams), descriptions)


def about_of(record: Mapping[str, Any]) -> About:
    """Return the facts of the run that a record states.

    Raises:
        UsageError: if the record is damaged.
    """
    try:
        facts = {name: record[name] for name in About.__dataclass_fields__}
        facts["usage"] = None if facts["usage"] is None else RunUsage.from_json(facts["usage"])
        facts["provenance"] = None if facts["provenance"] is None else _read_provenance(facts["provenance"])
        facts["families"] = tuple(map(FamilyDescription.from_json, facts["families"]))
        return About(**facts | {name: tuple(facts[name]) for name in ("models", "prompts", "gates", "lost", "fail_on")})
    except (KeyError, TypeError) as error:
        raise _unusable_error("facts of the run", error) from error


def _read_provenance(fields: Mapping[str, Any]) -> Provenance:
    provenance = read_fields(Provenance, fields)
    return dataclasses.replace(provenance, command=tuple(provenance.command))


def _unusable_error(where: str, error: Exception) -> UsageError:
    """Return the error for a part of a record that cannot be read, in words instead of a Python message."""
    why = f"{error} is missing" if isinstance(error, KeyError) else "a value has an unexpected type"
    return _damaged_error(where, why)


def _damaged_error(where: str, why: str) -> UsageError:
    return UsageError(f"the record is damaged: {where}: {why:.300}; record the run again")


def _read_trials(record: Mapping[str, Any], with_diagrams: bool) -> Iterator[tuple[Trial, int]]:
    at = 0
    places: dict[tuple[str, str], int] = {}
    try:
        # Trials of a cluster share one text in memory.
        diagrams = record["diagrams"] if with_diagrams else {}
        diagrams = {cluster: pack(data) for cluster, data in diagrams.items()}
        for data in record["trials"]:
            at += 1
            prompt = "".join(record["texts"][digest] for digest in data["question"]["prompt"])
            complete = {**data, "question": {**data["question"], "prompt": prompt}}
            diagram = diagrams.get(complete["question"]["cluster"], "")
            pair = complete.get("diagram_pair")
            diagrams_packed = {"diagram": diagram, "diagram_pair": pack(pair) if pair else ""}
            exchanges = lean_exchanges(complete["exchanges"])
            trial = Trial.from_json(complete | diagrams_packed | {"exchanges": exchanges, "texts": {}})
            if texts := foreign_texts(trial.question, trial.exchanges, record["texts"]):
                trial = dataclasses.replace(trial, texts=texts)
            first = places.setdefault((trial.question.id, trial.model), at)
            if first != at:
                duplicate = f"the same question and model as trial {first}, {trial.question.id!r:.200}"
                raise _damaged_error(f"trial {at}", duplicate)
            yield trial, int(data["attempts"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unusable_error(f"trial {at}" if at else "trials", error) from error
