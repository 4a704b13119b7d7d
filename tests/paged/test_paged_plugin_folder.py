"""Documents of the user's own over the plugin: asked over HTTP and scored, refused with file and line, and hostile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from loopback import Loopback
from markdown_it import MarkdownIt
from plugin_project import Project, Ran
from posix_tests import posix_only

TEA = "For cook:\nStart -> boil water\nboil water -> steep tea\nsteep tea -> End\nDataConstraint(leaves) -> steep tea\n"
TEA_DOCUMENT = "The cook must boil water. Then, steep tea. To steep tea, leaves are needed."
DATA = "--taskgraph-data=paged=data"
REPORT_KINDS = {"json": "r.json", "html": "r.html", "md": "r.md", "csv": "r.csv", "tables": "t.csv"}
REPORTS = (*(f"--taskgraph-report={kind}={name}" for kind, name in REPORT_KINDS.items()), "--junitxml=junit.xml")
RECORD = "--taskgraph-report=json=r.json"


def add_pair(
    project: Project, name: str, graph: str | bytes = TEA, document: str | bytes = TEA_DOCUMENT
) -> tuple[Path, Path]:
    """Write the two files of a pair below data/, and return their paths."""
    paths = project.path / f"data/{name}.graph.txt", project.path / f"data/{name}.document.txt"
    for path, content in zip(paths, (graph, document), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def asked_ids(project: Project) -> list[str]:
    return sorted(trial["question"]["id"] for trial in project.record("r.json")["trials"])


def words(ran: Ran) -> str:
    return " ".join(ran.output.split())


def test_folder_of_one_pair_is_asked_over_http_and_scored(project: Project, server: Loopback) -> None:
    add_pair(project, "Make tea")
    server.answer = "For cook:\nStart -> boil the water\nboil the water -> steep tea\nsteep tea -> End"
    ran = project.run(f"--model={server.url}#any", DATA, RECORD, "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 1}), ran.output
    assert "documents own (test split)" in words(ran)
    assert "PAGED, own documents: train 0, validation 0, test 1" in words(ran)
    [trial] = project.record("r.json")["trials"]
    assert (trial["question"]["id"], trial["question"]["cluster"]) == ("extract-make-tea", "document:make-tea")
    assert server.requests[0].prompt.rpartition("Document:\n")[2].startswith(TEA_DOCUMENT)
    # Articles do not count: two actors, two actions and three flows are right; gold has a datum and its flow besides.
    parts = trial["score"]["parts"]
    assert (parts["action_recall"], parts["actor_recall"], parts["sequence_recall"]) == ([2, 2], [2, 2], [3, 3])
    assert (parts["data_recall"], parts["constraint_recall"]) == ([0, 1], [0, 1])
    assert trial["score"]["value"] == pytest.approx(14 / 16)


def test_narrow_table_with_unparseable_replies_keeps_conditions(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    add_pair(project, "tea")
    server.answer = "no graph"
    ran = project.run(f"--model={server.url}#any", DATA, "--taskgraph-fail-on=nothing", "-v")
    [titles] = [line.split() for line in ran.output.splitlines() if line.startswith("F1 by element")]
    assert titles[-2:] == ["seq", "cond"], ran.output


def test_splits_of_folders_decide_which_pairs_are_asked(project: Project) -> None:
    for name in ("train/a", "train/b", "validation/c", "test/d", "e"):
        add_pair(project, name)
    for split, ids in (("test", ["d", "e"]), ("train", ["a", "b"]), ("validation", ["c"])):
        ran = project.run("--model=baseline:rules", DATA, RECORD, f"--taskgraph-split={split}")
        assert ran.code == 0, ran.output
        assert asked_ids(project) == [f"extract-{name}" for name in ids]
        assert "train 2, validation 1, test 2" in words(ran)


def test_split_without_a_pair_is_collection_error_with_counts(project: Project) -> None:
    add_pair(project, "tea")
    ran = project.run("--model=baseline:rules", DATA, "--taskgraph-split=train")
    assert (ran.code, ran.clean) == (1, True), ran.output
    assert "PAGED, own documents: none in the train split; train: 0, validation: 0, test: 1" in words(ran)


def test_bad_pairs_are_left_out_and_told_with_file_and_line(project: Project) -> None:
    add_pair(project, "good")
    add_pair(project, "no-flow", TEA + "and then drink it\n")
    add_pair(project, "latin", TEA, "The cook must br\xfcle tea.\nBoil water.".encode("latin-1"))
    add_pair(project, "long", TEA, "Boil water. " * 5_000)
    project.write("data/alone.graph.txt", TEA)
    ran = project.run("--model=baseline:rules", DATA, RECORD, "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 1}), ran.output
    assert asked_ids(project) == ["extract-good"]
    for problem in (
        'no-flow.graph.txt, line 6: "and then drink it" is no flow; expected "Node -> Node"; the pair is left out',
        "latin.document.txt, line 1: it is not UTF-8; the pair is left out",
        "long.document.txt: the document has 60000 characters, more than 50000; the pair is left out",
        "alone.graph.txt: no alone.document.txt is beside it; it is left out",
    ):
        assert problem in words(ran), ran.output


def test_files_with_byte_order_mark_and_crlf_are_read_as_others(project: Project) -> None:
    add_pair(project, "plain", TEA, "Boil water.\n\nThen steep tea.")
    add_pair(project, "windows", b"\xef\xbb\xbf" + TEA.replace("\n", "\r\n").encode(),
             b"\xef\xbb\xbfBoil water.\r\n\r\nThen steep tea.\r\n")  # fmt: skip
    ran = project.run("--model=simulated:1", DATA, RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output
    plain, windows = (trial["question"] for trial in project.record("r.json")["trials"])
    assert plain["reference"] == windows["reference"]
    assert plain["digests"] == windows["digests"]


@posix_only
def test_symlinks_to_files_are_read_and_loops_of_folders_end(project: Project, tmp_path: Path) -> None:
    graph, document = add_pair(project, "tea")
    for path in (graph, document):
        (project.path / "data" / path.name.replace("tea", "linked")).symlink_to(path)
    os.symlink(project.path / "data", project.path / "data" / "again", target_is_directory=True)
    os.symlink("/dev/zero", project.path / "data" / "endless.graph.txt")
    (project.path / "data" / "lost.document.txt").symlink_to(project.path / "nowhere")
    ran = project.run("--model=baseline:rules", DATA, RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output
    assert asked_ids(project) == ["extract-linked", "extract-tea"]


def test_huge_file_is_left_out_with_the_reason(project: Project) -> None:
    add_pair(project, "tea")
    graph, _ = add_pair(project, "huge")
    with graph.open("wb") as file:
        file.truncate(300_000_000)  # sparse: no byte of it is on the disk
    ran = project.run("--model=baseline:rules", DATA, RECORD, "-v")
    assert ran.counts == {"passed": 1}, ran.output
    assert "huge.graph.txt: it has more than" in words(ran)


def test_lines_of_json_are_asked_and_bad_ones_told(project: Project) -> None:
    good = json.dumps({"document": TEA_DOCUMENT, "graph": TEA, "id": "tea"})
    project.write("data/pairs.jsonl", f'{good}\n{{"document": "x"}}\n{{broken\n')
    ran = project.run("--model=baseline:rules", DATA, RECORD, "-v")
    assert ran.counts == {"passed": 1}, ran.output
    assert 'pairs.jsonl, line 2: no "graph"; the pair is left out' in words(ran)
    assert "pairs.jsonl, line 3: broken JSON" in words(ran)


def test_folder_without_a_usable_pair_is_collection_error(project: Project) -> None:
    add_pair(project, "tea", "no graph at all")
    ran = project.run("--model=baseline:rules", DATA)
    assert (ran.code, ran.clean) == (1, True), ran.output
    assert "no pair of a document and its graph that can be used" in words(ran)
    assert 'tea.graph.txt, line 1: "no graph at all" is no flow' in words(ran)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\x1b]0;title\x07"
HOSTILE_GRAPH = f"""\
For {HOSTILE} "boss":
Start -> boil {HOSTILE} water
boil {HOSTILE} water -> XOR1
XOR1 -> (it is {HOSTILE}) steep </svg></textarea> tea
XOR1 -> (otherwise) End
steep </svg></textarea> tea -> ActionConstraint(<b onclick="alert(3)">`hot`</b> | *x*)
DataConstraint(=cmd|' /C calc'!A0) -> steep </svg></textarea> tea
steep </svg></textarea> tea -> End
"""


def test_hostile_texts_are_escaped_in_every_report(project: Project, server: Loopback) -> None:
    add_pair(
        project,
        "<i>odd",
        HOSTILE_GRAPH,
        f"Boil {HOSTILE} water.\n\n```\n<script>alert(4)</script>\n\nSteep </textarea> tea.",
    )
    server.answer = HOSTILE_GRAPH.replace("boil", "\u202e=boil")
    ran = project.run(f"--model={server.url}#any", DATA, *REPORTS, "--taskgraph-pass-threshold=1")
    assert ran.clean, ran.output
    for text in [ran.output, *((project.path / name).read_text("utf-8") for name in REPORT_KINDS.values())]:
        assert "\x1b" not in text
        assert "\x07" not in text
    page = (project.path / "r.html").read_text("utf-8")
    for forbidden in ("<script>alert", "<img", "</textarea>", "<b onclick", "<i>odd"):
        assert forbidden not in page, forbidden
    assert "&lt;script&gt;alert(1)" in page
    tokens = MarkdownIt("commonmark").parse((project.path / "r.md").read_text("utf-8"))
    parts = [part for token in tokens for part in (token, *(token.children or ()))]
    html = [part.content for part in parts if part.type in ("html_block", "html_inline")]
    assert not any("alert" in content for content in html), html
    assert any("<script>alert" in token.content for token in tokens if token.type == "fence")
    ElementTree.parse(project.path / "junit.xml")
    assert len(project.record("r.json")["trials"]) == 1
