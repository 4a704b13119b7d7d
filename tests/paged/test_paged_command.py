"""`paged statistics`, `paged quality` and `paged agreement`: what they print, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.paged.document_quality.quality_metrics import fragment_sentences
from pytest_taskgraph.families.paged.document_sets.document_set import PAPER_COUNTS
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents
from pytest_taskgraph.families.paged.entailment_models import entailment_weights
from pytest_taskgraph.families.paged.entailment_models.entailment_scores import EntailmentScores

STOCK = """\
For clerk:
Start -> check the stock
check the stock -> DataConstraint(stock list)
check the stock -> XOR1
XOR1 -> (the stock is low) order more
XOR1 -> (the stock is high) XOR2
order more -> XOR2
XOR2 -> End
"""
HEADER = "system,document,rater,readability,accuracy,clarity,simplicity,usability\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two documents, one of which lost an action and data."""
    own_folder = tmp_path / "own"
    for name, text in {
        "kept": "The clerk is to check the stock with the stock list. If the stock is low, order more.",
        "lost": "The clerk looks. If the stock is low, order more.",
    }.items():
        (own_folder / name).parent.mkdir(exist_ok=True)
        (own_folder / f"{name}.graph.txt").write_text(STOCK, encoding="utf-8")
        (own_folder / f"{name}.document.txt").write_text(text, encoding="utf-8")
    return own_folder


def paged(*words: str | Path) -> int:
    return main(["paged", *map(str, words)])


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    printed_json: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed_json


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the last cells of the lines of a table, by the first."""
    return {line.rsplit(maxsplit=3)[0]: line.split()[-3:] for line in text.splitlines() if line[-1:].isdigit()}


# Statistics.


def test_statistics_folder_counts_beside_the_paper(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paged("statistics", folder) == 0
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    rows = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines if len(line) > 1}
    assert rows["documents"] == ["2", "1.00", "3394", "1.00"]
    assert rows["sentences"] == ["4", "2.00", "37226", "10.97"]
    assert rows["exclusive gateways"] == ["4", "2.00", "7024", "2.07"]
    assert rows["sequence flows"] == ["8", "4.00", "36438", "10.74"]
    assert rows.keys() >= PAPER_COUNTS.keys()


def test_statistics_json_is_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paged("statistics", folder, "--json") == 0
    printed_json = printed(capsys)
    assert printed_json["source"] == str(folder)
    assert [*printed_json["counts"]] == [*PAPER_COUNTS]
    assert printed_json["counts"]["condition flows"] == {
        "number": 4,
        "per_document": 2.0,
        "paper": 10_598,
        "paper_per_document": 10_598 / 3_394,
    }


def test_statistics_generated_documents_follow_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    def counts(*words: str) -> dict[str, Any]:
        assert paged("statistics", "--json", *words) == 0
        return printed(capsys)

    small = counts("--documents=6", "--seed=3")
    assert small["counts"]["documents"]["number"] == 6
    assert counts("--documents=6", "--seed=3") == small
    assert counts("--documents=6", "--seed=4")["counts"] != small["counts"]
    train = counts("--documents=6", "--seed=3", "--split=train")
    assert train["counts"]["documents"]["number"] == 3
    concatenated = counts("--documents=6", "--seed=3", "--quality=concatenated")
    assert concatenated["counts"]["tokens"] != small["counts"]["tokens"]
    assert concatenated["counts"]["actions"] == small["counts"]["actions"]


def test_statistics_tells_what_is_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "alone.graph.txt").write_text(STOCK, encoding="utf-8")
    (folder / "odd\x1b[2J.document.txt").write_text("Nothing.", encoding="utf-8")
    assert paged("statistics", folder) == 0
    err = capsys.readouterr().err
    assert "warning: alone.graph.txt: no alone.document.txt is beside it; it is left out\n" in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["statistics", "nowhere"], "error: nowhere: no such file or folder; expected a folder or a zip archive with"),
        (["statistics", "nowhere", "--seed=1"], "error: --seed: nowhere is stated, so no documents are generated"),
        (["statistics", "--documents=0"], "'0'; expected a whole number from 1 to 10000"),
        (["statistics", "--documents=1" + 5000 * "0"], "expected a whole number from 1 to 10000"),
        (["statistics", "--documents=1", "--split=train"], "no document of this split; found test"),
        (["quality", "--quality=best"], "invalid choice: 'best'"),
        (["agreement", "nowhere.csv"], "error: nowhere.csv: No such file or directory; expected a CSV file"),
        (["build!"], "invalid choice: 'build!'"),
    ],
)
def test_command_what_cannot_be_done_is_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paged(*words) == 4
    out, err = capsys.readouterr()
    assert message in err
    assert (out, err.count("\n")) == ("", 1)


# Quality.


def test_quality_states_coverage_and_lost_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paged("quality", folder) == 0
    out = capsys.readouterr().out
    assert rows_of(out) | {"actions": ["3", "4", "0.750"], "data": ["1", "2", "0.500"]} == rows_of(out)
    assert rows_of(out)["all names"] == ["6", "8", "0.750"]
    assert "1 of 2 documents lost something:\n" in out
    assert '  lost lost: action "check the stock", data "stock list"\n' in out


def test_quality_json_lists_every_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paged("quality", folder, "--json") == 0
    printed_json = printed(capsys)
    assert printed_json["scores"]["actions"] == {"numerator": 3, "denominator": 4, "value": 0.75}
    assert {entry["id"]: [name["text"] for name in entry["lost"]] for entry in printed_json["documents"]} == {
        "kept": [],
        "lost": ["check the stock", "stock list"],
    }


@pytest.mark.parametrize("quality", ["pipeline", "concatenated"])
def test_quality_generated_documents_lose_no_name(quality: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert paged("quality", "--documents=12", f"--quality={quality}") == 0
    out = capsys.readouterr().out
    assert rows_of(out)["all names"][2] == "1.000"
    assert "No document lost a name.\n" in out


def test_quality_many_faults_are_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(25):
        (tmp_path / f"d{number}.graph.txt").write_text(STOCK, encoding="utf-8")
        (tmp_path / f"d{number}.document.txt").write_text("Nothing is done.", encoding="utf-8")
    assert paged("quality", tmp_path) == 0
    out = capsys.readouterr().out
    assert out.count(" lost: ") == 20
    assert "and 5 more documents (--json lists all)" in out


class Judge:
    """An entailment model that finds a text entailed if its last word stands in the premise."""

    name = "judge"

    def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
        probabilities = [0.9 if text.split()[-1] in premise else 0.1 for text in hypotheses]
        return [EntailmentScores(value, 1 - value, 0.0) for value in probabilities]


def test_quality_nli_states_omissions_and_hallucinations(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(name: str) -> Judge:
        loaded.append(name)
        return Judge()

    monkeypatch.setattr(entailment_weights, "load_entailment_model", load)
    assert paged("quality", folder, "--nli=some/model", "--json") == 0
    printed_json, judge = printed(capsys), Judge()
    assert loaded == ["some/model"]
    pairs = {pair.id: pair for pair in read_documents(folder).pairs}
    (lost,) = [entry for entry in printed_json["documents"] if entry["id"] == "lost"]
    fragments = fragment_sentences(pairs["lost"].graph)
    entailed = [entry.entailment > 0.5 for entry in judge.judge(pairs["lost"].document, list(fragments))]
    assert lost["omitted"] == [text for text, is_entailed in zip(fragments, entailed, strict=True) if not is_entailed]
    assert lost["omitted"]
    assert lost["hallucinated"] == ["The clerk looks."]
    scores = printed_json["scores"]
    assert scores["omission"]["denominator"] == 2 * len(fragments)
    assert (scores["hallucination"]["numerator"], scores["hallucination"]["denominator"]) == (3, 4)
    assert paged("quality", folder, "--nli=some/model") == 0
    out = capsys.readouterr().out
    assert f'  lost omitted: "{lost["omitted"][0]}"\n' in out
    assert "  lost: and 1 more (--json lists all)\n" in out


def test_quality_nli_without_the_extra_names_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("torch") and find_spec("transformers"):
        pytest.skip("torch and transformers are installed")
    assert paged("quality", folder, "--nli=some/model") == 4
    assert "--nli=some/model: entailment models need torch" in capsys.readouterr().err


# Agreement.


def test_agreement_states_means_and_correlation_by_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Readability, means 1.5 and 4.5: MSB 9, MSW 0.5, so ICC 8.5 / 9.5 for "ours"; "theirs" has one document."""
    file = tmp_path / "ratings.csv"
    file.write_text(
        f"{HEADER}ours,d1,Ann,1,5,,3,1\nours,d1,Ben,2,5,,3,2\nours,d2,Ann,4,5,,3,3\nours,d2,Ben,5,5,,3,4\n"
        "theirs,d1,Ann,3,5,,3,1\ntheirs,d1,Ben,3,5,,3,1\n",
        encoding="utf-8",
    )
    assert paged("agreement", file, "--json") == 0
    systems = printed(capsys)["systems"]
    assert [*systems] == ["ours", "theirs", "all"]
    assert systems["ours"][0] == {
        "criterion": "readability",
        "mean": 3.0,
        "correlation": 17 / 19,
        "documents": 2,
        "raters": 2,
        "left_out": 0,
    }
    assert (systems["theirs"][0]["mean"], systems["theirs"][0]["correlation"]) == (3.0, None)
    assert (systems["all"][0]["documents"], systems["all"][2]["mean"]) == (3, None)  # d1 of both; nobody on clarity
    assert paged("agreement", file) == 0
    out = capsys.readouterr().out
    assert "3 documents, 2 raters\n" in out
    assert "ours    readability  3.00  0.895          2             2         0\n" in out
    assert "Undefined, for documents or raters are too few, or all ratings are the same: accuracy, simplicity.\n" in out


def test_agreement_low_correlation_is_called_unreliable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("document,rater,clarity\nd1,A,1\nd1,B,5\nd2,A,5\nd2,B,4\n", encoding="utf-8")
    assert paged("agreement", file) == 0
    out = capsys.readouterr().out
    assert "Below 0.75, so not reliable (Koo and Li 2016): clarity.\n" in out
    assert out.count("clarity") == 2  # no rows by system, as there is one


def test_agreement_bad_rows_are_told_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ratings.csv"
    rows = "x,d1,Ann,1,2,3,4,5\nx,d1,Ann,1,2,3,4,5\ny,d1,Ann,1,2,3,4,6\n,,Ben,1,1,1,1,1\n"
    file.write_text(HEADER + rows, encoding="utf-8")
    assert paged("agreement", file) == 0
    assert capsys.readouterr().err.splitlines() == [
        "warning: ratings.csv, line 3: Ann has rated d1 before; the row is left out",
        "warning: ratings.csv, line 4: usability: found '6', expected a whole number from 1 to 5; the rating is left "
        "out",
        "warning: ratings.csv, line 5: no document; the row is left out",
    ]


def test_agreement_hostile_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(f"{HEADER}\x1b[31mred,d1,A,1,1,1,1,1\n::error::x,d1,A,1,1,1,1,1\n", encoding="utf-8")
    assert paged("agreement", file) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert not any(line.startswith("::") for line in out.splitlines())


def test_agreement_too_many_systems_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(HEADER + "".join(f"s{number},d,A,1,1,1,1,1\n" for number in range(51)), encoding="utf-8")
    assert paged("agreement", file) == 4
    assert "the column system names 51 systems; expected 50 at most" in capsys.readouterr().err
