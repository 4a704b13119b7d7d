"""The other project of the same import name, as a distribution in a folder on sys.path; nothing is downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import bounded_process
import pytest

import pytest_taskgraph
from pytest_taskgraph.__main__ import main
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.installation import check_installation

ENTRY_POINT = "[pytest11]\npytest-taskgraph = pytest_taskgraph\n"
REPAIR = "run `pip uninstall pytest-taskgraph`, then `pip install --force-reinstall pytest-taskgraph-bench`"


def write_distribution(
    folder: Path, name: str = "pytest-taskgraph", version: str = "0.2.0", entry_points: str = ENTRY_POINT
) -> None:
    """Write the metadata of an installed distribution."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path that stands for site-packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.mark.parametrize("name", ["pytest-taskgraph", "pytest_taskgraph", "Pytest-Taskgraph"])
def test_check_installation_other_project_raises_on_one_line(site: Path, name: str) -> None:
    write_distribution(site, name)
    with pytest.raises(UsageError) as caught:
        check_installation()
    message = str(caught.value)
    assert message.startswith(f"pytest-taskgraph 0.2.0 is installed in {site}: another project")
    assert "where pytest-taskgraph-bench is expected" in message
    assert message.endswith(REPAIR)
    assert "\n" not in message


@pytest.mark.parametrize("name", ["pytest-taskgraph-bench", "pytest-taskgraph-extra", "taskgraph"])
def test_check_installation_distribution_of_similar_name_passes(site: Path, name: str) -> None:
    write_distribution(site, name)
    check_installation()


def test_check_installation_distribution_of_old_name_passes(site: Path) -> None:
    write_distribution(site, version="0.1.0", entry_points="[pytest11]\ntaskgraph = pytest_taskgraph.plugin.hooks\n")
    check_installation()


def test_check_installation_leftover_without_metadata_passes(site: Path) -> None:
    write_distribution(site)
    (site / "pytest_taskgraph-0.2.0.dist-info" / "METADATA").unlink()
    check_installation()


def test_check_installation_foreign_init_raises(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("pytest_taskgraph")
    package.__path__ = [str(site / "pytest_taskgraph")]
    monkeypatch.setitem(sys.modules, "pytest_taskgraph", package)
    with pytest.raises(UsageError) as caught:
        check_installation()
    assert str(caught.value) == (
        f"{site / 'pytest_taskgraph'}: __init__.py is missing or belongs to another project; "
        "run `pip install --force-reinstall pytest-taskgraph-bench`"
    )


def test_command_other_project_prints_one_error(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_distribution(site)
    assert main(["patterns"]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: pytest-taskgraph 0.2.0 is installed in ")
    assert len(captured.err.splitlines()) == 1


def run_pytest(tmp_path: Path, init: str, *arguments: str, other: bool = True) -> tuple[int, list[str]]:
    """Run pytest where this package, with the given `__init__.py`, is in one folder with the other distribution or
    alone; return the exit code and the lines of stderr.
    """
    site = tmp_path / "site"
    package = site / "pytest_taskgraph"
    package.mkdir(parents=True)
    for path in Path(pytest_taskgraph.__file__).parent.iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            (package / path.name).symlink_to(path)
    (package / "__init__.py").write_text(init, encoding="utf-8")
    if other:
        write_distribution(site)
    (tmp_path / "conftest.py").write_text("from pytest_taskgraph import suite\n")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "TASKGRAPH_"))}
    environment = inherited | {"PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_taskgraph.plugin.hooks",
        *arguments,
    ]
    done = bounded_process.run(command, cwd=tmp_path, env=environment)
    return done.returncode, [line for line in done.stderr.splitlines() if line]


OWN = Path(pytest_taskgraph.__file__).read_text(encoding="utf-8")
THEIRS = "import pytest\n\n@pytest.fixture\ndef graph_config(): ...\n"


@pytest.mark.parametrize("init", [OWN, THEIRS], ids=["ours-last", "theirs-last"])
@pytest.mark.parametrize("arguments", [(), ("--help",)], ids=["run", "help"])
def test_pytest_other_project_prints_one_error(tmp_path: Path, init: str, arguments: tuple[str, ...]) -> None:
    code, lines = run_pytest(tmp_path, init, *arguments)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert len(lines) == 1
    assert lines[0].startswith("ERROR: pytest-taskgraph 0.2.0 is installed in ")
    assert lines[0].endswith(REPAIR)


def test_pytest_foreign_init_left_prints_one_error(tmp_path: Path) -> None:
    code, lines = run_pytest(tmp_path, THEIRS, other=False)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert len(lines) == 1
    assert "pytest_taskgraph: __init__.py is missing or belongs to another project" in lines[0]
