"""Finding and reading the files of the user's own project, within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ...errors import UsageError
from ...notations import NOTATIONS
from ...notations.plain_json import FORMAT

LARGEST_FILE = 4_000_000  # bytes; a workflow of 1,000 tasks takes a tenth of that
MOST_ENTRIES = 20_000  # files and folders that are looked through
JSON_SUFFIX = ".json"
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The workflow files at a path, and those beside them that hold no workflow."""

    chosen: dict[str, Path]  # by their path in the project
    left_alone: tuple[str, ...] = ()


def find_files(path: str) -> FoundFiles:
    """Return the workflow files at a path: the file itself, or those of a folder and its sub-folders.

    In a folder, `.json` files without the format of workflows are left alone, and so are files of prose beside those
    of other notations: they count as notes.

    Raises:
        UsageError: if there is none, or the path cannot be read.
    """
    root = Path(path)
    try:
        if root.is_file():
            return FoundFiles({root.name: root})
        if not root.is_dir():
            raise UsageError(
                f"{path}: no such file or folder; --taskgraph-workflow takes a workflow file or a folder of them"
            )
        if root.resolve().parent == root.resolve():
            raise UsageError(f"{path}: the root of the file system is no project; name the folder of the workflows")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    known = known_suffixes()
    found = sorted(_files_below(root, path, known))
    data = [file for file in found if file.suffix.lower() == JSON_SUFFIX and not _holds_workflow(file)]
    found = [file for file in found if file not in set(data)]
    # Notes beside the workflows are prose too: they count only where there is nothing else, those with charts first.
    chosen = [file for file in found if file.suffix.lower() not in NOTATIONS["prose"].suffixes]
    chosen = chosen or [file for file in found if is_markdown(file) and _holds_notation(file)] or found
    left_alone = tuple(file.relative_to(root).as_posix() for file in data)
    if not chosen:
        beside = f'; without "format": "{FORMAT}": {", ".join(left_alone)}' if left_alone else ""
        raise UsageError(f"{path}: no workflow file in this folder; known: {', '.join(sorted(known))}{beside}")
    return FoundFiles({file.relative_to(root).as_posix(): file for file in chosen}, left_alone)


def known_suffixes() -> set[str]:
    """Return the suffixes of all notations."""
    return {*MARKDOWN_SUFFIXES, *(suffix for notation in NOTATIONS.values() for suffix in notation.suffixes)}


def is_markdown(path: Path) -> bool:
    """Return True for a file of Markdown, by its suffix."""
    return path.suffix.lower() in MARKDOWN_SUFFIXES


def _holds_notation(path: Path) -> bool:
    """Return True if a Markdown file holds a notation in code fences."""
    try:
        text = path.read_bytes()[:LARGEST_FILE].decode(errors="replace")
    except OSError as error:
        raise _unreadable(str(path), error) from None
    return any(notation.stands_in(text) for notation in NOTATIONS.values())


def read_text(path: Path) -> str:
    """Return the text of a file with its line ends as they are.

    Raises:
        UsageError: if the file cannot be read, is larger than `LARGEST_FILE`, or is not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UsageError(
                f"{path}: the file has {size:,} bytes; at most {LARGEST_FILE:,} are supported: split it, or shorten "
                "its names and texts"
            )
        # Decoded by hand: reading in text mode would turn CR LF into LF, and files are shown as they are.
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise _unreadable(str(path), error) from None


def _files_below(root: Path, path: str, known: set[str]) -> Iterator[Path]:
    """Yield the files of known suffixes in a folder and below it, without what tools keep there, such as .git."""

    def fail(error: OSError) -> NoReturn:
        raise _unreadable(str(error.filename or path), error)

    entries = 0
    for folder, folders, names in os.walk(root, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        entries += len(folders) + len(names)
        if entries > MOST_ENTRIES:
            raise UsageError(
                f"{path}: more than {MOST_ENTRIES:,} files and folders; name the folder of the workflows, or one file"
            )
        shown = (Path(folder, name) for name in names if not name.startswith("."))
        try:
            yield from [file for file in shown if file.suffix.lower() in known and file.is_file()]
        except OSError as error:
            fail(error)


def _holds_workflow(path: Path) -> bool:
    """Return True if a JSON file says that it is a workflow, whether or not it can be read as one."""
    try:
        return path.stat().st_size <= LARGEST_FILE and f'"{FORMAT}"'.encode() in path.read_bytes()
    except OSError as error:
        raise _unreadable(str(path), error) from None


def _unreadable(path: str, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"{path}: cannot be read: {reason}; check the path and its permissions")
