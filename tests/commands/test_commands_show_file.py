"""`show FILE`: what is read of a file, converted, and drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.__main__ import USAGE_ERROR, main

CHART = "flowchart TD\n  A --> B -->|x > 1| C\n  B -->|otherwise| D\n  db[(Store)] --> A\n"
DSL = "package p;\nworkflow {0} {{ {1} START -> A -> END; }}\n"


def show(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["show", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_show_file_describes_what_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.mmd"
    path.write_text(CHART, encoding="utf-8")
    code, out, err = show(capsys, str(path))
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        f"{path}: Mermaid flowchart, 1 workflow",
        "it: 4 tasks, 6 links, 2 conditions, 1 data item, 1 data link",
    ]
    assert "  B -> C [x > 1], D [otherwise]" in out


def test_show_file_as_notation_states_what_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.xxp").write_text(DSL.format("Outer", "task A { subworkflow Inner; }"), encoding="utf-8")
    (tmp_path / "b.xxp").write_text(DSL.format("Inner", "task A {}"), encoding="utf-8")
    code, out, err = show(capsys, str(tmp_path), "--as", "mermaid")
    assert code == 0
    assert out.count("flowchart TD") == 2
    assert (
        err
        == "Outer: references: sub-workflows are written inline\nInner: references: sub-workflows are written inline\n"
    )


def test_show_file_writes_a_drawing_of_each_workflow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.mmd").write_text(CHART, encoding="utf-8")
    code, _, err = show(capsys, str(tmp_path / "*.mmd"), "--output", str(tmp_path / "it.svg"))
    assert code == 0
    assert err.splitlines() == [f"wrote {tmp_path / name}" for name in ("it.svg", "it-2.svg")]
    assert (tmp_path / "it-2.svg").read_text(encoding="utf-8").startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("it.mmd", "--as", "dot"), "unknown notation 'dot'; known: bpmn, json, mermaid"),
        (("it.mmd", "--output", "it.png"), "expected a path that ends in .svg"),
        (("none.mmd", "--as", "json"), "--as and --output are for files; none.mmd is no file"),
        (("bad.mmd",), "bad.mmd:2:"),
    ],
)
def test_show_file_that_is_impossible_is_usage_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("it.mmd").write_text(CHART, encoding="utf-8")
    Path("bad.mmd").write_text("flowchart TD\n  A[x --> B\n", encoding="utf-8")
    code, _, err = show(capsys, *arguments)
    assert code == USAGE_ERROR
    assert message in err
