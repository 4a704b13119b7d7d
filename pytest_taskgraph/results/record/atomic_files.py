"""Files that are replaced atomically: they have the new text or the old text, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import UsageError


def replace_file(path: str | Path, pieces: Iterable[str], noun: str) -> None:
    """Write the pieces of text to `path` as UTF-8, atomically; line ends are kept and missing folders made.

    Args:
        path: The file.
        pieces: The text.
        noun: What an error message calls the file.

    Raises:
        UsageError: if it cannot be written; the message names the path.
    """
    with writable_target(path, noun) as target:
        partial_file = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with partial_file.open("w", encoding="utf-8", newline="") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            partial_file.replace(target)
        finally:
            partial_file.unlink(missing_ok=True)


def nearest_existing(path: Path) -> Path:
    """Return the path if it exists, else the nearest existing folder above it."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())


@contextmanager
def writable_target(path: str | Path, noun: str) -> Iterator[Path]:
    """Yield the file to write to: links are followed and its folder is made.

    Args:
        path: The file.
        noun: What an error message calls the file.

    Raises:
        UsageError: if it is not a regular file, or writing fails within the context.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"the {noun} cannot be written to {path}: it is not a regular file; name another path")
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target
    except (OSError, ValueError, TypeError) as error:
        # The text of an OSError names the temporary file.
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the {noun} cannot be written to {path}: {reason}; name another path") from error
