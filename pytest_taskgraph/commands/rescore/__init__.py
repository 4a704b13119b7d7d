"""Command `rescore RECORD`: the stored replies of a record scored again with the present parser and metrics.

A record suffices: head, tail and full length of a long reply identify it.

An answer that needs a model, or its whole reply, to be scored again keeps its score, and the output counts it.
Whole replies come from a store only if `--store` names one; without it the output is a function of the record.
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

from ...benchmarks.contract import pack_diagram_pair
from ...benchmarks.episodes import opening
from ...errors import UnknownNameError, UnmeasuredError, UsageError
from ...families import FAMILIES
from ...models.request_key import stored_name
from ...models.store.reply_rows import replies_longer_than
from ...models.store.schema import read_store
from ...models.store_folder import FILE
from ...reports.escape import json_text
from ...results import record
from ...results.descriptions import descriptions_of
from ...results.record import saved
from ...results.record.json_values import HEAD, LONGEST_REPLY, cut_text
from ...results.tally import Tally
from ...scoring.forms import form
from ...scoring.grade import annotate, annotation, score_reply, without_annotation
from ...scoring.metrics import MODEL_METRICS, TEXT_METRICS, check_text_metrics
from ...scoring.task_graphs.sentence_models import add_sentence_model
from ...trial import Json, Parsing, Question, Reply, Score, Trial
from ..compare import STORE
from .outcome_lines import RescoredTrial, ScoreChange, as_json, as_text

AnswerKey = tuple[str, str]  # a question's id and a model


def whole_texts(store: Path, trials: Iterable[Trial], names: Mapping[str, str]) -> dict[AnswerKey, str]:
    """Return the whole replies to trials whose replies are shortened in a record, as far as the store holds them.

    A stored reply is that of a trial if the same model gave it, in the same repetition, to messages that begin with
    those of the question, and if a record shortens it to what this record holds. If several such replies differ in
    their middle, none is returned.

    Args:
        store: The folder of the store, or a file of any name.
        trials: The trials.
        names: The full names of models by their short ones.

    Raises:
        UsageError: if the store is missing, damaged, foreign or of a newer schema.
    """
    trials_by_text: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        trials_by_text.setdefault(
            (stored_name(names.get(trial.model, trial.model)), _reply_text(trial.reply)), []
        ).append(trial)
    path = store / FILE if store.is_dir() else store
    try:
        texts_by_key = read_store(path, lambda connection: _matching_texts(connection, trials_by_text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"the store {path} is damaged: an entry is no reply: {error!r:.200}") from error
    return {key: text for key, texts in texts_by_key.items() for text in texts if len(texts) == 1}


def _matching_texts(
    connection: sqlite3.Connection, trials_by_text: Mapping[tuple[str, str], list[Trial]]
) -> dict[AnswerKey, set[str]]:
    """Return all whole texts that match, by trial."""
    texts_by_key: dict[AnswerKey, set[str]] = {}
    for model, request, reply in replies_longer_than(connection, LONGEST_REPLY):
        text = json.loads(reply)["text"]
        for trial in trials_by_text.get((model, cut_text(text)), ()):
            if _asks_question(json.loads(request), trial.question):
                texts_by_key.setdefault((trial.question.id, trial.model), set()).add(text)
    return texts_by_key


def _asks_question(request: Mapping[str, Any], question: Question) -> bool:
    """Return True if a stored request asks the question, or continues to ask it as an agent does."""
    begin = opening(question)
    return bool(request["repetition"] == question.repetition and request.get("messages", [])[: len(begin)] == begin)


def _reply_text(reply: Reply | None) -> str:
    return reply.text if reply else ""


SUMMARY = "score the stored replies of a record again with today's parser and metrics, and show what changed"

NO_REPLY = "without a reply"
SHORTENED = f"whose reply was shortened in the record (over {LONGEST_REPLY:,} characters)"
TO_MEASURE = "that a model has to measure again"
UNKNOWN_FORM_OR_METRIC = "whose form or metric is not known here"
ADVICE = "give --store .taskgraph, or the store of the run, to score these by the whole replies"
REGISTER = "name the module that registers them before the command: python -m pytest_taskgraph -p conftest rescore ..."

_NOTE = re.compile(r"\n\[… cut here: the whole text has [0-9]+ characters …\]\n")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument("record", metavar="RECORD", help="the record of a run, or the name of a saved run")
    parser.add_argument(
        "--parsing", choices=("lenient", "strict"), help="answer parsing (default: that of each question)"
    )
    parser.add_argument("--text-metric", metavar="NAME[,NAME]", help="metrics of open answers; the first decides")
    parser.add_argument(
        "--store",
        metavar="FILE|FOLDER",
        type=Path,
        help="store with the whole replies that the record shortened, only read (default: none); "
        "a saved run is looked up there too (default: in .taskgraph)",
    )
    parser.add_argument(
        "--sentence-model",
        metavar="FOLDER",
        help="sentence model of the record's similarity of steps (default: its name in the local cache)",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="write the record with the new scores")
    parser.add_argument("--force", action="store_true", help="replace the file that --out names")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--check", action="store_true", help="exit 1 if an outcome or a score changed")


def run(options: argparse.Namespace) -> int:
    """Score the record again and print what changed.

    Returns:
        1 under --check if an outcome or a score changed, else 0.

    Raises:
        UsageError: if an option is invalid, or a record or the store cannot be read.
    """
    if options.out is not None and options.out.exists() and not options.force:
        raise UsageError(f"{options.out}: exists already; name another file, or give --force to replace it")
    if options.sentence_model is not None:
        add_sentence_model(options.sentence_model)
    old = _load_record(options.record, options.store)
    metrics = tuple(dict.fromkeys((options.text_metric or "").replace(",", " ").split()))
    new, results = rescore(old, options.parsing, metrics, options.store)
    changed, descriptions = score_changes(old, new), descriptions_of(new)
    if options.json:
        print(json_text(as_json(results, changed, descriptions)))
    else:
        reasons = {result.skip_reason for result in results}
        advice = [ADVICE] if options.store is None and SHORTENED in reasons else []
        advice += [REGISTER] if UNKNOWN_FORM_OR_METRIC in reasons else []
        print("\n".join(as_text(results, changed, descriptions, advice)))
    if options.out is not None:
        record.save(options.out, new)
        print(f"written to {options.out}", file=sys.stderr if options.json else sys.stdout)
    return 1 if options.check and changed else 0


def _load_record(name_or_path: str, store: Path | None) -> dict[str, Any]:
    """Return the record of a saved run or a file; as in `compare`, a text that is no path is first taken for a name.

    Raises:
        UsageError: if there is no such record.
    """
    folder = STORE if store is None else store if store.is_dir() else store.parent
    if saved.find(folder, name_or_path) is None and (saved.is_path(name_or_path) or Path(name_or_path).is_file()):
        return record.load_whole(name_or_path)
    return saved.load(folder, name_or_path)


def rescore(
    old: Mapping[str, Any], parsing: Parsing | None = None, metrics: Sequence[str] = (), store: Path | None = None
) -> tuple[dict[str, Any], list[RescoredTrial]]:
    """Return the record with new scores, and each of its trials before and after, by question id, then model.

    All else in the record stays, except the outcomes of gates: if a score changed, there are none. The store is only
    read.

    Args:
        old: The record.
        parsing: The answer parsing instead of that of each question.
        metrics: The metrics of open answers. The first decides; the others and the former ones are kept beside it.
        store: The store from which shortened replies are taken whole.

    Raises:
        UsageError: if the record is damaged, the store cannot be read, a metric is unknown, or a metric is measured by
            a model and the record holds no values of it.
    """
    tally = record.tally_of(old)
    _check_metrics(metrics, tally)
    shortened = [trial for trial in tally if trial.reply and _is_shortened(trial.reply)]
    real_names = record.about_of(old).settings.get(record.REAL_NAMES)
    names = {short: str(name) for short, name in real_names.items()} if isinstance(real_names, dict) else {}
    whole = whole_texts(store, shortened, names) if store else {}
    results = [
        rescore_trial(
            trial, _question_to_score(trial.question, parsing, metrics), whole.get((trial.question.id, trial.model))
        )
        for trial in tally
    ]
    rescored = Tally(tally.descriptions)
    for trial in results:
        rescored.add(trial.after, tally.attempts(trial.before))
    return _updated_record(old, record.build(rescored, record.about_of(old)), parsing, metrics), results


def rescore_trial(trial: Trial, question: Question, whole: str | None = None) -> RescoredTrial:
    """Return the trial scored again, as an answer to `question`.

    Metrics that models measured keep their values, and annotations stay.

    Args:
        trial: The trial.
        question: Its question, perhaps with another parsing or other metrics.
        whole: The whole text of a reply that the record shortened. The trial keeps the shortened text.
    """
    if annotation(trial) is not None:
        again = rescore_trial(without_annotation(trial), question, whole)
        return replace(again, before=trial, after=annotate(again.after, annotation(trial)))
    if trial.reply is None:
        return RescoredTrial(trial, trial, NO_REPLY)
    if whole is None and _is_shortened(trial.reply):
        return RescoredTrial(trial, trial, SHORTENED)
    reply = trial.reply if whole is None else replace(trial.reply, text=whole)
    try:
        scored, _ = score_reply(question, reply, trial.model, trial.requests, _measured_values(trial))
    except UnknownNameError:
        return RescoredTrial(trial, trial, UNKNOWN_FORM_OR_METRIC)
    except UnmeasuredError:
        return RescoredTrial(trial, trial, TO_MEASURE)
    if question.judged and _parses_differently(trial, scored):
        return RescoredTrial(trial, trial, TO_MEASURE)
    score = scored.score and _with_other_metrics(scored.score, trial)
    after = replace(trial, question=question, outcome=scored.outcome, score=score, failure=scored.failure)
    return RescoredTrial(trial, replace(after, diagram_pair=_diagram_pair(trial, after)), from_store=whole is not None)


def _diagram_pair(before: Trial, after: Trial) -> str:
    """Return the pair of diagrams of the new answer; empty if its family is not registered."""
    if before.score is not None and after.score is not None and before.score.given == after.score.given:
        return before.diagram_pair
    family = after.question.family
    return pack_diagram_pair(FAMILIES[family], after) if family in FAMILIES else ""


def score_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ScoreChange]:
    """Return the answers that two records of the same questions score differently, by question id, then model."""
    before, after = _answers_by_key(old), _answers_by_key(new)
    return [ScoreChange(*key, before[key], after[key]) for key in sorted(before) if before[key] != after[key]]


def _answers_by_key(data: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return outcome, failure and score of each trial as a record holds them."""
    today = record.build(record.tally_of(data), record.about_of(data))
    return {
        (row["question"]["id"], row["model"]): {name: row[name] for name in ("outcome", "failure", "score")}
        for row in today["trials"]
    }


def _check_metrics(metrics: Sequence[str], tally: Tally) -> None:
    check_text_metrics(metrics)
    measured_metrics = {name for trial in tally for name in trial.question.judged}
    for name in metrics:
        if name in MODEL_METRICS and name not in measured_metrics:
            raise UsageError(
                f"--text-metric: {name} is measured by a model, and the record holds no values of it; run again with "
                f"--taskgraph-text-metric={name}, which asks only that model if the replies are stored"
            )


def _question_to_score(question: Question, parsing: Parsing | None, metrics: Sequence[str]) -> Question:
    if parsing is not None:
        question = replace(question, parsing=parsing)
    if metrics and form(question.form).metric in TEXT_METRICS:
        names = list(dict.fromkeys([*metrics, question.metric, *question.further]))
        judged_metrics = [name for name in names if name in MODEL_METRICS]
        question = replace(question, metric=names[0], further=names[1:], judged=judged_metrics)
    return question


def _is_shortened(reply: Reply) -> bool:
    """Return True if the record holds only the head and tail of the reply."""
    return len(reply.text) >= LONGEST_REPLY and _NOTE.match(reply.text, HEAD) is not None


def _measured_values(trial: Trial) -> dict[str, float | None]:
    """Return the values of metrics that models measured; empty if the answer was not parsed."""
    if trial.score is None or trial.score.status != "read":
        return {}
    exchange_values = {
        exchange["metric"]: exchange["value"]
        for exchange in trial.exchanges
        if "metric" in exchange and "value" in exchange
    }
    values = {**trial.score.metrics, trial.question.metric: trial.score.value, **exchange_values}
    return {name: values[name] for name in trial.question.judged if name in values}


def _parses_differently(before: Trial, after: Trial) -> bool:
    """Return True if the new answer is not the measured answer, as far as the record shows."""
    if after.score is None or after.score.status != "read":
        return False
    return before.score is None or _recorded_answer(before) != _recorded_answer(after)


def _recorded_answer(trial: Trial) -> Json:
    """Return the answer as a record holds it: long texts in it are shortened too."""
    given: Json = record.build([trial], record.About(""))["trials"][0]["score"]["given"]
    return given


def _with_other_metrics(score: Score, trial: Trial) -> Score:
    """Return the score with what is not measured again: annotations, and values of an agent's tools."""
    if trial.score is None:
        return score
    own = {trial.question.metric, *trial.question.further, *score.metrics}
    others = {name: value for name, value in trial.score.metrics.items() if name not in own}
    return replace(score, metrics={**score.metrics, **others}, parts={**trial.score.parts, **score.parts})


def _updated_record(
    old: Mapping[str, Any], built: Mapping[str, Any], parsing: Parsing | None, metrics: Sequence[str]
) -> dict[str, Any]:
    """Return the old record with the trials and totals of the new one; fields of later versions stay."""
    rows = {(trial["question"]["id"], trial["model"]): trial for trial in old["trials"]}
    trials = []
    for trial in built["trials"]:
        row = rows.get((trial["question"]["id"], trial["model"]), {"question": {}})
        kept_fields = {
            name: value for name, value in row.items() if name != "diagram_pair"
        }  # it shows the earlier answer
        trials.append({**kept_fields, **trial, "question": {**row["question"], **trial["question"]}})
    computed = {name: built[name] for name in ("totals", "graded")}
    new = {**old, **computed, "trials": trials, "texts": {**old["texts"], **built["texts"]}}
    if old["gates"] and score_changes(old, new):
        new["gates"] = []  # they decided on the old scores
    settings = {**old["settings"], **({"text_metric": list(metrics)} if metrics else {})}
    return {**new, "settings": settings, **({"parsing": parsing} if parsing else {})}
