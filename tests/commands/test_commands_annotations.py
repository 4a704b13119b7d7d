from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from described_runs import about_run
from hypothesis import given
from hypothesis import strategies as st
from posix_tests import posix_only
from record_schema_file import record_validator

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.commands.annotations_command import COLUMNS, annotations_csv, plain_cell, safe_cell
from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Failure, Json, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought")
HOSTILE = '=HYPERLINK("http://x")\r\nand, "more"\n\n-2'

Rows = list[dict[str, str]]


def answer(
    id_: str, reply: str, form: str = "text", score: float = 0.5, model: str = "m", reference: Json = "Mix first"
) -> Trial:
    question = Question(
        id_, "understanding", f"why_{id_[0]}", "functionality", "Why?", "Why?", form, reference, "rouge1", ["rouge2"]
    )
    return Trial(question, model, "right", Reply(reply), Score(score, {"rouge2": None}, given=reply))


ANSWERS = [
    answer("a1", "Mix it", score=0.25),
    answer("a2", HOSTILE, score=0.75),
    answer("b1", "-never", score=1.0),
    answer("c1", "yes", form="yes-no", reference="yes"),
]
SILENT = replace(answer("d1", ""), outcome="error", reply=None, score=None, failure=Failure("timeout", "none"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    record.save(path, record.build([*ANSWERS, SILENT], ABOUT))
    return path


def rows_of(path: Path) -> Rows:
    return list(csv.DictReader(StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def write(path: Path, rows: Rows, delimiter: str = ",") -> None:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def exported(source: Path, *options: str) -> Path:
    path = source.with_name("scores.csv")
    assert main(["annotations", "export", str(source), str(path), *options]) == 0
    return path


def annotated(source: Path, change: Callable[[Rows], Rows], delimiter: str = ",") -> Path:
    path = exported(source)
    write(path, change(rows_of(path)), delimiter)
    return path


def scores(*given: str) -> Callable[[Rows], Rows]:
    return lambda rows: [{**row, "score": score} for row, score in zip(rows, given, strict=True)]


def manual(path: Path) -> dict[str, float | None]:
    return {
        trial.question.id: trial.score.metrics["manual"]
        for trial in record.trials(record.load(path))
        if trial.score is not None and "manual" in trial.score.metrics
    }


def brought(source: Path, file: Path, *options: str) -> Path:
    new = source.with_name("new.json")
    assert main(["annotations", "import", str(source), str(file), "--into", str(new), *options]) == 0
    return new


def test_export_open_questions_alone_unless_all(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["id"] for row in rows_of(exported(source))] == ["a1", "a2", "b1"]
    assert [row["id"] for row in rows_of(exported(source, "--all", "--force"))] == ["a1", "a2", "b1", "c1"]
    assert "4 answers written to" in capsys.readouterr().out


def test_export_row_holds_question_expected_and_reply(source: Path) -> None:
    cells = ["a1", "m", "Why?", "Mix first", "Mix it", "", ""]
    assert rows_of(exported(source))[0] == dict(zip(COLUMNS, cells, strict=True))


def test_export_cells_are_no_formula_and_keep_line_breaks(source: Path) -> None:
    cells = [cell for row in rows_of(exported(source)) for cell in row.values()]
    assert [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@")] == []
    assert cells.count("'" + HOSTILE) == 1


@given(st.text(st.sampled_from("=+-@＝' \t\n\rab\x00") | st.characters(exclude_categories=["Cs"])))
def test_safe_cell_is_no_formula_and_reads_back(text: str) -> None:
    assert safe_cell(text).lstrip()[:1] not in tuple("=+-@＝")
    assert plain_cell(safe_cell(text)) == text


@given(st.lists(st.text(st.sampled_from("=-',;\"\t\r\n a"))))
def test_export_replies_read_back(replies: list[str]) -> None:
    text = annotations_csv([answer(f"a{at}", reply) for at, reply in enumerate(replies)])
    written_replies = [plain_cell(row["reply"]) for row in csv.DictReader(StringIO(text, newline=""))]
    assert written_replies == replies


def test_import_scores_decide_and_other_fields_stay(source: Path) -> None:
    before = source.read_bytes()
    new = brought(source, annotated(source, scores("1", "", "0.5")))
    assert manual(new) == {"a1": 1.0, "b1": 0.5}
    assert source.read_bytes() == before
    old_record, new_record = record.load(source), record.load(new)
    record_validator().validate(new_record)
    assert decided(new_record) == {
        "a1": ("right", 1.0),
        "a2": ("right", 0.75),
        "b1": ("wrong", 0.5),
        "c1": ("right", 0.5),
    }
    for trial, was in zip(new_record["trials"], old_record["trials"], strict=True):
        if trial["score"] is not None and "manual" in trial["score"]["metrics"]:
            assert trial["score"]["metrics"].pop("rouge1") == was["score"]["value"]
            trial["score"]["metrics"].pop("manual")
            trial["score"]["value"], trial["outcome"] = was["score"]["value"], was["outcome"]
    made_anew = {"totals": None, "tables": None}
    assert new_record | made_anew == old_record | made_anew
    assert new_record["totals"] != old_record["totals"]


def decided(data: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    return {
        trial["question"]["id"]: (trial["outcome"], trial["score"]["value"])
        for trial in data["trials"]
        if trial["score"] is not None
    }


def test_import_empty_score_restores_metric(source: Path) -> None:
    new = brought(source, annotated(source, scores("1", "0", "0")))
    rows = rows_of(source.with_name("scores.csv"))
    back = source.with_name("back.csv")
    write(back, [{**row, "score": ""} for row in rows])
    restored = source.with_name("restored.json")
    assert main(["annotations", "import", str(new), str(back), "--into", str(restored)]) == 0
    assert {id_: score for id_, (_, score) in decided(record.load(restored)).items()} == {
        "a1": 0.25, "a2": 0.75, "b1": 1.0, "c1": 0.5
    }  # fmt: skip
    assert manual(restored) == {}


def test_import_graded_question_keeps_outcome(tmp_path: Path) -> None:
    graded = [
        replace(trial, question=replace(trial.question, pass_threshold=0.0), outcome="graded") for trial in ANSWERS[:2]
    ]
    path = tmp_path / "graded.json"
    record.save(path, record.build(graded, ABOUT))
    new = brought(path, annotated(path, scores("1", "0.5")))
    assert decided(record.load(new)) == {"a1": ("graded", 1.0), "a2": ("graded", 0.5)}
    assert record.load(new)["graded"][0]["mean"] == 0.75


def test_import_unparseable_answer_becomes_right(tmp_path: Path) -> None:
    unread = replace(ANSWERS[0], outcome="unparseable", score=Score(0.0, status="unparseable", remark="what is it"))
    path = tmp_path / "unread.json"
    record.save(path, record.build([unread], ABOUT))
    new = brought(path, annotated(path, scores("1")))
    assert decided(record.load(new)) == {"a1": ("right", 1.0)}


def test_rescore_keeps_annotations(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = brought(source, annotated(source, scores("1", "0", "")))
    again = source.with_name("again.json")
    assert main(["rescore", str(new), "--out", str(again)]) == 0
    decisions = decided(record.load(again))
    assert (decisions["a1"], decisions["a2"]) == (("right", 1.0), ("wrong", 0.0))
    assert manual(again) == {"a1": 1.0, "a2": 0.0}
    assert record.load(again)["trials"][0]["score"]["metrics"]["rouge1"] == pytest.approx(0.5)  # recorded with 0.25


def test_import_prints_mean_beside_main_score(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    brought(source, annotated(source, scores("1", "0", "")))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "2 of 4 answers annotated"
    assert [line.split() for line in lines[3:]] == [
        ["pattern", "model", "n", "manual", "score"],
        ["why_a", "m", "2", "0.500", "0.500"],
        ["total", "m", "2", "0.500", "0.500"],
    ]


def test_export_annotations_again_and_empty_one_is_removed(source: Path) -> None:
    new = brought(source, annotated(source, scores("0.00001", "1", "")))
    again = new.with_name("again.csv")
    assert main(["annotations", "export", str(new), str(again)]) == 0
    rows = rows_of(again)
    assert [row["score"] for row in rows] == ["0.00001", "1.0", ""]
    write(again, [{**rows[1], "score": ""}])
    last = new.with_name("last.json")
    assert main(["annotations", "import", str(new), str(again), "--into", str(last)]) == 0
    assert manual(last) == {"a1": 0.00001}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_import_reads_spreadsheets_of_other_locales(delimiter: str, source: Path) -> None:
    def saved(rows: Rows) -> Rows:
        done = [
            {"Note": "well", **row, "reply": row["reply"].replace("\r\n", "\n")}
            for row in scores("0,5", ".5", "1.")(rows)
        ]
        return [*done, dict.fromkeys(done[0], "")]

    assert manual(brought(source, annotated(source, saved, delimiter))) == {"a1": 0.5, "a2": 0.5, "b1": 1.0}


def test_import_formula_like_ids_find_their_answer(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    odd = [answer("=a", "x", model="-m"), answer("'=a", "x", model="\ud800"), answer(" +", "\ud800")]
    record.save(path, record.build(odd, ABOUT))
    new = brought(path, annotated(path, lambda rows: [{**row, "score": "1"} for row in rows]))
    assert manual(new) == {"=a": 1.0, "'=a": 1.0, " +": 1.0}


def without(name: str) -> Callable[[Rows], Rows]:
    return lambda rows: [{key: cell for key, cell in row.items() if key != name} for row in rows]


def first(**cells: str) -> Callable[[Rows], Rows]:
    return lambda rows: [{**rows[0], **cells}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (scores("", "", "2"), "scores.csv:7: column 'score': found '2', expected a number from 0 to 1, or nothing"),
        (first(score="1.01"), "scores.csv:2: column 'score': found '1.01'"),
        (first(score="good"), "scores.csv:2: column 'score': found 'good'"),
        (first(score="nan"), "scores.csv:2: column 'score': found 'nan'"),
        (first(score="-1"), "scores.csv:2: column 'score': found '-1'"),
        (first(id="z9"), "scores.csv:2: found id 'z9' of model 'm', expected an answer that the record holds"),
        (first(model="n"), "scores.csv:2: found id 'a1' of model 'n', expected an answer"),
        (first(id="d1"), "scores.csv:2: found id 'd1' of model 'm', expected an answer"),
        (first(reply="Bake it"), "scores.csv:2: column 'reply': found another reply than the record holds for id 'a1'"),
        (lambda rows: [rows[0], rows[0]], "scores.csv:3: found id 'a1' of model 'm' again"),
        (without("score"), "scores.csv:1: found the columns id, model, question, expected, reply, note; expected also"),
    ],
)  # fmt: skip
def test_import_wrong_file_names_place(
    change: Callable[[Rows], Rows], expected: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = source.with_name("new.json")
    file = annotated(source, change)
    assert main(["annotations", "import", str(source), str(file), "--into", str(new)]) == 4
    assert expected in capsys.readouterr().err
    assert not new.exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "expected a header with id, model, score"),
        (b'id,model,score\n"a1', ":2: not CSV"),
        (b"id,model,score\na1,m," + b"9" * 200_000, ":2: not CSV: field larger than"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (None, "cannot be read"),
    ],
)
def test_import_file_without_csv_is_usage_error(
    content: bytes | None, expected: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = source.with_name("broken.csv")
    if content is not None:
        file.write_bytes(content)
    assert main(["annotations", "import", str(source), str(file), "--into", str(source.with_name("new.json"))]) == 4
    error = capsys.readouterr().err
    assert expected in error
    assert "Traceback" not in error


@posix_only
def test_import_device_is_usage_error(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = source.with_name("new.json")
    assert main(["annotations", "import", str(source), "/dev/zero", "--into", str(new)]) == 4
    assert capsys.readouterr().err == "error: /dev/zero: is a device, which may have no end; name a CSV file\n"


def test_annotations_existing_files_need_force(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = annotated(source, scores("1", "1", "1"))
    contents: dict[Path, Any] = {path: path.read_bytes() for path in (source, file)}
    assert main(["annotations", "export", str(source), str(file)]) == 4
    assert main(["annotations", "import", str(source), str(file), "--into", str(source)]) == 4
    assert "give --force to replace it" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in contents} == contents
    assert main(["annotations", "import", str(source), str(file), "--into", str(source), "--force"]) == 0
    assert len(manual(source)) == 3


def test_export_without_open_questions_names_option_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.save(tmp_path / "r.json", record.build(ANSWERS[3:], ABOUT))
    assert main(["annotations", "export", str(tmp_path / "r.json"), str(tmp_path / "m.csv")]) == 4
    assert "--all exports the others too" in capsys.readouterr().err
    assert not (tmp_path / "m.csv").exists()


@pytest.mark.parametrize(
    "arguments", [["annotations"], ["annotations", "import", "a", "b"], ["annotations", "export", "a"]]
)
def test_annotations_missing_file_is_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 4
    assert "--help" in capsys.readouterr().err
