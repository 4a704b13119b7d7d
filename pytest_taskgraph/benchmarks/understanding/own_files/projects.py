"""The user's own workflows: files of one notation, found within bounds, and shown as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from ....catalog import catalog_cache
from ....errors import UsageError, WorkflowError
from ....notations import NOTATIONS
from ....notations.notation import Notation, combine_workflows
from ....notations.plain_json import FORMAT, digest
from ....workflow.check import check
from ....workflow.features import features
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import assemble, expand
from ..patterns.scope import rotations

LARGEST_FILE = 4_000_000  # bytes; a workflow of 1,000 tasks takes a tenth of that
MOST_ENTRIES = 20_000  # files and folders that are looked through
JSON_SUFFIX = ".json"
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The workflow files at a path, and those beside them that hold no workflow."""

    chosen: dict[str, Path]  # by their path in the project
    skipped_files: tuple[str, ...] = ()


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
    skipped_files = tuple(file.relative_to(root).as_posix() for file in data)
    if not chosen:
        beside = f'; without "format": "{FORMAT}": {", ".join(skipped_files)}' if skipped_files else ""
        raise UsageError(f"{path}: no workflow file in this folder; known: {', '.join(sorted(known))}{beside}")
    return FoundFiles({file.relative_to(root).as_posix(): file for file in chosen}, skipped_files)


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
    return any(notation.is_fenced_in(text) for notation in NOTATIONS.values())


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


LONGEST_NAME = 500  # characters of the name of a workflow, task, data or gateway
SHOWN = 40  # characters of a name that an error message repeats


@dataclass(frozen=True, slots=True)
class Project:
    """What was read from a path."""

    path: str
    text: str  # as it is shown: verbatim, a folder's files with path headings
    notation: Notation
    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)  # path to text, as it is shown
    skipped_files: tuple[str, ...] = ()  # files beside them that hold no workflow

    @property
    def digest(self) -> str:
        """Of what the files say."""
        return digest(self.workflow)


@catalog_cache
@lru_cache(maxsize=32)
def load(path: str) -> Project:
    """The project at a path. Raises UsageError, with file and line where a text cannot be read."""
    found = find_files(path)
    texts = {name: read_text(file) for name, file in found.chosen.items()}
    fitting = _notations(path, found.chosen, texts)
    by_path = {str(file): texts[name] for name, file in found.chosen.items()}
    read = {file: fitting[0].interpret(text, file) for file, text in by_path.items()}
    workflow = _checked(path, _together(path, {file: one.workflows for file, one in read.items()}))
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((one for one in fitting if not features(workflow) & one.unsupported), fitting[0])
    shown = [one.presented for one in read.values()]
    if len(texts) > 1:
        shown = [f"{notation.heading(name)}\n{text}" for name, text in zip(texts, shown, strict=True)]
    whole = "\n\n".join(text.strip("\n") for text in shown)
    if notation.interpreter is not None and len(texts) > 1:  # its rules depend on all that is shown
        workflow = _checked(path, together(notation.interpret(whole).workflows))
    return Project(
        path, whole, notation, workflow, {file: one.shown for file, one in read.items()}, found.skipped_files
    )


def _checked(path: str, workflow: Workflow) -> Workflow:
    """Return the workflow. Raises WorkflowError with the path if it is not well-formed."""
    try:
        check(workflow)
    except WorkflowError as error:
        raise WorkflowError(f"{path}: {error}") from None
    return workflow


def _notations(path: str, files: dict[str, Path], texts: Mapping[str, str]) -> list[Notation]:
    """Return the notations of such files; at least one. Raises UsageError."""
    if embedded := [n for n in NOTATIONS.values() if _all_hold(n, files, texts)]:
        return embedded
    suffixes = {file.suffix.lower() for file in files.values()}
    by_suffix = {one: [n for n in NOTATIONS.values() if one in n.suffixes] for one in sorted(suffixes)}
    if unknown := [suffix for suffix, notations in by_suffix.items() if not notations]:
        raise UsageError(f"{path}: no notation for files {unknown[0]!r}; known: {', '.join(sorted(known_suffixes()))}")
    shared = [n for n in NOTATIONS.values() if all(n in notations for notations in by_suffix.values())]
    if not shared:
        raise UsageError(f"{path}: files of several notations ({', '.join(sorted(by_suffix))}); give one folder each")
    return shared


def _all_hold(notation: Notation, files: dict[str, Path], texts: Mapping[str, str]) -> bool:
    """Return True if some files are Markdown that holds the notation in code fences, and all others are of it."""
    fenced = {name for name, file in files.items() if is_markdown(file) and notation.is_fenced_in(texts[name])}
    others = (file for name, file in files.items() if name not in fenced)
    return bool(fenced) and all(file.suffix.lower() in notation.suffixes for file in others)


def _together(path: str, parsed: Mapping[str, tuple[Workflow, ...]]) -> Workflow:
    """Return the project of the workflows of each file.

    Raises:
        WorkflowError: if two files hold the same workflow, or a name is too long to be asked about.
    """
    places: dict[str, str] = {}
    for file, workflows in parsed.items():
        for one in workflows:
            name = str(one.qualified)
            if name in places:
                both = f"twice in {file}" if places[name] == file else f"in {places[name]} and in {file}"
                raise WorkflowError(f"{path}: workflow {name!r} is {both}; expected once")
            places[name] = file
    project = combine_workflows([one for workflows in parsed.values() for one in workflows])
    named = (((level,), level.tasks, level.data, level.gateways) for level in every_level(project))
    names = [one.name for kinds in named for some in kinds for one in some]
    if longest := max((name for name in names if len(name) > LONGEST_NAME), key=len, default=""):
        raise WorkflowError(
            f"{path}: the name {longest[:SHOWN]!r}… has {len(longest):,} characters; at most {LONGEST_NAME} are "
            "supported: shorten it, and write the rest as a description"
        )
    return project


def shown_workflows(path: str, converted: str) -> list[Workflow]:
    """Return the workflows of a project that are shown, one at a time where they are converted."""
    project = load(path).workflow
    if not converted:
        return [project]
    shown = (fit(root, NOTATIONS[converted]) for root in rotations(project))
    return [one for one in shown if one is not None]


def fit(root: Workflow, notation: Notation) -> Workflow | None:
    """Return the workflow as the notation can say it: derivation resolved, sub-workflows inline; None if it cannot."""
    for form in (lambda w: w, assemble, expand):
        shaped = form(root)
        if not features(shaped) & notation.unsupported:
            return shaped
    return None
