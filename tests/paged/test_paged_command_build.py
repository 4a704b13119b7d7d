"""`paged build`: folders that a run reads back, of generated graphs and of the user's own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from plugin_project import Project

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.paged.document_sets.document_set import DocumentPair
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents
from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_documents, generate_pairs
from pytest_taskgraph.families.paged.documents.written_document import write_document

STOCK = "For clerk:\nStart -> check the stock\ncheck the stock -> order more\norder more -> End\n"


def build(*words: str | Path) -> int:
    return main(["paged", "build", *map(str, words)])


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def by_id(folder: Path) -> dict[str, DocumentPair]:
    return {pair.id: pair for pair in read_documents(folder).pairs}


# Generated documents.


@pytest.mark.parametrize("quality", ["pipeline", "concatenated"])
def test_build_generated_folder_reads_back_to_the_pairs(quality: str, tmp_path: Path) -> None:
    assert build("--out", tmp_path / "new", "--documents=12", "--seed=3", "--quality", quality) == 0
    documents = read_documents(tmp_path / "new")
    pairs = generate_pairs(3, 12, "concatenated" if quality == "concatenated" else "pipeline")
    assert documents.problems == ()
    assert {pair.id: (pair.graph, pair.document, pair.split) for pair in documents.pairs} == {
        pair.id: (pair.graph, pair.document, pair.split) for pair in pairs
    }
    assert Counter(pair.split for pair in documents.pairs) == {"train": 6, "validation": 2, "test": 4}


def test_build_fewer_documents_are_the_first_of_more(tmp_path: Path) -> None:
    assert build("--out", tmp_path / "few", "--documents=5") == 0
    assert build("--out", tmp_path / "more", "--documents=60") == 0
    few, more = contents(tmp_path / "few"), contents(tmp_path / "more")
    assert len(few) == 2 * 5 + 1
    del few["about.txt"]
    assert few.items() <= more.items()


def test_generate_pairs_are_those_of_a_run() -> None:
    run = {pair.id: pair for pair in generate_documents(0, 4).pairs}
    assert {pair.id: pair for pair in generate_pairs(0, 10)}.items() <= run.items()


def test_build_prints_splits_and_the_command_that_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new"
    assert build("--out", out, "--documents=6") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"6 documents with graphs written to {out}: train 3, validation 1, test 2",
        f"run: pytest suites/paged --taskgraph-data=paged={out}",
    ]
    assert "generated (seed 0, pipeline)" in (out / "about.txt").read_text(encoding="utf-8")


def test_build_folder_is_asked_about_by_a_run(pytester: pytest.Pytester) -> None:
    project = Project(pytester)
    assert build("--out", project.path / "built", "--documents=6") == 0
    project.write(
        "test_graph.py",
        "from pytest_taskgraph import paged, suite\n\n\n@suite(paged)\ndef test_it(trial):\n    trial.check()\n",
    )
    ran = project.spawn("--taskgraph-data=paged=built", "--model=baseline:rules", "--taskgraph-report=json=record.json")
    clusters = {trial["question"]["cluster"] for trial in project.record()["trials"]}
    assert ran.code == 0, ran.output
    assert clusters == {f"document:{pair.id}" for pair in read_documents(project.path / "built").test}


# Folders that hold something.


def test_build_folder_with_files_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    assert build("--out", tmp_path) == 4
    assert "the folder is not empty (notes.md); state another one, or --force" in capsys.readouterr().err
    assert contents(tmp_path) == {"notes.md": "mine"}


def test_build_force_replaces_files_of_the_same_names_alone(tmp_path: Path) -> None:
    assert build("--out", tmp_path, "--documents=6") == 0
    before = contents(tmp_path)
    first = next(name for name in before if name.endswith(".document.txt"))
    (tmp_path / first).write_text("Changed.", encoding="utf-8")
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    assert build("--out", tmp_path, "--documents=6", "--force") == 0
    assert contents(tmp_path) == before | {"notes.md": "mine"}


def test_build_force_beside_other_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build("--out", tmp_path, "--documents=6") == 0
    before = contents(tmp_path)
    capsys.readouterr()
    assert build("--out", tmp_path, "--documents=6", "--seed=1", "--force") == 4
    assert "would be read as data, too, and is not of this build" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_build_out_that_is_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert build("--out", tmp_path / "file", "--force") == 4
    assert "it is no folder; name another one" in capsys.readouterr().err
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_build_folder_with_a_link_to_a_folder_is_not_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "train").symlink_to(tmp_path / "elsewhere")
    assert build("--out", tmp_path / "out", "--documents=6") == 4
    assert "the folder is not empty (train)" in capsys.readouterr().err
    assert contents(tmp_path) == {}


# The user's own graphs.


def test_build_from_graphs_writes_their_documents(tmp_path: Path) -> None:
    own, out = tmp_path / "own", tmp_path / "out"
    (own / "dev").mkdir(parents=True)
    (own / "dev" / "g7.graph.txt").write_text(STOCK, encoding="utf-8")
    for number in range(6):
        graph = STOCK.replace("stock", f"stock {number}")
        (own / f"Stock, {number}.graph.txt").write_text(graph, encoding="utf-8-sig")
    assert build("--from", own, "--out", out, "--seed=2") == 0
    documents = by_id(out)
    assert Counter(pair.split for document_id, pair in documents.items() if document_id != "g7") == {
        "train": 3,
        "validation": 1,
        "test": 2,
    }
    assert documents["g7"].split == "validation"
    assert documents["stock-3"].document == write_document(documents["stock-3"].graph, "pipeline", 2).text
    assert "check the stock 3" in documents["stock-3"].document


def test_build_from_lines_takes_their_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps({"id": "Fine one", "graph": STOCK, "split": "valid"}),
        json.dumps({"graph": [{"source": {"sort": "start"}}]}),
        json.dumps({"id": "x"}),
        json.dumps({"graph": STOCK, "split": 3}),
        "{",
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert build("--from", tmp_path / "own.jsonl", "--out", tmp_path / "out") == 0
    assert {document_id: pair.split for document_id, pair in by_id(tmp_path / "out").items()} == {
        "fine-one": "validation"
    }
    err = capsys.readouterr().err
    assert "own.jsonl, line 2: the graph cannot be read" in err
    assert 'own.jsonl, line 3: no "graph"; the graph is left out' in err
    assert 'own.jsonl, line 4: "split" is a number; expected train, validation or test' in err
    assert "own.jsonl, line 5: broken JSON" in err


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("bad.graph.txt", b"Start -> a\nnonsense\na -> End\n", 'bad.graph.txt, line 2: "nonsense" is no flow'),
        ("bad.graph.txt", b"Start -> a\n\xff", "bad.graph.txt, line 2: it is not UTF-8"),
        ("bad.graph.txt", b"Start -> End\n", "bad.graph.txt: the graph has no action"),
        ("bad.jsonl", b"[1]", "bad.jsonl, line 1"),
        ("bad.jsonl", 5_000 * b"[", "bad.jsonl, line 1"),
        ("bad\x1b[2J.graph.txt", b"", "the graph has no action"),
    ],
)
def test_build_from_hostile_file_leaves_it_out(
    name: str, content: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "good.graph.txt").write_text(STOCK, encoding="utf-8")
    (own / name).write_bytes(content)
    assert build("--from", own, "--out", tmp_path / "out") == 0
    out, err = capsys.readouterr()
    assert problem in err
    assert "\x1b" not in out + err
    assert [*by_id(tmp_path / "out")] == ["good"]


def test_build_from_names_never_leave_the_folder(tmp_path: Path) -> None:
    line = json.dumps({"id": "../../escape", "graph": STOCK, "split": "test"})
    (tmp_path / "own.jsonl").write_text(line, encoding="utf-8")
    assert build("--from", tmp_path / "own.jsonl", "--out", tmp_path / "deep" / "out") == 0
    assert [*contents(tmp_path / "deep")] == [
        "out/about.txt",
        "out/test/escape.document.txt",
        "out/test/escape.graph.txt",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--from=nowhere"],
            "error: nowhere: no such file or folder; expected a folder or a zip archive",
        ),
        (["--from=empty"], "error: empty: no graph that can be used; found no .graph.txt"),
        (
            ["--from=flow.mmd"],
            "error: flow.mmd: no graph that can be used; found flow.mmd; flow.mmd, line 1: broken JSON",
        ),
        (["--from=nowhere", "--documents=3"], "--documents: --from is stated"),
        (["--model=openai/any"], "--model=openai/any: it is asked for paraphrases alone; add --paraphrase"),
        (["--paraphrase"], "--model=SPEC is missing"),
        (["--paraphrase", "--model=simulated:1"], "a simulated model only answers questions of a run"),
        (["--paraphrase", "--model=openai/any", "--replay", "--refresh"], "choose one"),
        (["--paraphrase", "--model=openai/any", "--replay"], "there is no store of replies at .taskgraph"),
        (["--paraphrase", "--model=openai/any", "--max-calls=0"], "'0'; expected a whole number of at least 1"),
        (["--paraphrase", "--model=openai/any", "--max-cost=nan"], "'nan'; expected a number above 0"),
        (["--paraphrase", "--model=http://127.0.0.1:9/v1#any", "--max-cost=1"], "--max-cost cannot be kept"),
        (["--paraphrase", "--model=openai/any", "--model-option=sk-abc"], "a value without a name; expected KEY=VALUE"),
    ],
)
def test_build_what_cannot_be_done_writes_nothing(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "flow.mmd").write_text("flowchart TD\n  a --> b\n", encoding="utf-8")
    assert build("--out=out", *words) == 4
    out, err = capsys.readouterr()
    assert message in err
    assert (out, err.count("\n")) == ("", 1)
    assert "--taskgraph" not in err
    assert not (tmp_path / "out").exists()
