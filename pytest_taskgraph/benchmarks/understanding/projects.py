"""The user's own workflows: a file, or a folder of files of one notation, shown as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ...catalog import catalog_cache
from ...errors import UsageError, WorkflowError
from ...notations import NOTATIONS
from ...notations.notation import Notation, together
from ...notations.plain_json import digest
from ...workflow.check import check
from ...workflow.features import features
from ...workflow.model import Workflow
from ...workflow.project import every_level
from ...workflow.references import assemble, expand
from .project_files import find_files, is_markdown, known_suffixes, read_text
from .scope import rotations

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
    left_alone: tuple[str, ...] = ()  # files beside them that hold no workflow

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
    notation = next((one for one in fitting if not features(workflow) & one.loses), fitting[0])
    shown = [one.shown for one in read.values()]
    if len(texts) > 1:
        shown = [f"{notation.heading(name)}\n{text}" for name, text in zip(texts, shown, strict=True)]
    whole = "\n\n".join(text.strip("\n") for text in shown)
    if notation.interpreter is not None and len(texts) > 1:  # its rules depend on all that is shown
        workflow = _checked(path, together(notation.interpret(whole).workflows))
    return Project(path, whole, notation, workflow, {file: one.shown for file, one in read.items()}, found.left_alone)


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
    fenced = {name for name, file in files.items() if is_markdown(file) and notation.stands_in(texts[name])}
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
    project = together([one for workflows in parsed.values() for one in workflows])
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
        if not features(shaped) & notation.loses:
            return shaped
    return None
