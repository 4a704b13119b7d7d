"""The user's own workflows: files of one notation, found within bounds and shown verbatim."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import NoReturn, TypeVar

from ....catalog import catalog_cache
from ....errors import UsageError, WorkflowError
from ....notations import NOTATIONS
from ....notations.notation import Notation, combine_workflows
from ....notations.plain_json import FORMAT, digest
from ....workflow.check import check, faulty_workflows
from ....workflow.features import features
from ....workflow.guards.syntax import comparisons, parse_guard
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import assemble, configurations, expand
from ..patterns.scope import rotations

LARGEST_FILE = 4_000_000  # bytes; a workflow of 1,000 tasks has about a tenth of that
MOST_ENTRIES = 20_000  # files and folders that are searched
JSON_SUFFIX = ".json"
_T = TypeVar("_T")
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
    refusals: tuple[str, ...] = ()  # of files of a folder that cannot be used, a line each with file and reason

    @property
    def digest(self) -> str:
        """Return the digest of the workflows."""
        return digest(self.workflow)


@catalog_cache
@lru_cache(maxsize=32)
def load(path: str) -> Project:
    """Return the project at a path: a file, or the files of a folder that can be used.

    Raises:
        UsageError: if no text can be read, with files and lines.
        WorkflowError: if no workflow is well-formed, or not all of a folder are together.
    """
    found_files, refused = find_files(path), _RefusedFiles(path)
    texts = refused.sort_out({name: partial(read_text, file) for name, file in found_files.chosen.items()})
    files = {name: found_files.chosen[name] for name in texts}
    notations = _notations(path, files, texts)
    interpretations = refused.sort_out(
        {name: partial(notations[0].interpret, text, str(files[name])) for name, text in texts.items()}
    )
    by_file = {name: each.workflows for name, each in interpretations.items()}
    places: dict[str, Path] = {}
    refused.sort_out({name: partial(_check_names, files[name], each, places) for name, each in by_file.items()})
    workflow = _project_of({name: each for name, each in by_file.items() if name not in refused.errors}, files, refused)
    interpretations = {name: each for name, each in interpretations.items() if name not in refused.errors}
    texts = {name: texts[name] for name in interpretations}
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((each for each in notations if not features(workflow) & each.unsupported), notations[0])
    shown_files = {str(files[name]): each.presented for name, each in interpretations.items()}
    shown_texts = [*shown_files.values()]
    if len(texts) > 1:
        shown_texts = [f"{notation.heading(name)}\n{text}" for name, text in zip(texts, shown_texts, strict=True)]
    whole = "\n\n".join(text.strip("\n") for text in shown_texts)
    if notation.interpreter is not None and len(texts) > 1:  # its rules depend on all that is shown
        workflow = _checked(path, combine_workflows(notation.interpret(whole).workflows))
    return Project(path, whole, notation, workflow, shown_files, found_files.skipped_files, refused.lines)


class _RefusedFiles:
    """The files of a folder that cannot be used, with the errors by name in the folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.errors: dict[str, UsageError] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """Return a line for each file, with the first problem."""
        return tuple([str(error).partition("\n")[0] for error in self.errors.values()])

    def sort_out(self, readers: Mapping[str, Callable[[], _T]]) -> dict[str, _T]:
        """Return what the readers of the files return, without files that they refuse.

        Raises:
            UsageError: if no file is left; of a single file its own error.
        """
        results: dict[str, _T] = {}
        for name, read in readers.items():
            try:
                results[name] = read()
            except UsageError as error:
                self.errors[name] = error
        if not results:
            self.raise_errors()
        return results

    def raise_errors(self) -> NoReturn:
        """Raise the errors of all files.

        Raises:
            UsageError: always; of a single file its own error.
        """
        if len(self.errors) == 1:
            raise next(iter(self.errors.values()))
        reasons = "\n".join(self.lines)
        raise UsageError(f"{self.path}: none of the {len(self.errors)} workflow files can be used:\n{reasons}")


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


def _check_names(file: Path, workflows: Sequence[Workflow], places: dict[str, Path]) -> None:
    """Check the names in a file of a project.

    Args:
        file: The file.
        workflows: Its workflows.
        places: The files of workflows by name, to which those of this file are added.

    Raises:
        WorkflowError: if it or an earlier file holds the same workflow, or a name is too long for a question.
    """
    for workflow, count in Counter(str(each.qualified) for each in workflows).items():
        first = places.setdefault(workflow, file)
        if count > 1 or first != file:
            where = "twice in this file" if count > 1 else f"in {first} as well"
            raise WorkflowError(f"{file}: workflow {workflow!r} is {where}; expected once")
    nodes_by_level = (
        ((level,), level.tasks, level.data, level.gateways) for each in workflows for level in every_level(each)
    )
    names = [node.name for kinds in nodes_by_level for nodes in kinds for node in nodes]
    if longest := max((name for name in names if len(name) > LONGEST_NAME), key=len, default=""):
        raise WorkflowError(
            f"{file}: the name {longest[:NAME_EXCERPT]!r}… has {len(longest):,} characters; at most "
            f"{LONGEST_NAME} are supported: shorten it, and write the rest as a description"
        )


def _project_of(
    by_file: dict[str, tuple[Workflow, ...]], files: Mapping[str, Path], refused: _RefusedFiles
) -> Workflow:
    """Return the project of the workflows of each file, without files whose workflows are not well-formed.

    Raises:
        WorkflowError: if no file is left, or the project is not well-formed for another reason.
    """
    while by_file:
        project = combine_workflows([workflow for workflows in by_file.values() for workflow in workflows])
        faulty = faulty_workflows(project)
        blamed = {name for name in by_file if any(str(each.qualified) in faulty for each in by_file[name])}
        if not blamed or len(files) == 1:
            return _checked(refused.path, project)
        for name in sorted(blamed):  # others may refer to it, and are found in the next round
            reason = next(message for each in by_file[name] if (message := faulty.get(str(each.qualified))))
            refused.errors[name] = WorkflowError(f"{files[name]}: {reason}")
        by_file = {name: workflows for name, workflows in by_file.items() if name not in blamed}
    refused.raise_errors()


@catalog_cache
@lru_cache(maxsize=32)
def has_parameters(path: str) -> bool:
    """Return True if workflows or tasks of a project have parameters, or conditions compare any."""
    project_levels = list(every_level(load(path).workflow))
    guards = {link.guard for level in project_levels for link in level.links if link.guard is not None}
    parsed = [guard for text in guards if (guard := parse_guard(text)) is not None]
    return (
        any(level.parameters or any(task.parameters for task in level.tasks) for level in project_levels)
        or any(configuration.parameters for level in project_levels for configuration in configurations(level))
        or any(True for guard in parsed for _ in comparisons(guard))
    )


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
