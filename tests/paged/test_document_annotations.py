"""Annotations of documents by people, read from CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.document_quality.document_annotations import (
    CRITERIA,
    AnnotatedDocuments,
    CriterionAgreement,
    DocumentAnnotation,
    criterion_agreements,
    read_document_annotations,
)

HEADER = "document,rater,readability,accuracy,clarity,simplicity,usability\n"


def read(folder: Path, content: str | bytes) -> AnnotatedDocuments:
    path = folder / "annotations.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_document_annotations(path)


def problem(folder: Path, rows: str) -> str:
    """Return the only problem of a file with a good row and others."""
    documents = read(folder, f"{HEADER}good,Ann,1,2,3,4,5\n{rows}")
    assert documents.annotations[0] == DocumentAnnotation(
        "good", "Ann", dict(zip(CRITERIA, (1, 2, 3, 4, 5), strict=True))
    )
    (line,) = documents.problems
    return line


def test_read_document_annotations_rows_hold_ratings_by_criterion(tmp_path: Path) -> None:
    documents = read(tmp_path, f'{HEADER}d1,Ann,5,4,3,2,1\n"d, 2",Ben,1,,,,\n\nd1,Ben,,,,,\n')
    assert documents == AnnotatedDocuments(
        (
            DocumentAnnotation("d1", "Ann", dict(zip(CRITERIA, (5, 4, 3, 2, 1), strict=True))),
            DocumentAnnotation("d, 2", "Ben", {"readability": 1}),
        )
    )


@pytest.mark.parametrize(
    "content",
    [
        "document;rater;clarity\r\nd1;Ann;4\r\n",
        "document\trater\tclarity\nd1\tAnn\t4\n",
        "\ufeffdocument,rater,clarity\nd1,Ann,4\n",
        'remark,Clarity , RATER,Document\n"two\nlines",4.0,Ann,d1\n',
        "document;rater;clarity\nd1;Ann;4,0\n",
    ],
)
def test_read_document_annotations_spreadsheet_habits_are_read(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == AnnotatedDocuments((DocumentAnnotation("d1", "Ann", {"clarity": 4}),))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("d,Ben,6,,,,\n", "annotations.csv, line 3: readability: found '6', expected a whole number from 1 to 5"),
        ("d,Ben,,2.5,,,\n", "line 3: accuracy: found '2.5', expected"),
        ("d,Ben,,,nan,,\n", "line 3: clarity: found 'nan', expected"),
        (f"d,Ben,{'9' * 90_000},,,,\n", f"line 3: readability: found '{'9' * 77}...', expected"),
        (",Ben,1,,,,\n", "line 3: no document; the row is left out"),
        ("d,\x00,1,,,,\n", "line 3: no rater; the row is left out"),
        ("good,Ann,1,1,1,1,1\n", "line 3: Ann has rated good before; the row is left out"),
        ('"d,Ben,1,1,1,1,1\n', "broken CSV (unexpected end of data); the rest is left out"),
        (f"{'d' * 200_000},Ben,1\n", "broken CSV (field larger than field limit (131072)); the rest is left out"),
    ],
)
def test_read_document_annotations_broken_row_is_told(tmp_path: Path, rows: str, expected: str) -> None:
    assert expected in problem(tmp_path, rows)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the column document is missing; found no columns"),
        ("document,clarity\nd,1\n", "the column rater is missing; found document, clarity; expected a first row with"),
        ("document,rater\nd,Ann\n", "a column of ratings is missing; found document, rater"),
        ("document,rater,clarity,clarity\n", "the column clarity stands there 2 times; expected one"),
        (f"{HEADER}", "no row with a rating; expected a row for each document and rater"),
        (f"{HEADER}d,Ann,7\n", "no row with a rating; annotations.csv, line 2: readability: found '7'"),
        (b"document,rater,clarity\nd,\xff,1\n", "byte 26 is not UTF-8; save the file as CSV in UTF-8"),
    ],
)
def test_read_document_annotations_unusable_file_is_refused(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, content)
    assert expected in str(raised.value)


def test_read_document_annotations_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.csv: No such file or directory; expected a CSV file"):
        read_document_annotations(tmp_path / "none.csv")


def test_criterion_agreements_each_criterion_by_itself(tmp_path: Path) -> None:
    """Clarity: rows (1, 2) and (4, 5), as worked by hand; d3 has one rating. Usability: raters agree."""
    rows = "d1,Ann,,,1,,2\nd1,Ben,,,2,,2\nd2,Ann,,,4,,5\nd2,Ben,,,5,,5\nd3,Ann,,,3,,\n"
    agreements = {entry.criterion: entry for entry in criterion_agreements(read(tmp_path, HEADER + rows).annotations)}
    assert tuple(agreements) == CRITERIA
    assert agreements["clarity"] == CriterionAgreement("clarity", 3.0, 17 / 19, documents=2, raters=2, left_out=1)
    assert agreements["usability"] == CriterionAgreement("usability", 3.5, 1.0, documents=2, raters=2, left_out=0)
    assert agreements["accuracy"] == CriterionAgreement("accuracy", None, None, documents=0, raters=0, left_out=0)


def test_criterion_agreements_most_frequent_number_of_ratings_is_compared() -> None:
    given = {"d1": (1, 2), "d2": (4, 5), "d3": (3, 3, 3)}
    annotations = [
        DocumentAnnotation(document, f"rater {number}", {"clarity": value})
        for document, values in given.items()
        for number, value in enumerate(values)
    ]
    agreement = criterion_agreements(annotations)[CRITERIA.index("clarity")]
    assert (agreement.raters, agreement.documents, agreement.left_out, agreement.correlation) == (2, 2, 1, 17 / 19)


def test_read_document_annotations_systems_keep_documents_apart(tmp_path: Path) -> None:
    documents = read(tmp_path, "document,rater,system,clarity\nd1,Ann,ours,4\nd1,Ann,theirs,2\nd1,Ann,ours,1\n")
    assert [(entry.system, entry.ratings["clarity"]) for entry in documents.annotations] == [("ours", 4), ("theirs", 2)]
    assert documents.problems == ("annotations.csv, line 4: Ann has rated d1 before; the row is left out",)


def test_criterion_agreements_documents_of_two_systems_are_two() -> None:
    """Two documents with ratings 1, 2 and 4, 5: 8.5 / 9.5. As one document of four ratings it would be undefined."""
    ratings = {("ours", "Ann"): 1, ("ours", "Ben"): 2, ("theirs", "Ann"): 4, ("theirs", "Ben"): 5}
    annotations = [
        DocumentAnnotation("d", rater, {"clarity": value}, system) for (system, rater), value in ratings.items()
    ]
    assert criterion_agreements(annotations)[2] == CriterionAgreement("clarity", 3.0, 17 / 19, 2, 2, 0)
