"""The workflow files at a path that a user types, found within bounds and divided into projects.

A path is a file, a folder or a pattern such as `flows/*.mmd`; `order.bpmn::Shop` names one workflow of a file. The
format of a file is found by its suffix and its content. Files whose workflows refer to each other by name are one
project; every other file is a project of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath, PurePosixPath
from typing import Final, NamedTuple, NoReturn

from ....errors import UsageError
from ....notations import NOTATIONS, Notation, known_notations
from ....notations.notation import decode_utf8
from ..family_options import SHOWN_VERBATIM

LARGEST_FILE: Final = 4_000_000  # bytes; a workflow of 1,000 tasks has about a tenth of that
MOST_ENTRIES: Final = 20_000  # files and folders that are searched
MOST_PROJECTS: Final = 1_000  # of one path
MOST_REFERRED: Final = 50  # files that a file brings in by its references
MARKDOWN_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx"})
PAGE: Final = "https://github.com/pytest-taskgraph/pytest-taskgraph/blob/main/docs/reference/notations.md"
_SEARCHED: Final = ".github"  # the only hidden folder that is searched
_MAGIC: Final = re.compile(r"[*?\[]")
_EVERYTHING: Final = ("**",)


class FoundProject(NamedTuple):
    """Files that are one project, under a path that a user can type.

    Args:
        path: The path.
        files: The files by their names as they are shown; of several that are not joined, the first refers to others.
        notations: The notations that read them, at least one: several are variants of one.
    """

    path: str
    files: Mapping[str, Path]
    notations: tuple[Notation, ...]

    @property
    def is_joined(self) -> bool:
        """Return True if the files refer to each other by the names of their workflows."""
        return self.notations[0].is_joined


class FoundFiles(NamedTuple):
    """The projects at a path, at least one, and files there of a known suffix that hold no workflow."""

    projects: tuple[FoundProject, ...]
    skipped_files: tuple[str, ...] = ()


class StatedPath(NamedTuple):
    """A path that a user states, with what is shown of it.

    Args:
        place: The file, the folder or the pattern.
        workflow: The name of the only workflow of the file that is shown; empty for all.
        is_verbatim: True if files are shown verbatim.
    """

    place: str
    workflow: str
    is_verbatim: bool


def split_path(path: str) -> StatedPath:
    """Return the parts of a path; `::` in the name of a file or folder that exists begins no name of a workflow."""
    stated = path.removesuffix(SHOWN_VERBATIM)
    place, _, workflow = stated.partition("::") if not os.path.exists(stated) else (stated, "", "")
    return StatedPath(place, workflow, stated != path)


def find_files(path: str) -> FoundFiles:
    """Return the workflow files at a path; the paths of their projects end as the path does.

    Raises:
        UsageError: if there is no workflow file, or the path cannot be read.
    """
    place = split_path(path).place
    found = _files_at(place)
    projects = [project._replace(path=project.path + path[len(place) :]) for project in found.projects]
    return found._replace(projects=tuple(projects))


def _files_at(path: str) -> FoundFiles:
    """Return the workflow files at a path.

    In a folder, and among the files that match a pattern, those that are not recognised as workflows are skipped.

    Args:
        path: A file, a folder, which is searched with its sub-folders, or a pattern with `*`, `?`, `[` or `**`.

    Raises:
        UsageError: if there is no workflow file, or the path cannot be read.
    """
    try:
        if Path(path).is_file():
            return FoundFiles((_project_of_file(path, Path(path), notations_of_named(path)),))
        base, pattern = split_pattern(path)
        if not base.is_dir():
            raise UsageError(
                f"{path}: no such file or folder; --taskgraph-workflow takes a workflow file, a folder of them, or a "
                "pattern in quotes such as 'flows/*.mmd'"
            )
        if base.resolve().parent == base.resolve():
            raise UsageError(f"{path}: the root of the file system is not a project; name the folder of the workflows")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    candidates = sorted(_files_below(base, path, pattern))
    notations = {file: notations_of(file, _text_to_recognise(file)) for file in candidates}
    recognised = {file: found for file, found in notations.items() if found}
    skipped = [
        file.relative_to(base).as_posix()
        for file in candidates
        if file not in recognised and file.suffix.lower() not in NOTATIONS["prose"].suffixes  # those are notes
    ]
    projects = tuple(_divide(path, base, pattern, recognised))
    if not projects:
        place = "in this folder" if pattern == _EVERYTHING else f"among the {len(candidates)} files that match"
        more = f"; skipped: {', '.join(skipped[:5])}" if skipped else ""
        raise UsageError(f"{path}: no workflow file {place}; known: {describe_formats()}{more}; see {PAGE}")
    if len(projects) > MOST_PROJECTS:
        raise UsageError(
            f"{path}: {len(projects):,} workflow files; at most {MOST_PROJECTS:,} are supported: name a folder with "
            "fewer, or a pattern"
        )
    return FoundFiles(projects, tuple(skipped))


def split_pattern(path: str) -> tuple[Path, tuple[str, ...]]:
    """Return the folder of a path and the parts of the pattern below it; everything below it if it has no pattern."""
    parts = PurePath(path).parts
    first = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    if first == len(parts) or Path(path).is_dir():
        return Path(path), _EVERYTHING
    return Path(*parts[:first]), parts[first:]


def notations_of_named(path: str) -> tuple[Notation, ...]:
    """Return the notations of a file that a user names, at least one.

    Raises:
        UsageError: if no notation reads files of that suffix, or none recognises the content.
    """
    file = Path(path)
    candidates = _notations_of_suffix(file)
    if not candidates:
        suffix = file.suffix or file.name
        raise UsageError(f"{path}: no notation for files {suffix!r}; known: {describe_formats()}; see {PAGE}")
    # A notation that is written, or alone has the suffix, states in its own errors what it misses, with the place.
    stating = [n for n in candidates if n.name in NOTATIONS or len(candidates) == 1]
    recognised = notations_of(file, read_text(file)) or tuple(stating)
    if not recognised:
        raise UsageError(f"{path}: a {file.suffix} file of no known format; known: {describe_formats()}; see {PAGE}")
    return recognised


def notations_of(file: Path, text: str) -> tuple[Notation, ...]:
    """Return the notations that recognise a file; several are variants of one."""
    if is_markdown(file) and (fenced := tuple(n for n in known_notations() if n.is_fenced_in(text))):
        return fenced
    return tuple(notation for notation in _notations_of_suffix(file) if notation.recognises(text))


def _notations_of_suffix(file: Path) -> list[Notation]:
    return [notation for notation in known_notations() if file.suffix.lower() in notation.suffixes]


def is_markdown(path: Path) -> bool:
    """Return True for a file with a suffix of Markdown."""
    return path.suffix.lower() in MARKDOWN_SUFFIXES


def describe_formats() -> str:
    """Return the suffixes of all notations, with what makes a file recognised, and the notation."""
    variants: dict[tuple[str, ...], Notation] = {}
    for notation in known_notations():
        variants.setdefault((*notation.suffixes, notation.recognised_by), notation)
    return ", ".join(
        f"{' '.join(n.suffixes)}{f' with {n.recognised_by}' if n.recognised_by else ''} ({title_of(n)})"
        for n in variants.values()
    )


def title_of(notation: Notation) -> str:
    """Return the title of a notation without that of its variant."""
    return notation.title.partition(" (")[0]


def read_text(path: Path) -> str:
    """Return the text of a file with its line ends unchanged.

    Raises:
        UsageError: if the file cannot be read, is larger than `LARGEST_FILE`, or is not in the encoding of its format.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UsageError(
                f"{path}: the file has {size:,} bytes; at most {LARGEST_FILE:,} are supported: split it, or shorten "
                "its names and texts"
            )
        # Reading in text mode would turn CR LF into LF, but files are shown verbatim.
        return _decode(path, path.read_bytes())
    except UnicodeDecodeError as error:
        encoding = "UTF-8" if error.encoding == "utf-8" else error.encoding
        raise UsageError(f"{path}: byte {error.start} is not {encoding}; save the file as UTF-8") from None
    except LookupError as error:
        raise UsageError(f"{path}: {error}; save the file as UTF-8") from None
    except OSError as error:
        raise _unreadable(str(path), error) from None


def _text_to_recognise(file: Path) -> str:
    """Return the text of a file as far as it can be read; what is wrong with it is reported when it is loaded."""
    try:
        data = b"" if file.stat().st_size > LARGEST_FILE else file.read_bytes()
    except OSError:
        return ""
    try:
        return _decode(file, data)
    except (UnicodeDecodeError, LookupError):
        return data.decode("utf-8-sig", errors="replace")


def _decode(file: Path, data: bytes) -> str:
    """Return the text of a file. Raises UnicodeDecodeError and LookupError."""
    notations = _notations_of_suffix(file)
    return notations[0].decode(data) if notations else decode_utf8(data)


def _divide(
    path: str, base: Path, pattern: tuple[str, ...], recognised: Mapping[Path, tuple[Notation, ...]]
) -> Iterator[FoundProject]:
    """Yield the projects of the recognised files, in the order of their first files."""
    joined: dict[tuple[str, ...], list[Path]] = {}
    for file, notations in recognised.items():
        if notations[0].is_joined:
            joined.setdefault(tuple(notation.name for notation in notations), []).append(file)
    whole = {
        files[0]: path if len(files) == len(recognised) else _narrower_pattern(base, pattern, files, recognised)
        for files in joined.values()
    }
    together = {files[0]: files for files in joined.values() if whole[files[0]]}
    singly = {*recognised} - {file for files in together.values() for file in files}
    for file, notations in recognised.items():
        if file in together:
            names = {each.relative_to(base).as_posix(): each for each in together[file]}
            yield FoundProject(whole[file], names, notations)
        elif file in singly:
            yield _project_of_file(str(file), file, notations)


def _narrower_pattern(
    base: Path, pattern: tuple[str, ...], together: Sequence[Path], recognised: Mapping[Path, object]
) -> str:
    """Return a path that a user can type for some of the recognised files and no others; empty if none is found."""
    suffix, last = together[0].suffix, pattern[-1]
    candidates = [
        (*pattern, f"*{suffix}") if last == "**" else (*pattern[:-1], last + suffix),
        (*pattern[:-1], PurePath(last).stem + suffix),
    ]
    for candidate in candidates:
        if [file for file in recognised if _matches(file.relative_to(base).parts, candidate)] == together:
            return str(base.joinpath(*candidate))
    return ""


def _project_of_file(path: str, file: Path, notations: tuple[Notation, ...]) -> FoundProject:
    """Return the project of a file with the files of its folder that it refers to, directly or through others."""
    files = {file.name: file}
    _add_referred(file, notations[0], files)
    return FoundProject(path, files, notations)


def _add_referred(file: Path, notation: Notation, files: dict[str, Path]) -> None:
    """Add the files that a file refers to, and theirs; only those beside it, for they are sent to a model."""
    for reference in notation.references(_text_to_recognise(file)):
        name = PurePosixPath(reference).name
        other = file.with_name(name) if name else file
        is_new = name not in files and len(files) <= MOST_REFERRED and other.is_file()
        if is_new and notation in notations_of(other, _text_to_recognise(other)):
            files[name] = other
            _add_referred(other, notation, files)


def _files_below(base: Path, path: str, pattern: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of known suffixes below a folder that match the pattern, without hidden ones such as .git."""

    def fail(error: OSError) -> NoReturn:
        raise _unreadable(str(error.filename or path), error)

    suffixes = {*MARKDOWN_SUFFIXES, *(suffix for notation in known_notations() for suffix in notation.suffixes)}
    entries = 0
    for folder, folders, names in os.walk(base, onerror=fail):
        inside = Path(folder).relative_to(base).parts
        is_deepest = "**" not in pattern and len(inside) + 1 == len(pattern)
        visible_folders = sorted(name for name in folders if not name.startswith(".") or name == _SEARCHED)
        folders[:] = [] if is_deepest else visible_folders
        entries += len(visible_folders) + len(names)
        if entries > MOST_ENTRIES:
            raise UsageError(
                f"{path}: more than {MOST_ENTRIES:,} files and folders; name the folder of the workflows, or one file"
            )
        visible = [Path(folder, name) for name in names if not name.startswith(".")]
        try:
            for file in visible:
                if file.suffix.lower() in suffixes and _matches((*inside, file.name), pattern) and file.is_file():
                    yield file
        except OSError as error:
            fail(error)


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return True if the parts of a path match those of a pattern, in which `**` stands for any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        rest = pattern[1:] or ("*",)
        return any(_matches(parts[i:], rest) for i in range(len(parts)))
    return bool(parts) and fnmatch(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _unreadable(path: str, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"{path}: cannot be read: {reason}; check the path and its permissions")
