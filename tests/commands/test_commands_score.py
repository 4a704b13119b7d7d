from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
from posix_tests import posix_only

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.models.clients.recorded import read_rows as recorded_model_rows


def recorded(
    run: str, number: int, kind: str, reference: object, reply: str, score: float, pattern: str
) -> dict[str, Any]:
    return {
        "id": f"{run}#{number}",
        "run": run,
        "kind": kind,
        "pattern": pattern,
        "reference": reference,
        "reply": reply,
        "paper_score": score,
    }


ROWS = [
    recorded("r1", 0, "yesno", "yes", "Final answer: yes", 1.0, "cycle"),
    recorded("r1", 1, "set", ["Mix", "Bake"], "Final answer: Mix", 0.5, "next"),
    recorded("r2", 0, "yesno", "yes", "Final answer: no", 0.0, "cycle"),
    recorded("r2", 1, "set", ["Mix"], "Final answer: Mix", 1.0, "next"),
    recorded("r2", 2, "open", "It stirs the soup.", "Maybe it stirs.\n\nThe rest, I guess, is soup.", 1.0, "why"),
]
FORMATTED = {
    "id": "r3#0",
    "kind": "yesno",
    "reference": "no",
    "reply": "**Final Answer**: no, never",
    "paper_score": 0.0,
}


def write_rows(folder: Path, *rows: object) -> str:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return str(path)


def test_score_reproduces_recorded_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", write_rows(tmp_path, *ROWS), "--parsing", "strict", "--expect-same"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "5 rows scored, parsing strict"
    assert lines[1] == "5 of 5 recorded scores reproduced"
    assert [line.split() for line in lines[3:]] == [
        ["pattern", "n", "runs", "mean", "sd"],
        ["cycle", "2", "2", "0.500", f"{statistics.stdev([1, 0]):.3f}"],
        ["next", "2", "2", "0.750", f"{statistics.stdev([0.5, 1]):.3f}"],
        ["why", "1", "1", "1.000", "-"],
        ["all", "5", "2", "0.700", f"{statistics.stdev([0.75, 2 / 3]):.3f}"],
    ]


def test_score_open_answers_use_word_recall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = recorded("r1", 0, "open", "wash the rice twice", "Final answer: none\n- Wash it twice", 0.5, "why")
    for parsing in ("lenient", "strict"):
        assert main(["score", write_rows(tmp_path, row), "--parsing", parsing, "--expect-same"]) == 0
    assert "1 of 1 recorded scores reproduced" in capsys.readouterr().out


def test_score_difference_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_rows(tmp_path, *ROWS, FORMATTED)
    assert main(["score", file]) == 0
    out = capsys.readouterr().out
    assert "5 of 6 recorded scores reproduced" in out
    assert "r3#0: recorded 0.000, now 1.000 (read: 'no')" in out
    assert main(["score", file, "--expect-same"]) == 1
    assert main(["score", file, "--expect-same", "--parsing", "strict"]) == 0


def test_score_table_groups_by_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["score", write_rows(tmp_path, *ROWS), "--by", "run"])
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[3:]] == [
        ["run", "n"],
        ["r1", "2"],
        ["r2", "3"],
        ["all", "5"],
    ]


def test_score_json_holds_every_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["score", write_rows(tmp_path, *ROWS, FORMATTED), "--json"])
    output = json.loads(capsys.readouterr().out)
    assert (output["rows"], output["compared"], output["differing"]) == (6, 6, ["r3#0"])
    assert output["scores"][1]["score"]["missing"] == ["Bake"]
    assert [group["name"] for group in output["groups"]] == ["cycle", "next", "why", "-", "all"]


def test_score_rows_without_recorded_score_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "x", "kind": "task", "reference": "Mix", "reply": "Mix"}
    assert main(["score", write_rows(tmp_path, row, "", row), "--expect-same"]) == 0
    assert "0 of 0 recorded scores reproduced" in capsys.readouterr().out


def test_score_cut_off_reply_is_not_in_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = ROWS[0] | {"id": "cut", "reply": "Let me", "finish_reason": "length", "paper_score": None}
    main(["score", write_rows(tmp_path, ROWS[0], cut)])
    out = capsys.readouterr().out
    assert "cut off, not in the means: 1" in out
    assert out.splitlines()[-1].split() == ["all", "1", "1", "1.000", "-"]


GOOD = ROWS[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "not a line of JSON"),
        ("[" * 100_000, "not a line of JSON"),
        ("[]", "found list, expected a JSON object"),
        (GOOD | {"kind": "riddle"}, "unknown kind 'riddle', expected one of yesno, task, set, order, groups, number"),
        ({**GOOD, "kind": "set"}, "field 'reference': does not fit kind 'set', expected a list of names"),
        (GOOD | {"reply": None}, "field 'reply': found NoneType, expected a text"),
        (GOOD | {"id": 7}, "field 'id': found int, expected a text"),
        (GOOD | {"place": "last"}, "field 'place': found 'last', expected one of marker, first-line, whole"),
        (GOOD | {"metric": "jaccard"}, "field 'metric': unknown metric 'jaccard', expected one of correctness"),
        (GOOD | {"kind": "reasons"}, "field 'reference': does not fit kind 'reasons', expected an object"),
        (GOOD | {"paper_score": 10**400}, "field 'paper_score'"),
        (GOOD | {"paper_score": True}, "field 'paper_score': found True, expected a number"),
        (GOOD | {"names": "Mix"}, "field 'names': expected a list of texts"),
    ],
)
def test_score_malformed_line_names_place(
    line: object, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", write_rows(tmp_path, GOOD, line)]) == 4
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert f"answers.jsonl:2: {expected}" in error
    assert "Traceback" not in error


def test_score_unreadable_file_is_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin").write_bytes(b'{"id": "\xe9"}')
    (tmp_path / "empty").write_bytes(b"\n\n")
    assert [main(["score", str(tmp_path / name)]) for name in ("latin", "empty", "missing")] == [4, 4, 4]
    error = capsys.readouterr().err
    assert "latin:1: not a line of JSON" in error
    assert "empty: holds no rows" in error
    assert "missing: cannot be read" in error


@posix_only
def test_score_line_without_end_is_usage_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_taskgraph.source.LONGEST_LINE", 10_000)
    assert main(["score", "/dev/zero"]) == 4
    expected = "error: /dev/zero:1:1: found a line of more than 10000 bytes, expected one JSON object a line\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("arguments", [[], ["dance"], ["score"], ["score", "x", "--parsing", "kind"]])
def test_score_wrong_arguments_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 4
    assert "--help" in capsys.readouterr().err


def test_score_unprintable_ids_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = FORMATTED | {"id": "\ud800\x1b[31m", "pattern": "\ud800"}
    assert main(["score", write_rows(tmp_path, odd)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_score_rows_without_id_are_named_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"question": "What is next?", "kind": "set", "reference": ["Mix"], "reply": "Final answer: Mix"}
    assert main(["score", write_rows(tmp_path, row, "", row), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert [(score["id"], score["score"]["value"]) for score in scores] == [("line 1", 1.0), ("line 3", 1.0)]


@pytest.mark.parametrize(
    ("kind", "reference", "reply", "score"),
    [
        ("task", "Mix", "Final answer: Mix", 1.0),
        ("order", ["Mix", "Bake"], "Final answer: Mix, Bake", 1.0),
        ("order", ["Mix", "Bake"], "Final answer: Bake, Mix", 0.5),
        ("groups", [["Mix", "Bake"]], "Final answer: Bake, Mix", 1.0),
        ("number", 3, "Final answer: 3", 1.0),
        ("condition", "n < 3", "Final answer: 3 > n", 1.0),
        ("reasons", {"Mix": "It is hot.", "Bake": "It is cold."}, "Final answer:\n- Mix: It is hot.", 0.5),
        ("reasons", {}, "Final answer: none", 0.0),
        ("pair", {"tasks": ["Mix", "Bake"], "reason": "so"}, "Final answer: Bake, Mix: so", 1.0),
        ("verdict", {"answer": "no", "reason": ""}, "Final answer: no: it is so", 1.0),
    ],
)
def test_score_each_kind_uses_its_form(
    kind: str, reference: object, reply: str, score: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", write_rows(tmp_path, {"kind": kind, "reference": reference, "reply": reply}), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["score"]["value"] == pytest.approx(score)


@pytest.mark.parametrize(("place", "score"), [("first-line", 1.0), ("marker", 0.0), ("whole", 1.0)])
def test_score_place_option_reads_answer_there(
    place: str, score: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"kind": "yesno", "reference": "yes", "reply": "Yes.\nIt is so.\n\nFinal answer: no", "place": place}
    reply = row["reply"] if place != "whole" else "Yes"
    assert main(["score", write_rows(tmp_path, row | {"reply": reply}), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["score"]["value"] == score


@pytest.mark.parametrize(
    ("recorded_score", "same"), [(0.667, True), (0.6667, True), (2 / 3, True), (0.66, False), (0.6668, False)]
)
def test_score_rounded_scores_compare_at_their_decimals(recorded_score: float, same: bool, tmp_path: Path) -> None:
    row = {"kind": "set", "reference": ["A", "B", "C"], "reply": "Final answer: A, B", "paper_score": recorded_score}
    assert main(["score", write_rows(tmp_path, row), "--expect-same"]) == (0 if same else 1)


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "replies.md"


def page_rows() -> list[str]:
    _, *rows = re.findall(r"^```jsonl\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return rows


def test_score_page_example_prints_documented_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", write_rows(tmp_path, page_rows()[0]), "--expect-same"]) == 0
    for line in capsys.readouterr().out.splitlines()[:2]:
        assert f"    {line}\n" in PAGE.read_text(encoding="utf-8")


def test_recorded_model_reads_rows_of_page() -> None:
    rows = recorded_model_rows(page_rows()[1].encode(), "page")
    assert [reply.text for _, reply, _ in rows] == ["Final answer: Load"] * 2


def test_score_help_lists_every_field_of_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", "--help"])
    assert ended.value.code == 0
    output = capsys.readouterr().out
    section = PAGE.read_text(encoding="utf-8").partition("## Score a file")[2].partition("## Replay a file")[0]
    fields = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
    assert len(fields) > 15
    assert [name for name in fields if name not in output] == []
