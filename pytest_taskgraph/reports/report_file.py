"""Files that reports are written to: a file of the report's own, or the end of a shared one."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from ..errors import UsageError
from ..results.record.atomic_files import nearest_existing, replace_file, writable_target


def check_writable(path: str | Path, append: bool = False) -> None:
    """Check that a report can be written to `path` as it is now. No file remains and no folder is made.

    Args:
        path: The path of the report.
        append: True if the report is added to the end of a file.

    Raises:
        UsageError: if `path` is a folder or not a regular file, is below a file, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise UsageError(
            f"it is {'a folder' if target.is_dir() else 'not a regular file'}; expected the path of a file"
        )
    above = nearest_existing(target.parent)
    if not above.is_dir():
        raise UsageError(f"it cannot be written: {above.name} is no folder; name another path")
    try:
        if append and target.exists():
            target.open("a").close()
        else:
            TemporaryFile(dir=above).close()  # file modes do not suffice: root has all permissions, also in /proc
    except OSError as error:
        raise UsageError(f"it cannot be written ({error.strerror}); name another path") from error


def write_report(path: str | Path, text: str, append: bool = False) -> None:
    """Write the text to `path` as UTF-8, its line ends unchanged; missing folders are made.

    The file is replaced as a whole or not at all. With `append` the text is added below the content, which is never
    cut, as the summary of a step in GitHub Actions requires.

    Raises:
        UsageError: if the file cannot be written, with its path.
    """
    if not append:
        replace_file(path, [text], "report")
        return
    with writable_target(path, "report") as target, target.open("a", encoding="utf-8", newline="") as file:
        # A blank line, else the first line of the text could become part of the content above it.
        file.write(f"\n\n{text}" if file.tell() else text)
