"""Where a report is put: a file of its own, or the end of one that others write to as well."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from ..errors import UsageError
from ..results.record.atomic_files import nearest_existing, replace_file, writable_target


def check(path: str | Path, append: bool = False) -> None:
    """Nothing, if a report can be written to `path` as it looks now; nothing is left there, no folder is made.

    Raises UsageError that says why not: `path` is a folder or no regular file, what stands above it is no folder, or
    nothing can be written there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise UsageError(f"it is {'a folder' if target.is_dir() else 'no regular file'}; expected the path of a file")
    above = nearest_existing(target.parent)
    if not above.is_dir():
        raise UsageError(f"it cannot be written, for {above.name} is no folder; name another path")
    try:
        if append and target.exists():
            target.open("a").close()
        else:
            TemporaryFile(dir=above).close()  # rights alone do not tell: root has all of them, also in /proc
    except OSError as error:
        raise UsageError(f"it cannot be written ({error.strerror}); name another path") from error


def write(path: str | Path, text: str, append: bool = False) -> None:
    """Nothing; the text stands at `path` as UTF-8, its line ends as they are; missing folders are made.

    As a whole, or what stood there before; with `append` below what is there, which is never cut, as the summary of a
    step in GitHub Actions has to be. Raises UsageError, with the path, where it cannot be written.
    """
    if not append:
        replace_file(path, [text], "report")
        return
    with writable_target(path, "report") as target, target.open("a", encoding="utf-8", newline="") as file:
        # A blank line, or what stands there could take in the first line of the text.
        file.write(f"\n\n{text}" if file.tell() else text)
