"""Annotations of documents by people, on the five criteria of Du et al. (2024, section 3.3): a CSV file, read.

A row is what one rater thinks of one document: the columns document and rater, and one for each criterion with a whole
number from 1 to 5, or nothing. A column system says who wrote the document, so that a document of the same name may be
rated for each system. Columns of other names are passed over. Commas, semicolons or tabs stand between cells.

The intraclass correlation of ratings: ICC(1,1) of Shrout and Fleiss (1979), a one-way random model.

Du et al. (2024, appendix B) state it as (MSB - MSW) / (MSB + (k - 1) MSW): MSB is the mean square between documents,
MSW that within them. They call k the number of groups; in the formula of Shrout and Fleiss it is the number of ratings
of each document.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, get_args

from ....benchmarks.data_sets.data_files import LARGEST_FILE
from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt
from ....errors import UsageError

Criterion = Literal["readability", "accuracy", "clarity", "simplicity", "usability"]
CRITERIA: Final[tuple[Criterion, ...]] = get_args(Criterion)
LEAST: Final = 1
MOST: Final = 5
MOST_ROWS: Final = 100_000
_NAMES: Final = ("document", "rater")
_SYSTEM: Final = "system"
_LONGEST_NAME: Final = 200
_RATINGS: Final = {f"{value}{rest}": value for value in range(LEAST, MOST + 1) for rest in ("", ".0", ",0")}


def intraclass_correlation(rows: Sequence[Sequence[int | float | Fraction]]) -> float | None:
    """Return the intraclass correlation ICC(1,1) of ratings, computed exactly and rounded once.

    Args:
        rows: The ratings of each document, the same number for each; who gave which does not matter.

    Returns:
        From -1 / (k - 1) to 1.0. None if it is undefined: for fewer than two documents or two ratings of each, or if
        all ratings are the same.

    Raises:
        ValueError: if documents have different numbers of ratings, or a rating is not a finite number.
    """
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise ValueError(f"documents with {' and '.join(map(str, sorted(sizes)))} ratings; expected one number for all")
    n, k = len(rows), next(iter(sizes), 0)
    if n < 2 or k < 2:
        return None
    try:
        ratings = [[Fraction(rating) for rating in row] for row in rows]
    except (OverflowError, ValueError):
        raise ValueError("found a rating that is not a finite number; expected finite ratings") from None
    means = [sum(row, Fraction()) / k for row in ratings]
    grand = sum(means, Fraction()) / n
    between = k * sum(((mean - grand) ** 2 for mean in means), Fraction()) / (n - 1)
    within = sum(
        ((rating - mean) ** 2 for row, mean in zip(ratings, means, strict=True) for rating in row), Fraction()
    ) / (n * (k - 1))
    total = between + (k - 1) * within
    return float((between - within) / total) if total else None


@dataclass(frozen=True, slots=True)
class DocumentAnnotation:
    """What one person states about one document.

    Args:
        document: The id of the document.
        rater: Who states it.
        ratings: Whole numbers from 1 to 5, by criterion; criteria that were not rated are absent.
        system: Who or what wrote the document, such as a variation of the pipeline; empty if that is not stated.
    """

    document: str
    rater: str
    ratings: Mapping[Criterion, int]
    system: str = ""


@dataclass(frozen=True, slots=True)
class AnnotatedDocuments:
    """The annotations of a file, and a line for the user on each part of it that is not used."""

    annotations: tuple[DocumentAnnotation, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """How good documents are by one criterion, and how far raters agree.

    Args:
        criterion: The criterion.
        mean: The mean of all ratings; None if there are none.
        correlation: The intraclass correlation over the compared documents; None if it is undefined.
        documents: The number of compared documents: those with `raters` ratings.
        raters: The number of ratings that most documents have.
        left_out: The number of documents with another number of ratings, but with some.
    """

    criterion: Criterion
    mean: float | None
    correlation: float | None
    documents: int
    raters: int
    left_out: int


def criterion_agreements(annotations: Iterable[DocumentAnnotation]) -> tuple[CriterionAgreement, ...]:
    """Return how good documents are by each criterion, and how far raters agree.

    The intraclass correlation needs the same number of ratings for each document. The number that most documents have
    is taken, the larger one if two are as frequent; the other documents are left out of it. Documents of the same name
    are as many as there are systems that wrote them.
    """
    all_annotations = list(annotations)
    return tuple(_agreement(criterion, all_annotations) for criterion in CRITERIA)


def _agreement(criterion: Criterion, annotations: Sequence[DocumentAnnotation]) -> CriterionAgreement:
    rows: dict[tuple[str, str], list[int]] = {}
    for annotation in annotations:
        if criterion in annotation.ratings:
            document = (annotation.system, annotation.document)
            rows.setdefault(document, []).append(annotation.ratings[criterion])
    counts = Counter(map(len, rows.values()))
    raters = max(counts, key=lambda size: (counts[size], size), default=0)
    compared = [row for row in rows.values() if len(row) == raters]
    values = [value for row in rows.values() for value in row]
    mean = float(Fraction(sum(values), len(values))) if values else None
    return CriterionAgreement(
        criterion, mean, intraclass_correlation(compared), len(compared), raters, len(rows) - len(compared)
    )


def read_document_annotations(path: Path) -> AnnotatedDocuments:
    """Return the annotations of a CSV file; what cannot be used is left out and noted.

    Raises:
        UsageError: if the file cannot be read, is too large or not UTF-8, lacks a column, or no row can be used.
    """
    problems = DataProblems()
    rows = _rows(_text_of(path), path, problems)
    columns = _columns(next(rows, (1, []))[1], path)
    by_rating: dict[tuple[str, str, str], DocumentAnnotation] = {}
    for line, row in rows:
        place = f"{excerpt(path.name)}, line {line}"
        annotation = _annotation(row, columns, place, problems)
        if annotation is None:
            continue
        key = (annotation.system, annotation.document, annotation.rater)
        if key in by_rating:
            problems.add(
                "rows that repeat a rater and a document",
                f"{place}: {excerpt(annotation.rater)} has rated {excerpt(annotation.document)} before; the row is "
                "left out",
            )
        else:
            by_rating[key] = annotation
    if not by_rating:
        first = "".join(f"; {line}" for line in problems.lines[:1])
        raise UsageError(f"{path}: no row with a rating{first}; expected a row for each document and rater")
    return AnnotatedDocuments(tuple(by_rating.values()), tuple(problems.lines))


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: {reason}; expected a CSV file with annotations of documents") from None
    if len(content) > LARGEST_FILE:
        raise UsageError(f"{path}: more than {LARGEST_FILE} bytes; expected a CSV file with annotations of documents")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start + 1} is not UTF-8; save the file as CSV in UTF-8") from None


def _rows(text: str, path: Path, problems: DataProblems) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty with the numbers of their last lines, as far as the file is CSV."""
    first = next((line for line in text[: _LONGEST_NAME * 100].splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    where = excerpt(path.name)
    try:
        for number, row in enumerate(reader):
            if number > MOST_ROWS:
                problems.add("files with too many rows", f"{where}: only its first {MOST_ROWS} rows are read")
                return
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        problems.add(
            "broken rows",
            f"{where}, line {reader.line_num}: broken CSV ({excerpt(str(error))}); the rest is left out",
        )


def _columns(header: Sequence[str], path: Path) -> dict[str, int]:
    """Return the places of the known columns. Raises UsageError if one is missing or stands there twice."""
    names = [clean_text(cell[:_LONGEST_NAME]).casefold() for cell in header]
    expected = (*_NAMES, _SYSTEM, *CRITERIA)
    missing = [name for name in _NAMES if name not in names]
    if missing or not any(name in names for name in CRITERIA):
        lacking = f"the column {missing[0]}" if missing else "a column of ratings"
        raise UsageError(
            f"{path}: {lacking} is missing; found {excerpt(', '.join(names)) or 'no columns'}; expected a first row "
            f"with {', '.join((*_NAMES, *CRITERIA))} (and {_SYSTEM}, if several wrote the documents)"
        )
    if twice := [name for name in expected if names.count(name) > 1]:
        raise UsageError(f"{path}: the column {twice[0]} stands there {names.count(twice[0])} times; expected one")
    return {name: names.index(name) for name in expected if name in names}


def _annotation(
    row: Sequence[str], columns: Mapping[str, int], place: str, problems: DataProblems
) -> DocumentAnnotation | None:
    """Return what a row states; None if it states nothing that can be used."""
    cells = {name: row[at] if at < len(row) else "" for name, at in columns.items()}
    document, rater, system = (
        clean_text(cells.get(name, "")[: 4 * _LONGEST_NAME])[:_LONGEST_NAME] for name in (*_NAMES, _SYSTEM)
    )
    if not document or not rater:
        problems.add("rows without names", f"{place}: no {'rater' if document else 'document'}; the row is left out")
        return None
    ratings: dict[Criterion, int] = {}
    for criterion in CRITERIA:
        cell = cells.get(criterion, "").strip()
        if cell in _RATINGS:
            ratings[criterion] = _RATINGS[cell]
        elif cell:
            problems.add(
                "ratings that cannot be used",
                f"{place}: {criterion}: found {excerpt(cell)!r}, expected a whole number from {LEAST} to {MOST}; the "
                "rating is left out",
            )
    return DocumentAnnotation(document, rater, ratings, system) if ratings else None
