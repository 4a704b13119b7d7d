"""The files of a data set: those of a folder or a zip archive, or a single file.

An archive is read in memory and never unpacked, so the names in it can do no harm; every size is limited. Hidden files
and those that macOS adds to archives are skipped.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from pathlib import Path, PurePosixPath
from typing import IO, Final, TypeVar

from ...errors import UsageError
from .data_problems import DataProblems, excerpt

LARGEST_FILE: Final = 50_000_000  # bytes, of a file as unpacked that is read as a whole
LARGEST_SET: Final = 100_000_000  # bytes, of all such files together, and of an archive
MOST_FILES: Final = 1_000
MOST_KEPT: Final = 4  # data sets of one reader that are kept in memory
DAMAGES: Final = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
"""Exceptions of reading a file of a folder or an archive that is damaged or may not be read."""

Fingerprint = tuple[tuple[str, int, int], ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the data: its name below the path, how it is opened, and why it cannot be read, if that is known."""

    name: str
    open: Callable[[], IO[bytes]]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class DataFormat:
    """A format of data: how the data set is stated, and which files hold it.

    Args:
        name: The name of the data set in `--taskgraph-data`.
        suffixes: The suffixes of the names of its files, in lower case.
        item: What its files hold, in the singular, for messages.
        expected: What the path should be, for messages.
        largest_archive: Most bytes of an archive of it.
    """

    name: str
    suffixes: tuple[str, ...]
    item: str
    expected: str
    largest_archive: int | None = None

    def option(self, path: Path) -> str:
        """Return the option that states the path."""
        return f"--taskgraph-data={self.name}={path}"

    def holds(self, name: str) -> bool:
        """Return True if a file of this name may belong to the data set; a hidden file does not."""
        parts = PurePosixPath(name).parts
        hidden = any((part.startswith(".") and part not in (".", "..")) or part == "__MACOSX" for part in parts)
        return name.lower().endswith(self.suffixes) and not hidden


@contextmanager
def restate_path(path: Path, form: DataFormat, words: str) -> Iterator[None]:
    """Replace the option by the words of a command in errors about its data.

    Args:
        path: The path, which the readers of the data name with `--taskgraph-data`.
        form: The format of the data.
        words: How the command states the path, such as "--recipes=PATH".

    Raises:
        UsageError: if the data raise it, with the words in place of the option.
    """
    try:
        yield
    except UsageError as error:
        raise UsageError(str(error).replace(form.option(path), words)) from None


def fingerprint(path: Path, form: DataFormat) -> Fingerprint:
    """Return the names, times and sizes of the files of the data, which change with any file.

    Raises:
        UsageError: if the path does not exist, or may not be read.
    """
    if not path.exists():
        raise UsageError(f"{form.option(path)}: no such file or folder; {form.expected}")
    if not path.is_file() and not path.is_dir():  # a pipe: opening it waits for whoever writes
        raise UsageError(f"{form.option(path)}: neither a file nor a folder, but a pipe or device; {form.expected}")
    try:
        files = [path] if path.is_file() else [path / name for name in _names_in(path, form)]
        return tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except OSError as error:
        raise UsageError(f"{form.option(path)}: {error.strerror or error}; {form.expected}") from None


def keep_until_changed(form: DataFormat) -> Callable[[Callable[[Path], T]], Callable[[Path], T]]:
    """Return a decorator for a reader of a data set that keeps the result until a file of the data changes.

    The reader raises UsageError if the path does not exist, or may not be read.

    Args:
        form: The format of the data.
    """

    def decorate(read: Callable[[Path], T]) -> Callable[[Path], T]:
        @lru_cache(maxsize=MOST_KEPT)
        def read_version(path: Path, _: Fingerprint) -> T:
            return read(path)

        @wraps(read)
        def read_or_recall(path: Path) -> T:
            return read_version(path, fingerprint(path, form))

        return read_or_recall

    return decorate


@contextmanager
def data_files(path: Path, form: DataFormat) -> Iterator[list[DataFile]]:
    """Yield the list of files of the data at a path, sorted by name: a folder's, an archive's, or the single file.

    Raises:
        UsageError: if it cannot be read.
    """
    try:
        if path.is_dir():
            yield [DataFile(name, partial(_open, path / name)) for name in _names_in(path, form)]
        elif path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
            with _archive(path, form) as archive:
                members = sorted(
                    (info for info in archive.infolist() if not info.is_dir()), key=lambda info: info.filename
                )
                yield [
                    DataFile(info.filename, partial(archive.open, info), _fault(info))
                    for info in members
                    if form.holds(info.filename)
                ]
        else:
            yield [DataFile(path.name, partial(_open, path))]
    except OSError as error:
        raise UsageError(f"{form.option(path)}: {error.strerror or error}; {form.expected}") from None


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _names_in(folder: Path, form: DataFormat) -> list[str]:
    """Return the names of the data files below a folder, sorted."""
    paths = (Path(above) / name for above, _, names in os.walk(folder) for name in names)
    names = (path.relative_to(folder).as_posix() for path in paths if path.is_file())
    return sorted(filter(form.holds, names))


def _archive(path: Path, form: DataFormat) -> zipfile.ZipFile:
    most = LARGEST_SET if form.largest_archive is None else form.largest_archive
    if path.stat().st_size > most:
        raise UsageError(f"{form.option(path)}: the archive has more than {most} bytes; {form.expected}")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UsageError(
            f"{form.option(path)}: the zip archive cannot be read ({excerpt(str(error))}); {form.expected}"
        ) from None


def _fault(member: zipfile.ZipInfo) -> str:
    """Return why a member of an archive cannot be read; empty if it can."""
    if member.flag_bits & 1:
        return "it is encrypted"
    # Other methods decompress without limit whatever they receive at once.
    is_supported = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return "" if is_supported else "its compression is neither stored nor deflated"


def contents(
    files: Sequence[DataFile], problems: DataProblems, most: int | None = None
) -> Iterator[tuple[DataFile, bytes]]:
    """Yield the readable files with their contents, at most `most` or MOST_FILES; other files become problems."""
    most = MOST_FILES if most is None else most
    left = LARGEST_SET
    for number, file in enumerate(files):
        content: bytes | str = file.fault
        if number >= most:
            content = f"there are more than {most} files"
        elif not content:
            content = _content(file, min(LARGEST_FILE, left))
        if isinstance(content, str):
            problems.add("files that cannot be read", f"{excerpt(file.name)}: {content}; the file is left out")
            continue
        left -= len(content)
        yield file, content


def _content(file: DataFile, most: int) -> bytes | str:
    """Return the bytes of a file, or why it cannot be read."""
    try:
        with file.open() as opened:
            content = opened.read(most + 1)
    except DAMAGES as error:
        return damage(error)
    return content if len(content) <= most else f"it has more than {most} bytes"


def damage(error: Exception) -> str:
    """Return the reason why a file cannot be read, after one of `DAMAGES`."""
    return f"it is damaged or may not be read ({excerpt(str(error)) or type(error).__name__})"


def nothing_usable(path: Path, form: DataFormat, files: Sequence[DataFile], problems: DataProblems) -> UsageError:
    """Return the error that no item can be used, with what the path holds and what was expected."""
    names = [excerpt(file.name) for file in files[:5]]
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    listing = ", ".join(names) + more if names else f"no {' or '.join(form.suffixes)} file"
    first = "".join(f"; {line}" for line in problems.lines[:1])
    return UsageError(f"{form.option(path)}: no {form.item} that can be used; found {listing}{first}; {form.expected}")
