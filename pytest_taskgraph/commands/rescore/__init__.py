"""`rescore RECORD`: the stored replies of a record scored again with today's parser and metrics.

A record needs no key for that: what it holds of a long reply, head, tail and full length, tells the reply.

What cannot be scored again without a model, or without the whole reply, is kept as it stands, and told. Whole replies
come from a store only where `--store` names one: else all that is told is a function of the record.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...benchmarks import FAMILIES
from ...benchmarks.contract import pack_diagram_pair
from ...benchmarks.episodes import opening
from ...errors import UnknownNameError, UnmeasuredError, UsageError
from ...models.request_key import stored_name
from ...models.store.reply_rows import longer
from ...models.store.schema import FILE, read_store
from ...reports.escape import json_text
from ...results import record
from ...results.descriptions import descriptions_of
from ...results.record import saved
from ...results.record.json_values import HEAD, LONGEST_REPLY, cut_text
from ...results.tally import Tally
from ...scoring.forms import form
from ...scoring.grade import annotate, annotation, is_decided_by_hand, score_reply, without_annotation
from ...scoring.metrics import MODEL_METRICS, TEXT_METRICS, check_text_metrics
from ...trial import Json, Parsing, Question, Reply, Score, Trial
from ..compare import STORE
from .outcome_lines import Rescored, ScoreChange, as_json, as_text

Key = tuple[str, str]  # a question's id and a model


def whole_texts(store: Path, trials: Iterable[Trial], names: Mapping[str, str]) -> dict[Key, str]:
    """The whole replies to trials whose replies were shortened in a record, of those that the store holds.

    `store` is its folder, or a file of any name; `names` are the own names of models by their short ones.

    A stored reply is that of a trial if the same model gave it, in the same repetition, to messages that begin with
    those that put the question, and if a record would shorten it to what this record holds. Where several do that have
    another middle, there is none.

    Raises:
        UsageError: for a store that is missing, damaged, foreign or of a newer schema.
    """
    wanted: dict[tuple[str, str], list[Trial]] = {}
    for one in trials:
        wanted.setdefault((stored_name(names.get(one.model, one.model)), _text(one.reply)), []).append(one)
    path = store / FILE if store.is_dir() else store
    try:
        found = read_store(path, lambda connection: _found(connection, wanted))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"the store {path} holds what is no reply: {error!r:.200}; it is damaged") from error
    return {key: text for key, texts in found.items() for text in texts if len(texts) == 1}


def _found(connection: sqlite3.Connection, wanted: Mapping[tuple[str, str], list[Trial]]) -> dict[Key, set[str]]:
    """All whole texts that fit, by trial."""
    found: dict[Key, set[str]] = {}
    for model, request, reply in longer(connection, LONGEST_REPLY):
        text = json.loads(reply)["text"]
        for trial in wanted.get((model, cut_text(text)), ()):
            if _puts(json.loads(request), trial.question):
                found.setdefault((trial.question.id, trial.model), set()).add(text)
    return found


def _puts(request: Mapping[str, Any], question: Question) -> bool:
    """Whether a stored request puts the question, or goes on asking it: an agent is asked several times."""
    begin = opening(question)
    return bool(request["repetition"] == question.repetition and request.get("messages", [])[: len(begin)] == begin)


def _text(reply: Reply | None) -> str:
    return reply.text if reply else ""


SUMMARY = "score the stored replies of a record again with today's parser and metrics, and show what changed"

NO_REPLY = "without a reply"
SHORTENED = f"whose reply was shortened in the record (over {LONGEST_REPLY:,} characters)"
TO_MEASURE = "that a model would have to measure again"
NOT_KNOWN = "whose form or metric is not known here"
ADVICE = "give --store .taskgraph, or where the run kept its replies, to score these by the whole replies"
REGISTER = "name the module that registers them before the command: python -m pytest_taskgraph -p conftest rescore ..."

_NOTE = re.compile(r"\n\[… cut here: the whole text has [0-9]+ characters …\]\n")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; the parser then knows the command's arguments."""
    parser.add_argument("record", metavar="RECORD", help="the record of a run, or the name of a saved run")
    parser.add_argument("--parsing", choices=("lenient", "strict"), help="default: as each answer was read")
    parser.add_argument("--text-metric", metavar="NAME[,NAME]", help="how open answers are scored; the first decides")
    parser.add_argument(
        "--store",
        metavar="FILE|FOLDER",
        type=Path,
        help="take replies that the record shortened whole from this store of replies, which is only read "
        "(default: none, for the record alone then decides; the store of a project is .taskgraph); a saved run is "
        "looked up there too (default: in .taskgraph)",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="write the record with the new scores")
    parser.add_argument("--force", action="store_true", help="replace the file that --out names")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--check", action="store_true", help="exit 1 if an outcome or a score changed")


def run(options: argparse.Namespace) -> int:
    """The exit code: 0, or 1 under --check if an outcome or a score changed. Raises UsageError."""
    if options.out is not None and options.out.exists() and not options.force:
        raise UsageError(f"{options.out}: stands already; name another file, or give --force to replace it")
    old = _load(options.record, options.store)
    metrics = tuple(dict.fromkeys((options.text_metric or "").replace(",", " ").split()))
    new, results = rescore(old, options.parsing, metrics, options.store)
    found, known = changes(old, new), descriptions_of(new)
    if options.json:
        print(json_text(as_json(results, found, known)))
    else:
        kept = {one.kept for one in results}
        advice = [ADVICE] if options.store is None and SHORTENED in kept else []
        advice += [REGISTER] if NOT_KNOWN in kept else []
        print("\n".join(as_text(results, found, known, advice)))
    if options.out is not None:
        record.save(options.out, new)
        print(f"written to {options.out}", file=sys.stderr if options.json else sys.stdout)
    return 1 if options.check and found else 0


def _load(name_or_path: str, store: Path | None) -> dict[str, Any]:
    """The record of a saved run or a file; as in `compare`, what is no path is a name first. Raises UsageError."""
    folder = STORE if store is None else store if store.is_dir() else store.parent
    if saved.find(folder, name_or_path) is None and (saved.is_path(name_or_path) or Path(name_or_path).is_file()):
        return record.load_whole(name_or_path)
    return saved.load(folder, name_or_path)


def rescore(
    old: Mapping[str, Any], parsing: Parsing | None = None, metrics: Sequence[str] = (), store: Path | None = None
) -> tuple[dict[str, Any], list[Rescored]]:
    """The record with new scores, and each of its trials before and after, by question id, then model.

    `parsing` stands in for that of every question; of open answers the first of `metrics` decides, the others and
    those they were scored by stand beside it. All else that the record holds stays as it is, but for the verdicts of
    gates: where a score changed, there are none. Replies that the record shortened are scored where the store holds
    them whole; it is only read. Raises UsageError for a damaged record, a store that cannot be read, a metric not
    known, or one that a model measures and that the record holds no values of.
    """
    tally = record.tally_of(old)
    _check(metrics, tally)
    shortened = [one for one in tally if one.reply and _shortened(one.reply)]
    named = record.about_of(old).settings.get(record.REAL_NAMES)
    names = {short: str(name) for short, name in named.items()} if isinstance(named, dict) else {}
    whole = whole_texts(store, shortened, names) if store else {}
    results = [
        rescore_trial(one, _asked(one.question, parsing, metrics), whole.get((one.question.id, one.model)))
        for one in tally
    ]
    rescored = Tally(tally.descriptions)
    for one in results:
        rescored.add(one.after, tally.attempts(one.before))
    return _renewed(old, record.build(rescored, record.about_of(old)), parsing, metrics), results


def rescore_trial(trial: Trial, question: Question, whole: str | None = None) -> Rescored:
    """The trial scored again, as an answer to `question`: its own, perhaps with another parsing or other metrics.

    `whole` is the text of a reply that the record shortened, if it was found; the trial keeps what the record holds.
    Metrics that models measured keep their values, and annotations stay.
    """
    if is_decided_by_hand(trial):
        again = rescore_trial(without_annotation(trial), question, whole)
        return replace(again, before=trial, after=annotate(again.after, annotation(trial)))
    if trial.reply is None:
        return Rescored(trial, trial, NO_REPLY)
    if whole is None and _shortened(trial.reply):
        return Rescored(trial, trial, SHORTENED)
    reply = trial.reply if whole is None else replace(trial.reply, text=whole)
    try:
        made, _ = score_reply(question, reply, trial.model, trial.requests, _measured(trial))
    except UnknownNameError:
        return Rescored(trial, trial, NOT_KNOWN)
    except UnmeasuredError:
        return Rescored(trial, trial, TO_MEASURE)
    if question.judged and _reads_otherwise(trial, made):
        return Rescored(trial, trial, TO_MEASURE)
    score = made.score and _with_others(made.score, trial)
    after = replace(trial, question=question, outcome=made.outcome, score=score, failure=made.failure)
    return Rescored(trial, replace(after, diagram_pair=_drawn(trial, after)), from_store=whole is not None)


def _drawn(before: Trial, after: Trial) -> str:
    """Return the pair of diagrams of the new answer; empty if its family is not known here."""
    if before.score is not None and after.score is not None and before.score.given == after.score.given:
        return before.diagram_pair
    family = after.question.family
    return pack_diagram_pair(FAMILIES[family], after) if family in FAMILIES else ""


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ScoreChange]:
    """The answers of which two records of the same questions say different things, by question id, then model.

    Both are read as a record of today would write them: fields that an earlier version did not know are no change.
    """
    before, after = _said(old), _said(new)
    return [ScoreChange(*key, before[key], after[key]) for key in sorted(before) if before[key] != after[key]]


def _said(data: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Outcome, failure and score of each trial, as a record of today writes them."""
    today = record.build(record.tally_of(data), record.about_of(data))
    return {
        (one["question"]["id"], one["model"]): {name: one[name] for name in ("outcome", "failure", "score")}
        for one in today["trials"]
    }


def _check(metrics: Sequence[str], tally: Tally) -> None:
    check_text_metrics(metrics)
    known = {name for one in tally for name in one.question.judged}
    for name in metrics:
        if name in MODEL_METRICS and name not in known:
            raise UsageError(
                f"--text-metric: {name} is measured by a model, and the record holds no values of it; run again with "
                f"--taskgraph-text-metric={name}, which asks only that model if the replies are stored"
            )


def _asked(question: Question, parsing: Parsing | None, metrics: Sequence[str]) -> Question:
    if parsing is not None:
        question = replace(question, parsing=parsing)
    if metrics and form(question.form).metric in TEXT_METRICS:
        names = list(dict.fromkeys([*metrics, question.metric, *question.further]))
        judged = [name for name in names if name in MODEL_METRICS]
        question = replace(question, metric=names[0], further=names[1:], judged=judged)
    return question


def _shortened(reply: Reply) -> bool:
    """Whether the record holds only the head and tail of the reply."""
    return len(reply.text) >= LONGEST_REPLY and _NOTE.match(reply.text, HEAD) is not None


def _measured(trial: Trial) -> dict[str, float | None]:
    """The values of metrics that models measured; none where the answer could not be read."""
    if trial.score is None or trial.score.status != "read":
        return {}
    told = {one["metric"]: one["value"] for one in trial.exchanges if "metric" in one and "value" in one}
    every = {**trial.score.metrics, trial.question.metric: trial.score.value, **told}
    return {name: every[name] for name in trial.question.judged if name in every}


def _reads_otherwise(before: Trial, after: Trial) -> bool:
    """Whether an answer is read now that is not the one that was measured, as far as a record tells of it."""
    if after.score is None or after.score.status != "read":
        return False
    return before.score is None or _given(before) != _given(after)


def _given(trial: Trial) -> Json:
    """The answer as a record holds it: long texts in it are shortened too."""
    given: Json = record.build([trial], record.About(""))["trials"][0]["score"]["given"]
    return given


def _with_others(score: Score, trial: Trial) -> Score:
    """The score, with what stood beside the metrics of the question: annotations, what an agent's tools told."""
    if trial.score is None:
        return score
    own = {trial.question.metric, *trial.question.further, *score.metrics}
    others = {name: value for name, value in trial.score.metrics.items() if name not in own}
    return replace(score, metrics={**score.metrics, **others}, parts={**trial.score.parts, **score.parts})


def _renewed(
    old: Mapping[str, Any], built: Mapping[str, Any], parsing: Parsing | None, metrics: Sequence[str]
) -> dict[str, Any]:
    """The old record with the trials and totals of the new one; fields that only a later version knows stay."""
    rows = {(one["question"]["id"], one["model"]): one for one in old["trials"]}
    trials = []
    for one in built["trials"]:
        row = rows.get((one["question"]["id"], one["model"]), {"question": {}})
        kept = {name: value for name, value in row.items() if name != "diagram_pair"}  # that of the earlier answer
        trials.append({**kept, **one, "question": {**row["question"], **one["question"]}})
    computed = {name: built[name] for name in ("schema", "totals", "graded", "question_sets")}
    new = {**old, **computed, "trials": trials, "texts": {**old["texts"], **built["texts"]}}
    if old.get("gates") and changes(old, new):
        new["gates"] = []  # they decided on the old scores
    settings = {**old["settings"], **({"text_metric": list(metrics)} if metrics else {})}
    return {**new, "settings": settings, **({"parsing": parsing} if parsing else {})}
