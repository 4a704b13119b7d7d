"""Files that are written as a whole: whoever reads one finds the new text, or what stood there before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import UsageError


def replace_file(path: str | Path, pieces: Iterable[str], what: str) -> None:
    """Nothing; the pieces of text stand at `path` as UTF-8, their line ends as they are; missing folders are made.

    As a whole, or what stood there before. `what` the file is said to be in the UsageError, which tells the path,
    where it cannot be written.
    """
    with writable_target(path, what) as target:
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with part.open("w", encoding="utf-8", newline="") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def nearest_existing(path: Path) -> Path:
    """The path, if it is there, else the nearest folder above it that is."""
    return next(one for one in (path, *path.absolute().parents) if one.exists())


@contextmanager
def writable_target(path: str | Path, what: str) -> Iterator[Path]:
    """The place to write to, links followed and its folder made.

    Raises UsageError, as `replace`, for a place that is no regular file and for what goes wrong within.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"the {what} cannot be written to {path}: it is no regular file; name another path")
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target
    except (OSError, ValueError, TypeError) as error:
        # The text of an OSError names the file beside it, which nobody asked for.
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the {what} cannot be written to {path}: {why}; name another path") from error
