from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.reports.report_file import write_report


def test_write_report_replaces_file_and_makes_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.csv"
    write_report(path, "old\r\n")
    write_report(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()
    assert [file.name for file in path.parent.iterdir()] == ["report.csv"]


def test_write_report_append_keeps_content(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    write_report(path, "## One", append=True)
    write_report(path, "## Two\n", append=True)
    assert path.read_text() == "## One\n\n## Two\n"


@pytest.mark.parametrize("append", [False, True])
def test_write_report_path_without_file_raises_usage_error(tmp_path: Path, append: bool) -> None:
    with pytest.raises(UsageError, match=f"cannot be written to {tmp_path}: it is not a regular file"):
        write_report(tmp_path, "text", append)
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UsageError, match="cannot be written to"):
        write_report(tmp_path / "file" / "report.md", "text", append)
    assert (tmp_path / "file").read_text() == "kept"
