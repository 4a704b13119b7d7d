"""The user's own workflows: a file, or a folder of files of one notation, shown as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

from ...errors import UsageError, WorkflowError
from ...notations import NOTATIONS
from ...notations.notation import Notation
from ...notations.plain_json import digest
from ...workflow.check import check
from ...workflow.features import features
from ...workflow.model import Workflow
from ...workflow.references import assemble, expand
from .pattern import Case, Pattern, verdict
from .scope import Scope, all_scopes, cases, rotations, scopes


@dataclass(frozen=True, slots=True)
class Project:
    """What was read from a path."""

    path: str
    text: str  # as it is shown: verbatim, a folder's files with path headings
    notation: Notation
    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)  # path to text, verbatim

    @property
    def digest(self) -> str:
        """Of what the files say."""
        return digest(self.workflow)


@lru_cache(maxsize=32)
def load(path: str) -> Project:
    """The project at a path. Raises UsageError, with file and line where a text cannot be read."""
    files = _files(Path(path))
    fitting = _notations(path, files)
    texts = {name: _text(file) for name, file in files.items()}
    by_path = {str(file): texts[name] for name, file in files.items()}
    workflow = fitting[0].read_files(by_path)
    try:
        check(workflow)
    except WorkflowError as error:
        raise WorkflowError(f"{path}: {error}") from None
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((one for one in fitting if not features(workflow) & one.loses), fitting[0])
    shown = texts.values() if len(texts) == 1 else (f"{notation.heading(name)}\n{text}" for name, text in texts.items())
    return Project(path, "\n\n".join(text.strip("\n") for text in shown), notation, workflow, by_path)


def _files(path: Path) -> dict[str, Path]:
    if path.is_file():
        return {path.name: path}
    if not path.is_dir():
        raise UsageError(
            f"{path}: no such file or folder; --taskgraph-workflow takes a workflow file or a folder of them"
        )
    found = sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in _known() and not _hidden(p, path))
    # Notes beside the workflows are prose too: they count only where there is nothing else.
    chosen = [p for p in found if p.suffix.lower() not in NOTATIONS["prose"].suffixes] or found
    if not chosen:
        raise UsageError(f"{path}: no workflow file in this folder; known: {', '.join(sorted(_known()))}")
    return {p.relative_to(path).as_posix(): p for p in chosen}


def _hidden(path: Path, folder: Path) -> bool:
    """Whether it lies in what tools keep beside a project, such as .git or .vscode."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _known() -> set[str]:
    return {suffix for notation in NOTATIONS.values() for suffix in notation.suffixes}


def _notations(path: str, files: dict[str, Path]) -> list[Notation]:
    """The notations of such files; at least one. Raises UsageError."""
    suffixes = {file.suffix.lower() for file in files.values()}
    by_suffix = {one: [n for n in NOTATIONS.values() if one in n.suffixes] for one in sorted(suffixes)}
    if unknown := [suffix for suffix, notations in by_suffix.items() if not notations]:
        raise UsageError(f"{path}: no notation for files {unknown[0]!r}; known: {', '.join(sorted(_known()))}")
    shared = [n for n in NOTATIONS.values() if all(n in notations for notations in by_suffix.values())]
    if not shared:
        raise UsageError(f"{path}: files of several notations ({', '.join(sorted(by_suffix))}); give one folder each")
    return shared


def _text(path: Path) -> str:
    try:
        # Decoded by hand: reading in text mode would turn CR LF into LF, and files are shown as they are.
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


@lru_cache(maxsize=256)
def listing(pattern: Pattern, path: str, converted: str) -> tuple[tuple[Workflow, Scope, Case], ...]:
    """All cases of a pattern about a project, each with the workflow to show for it.

    `converted` names the notation to show it in; empty: the files themselves.
    """
    project = load(path)
    if not converted:
        return tuple((project.workflow, s, c) for s in all_scopes(project.workflow) for c in cases(pattern, s))
    shown = [fit(root, NOTATIONS[converted]) for root in rotations(project.workflow)]
    return tuple((w, s, c) for w in shown if w is not None for s in scopes(w) for c in cases(pattern, s))


def fit(root: Workflow, notation: Notation) -> Workflow | None:
    """The workflow as the notation can say it: derivation resolved, sub-workflows inline; None if it still cannot."""
    for form in (lambda w: w, assemble, expand):
        shaped = form(root)
        if not features(shaped) & notation.loses:
            return shaped
    return None


@lru_cache(maxsize=256)
def choose(
    pattern: Pattern, path: str, converted: str, seed: int, instances: int
) -> tuple[tuple[Workflow, Scope, Case], ...]:
    """The cases that the seed draws among all: hard ones first, yes and no in turn; more instances extend fewer."""
    found = list(listing(pattern, path, converted))
    Random(f"{pattern.name}|{load(path).digest}|{seed}").shuffle(found)
    found.sort(key=lambda entry: entry[2].rank)
    if pattern.yes_no:
        sides = [[e for e in found if verdict(e[2].answer) == a] for a in ("yes", "no")]
        turns = max(len(side) for side in sides)
        found = [side[i] for i in range(turns) for side in sides if i < len(side)]
    return tuple(found[:instances])
