"""The user's own workflows: a file, or a folder of files of one notation, shown as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

from ...errors import UsageError, WorkflowError
from ...notations import NOTATIONS
from ...notations.notation import Notation, together
from ...notations.plain_json import digest
from ...workflow.check import check
from ...workflow.features import features
from ...workflow.model import Workflow
from ...workflow.project import every_level
from ...workflow.references import assemble, expand
from .pattern import Case, Pattern, verdict
from .project_files import find_files, known_suffixes, read_text
from .scope import Scope, all_scopes, cases, rotations, scopes

LONGEST_NAME = 500  # characters of the name of a workflow, task, data or gateway
SHOWN = 40  # characters of a name that an error message repeats


@dataclass(frozen=True, slots=True)
class Project:
    """What was read from a path."""

    path: str
    text: str  # as it is shown: verbatim, a folder's files with path headings
    notation: Notation
    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)  # path to text, verbatim
    left_alone: tuple[str, ...] = ()  # files beside them that hold no workflow

    @property
    def digest(self) -> str:
        """Of what the files say."""
        return digest(self.workflow)


@lru_cache(maxsize=32)
def load(path: str) -> Project:
    """The project at a path. Raises UsageError, with file and line where a text cannot be read."""
    found = find_files(path)
    fitting = _notations(path, found.chosen)
    texts = {name: read_text(file) for name, file in found.chosen.items()}
    by_path = {str(file): texts[name] for name, file in found.chosen.items()}
    workflow = _together(path, {file: fitting[0].parse(text, file) for file, text in by_path.items()})
    try:
        check(workflow)
    except WorkflowError as error:
        raise WorkflowError(f"{path}: {error}") from None
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((one for one in fitting if not features(workflow) & one.loses), fitting[0])
    shown = texts.values() if len(texts) == 1 else (f"{notation.heading(name)}\n{text}" for name, text in texts.items())
    return Project(path, "\n\n".join(text.strip("\n") for text in shown), notation, workflow, by_path, found.left_alone)


def _notations(path: str, files: dict[str, Path]) -> list[Notation]:
    """The notations of such files; at least one. Raises UsageError."""
    suffixes = {file.suffix.lower() for file in files.values()}
    by_suffix = {one: [n for n in NOTATIONS.values() if one in n.suffixes] for one in sorted(suffixes)}
    if unknown := [suffix for suffix, notations in by_suffix.items() if not notations]:
        raise UsageError(f"{path}: no notation for files {unknown[0]!r}; known: {', '.join(sorted(known_suffixes()))}")
    shared = [n for n in NOTATIONS.values() if all(n in notations for notations in by_suffix.values())]
    if not shared:
        raise UsageError(f"{path}: files of several notations ({', '.join(sorted(by_suffix))}); give one folder each")
    return shared


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
