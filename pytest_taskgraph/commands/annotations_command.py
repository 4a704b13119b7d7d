"""`annotations export`, `annotations import`: scores that a person enters and that decide in place of the main metric.

The file is CSV with a header, one row an answer: id, model, question, expected, reply, score, note. A person fills in
`score`, 0 to 1, or leaves it empty; `note` is for people and stays in the file. Replies are hostile: a cell that a
spreadsheet would take for a formula is written after an apostrophe, which is taken away when it is read.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Final

from ..errors import UnknownNameError, UsageError
from ..reports.escape import one_line
from ..reports.table import table
from ..results import record
from ..results.tally import Tally
from ..scoring.forms import FORMS, find_form, form
from ..scoring.grade import METRIC, annotate, annotation, without_annotation
from ..trial import Question, Reply, Score, Trial

SUMMARY = "export answers to be scored by hand, and read back the scores, which then decide"
COLUMNS: Final = ("id", "model", "question", "expected", "reply", "score", "note")
DEMANDED: Final = frozenset({"id", "model", "score"})
_OLD_COLUMN: Final = "mark"  # the scores, in files of earlier versions
DELIMITERS: Final = ",;\t"  # what spreadsheets write, by country

_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]")
_SCORE = re.compile(r"(?:[01](?:[.,][0-9]{0,17})?|[.,][0-9]{1,17})")
_WORD = re.compile(r"[^\W\d_]+")

Key = tuple[str, str]  # of an answer: question id and model, as the file has them


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the file: the answer that it annotates, the score, None where it is empty, and where it stands."""

    key: Key
    score: float | None
    reply: str | None  # None where the file has no such column
    where: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="export|import")
    out = steps.add_parser("export", help="write the answers of a record to a CSV file")
    back = steps.add_parser("import", help="read the annotations of such a file into a new record")
    for step in (out, back):
        step.add_argument("record", metavar="RECORD", type=Path, help="the record of a run")
        step.add_argument("file", metavar="FILE", type=Path, help="the CSV file with the annotations")
        step.add_argument("--force", action="store_true", help="replace the file that is to be written")
    out.add_argument("--all", action="store_true", help="all answers, not only those to open questions")
    back.add_argument("--into", metavar="NEW_RECORD", type=Path, required=True, help="where the new record is written")


def run(options: argparse.Namespace) -> int:
    """The exit code, 0. Raises UsageError."""
    target = options.file if options.step == "export" else options.into
    if target.exists() and not options.force:
        raise UsageError(f"{target}: stands already; name another file, or give --force to replace it")
    tally = record.tally_of(record.load(options.record))
    if options.step == "export":
        print(_export(tally, options))
        return 0
    annotated_trials = with_annotations(tally, read_annotations(options.file))
    about = record.about_of(record.load(options.record))
    if [(one.outcome, one.score) for one in annotated_trials] != [(one.outcome, one.score) for one in tally]:
        about = replace(about, gates=())  # they were decided by the earlier scores
    record.save(options.into, record.build(annotated_trials, about))
    print("\n".join(comparison(annotated_trials)))
    return 0


def _export(tally: Tally, options: argparse.Namespace) -> str:
    answers = [one for one in tally if _answered(one) and (options.all or _is_open(one))]
    if not answers:
        hint = "" if options.all else "; --all exports the others too"
        raise UsageError(f"{options.record}: holds no answer to an open question ({_open_forms()}){hint}")
    try:
        options.file.write_text(
            as_csv(answers), encoding="utf-8-sig", newline=""
        )  # the BOM tells Excel that it is UTF-8
    except OSError as error:
        raise UsageError(f"{options.file}: cannot be written: {error.strerror}; name another file") from error
    annotated_trials = sum(annotation(one) is not None for one in answers)
    return f"{len(answers)} answers written to {one_line(str(options.file))}, {annotated_trials} of them annotated"


def _is_open(trial: Trial) -> bool:
    shape = find_form(trial.question.form)
    return shape is not None and shape.open


def _open_forms() -> str:
    return ", ".join(name for name in FORMS if form(name).open)


def as_csv(answers: Sequence[Trial]) -> str:
    """The text of the file: a header, and a row for each of the answers."""
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for one in answers:
        given = annotation(one)
        asked, reply = one.question, "" if one.reply is None else one.reply.text
        told = (
            *_key(one),
            asked.text,
            _expected(asked),
            reply,
            "" if given is None else f"{Decimal(repr(given)):f}",
            "",
        )
        writer.writerow([safe_cell(cell) for cell in told])
    return file.getvalue()


def safe_cell(text: str) -> str:
    """The text as no spreadsheet takes it for a formula and every file can hold it; `plain_cell` gives it back."""
    whole = _encodable(text)
    return f"'{whole}" if _FORMULA.match(whole) else whole


def plain_cell(cell: str) -> str:
    """The text that `safe_cell` made the cell of, lone surrogates being escapes."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def read_annotations(path: Path) -> list[Entry]:
    """The rows of the file, in its order; the delimiter is that of its header.

    Raises UsageError, with file, line and column, for what is no such file, a score that is none, and a second row
    about one answer.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}; save it as CSV in UTF-8") from error
    seen: dict[Key, str] = {}
    entries = []
    for row, where in _rows(text, path):
        entry = _entry(row, where)
        if entry.key in seen:
            raise UsageError(f"{where}: found {_named(entry.key)} again, expected it once (also {seen[entry.key]})")
        seen[entry.key] = where
        entries.append(entry)
    return entries


def _rows(text: str, path: Path) -> Iterator[tuple[Mapping[str, str], str]]:
    """The rows by the names of their columns, each with its place; rows without anything are passed over."""
    first = text.split("\n", 1)[0]
    lines = csv.reader(StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in lines:
            where, line = f"{path}:{line}", lines.line_num + 1
            if not header:
                header = _header(cells, where)
            elif any(cell.strip() for cell in cells):
                yield dict(zip(header, [*cells, *[""] * len(header)], strict=False)), where
    except csv.Error as error:
        raise UsageError(f"{path}:{line}: not CSV: {error}") from error
    if not header:
        raise UsageError(f"{path}:1: found nothing, expected a header with {', '.join(sorted(DEMANDED))}")


def _header(cells: Sequence[str], where: str) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if "score" not in names:
        names = ["score" if name == _OLD_COLUMN else name for name in names]
    if missing := sorted(DEMANDED - set(names)):
        found = one_line(", ".join(names), 80)
        raise UsageError(f"{where}: found the columns {found}; expected also {', '.join(missing)}")
    return names


def _entry(row: Mapping[str, str], where: str) -> Entry:
    cell = plain_cell(row["score"]).strip()
    if cell and (not _SCORE.fullmatch(cell) or float(cell.replace(",", ".")) > 1):
        raise UsageError(f"{where}: column 'score': found {cell!r:.40}, expected a number from 0 to 1, or nothing")
    given = float(cell.replace(",", ".")) if cell else None
    reply = plain_cell(row["reply"]) if "reply" in row else None
    return Entry((plain_cell(row["id"]), plain_cell(row["model"])), given, reply, where)


def with_annotations(tally: Tally, entries: Sequence[Entry]) -> Tally:
    """Return the trials with the scores of the file as theirs; an empty one restores the score of the main metric.

    Raises UsageError for a row that fits no answer of the tally, or another reply to the same question.
    """
    answers = {_key(one): one for one in tally if _answered(one)}
    found = {entry.key: entry for entry in entries}
    for entry in entries:
        if entry.key not in answers:
            raise UsageError(f"{entry.where}: found {_named(entry.key)}, expected an answer that the record holds")
        if not _same_reply(entry.reply, answers[entry.key].reply):
            raise UsageError(
                f"{entry.where}: column 'reply': found another reply than the record holds for {_named(entry.key)}; "
                "import into the record that was exported, or export again"
            )
    annotated_trials = Tally(tally.descriptions)
    for one in tally:
        own = found.get(_key(one)) if _answered(one) else None
        annotated_trials.add(one if own is None else annotate(one, own.score), tally.attempts(one))
    return annotated_trials


def comparison(tally: Tally) -> list[str]:
    """Return the mean of the annotations beside that of the main score, by group and model.

    Both are over the annotated answers alone. Graded questions are in no total.
    """
    annotated_trials = Tally(tally.descriptions)
    for one in tally:
        if (given := annotation(one)) is not None:
            annotated_trials.add(_beside_metric(one, given))
    word = tally.descriptions.word("group", {one.question.family for one in annotated_trials})
    totals = [annotated_trials.total(model) for model in annotated_trials.models]
    rows = [
        *annotated_trials.rows(),
        *annotated_trials.rows(graded=True),
        *(one for one in totals if METRIC in one.metrics),
    ]
    cells = [
        [row.name, row.model, str(row.n), f"{row.metrics[METRIC]:.3f}", "-" if row.mean is None else f"{row.mean:.3f}"]
        for row in rows
    ]
    told = f"{len(annotated_trials)} of {sum(_answered(one) for one in tally)} answers annotated"
    return [told, *(["", *table([word, "model", "n", METRIC, "score"], cells, "llrrr")] if cells else [])]


def _answered(trial: Trial) -> bool:
    return trial.reply is not None and trial.score is not None


def _beside_metric(trial: Trial, score: float) -> Trial:
    """Return the trial with the score of its main metric, and the annotation beside it."""
    bare = without_annotation(trial)
    assert isinstance(bare.score, Score)
    return replace(bare, score=replace(bare.score, metrics={**bare.score.metrics, METRIC: score}))


def _key(trial: Trial) -> Key:
    return _encodable(trial.question.id), _encodable(trial.model)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _named(key: Key) -> str:
    return f"id {one_line(key[0], 80)!r} of model {one_line(key[1], 80)!r}"


def _expected(question: Question) -> str:
    """The right answer as its form writes it; as JSON where the form is not known here."""
    with suppress(UnknownNameError):
        return form(question.form).write(question.reference, question.names)
    return json.dumps(question.reference, ensure_ascii=False)


def _same_reply(told: str | None, reply: Reply | None) -> bool:
    """Whether both hold the same words; blanks, numbers and case may change on the way through a spreadsheet."""
    if told is None or reply is None:
        return True
    return _WORD.findall(told.casefold()) == _WORD.findall(_encodable(reply.text).casefold())
