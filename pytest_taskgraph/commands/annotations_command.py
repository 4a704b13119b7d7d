"""Commands `annotations export` and `annotations import`: scores entered by a person, which replace the main metric.

The file is CSV with a header, one row for each answer: id, model, question, expected, reply, score, note. A person
fills in `score`, 0 to 1, or leaves it empty; `note` is for people and stays in the file. Replies are untrusted: a cell
that a spreadsheet takes for a formula is written after an apostrophe, which is removed when the file is read.
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
from ..scoring.grade import ANNOTATION_METRIC, annotate, annotation, without_annotation
from ..trial import Question, Reply, Score, Trial

SUMMARY = "export answers to be scored by hand, and read back the scores, which then decide"
COLUMNS: Final = ("id", "model", "question", "expected", "reply", "score", "note")
REQUIRED_COLUMNS: Final = frozenset({"id", "model", "score"})
DELIMITERS: Final = ",;\t"  # what spreadsheets write, by country

_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]")
_SCORE = re.compile(r"(?:[01](?:[.,][0-9]{0,17})?|[.,][0-9]{1,17})")
_WORD = re.compile(r"[^\W\d_]+")

Key = tuple[str, str]  # of an answer: question id and model, as the file has them


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """A row of the file: the annotated answer, its score (None if empty), its reply, and its place in the file."""

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
        step.add_argument("--force", action="store_true", help="replace the file to write if it exists")
    out.add_argument("--all", action="store_true", help="all answers, not only those to open questions")
    back.add_argument("--into", metavar="NEW_RECORD", type=Path, required=True, help="where the new record is written")


def run(options: argparse.Namespace) -> int:
    """Export the answers or import the annotations, and print the result.

    Returns:
        0.

    Raises:
        UsageError: if a file cannot be read or written, or the annotations do not fit the record.
    """
    target = options.file if options.step == "export" else options.into
    if target.exists() and not options.force:
        raise UsageError(f"{target}: exists already; name another file, or give --force to replace it")
    tally = record.tally_of(record.load(options.record))
    if options.step == "export":
        print(_export_answers(tally, options))
        return 0
    annotated_trials = with_annotations(tally, read_annotations(options.file))
    about = record.about_of(record.load(options.record))
    if [(trial.outcome, trial.score) for trial in annotated_trials] != [
        (trial.outcome, trial.score) for trial in tally
    ]:
        about = replace(about, gates=())  # the earlier scores decided them
    record.save(options.into, record.build(annotated_trials, about))
    print("\n".join(comparison_table(annotated_trials)))
    return 0


def _export_answers(tally: Tally, options: argparse.Namespace) -> str:
    answers = [trial for trial in tally if _is_answered(trial) and (options.all or _is_open(trial))]
    if not answers:
        hint = "" if options.all else "; --all exports the others too"
        raise UsageError(f"{options.record}: holds no answer to an open question ({_open_forms()}){hint}")
    try:
        # Excel needs the BOM to detect UTF-8.
        options.file.write_text(annotations_csv(answers), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise UsageError(f"{options.file}: cannot be written: {error.strerror}; name another file") from error
    annotated_count = sum(annotation(trial) is not None for trial in answers)
    return f"{len(answers)} answers written to {one_line(str(options.file))}, {annotated_count} of them annotated"


def _is_open(trial: Trial) -> bool:
    answer_form = find_form(trial.question.form)
    return answer_form is not None and answer_form.open


def _open_forms() -> str:
    return ", ".join(name for name in FORMS if form(name).open)


def annotations_csv(answers: Sequence[Trial]) -> str:
    """Return the text of the file: a header, and a row for each of the answers."""
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for trial in answers:
        given = annotation(trial)
        question, reply = trial.question, "" if trial.reply is None else trial.reply.text
        cells = (
            *_key(trial),
            question.text,
            _expected_text(question),
            reply,
            "" if given is None else f"{Decimal(repr(given)):f}",
            "",
        )
        writer.writerow([safe_cell(cell) for cell in cells])
    return file.getvalue()


def safe_cell(text: str) -> str:
    """Return the text such that no spreadsheet takes it for a formula and every file can hold it; see `plain_cell`."""
    whole = _encodable(text)
    return f"'{whole}" if _FORMULA.match(whole) else whole


def plain_cell(cell: str) -> str:
    """Return the text from which `safe_cell` made the cell; lone surrogates remain escapes."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def read_annotations(path: Path) -> list[AnnotationRow]:
    """Return the rows of the file, in its order; the delimiter is that of its header.

    Raises:
        UsageError: with file, line and column, if the file is no such file, a score is invalid, or two rows annotate
            one answer.
    """
    if path.is_char_device():
        raise UsageError(f"{path}: is a device, which may have no end; name a CSV file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}; save it as CSV in UTF-8") from error
    seen: dict[Key, str] = {}
    file_rows = []
    for row, where in _named_rows(text, path):
        parsed = _annotation_row(row, where)
        if parsed.key in seen:
            raise UsageError(
                f"{where}: found {_describe_key(parsed.key)} again, expected it once (also {seen[parsed.key]})"
            )
        seen[parsed.key] = where
        file_rows.append(parsed)
    return file_rows


def _named_rows(text: str, path: Path) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yield the rows by the names of their columns, each with its place; empty rows are skipped."""
    first = text.split("\n", 1)[0]
    lines = csv.reader(StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in lines:
            where, line = f"{path}:{line}", lines.line_num + 1
            if not header:
                header = _column_names(cells, where)
            elif any(cell.strip() for cell in cells):
                yield dict(zip(header, [*cells, *[""] * len(header)], strict=False)), where
    except csv.Error as error:
        raise UsageError(f"{path}:{line}: not CSV: {error}") from error
    if not header:
        raise UsageError(f"{path}:1: found nothing, expected a header with {', '.join(sorted(REQUIRED_COLUMNS))}")


def _column_names(cells: Sequence[str], where: str) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if missing := sorted(REQUIRED_COLUMNS - set(names)):
        found_names = one_line(", ".join(names), 80)
        raise UsageError(f"{where}: found the columns {found_names}; expected also {', '.join(missing)}")
    return names


def _annotation_row(row: Mapping[str, str], where: str) -> AnnotationRow:
    cell = plain_cell(row["score"]).strip()
    if cell and (not _SCORE.fullmatch(cell) or float(cell.replace(",", ".")) > 1):
        raise UsageError(f"{where}: column 'score': found {cell!r:.40}, expected a number from 0 to 1, or nothing")
    given = float(cell.replace(",", ".")) if cell else None
    reply = plain_cell(row["reply"]) if "reply" in row else None
    return AnnotationRow((plain_cell(row["id"]), plain_cell(row["model"])), given, reply, where)


def with_annotations(tally: Tally, entries: Sequence[AnnotationRow]) -> Tally:
    """Return the trials with the scores of the file; an empty score restores that of the main metric.

    Raises:
        UsageError: if a row fits no answer of the tally, or another reply to the same question.
    """
    answers = {_key(trial): trial for trial in tally if _is_answered(trial)}
    rows_by_key = {row.key: row for row in entries}
    for row in entries:
        if row.key not in answers:
            raise UsageError(f"{row.where}: found {_describe_key(row.key)}, expected an answer that the record holds")
        if not _same_reply(row.reply, answers[row.key].reply):
            raise UsageError(
                f"{row.where}: column 'reply': found another reply than the record holds for {_describe_key(row.key)}; "
                "import into the record that was exported, or export again"
            )
    annotated_trials = Tally(tally.descriptions)
    for trial in tally:
        own = rows_by_key.get(_key(trial)) if _is_answered(trial) else None
        annotated_trials.add(trial if own is None else annotate(trial, own.score), tally.attempts(trial))
    return annotated_trials


def comparison_table(tally: Tally) -> list[str]:
    """Return the mean of the annotations beside that of the main score, by group and model.

    Both are over the annotated answers alone. Graded questions are not part of totals.
    """
    annotated_trials = Tally(tally.descriptions)
    for trial in tally:
        if (given := annotation(trial)) is not None:
            annotated_trials.add(_with_annotation_as_metric(trial, given))
    word = tally.descriptions.word("group", {trial.question.family for trial in annotated_trials})
    totals = [annotated_trials.total(model) for model in annotated_trials.models]
    rows = [
        *annotated_trials.rows(),
        *annotated_trials.rows(graded=True),
        *(total for total in totals if ANNOTATION_METRIC in total.metrics),
    ]
    cells = [
        [
            row.name,
            row.model,
            str(row.n),
            f"{row.metrics[ANNOTATION_METRIC]:.3f}",
            "-" if row.mean is None else f"{row.mean:.3f}",
        ]
        for row in rows
    ]
    counts = f"{len(annotated_trials)} of {sum(_is_answered(trial) for trial in tally)} answers annotated"
    return [counts, *(["", *table([word, "model", "n", ANNOTATION_METRIC, "score"], cells, "llrrr")] if cells else [])]


def _is_answered(trial: Trial) -> bool:
    return trial.reply is not None and trial.score is not None


def _with_annotation_as_metric(trial: Trial, score: float) -> Trial:
    """Return the trial with the score of its main metric, and the annotation beside it."""
    bare = without_annotation(trial)
    assert isinstance(bare.score, Score)
    return replace(bare, score=replace(bare.score, metrics={**bare.score.metrics, ANNOTATION_METRIC: score}))


def _key(trial: Trial) -> Key:
    return _encodable(trial.question.id), _encodable(trial.model)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _describe_key(key: Key) -> str:
    return f"id {one_line(key[0], 80)!r} of model {one_line(key[1], 80)!r}"


def _expected_text(question: Question) -> str:
    """Return the right answer as its form writes it; as JSON if the form is not registered."""
    with suppress(UnknownNameError):
        return form(question.form).write(question.reference, question.names)
    return json.dumps(question.reference, ensure_ascii=False)


def _same_reply(exported: str | None, reply: Reply | None) -> bool:
    """Return True if both hold the same words; a spreadsheet may change blanks, numbers and case."""
    if exported is None or reply is None:
        return True
    return _WORD.findall(exported.casefold()) == _WORD.findall(_encodable(reply.text).casefold())
