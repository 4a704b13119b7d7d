"""The published tasks of TaskLAMA, or a user's own in their format: `--taskgraph-data=tasklama=PATH`.

The path is that of the zip archive, of a folder with its files, or of a single file. Files are `.jsonl` or `.json` with
a task a line (`task_lines`). Their names state their split: train, validation (valid, val, dev) or test; where the name
of a file does not, those of its folders do, the innermost first. A single file whose name states no split holds tasks
of the split test.

An archive is read in memory and never unpacked, so the names in it can do no harm; every size is limited.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import IO, Final, cast

from ....errors import UsageError
from ..complex_task import ComplexTask
from ..tasklama_options import Split
from .task_lines import StatedCounts, TaskProblems, read_tasks, shown
from .task_set import SPLITS, TaskSet

LARGEST_FILE: Final = 50_000_000  # bytes, of a file as unpacked; the published ones have about three million together
LARGEST_SET: Final = 100_000_000  # bytes, of all files together, and of an archive
MOST_FILES: Final = 1_000
PUBLISHED_TASKS: Final[Mapping[Split, int]] = {"train": 965, "validation": 169, "test": 478}
PUBLISHED_STEPS: Final = 12_118
PUBLISHED_DEPENDENCIES: Final = 11_105
EXPECTED: Final = (
    "expected the archive tasklama.zip, its folder, or a file of it: .jsonl files with a task a line, their names with "
    "train, validation or test"
)

_Fingerprint = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class _DataFile:
    """A file of the data: its name below the path, how it is opened, and why it cannot be read, if that is known."""

    name: str
    open: Callable[[], IO[bytes]]
    fault: str = ""


def read_published(path: Path) -> TaskSet:
    """Return the tasks at the path; they are read again only if a file was changed.

    Raises:
        UsageError: if nothing is there, or no task of it can be used.
    """
    if not path.exists():
        raise UsageError(f"{_option(path)}: no such file or folder; {EXPECTED}")
    try:
        return _read(str(path), _fingerprint(path))
    except OSError as error:
        raise UsageError(f"{_option(path)}: {error.strerror or error}; {EXPECTED}") from None


def _fingerprint(path: Path) -> _Fingerprint:
    """Return what changes when a file of the data is changed."""
    files = [path] if path.is_file() else [path / name for name in _names_in(path)]
    return tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)


@lru_cache(maxsize=4)
def _read(text: str, _: _Fingerprint) -> TaskSet:
    path = Path(text)
    if path.is_dir():
        return _task_set(path, [_DataFile(name, partial(_open, path / name)) for name in _names_in(path)])
    if path.suffix.lower() == ".zip" or zipfile.is_zipfile(path):
        return _from_archive(path)
    return _task_set(path, [_DataFile(path.name, partial(_open, path))], "test")


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _names_in(folder: Path) -> list[str]:
    """Return the names of the data files below a folder, sorted."""
    paths = (Path(above) / name for above, _, names in os.walk(folder) for name in names)
    names = (path.relative_to(folder).as_posix() for path in paths if path.is_file())
    return sorted(filter(_is_data, names))


def _from_archive(path: Path) -> TaskSet:
    if path.stat().st_size > LARGEST_SET:
        raise UsageError(f"{_option(path)}: the archive has more than {LARGEST_SET} bytes; {EXPECTED}")
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted((info for info in archive.infolist() if not info.is_dir()), key=lambda info: info.filename)
            files = [
                _DataFile(info.filename, partial(archive.open, info), _fault(info))
                for info in members
                if _is_data(info.filename)
            ]
            return _task_set(path, files)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UsageError(f"{_option(path)}: the zip archive cannot be read ({shown(str(error))}); {EXPECTED}") from None


def _fault(member: zipfile.ZipInfo) -> str:
    """Return why a member of an archive cannot be read; empty if it can."""
    if member.flag_bits & 1:
        return "it is encrypted"
    # The other methods unpack without limit what they are given at once.
    known = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return "" if known else "its compression is neither stored nor deflated"


def _is_data(name: str) -> bool:
    """Return True if a file may hold tasks; hidden files and those that macOS adds to archives do not."""
    parts = PurePosixPath(name).parts
    hidden = any((part.startswith(".") and part not in (".", "..")) or part == "__MACOSX" for part in parts)
    return name.lower().endswith((".jsonl", ".json")) and not hidden


def split_of(name: str) -> Split | None:
    """Return the split that the name of a file or else of one of its folders states; None if none does."""
    for part in reversed(PurePosixPath(name).parts):
        words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", part)]
        stated = [split for split in SPLITS if any(_states(word, split) for word in words)]
        if stated:
            return stated[0] if len(stated) == 1 else None
    return None


def _states(word: str, split: Split) -> bool:
    return word.startswith({"train": "train", "validation": "valid", "test": "test"}[split]) or (
        split == "validation" and word in ("val", "dev")
    )


def _task_set(path: Path, files: Sequence[_DataFile], otherwise: Split | None = None) -> TaskSet:
    """Return the tasks of the files.

    Args:
        path: What the user stated.
        files: The files.
        otherwise: The split of a file whose name states none; None: such files are left out.
    """
    problems = TaskProblems()
    counts = {split: StatedCounts() for split in SPLITS}
    tasks: dict[Split, list[ComplexTask]] = {split: [] for split in SPLITS}
    for file, split, content in _contents(files, otherwise, problems):
        tasks[split] += read_tasks(content, file.name, split, problems, counts[split])
    if not any(tasks.values()):
        raise UsageError(_no_task_message(path, files, problems))
    lines = [*problems.lines, *_backward(counts), *_differences(tasks, counts)]
    return TaskSet.of("published", tasks, lines)


def _contents(
    files: Sequence[_DataFile], otherwise: Split | None, problems: TaskProblems
) -> Iterator[tuple[_DataFile, Split, bytes]]:
    """Yield the files that can be read with their splits and contents; the others are problems."""
    left = LARGEST_SET
    for number, file in enumerate(files):
        split, fault = split_of(file.name) or otherwise, file.fault
        if number >= MOST_FILES:
            fault = f"there are more than {MOST_FILES} files"
        if split is None:
            problems.add("files without a split", f"{shown(file.name)}: its name states no split; the file is left out")
            continue
        content = b"" if fault else _content(file, min(LARGEST_FILE, left))
        if isinstance(content, str):
            fault = content
        if fault:
            problems.add("files that cannot be read", f"{shown(file.name)}: {fault}; the file is left out")
            continue
        left -= len(content)
        yield file, split, cast(bytes, content)


def _content(file: _DataFile, most: int) -> bytes | str:
    """Return the bytes of a file, or why it cannot be read."""
    try:
        with file.open() as opened:
            content = opened.read(most + 1)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        return f"it is damaged or may not be read ({shown(str(error)) or type(error).__name__})"
    return content if len(content) <= most else f"it has more than {most} bytes"


def _backward(counts: Mapping[Split, StatedCounts]) -> Iterator[str]:
    for split, count in counts.items():
        if count.backward:
            yield f"{split}: {count.backward} dependencies run against the order of the steps; they are kept"


def _differences(tasks: Mapping[Split, Sequence[ComplexTask]], counts: Mapping[Split, StatedCounts]) -> Iterator[str]:
    """Yield a line if the data do not have the size that Yuan et al. (2024) state."""
    found = {split: len(tasks[split]) for split in SPLITS}
    steps = sum(count.steps for count in counts.values())
    dependencies = sum(count.dependencies for count in counts.values())
    if (found, steps, dependencies) != (PUBLISHED_TASKS, PUBLISHED_STEPS, PUBLISHED_DEPENDENCIES):
        yield (
            f"tasks: {_counts(found)}; steps: {steps}; dependencies: {dependencies}. The published set has "
            f"{_counts(PUBLISHED_TASKS)}; {PUBLISHED_STEPS}; {PUBLISHED_DEPENDENCIES}: scores are not comparable with "
            "the paper's"
        )


def _counts(counts: Mapping[Split, int]) -> str:
    return ", ".join(f"{split} {count}" for split, count in counts.items())


def _no_task_message(path: Path, files: Sequence[_DataFile], problems: TaskProblems) -> str:
    """Return the message that no task can be used, with what was found and what was expected."""
    names = [shown(file.name) for file in files[:5]]
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    found = ", ".join(names) + more if names else "no .jsonl or .json file"
    first = "".join(f"; {line}" for line in problems.lines[:1])
    return f"{_option(path)}: no task that can be used; found {found}{first}; {EXPECTED}"


def _option(path: Path) -> str:
    return f"--taskgraph-data=tasklama={path}"
