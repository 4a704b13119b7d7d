"""The command `init [FOLDER]`: writes a suite that runs, with a prompt template, an application and a CI workflow.

The suite stands in a folder of its own with settings of its own, so that the project around it stays as it is.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...errors import UsageError
from ...reports.escape import disarm_lines, one_line

SUMMARY = "write a suite, a prompt template, a sample application and a CI workflow into a project"
SUITES: Final = "suites"
SUITE: Final = f"{SUITES}/test_workflow_questions.py"
PROMPT: Final = f"{SUITES}/prompts/ask.jinja"
CI: Final = ".github/workflows/taskgraph.yml"
FILES: Final = {  # path in the project -> what it is
    SUITE: "the questions",
    PROMPT: "the prompt template",
    f"{SUITES}/conftest.py": "the application under test: a sample, to be replaced by yours",
    f"{SUITES}/pytest.ini": "the model, the gates, the limits",
    CI: "the CI workflow",
}
COMMANDS: Final = (f"pytest {SUITES} --taskgraph-save main", f"pytest {SUITES} --taskgraph-compare main")
_SOURCES: Final = Path(__file__).with_name("starter_project")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", default=".", type=Path,
        help="root folder of the project, made if it is missing (default: the current folder)",
    )  # fmt: skip
    parser.add_argument(
        "--ci", action="store_true", help="write the CI workflow alone, for a suite that exists in the folder suites"
    )


def run(options: argparse.Namespace) -> int:
    """Write the files and print what was written and what to run next.

    Returns:
        0.

    Raises:
        UsageError: if one of the files exists, or cannot be written. Nothing is written then.
    """
    folder: Path = options.folder
    files = (CI,) if options.ci else tuple(FILES)
    _check_free(folder, files)
    _write(folder, files)
    print("\n".join(_report_lines(folder, files)))
    return 0


def source_text(path: str) -> str:
    """Return the text of a file of the sample project.

    Args:
        path: One of the paths of `FILES`.
    """
    return (_SOURCES / f"{Path(path).name}.txt").read_text(encoding="utf-8")


def _check_free(folder: Path, files: Sequence[str]) -> None:
    """Raise UsageError if a file would be replaced, or a file stands where a folder is needed."""
    taken = [path for path in files if os.path.lexists(folder / path)]
    if taken:
        raise UsageError(
            f"init: {one_line(str(folder))}: {', '.join(taken)}: found already, and init replaces no file; nothing was "
            "written; move what was found, or name another folder"
        )
    parents = {parent for path in files for parent in (folder / path).parents}
    blocked = sorted(str(parent) for parent in parents if os.path.lexists(parent) and not parent.is_dir())
    if blocked:
        raise UsageError(
            f"init: {one_line(blocked[0])}: a file where a folder is expected; nothing was written; move it, or name "
            "another folder"
        )


def _write(folder: Path, files: Sequence[str]) -> None:
    """Write all files, or none: what was written is removed if a later file cannot be.

    Raises:
        UsageError: if a file cannot be written.
    """
    new_files: list[Path] = []
    new_folders: list[Path] = []
    try:
        for name in files:
            path = folder / name
            missing = [parent for parent in path.parents if not parent.exists()]
            for parent in reversed(missing):
                parent.mkdir()
                new_folders.append(parent)
            with path.open("x", encoding="utf-8", newline="\n") as file:  # never another's file
                new_files.append(path)
                file.write(source_text(name))
    except OSError as error:
        _remove(new_files, new_folders)
        raise UsageError(
            f"init: {one_line(str(error.filename or folder))}: cannot be written: {error.strerror}; nothing was "
            "written; name a folder that you may write to"
        ) from error


def _remove(files: Sequence[Path], folders: Sequence[Path]) -> None:
    """Remove files, then folders that are empty, the last first."""
    with suppress(OSError):
        for file in files:
            file.unlink()
        for folder in reversed(folders):
            folder.rmdir()


def _report_lines(folder: Path, files: Sequence[str]) -> Iterator[str]:
    """Yield the lines that say what was written, and what to do next."""
    width = max(map(len, files))
    elsewhere = folder != Path()
    yield f"written in {one_line(str(folder))}:" if elsewhere else "written:"
    yield from (f"  {path:<{width}}  {FILES[path]}" for path in files)
    if SUITE in files:
        yield from _next_lines(folder, elsewhere)
    yield f"before the first push: put the wheel of the package into wheels/, from which {CI} installs it"
    root = _repository_root(folder)
    if root is not None and root != folder.resolve():
        yield (
            f"{CI}: GitHub reads workflows in the root of the repository only, {one_line(str(root))}: move the file "
            "there, and state the folder in its paths and commands"
        )


def _next_lines(folder: Path, elsewhere: bool) -> Iterator[str]:
    yield "next, without a key:"
    if elsewhere:
        yield f"  cd {disarm_lines(shlex.quote(str(folder)))}"
    yield from (f"  {command}" for command in COMMANDS)
    yield f"then delete the line {{{{ guide }}}} of {PROMPT}, and run the last command again: it fails"


def _repository_root(folder: Path) -> Path | None:
    """Return the root of the git repository that holds the folder; None outside of one."""
    real = folder.resolve()
    return next((parent for parent in (real, *real.parents) if (parent / ".git").exists()), None)
