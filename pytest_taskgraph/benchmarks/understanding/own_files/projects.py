"""The user's own workflows: files of one notation, found within bounds and shown verbatim."""

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

LARGEST_FILE = 4_000_000  # bytes; a workflow of 1,000 tasks has about a tenth of that
MOST_ENTRIES = 20_000  # files and folders that are searched
JSON_SUFFIX = ".json"
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Workflow files at a path, and files beside them that contain no workflow."""

    chosen: dict[str, Path]  # by path in the project
    skipped_files: tuple[str, ...] = ()


def find_files(path: str) -> FoundFiles:
    """Return the workflow files at a path: the file itself, or those of a folder and its sub-folders.

    In a folder, `.json` files without the format of workflows are skipped, and so are files of prose beside those of
    other notations: they count as notes.

    Args:
        path: A file or folder.

    Raises:
        UsageError: if there is no workflow file, or the path cannot be read.
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
            raise UsageError(f"{path}: the root of the file system is not a project; name the folder of the workflows")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    suffixes = known_suffixes()
    candidates = sorted(_files_below(root, path, suffixes))
    data = [file for file in candidates if file.suffix.lower() == JSON_SUFFIX and not _declares_workflow(file)]
    candidates = [file for file in candidates if file not in set(data)]
    # Notes beside the workflows are prose too: they count only if there is no other file, those with charts first.
    chosen = [file for file in candidates if file.suffix.lower() not in NOTATIONS["prose"].suffixes]
    chosen = chosen or [file for file in candidates if is_markdown(file) and _holds_notation(file)] or candidates
    skipped_files = tuple(file.relative_to(root).as_posix() for file in data)
    if not chosen:
        unread = f'; without "format": "{FORMAT}": {", ".join(skipped_files)}' if skipped_files else ""
        raise UsageError(f"{path}: no workflow file in this folder; known: {', '.join(sorted(suffixes))}{unread}")
    return FoundFiles({file.relative_to(root).as_posix(): file for file in chosen}, skipped_files)


def known_suffixes() -> set[str]:
    """Return the suffixes of all notations."""
    return {*MARKDOWN_SUFFIXES, *(suffix for notation in NOTATIONS.values() for suffix in notation.suffixes)}


def is_markdown(path: Path) -> bool:
    """Return True for a file with a suffix of Markdown."""
    return path.suffix.lower() in MARKDOWN_SUFFIXES


def _holds_notation(path: Path) -> bool:
    """Return True if a Markdown file holds a notation in code fences."""
    try:
        text = path.read_bytes()[:LARGEST_FILE].decode(errors="replace")
    except OSError as error:
        raise _unreadable(str(path), error) from None
    return any(notation.is_fenced_in(text) for notation in NOTATIONS.values())


def read_text(path: Path) -> str:
    """Return the text of a file with its line ends unchanged.

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
        # Reading in text mode would turn CR LF into LF, but files are shown verbatim.
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise _unreadable(str(path), error) from None


def _files_below(root: Path, path: str, suffixes: set[str]) -> Iterator[Path]:
    """Yield the files of known suffixes in a folder and below it, without hidden ones such as .git."""

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
        visible = (Path(folder, name) for name in names if not name.startswith("."))
        try:
            yield from [file for file in visible if file.suffix.lower() in suffixes and file.is_file()]
        except OSError as error:
            fail(error)


def _declares_workflow(path: Path) -> bool:
    """Return True if a JSON file declares the format of workflows, whether or not it can be read."""
    try:
        return path.stat().st_size <= LARGEST_FILE and f'"{FORMAT}"'.encode() in path.read_bytes()
    except OSError as error:
        raise _unreadable(str(path), error) from None


def _unreadable(path: str, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"{path}: cannot be read: {reason}; check the path and its permissions")


LONGEST_NAME = 500  # characters of the name of a workflow, task, data or gateway
NAME_EXCERPT = 40  # characters of a name that an error message repeats


@dataclass(frozen=True, slots=True)
class Project:
    """Workflows and texts read from a path."""

    path: str
    text: str  # as it is shown: verbatim, a folder's files with path headings
    notation: Notation
    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)  # path to text, as it is shown
    skipped_files: tuple[str, ...] = ()  # files beside them that contain no workflow

    @property
    def digest(self) -> str:
        """Return the digest of the workflows."""
        return digest(self.workflow)


@catalog_cache
@lru_cache(maxsize=32)
def load(path: str) -> Project:
    """Return the project at a path.

    Raises:
        UsageError: if a text cannot be read, with file and line.
        WorkflowError: if a workflow is not well-formed.
    """
    found_files = find_files(path)
    texts = {name: read_text(file) for name, file in found_files.chosen.items()}
    notations = _notations(path, found_files.chosen, texts)
    by_path = {str(file): texts[name] for name, file in found_files.chosen.items()}
    interpretations = {file: notations[0].interpret(text, file) for file, text in by_path.items()}
    workflow = _checked(path, _project_of(path, {file: each.workflows for file, each in interpretations.items()}))
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((each for each in notations if not features(workflow) & each.unsupported), notations[0])
    shown_files = {file: each.presented for file, each in interpretations.items()}
    shown_texts = [*shown_files.values()]
    if len(texts) > 1:
        shown_texts = [f"{notation.heading(name)}\n{text}" for name, text in zip(texts, shown_texts, strict=True)]
    whole = "\n\n".join(text.strip("\n") for text in shown_texts)
    if notation.interpreter is not None and len(texts) > 1:  # its rules depend on all that is shown
        workflow = _checked(path, combine_workflows(notation.interpret(whole).workflows))
    return Project(path, whole, notation, workflow, shown_files, found_files.skipped_files)


def _checked(path: str, workflow: Workflow) -> Workflow:
    """Return the workflow.

    Raises:
        WorkflowError: if it is not well-formed; the message names the path.
    """
    try:
        check(workflow)
    except WorkflowError as error:
        raise WorkflowError(f"{path}: {error}") from None
    return workflow


def _notations(path: str, files: dict[str, Path], texts: Mapping[str, str]) -> list[Notation]:
    """Return the notations of such files; at least one.

    Raises:
        UsageError: if no notation reads all files.
    """
    if embedded := [n for n in NOTATIONS.values() if _is_embedded(n, files, texts)]:
        return embedded
    suffixes = {file.suffix.lower() for file in files.values()}
    by_suffix = {suffix: [n for n in NOTATIONS.values() if suffix in n.suffixes] for suffix in sorted(suffixes)}
    if unknown := [suffix for suffix, notations in by_suffix.items() if not notations]:
        raise UsageError(f"{path}: no notation for files {unknown[0]!r}; known: {', '.join(sorted(known_suffixes()))}")
    shared = [n for n in NOTATIONS.values() if all(n in notations for notations in by_suffix.values())]
    if not shared:
        raise UsageError(f"{path}: files of several notations ({', '.join(sorted(by_suffix))}); give one folder each")
    return shared


def _is_embedded(notation: Notation, files: dict[str, Path], texts: Mapping[str, str]) -> bool:
    """Return True if some files are Markdown with the notation in code fences, and all others are of the notation."""
    fenced = {name for name, file in files.items() if is_markdown(file) and notation.is_fenced_in(texts[name])}
    others = (file for name, file in files.items() if name not in fenced)
    return bool(fenced) and all(file.suffix.lower() in notation.suffixes for file in others)


def _project_of(path: str, parsed: Mapping[str, tuple[Workflow, ...]]) -> Workflow:
    """Return the project of the workflows of each file.

    Raises:
        WorkflowError: if two files hold the same workflow, or a name is too long for a question.
    """
    places: dict[str, str] = {}
    for file, workflows in parsed.items():
        for workflow in workflows:
            name = str(workflow.qualified)
            if name in places:
                where = f"twice in {file}" if places[name] == file else f"in {places[name]} and in {file}"
                raise WorkflowError(f"{path}: workflow {name!r} is {where}; expected once")
            places[name] = file
    project = combine_workflows([workflow for workflows in parsed.values() for workflow in workflows])
    nodes_by_level = (((level,), level.tasks, level.data, level.gateways) for level in every_level(project))
    names = [node.name for kinds in nodes_by_level for nodes in kinds for node in nodes]
    if longest := max((name for name in names if len(name) > LONGEST_NAME), key=len, default=""):
        raise WorkflowError(
            f"{path}: the name {longest[:NAME_EXCERPT]!r}… has {len(longest):,} characters; at most {LONGEST_NAME} are "
            "supported: shorten it, and write the rest as a description"
        )
    return project


def shown_workflows(path: str, converted: str) -> list[Workflow]:
    """Return the workflows of a project that are shown, separately where they are converted."""
    project = load(path).workflow
    if not converted:
        return [project]
    converted_workflows = (fit(root, NOTATIONS[converted]) for root in rotations(project))
    return [workflow for workflow in converted_workflows if workflow is not None]


def fit(root: Workflow, notation: Notation) -> Workflow | None:
    """Return the workflow in a form that the notation supports, with references expanded if needed, or None."""
    for form in (lambda w: w, assemble, expand):
        shaped = form(root)
        if not features(shaped) & notation.unsupported:
            return shaped
    return None
