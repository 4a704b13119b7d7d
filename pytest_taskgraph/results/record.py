"""The record of a run: self-contained, versioned JSON, of which every report is a function.

`docs/record.schema.json` is its JSON Schema. Texts that many trials share stand once, in `texts`, under the SHA-256
digest of their UTF-8; a prompt is a list of such digests, whose texts joined are the prompt. A workflow's diagram
stands once, in `diagrams`, under the cluster of its questions. Settings never hold keys.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from ..errors import ReadError, UsageError
from ..trial import Json, Trial
from .tally import Tally

SCHEMA = 1
KNOWN_SCHEMAS = (1,)
LONGEST_REPLY = 20_000  # characters; of a longer text head and tail are kept
HEAD = 10_000
SHORTEST_SHARED = 200  # characters; a shorter start of prompts is not worth a digest of its own
DEEPEST = 100  # levels of JSON

_SECRET = re.compile(r"key|token|secret|passw|pwd|auth|credential|bearer|cookie|signature", re.IGNORECASE)
_COUNT_OF_TOKENS = re.compile(r"(?:^|[_.-])tokens$", re.IGNORECASE)  # max_tokens and its kind
_USER_IN_URL = re.compile(r"://[^/\s@]*@")


@dataclass(frozen=True, slots=True)
class About:
    """What a run was: who was asked, and how. Names of models must not carry keys."""

    version: str  # of the plugin
    models: tuple[str, ...] = ()
    seed: int = 0
    notations: tuple[str, ...] = ()
    frame: str = ""
    reading: str = "lenient"
    judge: str = "questions"
    questions: int | None = None  # how many were collected; None before it is known
    settings: dict[str, Json] = field(default_factory=dict)
    gates: tuple[dict[str, Json], ...] = ()  # the cases that judged the whole run, as in docs/record.schema.json
    lost: tuple[str, ...] = ()  # questions whose worker died while their test ran
    interrupted: bool = False  # whether it was broken off before gates and comparisons could judge it

    @property
    def oracle(self) -> bool:
        """Whether a model among them knows the answers (models/oracle.py), so that its marks mean nothing."""
        return any(model.split(":")[0].split(" ")[0] == "oracle" for model in self.models)


def build(trials: Iterable[Trial], about: About) -> dict[str, Any]:
    """The record as plain JSON values: trials by question id, then model, errored and skipped ones included.

    Of trials with the same question and model the last is kept; a Tally hands over how often each was asked. Raises
    UsageError, with the place, for a number that is not finite and for what JSON has no words for.
    """
    tally = trials if isinstance(trials, Tally) else _tallied((trial, 1) for trial in trials)
    texts: dict[str, str] = {}
    kept = [{**_trial(one), "attempts": tally.attempts(one)} for one in tally]
    shared = _shared_starts(kept)
    for one in kept:
        question = one["question"]
        start = shared[_alike(question)]
        rest = question["prompt"][len(start) :]
        question["prompt"] = [_keep(text, texts) for text in (start, rest) if text]
    totals = [asdict(tally.total(model)) for model in tally.models]
    patterns = list(dict.fromkeys(one.name for one in tally.groups("pattern", pooled=True)))
    parts = {"totals": totals, "patterns": patterns, "texts": texts, "diagrams": _diagrams(tally), "trials": kept}
    return {"schema": SCHEMA, **_facts(about), **parts}


def restated(record: Mapping[str, Any], about: About) -> dict[str, Any]:
    """The record of the same trials, of a run of which more is known by now."""
    return {**record, **_facts(about)}


def _facts(about: About) -> dict[str, Any]:
    facts: dict[str, Any] = _plain({**asdict(about), "settings": public_settings(about.settings)}, "about")
    return facts


def _diagrams(tally: Iterable[Trial]) -> dict[str, Any]:
    """The diagrams that trials carry, once for each cluster of questions, in the order of their keys."""
    found = {one.question.cluster: one.diagram for one in tally if one.diagram is not None and one.question.cluster}
    return {key: _plain(found[key], f"diagram {key}") for key in sorted(found)}


def public_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings without those whose names look like a key, token, secret, password or authorization, at any depth.

    Counts of tokens (`max_tokens`) stay where they are numbers. User and password are cut out of addresses.
    """
    return {name: _public(value, 1) for name, value in settings.items() if not _secret(name, value)}


def _secret(name: str, value: Json) -> bool:
    number = isinstance(value, (int, float)) or (isinstance(value, str) and value.isdecimal() and len(value) < 9)
    return bool(_SECRET.search(_COUNT_OF_TOKENS.sub("", name) if number else name))


def _public(value: Json, depth: int) -> Json:
    if depth > DEEPEST:
        _refuse("settings", "values nested too deep")
    if isinstance(value, dict):
        return {name: _public(one, depth + 1) for name, one in value.items() if not _secret(name, one)}
    if isinstance(value, (list, tuple)):
        return [_public(one, depth + 1) for one in value]
    return _USER_IN_URL.sub("://", value) if isinstance(value, str) else value


def _trial(trial: Trial) -> dict[str, Any]:
    """The trial as JSON that reads back as itself, with long texts of the model cut."""
    where = f"trial {trial.question.id} of {trial.model}"
    data = trial.to_json()
    del data["diagram"]  # it stands in `diagrams`
    said = ("reply", "score", "exchanges")
    of_the_model = {name: _plain(data.pop(name), f"{where}, {name}", cut) for name in said}
    return {**_plain(data, where), **of_the_model}


def _plain(value: object, where: str, text: Callable[[str], str] = str, depth: int = 0) -> Any:  # noqa: ANN401
    """The value as JSON that is equal to itself once written and read; its texts go through `text`."""
    if depth > DEEPEST:
        _refuse(where, f"values nested more than {DEEPEST} deep")
    if isinstance(value, str):
        return text(_joined_surrogates(value))
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {
            _joined_surrogates(str(name)): _plain(one, f"{where}, {name}", text, depth + 1)
            for name, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(one, f"{where}[{at}]", text, depth + 1) for at, one in enumerate(value)]
    return _refuse(where, f"{value!r:.60}, which JSON cannot hold")


def _refuse(where: str, found: str) -> NoReturn:
    raise UsageError(
        f"the record cannot be made: {where[:200]}: found {found}; expected finite numbers, texts and lists"
    )


def _joined_surrogates(text: str) -> str:
    """The text with pairs of surrogates made one character, as JSON readers do; lone ones stay."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def cut(text: str) -> str:
    """The text, of one over LONGEST_REPLY characters head and tail around a note of its full length: as many in all."""
    if len(text) <= LONGEST_REPLY:
        return text
    note = f"\n[… cut here: the whole text has {len(text)} characters …]\n"
    return text[:HEAD] + note + text[HEAD + len(note) - LONGEST_REPLY :]


def _alike(question: Mapping[str, Any]) -> tuple[str, str]:
    return (question["cluster"] or question["id"], str(question["labels"].get("notation", "")))


def _shared_starts(trials: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """For questions about one workflow in one notation, the start of their prompts: there the workflow's text is."""
    prompts: dict[tuple[str, str], list[str]] = {}
    for one in trials:
        prompts.setdefault(_alike(one["question"]), []).append(one["question"]["prompt"])
    starts = {alike: _common_start(min(same), max(same)) for alike, same in prompts.items()}
    return {alike: start if len(start) >= SHORTEST_SHARED else "" for alike, start in starts.items()}


def _common_start(a: str, b: str) -> str:
    """The longest start that both texts have; that of the least and the greatest of many is that of them all."""
    return a[: next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))]


def _keep(text: str, texts: dict[str, str]) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    texts[digest] = text
    return digest


def save(path: str | Path, record: Mapping[str, Any]) -> None:
    """Nothing; the record stands at `path` as a whole, or what stood there before. Missing folders are made.

    Raises UsageError, with the path, where it cannot be written.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"the record cannot be written to {path}: it is no regular file; name another path")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("w", encoding="ascii", newline="\n") as file:
                # Piece by piece: as one text, a record of 20,000 trials would take 500 MB more.
                file.writelines(json.JSONEncoder(allow_nan=False, indent=1).iterencode(record))
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError, TypeError) as error:
        # The text of an OSError names the file beside it, which nobody asked for.
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the record cannot be written to {path}: {why}; name another path") from error


def load(path: str | Path) -> dict[str, Any]:
    """The record that stands at `path`. Raises UsageError where there is none, or one of a schema not known here."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_constant)
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
            "read it with the version of pytest-taskgraph that wrote it, or make the record again"
        )
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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"found {name}, expected a finite number")


def trials(record: Mapping[str, Any]) -> list[Trial]:
    """The trials of a record, by question id, then model. Raises UsageError for a record that is damaged."""
    return list(tally_of(record))


def tally_of(record: Mapping[str, Any], order: Iterable[str] = ()) -> Tally:
    """The tally of a record's trials, attempts included; `order` as in Tally, where it is given, else the record's own.

    Raises UsageError as `trials` does.
    """
    listed = record.get("patterns")  # older records have none
    own = tuple(map(str, listed)) if isinstance(listed, list) else ()
    return _tallied(_read_trials(record), tuple(order) or own)


def about_of(record: Mapping[str, Any]) -> About:
    """What the run of a record was. Raises UsageError for a record that is damaged."""
    try:
        later: dict[str, Json] = {"gates": [], "lost": [], "interrupted": False}  # older records have none
        facts = {name: (later | dict(record))[name] for name in About.__dataclass_fields__}
        return About(**facts | {name: tuple(facts[name]) for name in ("models", "notations", "gates", "lost")})
    except (KeyError, TypeError) as error:
        raise _damaged("what the run was", error) from error


def _damaged(where: str, error: Exception) -> UsageError:
    """The error of a part of a record that cannot be read, without the words of Python."""
    why = f"{error} is missing" if isinstance(error, KeyError) else "a value is not of the kind that was expected"
    return UsageError(f"the record is damaged: {where}: {why:.200}; make it again")


def _tallied(trials: Iterable[tuple[Trial, int]], order: tuple[str, ...] = ()) -> Tally:
    tally = Tally(order)
    for trial, attempts in trials:
        tally.add(trial, attempts)
    return tally


def _read_trials(record: Mapping[str, Any]) -> Iterator[tuple[Trial, int]]:
    at = 0
    try:
        diagrams = record.get("diagrams", {})  # older records have none
        for one in record["trials"]:
            at += 1
            prompt = "".join(record["texts"][digest] for digest in one["question"]["prompt"])
            whole = {**one, "question": {**one["question"], "prompt": prompt}}
            yield Trial.from_json(whole | {"diagram": diagrams.get(whole["question"]["cluster"])}), int(one["attempts"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(f"trial {at}" if at else "trials", error) from error
