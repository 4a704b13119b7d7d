"""Where a report is put: a file of its own, or the end of one that others write to as well."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import UsageError


def write(path: str | Path, text: str, append: bool = False) -> None:
    """Nothing; the text stands at `path` as UTF-8, its line ends as they are; missing folders are made.

    As a whole, or what stood there before; with `append` below what is there, which is never cut, as the summary of a
    step in GitHub Actions has to be. Raises UsageError, with the path, where it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"the report cannot be written to {path}: it is no regular file; name another path")
        target.parent.mkdir(parents=True, exist_ok=True)
        if append:
            _append(target, text)
        else:
            _replace(target, text)
    except (OSError, ValueError) as error:
        raise UsageError(f"the report cannot be written to {path}: {error}; name another path") from error


def _append(target: Path, text: str) -> None:
    with target.open("a", encoding="utf-8", newline="") as file:
        # A blank line, or what stands there could take in the first line of the text.
        file.write(f"\n\n{text}" if file.tell() else text)


def _replace(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
