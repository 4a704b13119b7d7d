"""The user's own workflows: projects of one notation, shown verbatim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from html import unescape
from itertools import chain
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

from ....catalog import catalog_cache
from ....errors import UsageError, WorkflowError
from ....notations import NOTATIONS
from ....notations.notation import Interpretation, Notation, combine_workflows
from ....notations.plain_json import digest
from ....workflow.check import check, faulty_workflows
from ....workflow.features import features
from ....workflow.guards.syntax import comparisons, parse_guard
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import assemble, configurations, expand
from ..patterns.scope import rotations
from .found_files import FoundProject, StatedPath, find_files, read_text, split_path, split_pattern

_T = TypeVar("_T")
LONGEST_NAME = 500  # characters of the name of a workflow, task, data or gateway
NAME_EXCERPT = 40  # characters of a name that an error message repeats


@dataclass(frozen=True, slots=True)
class Project:
    """Workflows and texts read from a path."""

    path: str  # as a user can type it
    text: str  # as it is shown: verbatim, several files with path headings
    notation: Notation
    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)  # path to text, as it is shown
    skipped_files: tuple[str, ...] = ()  # files beside them that contain no workflow
    refusals: tuple[str, ...] = ()  # of files that cannot be used, a line each with file and reason
    left_out: tuple[str, ...] = ()  # what the files hold that is no part of the workflows, a line each
    second: Workflow | None = None  # a second reading: a case is asked if it has the same answer in both
    own_files: int = 1  # number of files, without those that they only refer to
    own_workflows: int = 1  # number of workflows in these

    @property
    def digest(self) -> str:
        """Return the digest of the workflows."""
        return digest(self.workflow)

    @property
    def title(self) -> str:
        """Return the name of the file or folder."""
        base, _ = split_pattern(split_path(self.path).place)
        return base.name or base.resolve().name


class OwnWorkflows(NamedTuple):
    """The projects at a path of the user's own, at least one, and the files there that are left out.

    Args:
        projects: The projects that can be used.
        skipped_files: Files that contain no workflow.
        refusals: A line for each file that cannot be used, with the reason.
    """

    projects: tuple[Project, ...]
    skipped_files: tuple[str, ...]
    refusals: tuple[str, ...]

    @property
    def files(self) -> int:
        """Return the number of files that are used; one to which several refer counts once."""
        return len({file for project in self.projects for file in project.files})


@catalog_cache
@lru_cache(maxsize=256)
def load_all(path: str) -> OwnWorkflows:
    """Return the projects at a path: a file, a folder or a pattern.

    Raises:
        UsageError: if none can be used; of a single one, its own error.
    """
    found = find_files(path)
    if len(found.projects) == 1:
        project = load(path)
        return OwnWorkflows((project,), project.skipped_files, project.refusals)
    refused = _RefusedFiles(path)
    projects = refused.sort_out({each.path: partial(load, each.path) for each in found.projects})
    refusals = (*refused.lines, *chain.from_iterable(project.refusals for project in projects.values()))
    return OwnWorkflows(tuple(projects.values()), found.skipped_files, tuple(dict.fromkeys(refusals)))


@lru_cache(maxsize=64)
def project_paths(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of all projects at the paths that the user stated: their indexes identify them in a run."""
    return tuple([project.path for path in paths for project in load_all(path).projects])


@catalog_cache
@lru_cache(maxsize=1024)
def load(path: str) -> Project:
    """Return the project at a path: a file, or the files of one project that can be used.

    Raises:
        UsageError: if no text can be read, with files and lines, or the path holds several projects.
        WorkflowError: if no workflow is well-formed, or not all of a folder are together.
    """
    found = find_files(path)
    if len(found.projects) > 1:
        known = ", ".join(each.path for each in found.projects[:3])
        raise UsageError(f"{path}: holds {len(found.projects)} projects; name one of them, such as {known}")
    project, refused, stated = found.projects[0], _RefusedFiles(path), split_path(path)
    texts = refused.sort_out({name: partial(read_text, file) for name, file in project.files.items()})
    interpretations = refused.sort_out(
        {name: partial(_interpret, project, name, text, stated) for name, text in texts.items()}
    )
    by_file = {name: each.workflows for name, each in interpretations.items()}
    places: dict[str, Path] = {}
    refused.sort_out({name: partial(_check_names, project.files[name], each, places) for name, each in by_file.items()})
    main = next(iter(project.files))
    if main in refused.errors and not project.is_joined:
        raise refused.errors[main]
    used = {name: each for name, each in by_file.items() if name not in refused.errors}
    workflow = _project_of(used, project.files, refused)
    interpretations = {name: each for name, each in interpretations.items() if name not in refused.errors}
    loaded = _combined(path, project, workflow, interpretations)
    if isinstance(loaded, UsageError):  # what the file refers to is left out
        refused.errors[main] = loaded
        alone = {main: interpretations[main]}
        loaded = _combined(path, project, _checked(path, combine_workflows(by_file[main])), alone)
    if isinstance(loaded, UsageError):
        raise loaded
    own = [*used] if project.is_joined else [main]
    return replace(
        loaded,
        skipped_files=found.skipped_files,
        refusals=refused.lines,
        own_files=len(own),
        own_workflows=sum(len(by_file[name]) for name in own),
    )


def _interpret(project: FoundProject, name: str, text: str, stated: StatedPath) -> Interpretation:
    """Return how a file of a project is read and shown.

    Raises:
        UsageError: if it cannot be read, or not be shown as stated.
    """
    notation, where = project.notations[0], str(project.files[name])
    if not stated.workflow:
        interpreted = notation.interpret(text, where)
        return _shown_verbatim(interpreted, text, where) if stated.is_verbatim else interpreted
    if stated.is_verbatim or notation.chooser is None:
        reason = "--taskgraph-verbatim shows all of it" if stated.is_verbatim else "one process is chosen of BPMN files"
        raise UsageError(f"{where}: {reason}; leave out '::{stated.workflow}'")
    return notation.chooser(text, where, stated.workflow)


def _shown_verbatim(interpreted: Interpretation, text: str, where: str) -> Interpretation:
    """Return how a text is read that is shown verbatim.

    Raises:
        UsageError: if the name of a task or of data does not stand in it.
    """
    words = " ".join(unescape(text).split())
    for level in (level for workflow in interpreted.workflows for level in every_level(workflow)):
        for name in (*level.task_names, *(data.name for data in level.data)):
            if " ".join(name.split()) not in words:
                raise UsageError(
                    f"{where}: the name {name!r} is given by the reader and does not stand in the file; show the file "
                    "without --taskgraph-verbatim"
                )
    return replace(interpreted, presented=text)


def _combined(
    path: str, project: FoundProject, workflow: Workflow, interpretations: Mapping[str, Interpretation]
) -> Project | UsageError:
    """Return the project of the files as they are shown, or the error where files that are not joined do not fit.

    Args:
        path: The path of the project.
        project: Its files.
        workflow: The workflows of the files, read one by one.
        interpretations: How each file was read, by name.

    Raises:
        UsageError: if files that are joined do not fit each other.
    """
    # Variants of one notation share their reader, but each is explained in its own words.
    notation = next((n for n in project.notations if not features(workflow) & n.unsupported), project.notations[0])
    files = {str(project.files[name]): each.presented for name, each in interpretations.items()}
    texts = [*files.values()]
    if len(texts) > 1:
        texts = [f"{notation.heading(name)}\n{text}" for name, text in zip(interpretations, texts, strict=True)]
    whole = "\n\n".join(text.strip("\n") for text in texts)
    left_out = tuple(chain.from_iterable(each.left_out for each in interpretations.values()))
    doubtful = next(iter(interpretations.values())).doubtful if len(texts) == 1 else ()
    if notation.interpreter is not None and len(texts) > 1:  # its rules depend on all that is shown
        try:
            interpreted = notation.interpret(whole)
            workflow = _checked(path, combine_workflows(interpreted.workflows))
            left_out, doubtful = interpreted.left_out, interpreted.doubtful
        except UsageError as error:
            if project.is_joined:
                raise
            return error
    second = combine_workflows(doubtful) if doubtful else None
    return Project(path, whole, notation, workflow, files, left_out=left_out, second=second)


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
@lru_cache(maxsize=1024)
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
