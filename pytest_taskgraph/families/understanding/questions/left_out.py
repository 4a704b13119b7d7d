"""Questions that are not asked, and why: too small sizes, unsupported features, own files without a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from ....errors import RecipeTooLargeError, RecipeTooSmallError
from ....notations import notation
from ....reports.wording import count
from ..own_files import projects
from ..own_files.choices import LONGEST, Listing, choose, list_cases, unbalanced
from ..own_files.found_files import split_path, title_of
from ..patterns.pattern import Pattern
from ..understanding_settings import UnderstandingSettings
from .sample import recipe_for

MOST_NAMED = 5  # files that a line lists
MOST_LINES = 100  # on parts of files that are left out, of one path
SHOW = "python -m pytest_taskgraph show"


def recipe_features(pattern: Pattern, size: int) -> frozenset[str]:
    """Return the features that a workflow drawn for the pattern can have and a notation must support."""
    return recipe_for(pattern, size).features | pattern.varies


def least_tasks_of(pattern: Pattern, size: int) -> int:
    """Return the least size that fits the pattern's needs where the given size is too small; else 0."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return error.least
    return 0


def size_problem(pattern: Pattern, size: int) -> str:
    """Return why no workflow of that size can be drawn for the pattern; empty if one can."""
    try:
        recipe_for(pattern, size)
    except RecipeTooSmallError as error:
        return f"it needs at least {error.least}"
    except RecipeTooLargeError as error:
        return f"its domains have at most {error.most}"
    return ""


def size_notices(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each pattern and size that do not fit each other."""
    for size in settings.tasks:
        for pattern in patterns:
            if reason := size_problem(pattern, size):
                yield f"{pattern.name} is left out at {size} tasks: {reason}"


def notation_notices(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each pattern and notation that does not support what the pattern asks about."""
    for name in settings.notations:
        for pattern in patterns:
            sizes = [size for size in settings.tasks if not size_problem(pattern, size)]
            unsupported = {f for size in sizes for f in recipe_features(pattern, size)} & notation(name).unsupported
            if unsupported:
                yield f"{pattern.name} is left out in {name}, which does not support {', '.join(sorted(unsupported))}"


def project_notices(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield lines for each of the user's paths: patterns without a question, and incomplete lists of cases."""
    for path, converted in product(settings.workflows, settings.notations if settings.convert else ("",)):
        place = f"{path}{f' in {converted}' if converted else ''}"
        paths = projects.project_paths((path,))
        if len(paths) > 1:
            if none := [pattern.name for pattern in patterns if not _is_asked(pattern, paths, converted, settings)]:
                yield f"{place}: nothing to ask in any of {len(paths)} files for {', '.join(none)}"
        else:
            yield from _notices_of_project(patterns, place, paths[0], converted, settings.seed)


def _is_asked(pattern: Pattern, paths: Sequence[str], converted: str, settings: UnderstandingSettings) -> bool:
    return any(choose(pattern, path, converted, settings.seed, settings.instances) for path in paths)


def _notices_of_project(patterns: Sequence[Pattern], place: str, path: str, converted: str, seed: int) -> Iterator[str]:
    cases_by_pattern = {pattern.name: list_cases(pattern, path, converted) for pattern in patterns}
    if empty := [_with_kinds(name, each) for name, each in cases_by_pattern.items() if each.always_empty]:
        yield f"{place}: not asked, because every answer is none: {', '.join(empty)}"
    without_case = [p.name for p in patterns if not _has_case(p, path, converted, seed)]
    if none := [name for name in without_case if not cases_by_pattern[name].always_empty]:
        yield f"{place}: nothing to ask for {', '.join(none)}"
    if long := [name for name, pattern in cases_by_pattern.items() if pattern.too_long]:
        yield f"{place}: answers of more than {LONGEST} names are not asked for: {', '.join(long)}"
    if sampled := [name for name, pattern in cases_by_pattern.items() if "cases" in pattern.bounds]:
        yield f"{place} is too large to ask about all of it; a sample is taken for {', '.join(sampled)}"
    if cut := [name for name, pattern in cases_by_pattern.items() if "steps" in pattern.bounds]:
        yield f"{place} is too large to work out all answers; some cases are left out for {', '.join(cut)}"


def _with_kinds(name: str, listing: Listing) -> str:
    """Return the name of a pattern, with the kinds of cases that are left out if others are asked."""
    kinds = sorted({" ".join(kind.labels) for kind in listing.always_empty if kind.labels})
    return f"{name} ({', '.join(kinds) or 'of some workflows'})" if listing.cases else name


def _has_case(pattern: Pattern, path: str, converted: str, seed: int) -> bool:
    """Return True if a pattern has a case about a project, or about a copy of it with a planted flaw."""
    case_list = list_cases(pattern, path, converted)
    return bool(
        case_list.cases or case_list.too_long or (pattern.planted and choose(pattern, path, converted, seed, 2))
    )


def balance_notices(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each of the user's single projects, with the patterns of which it allows only yes or only no."""
    for path, converted in product(settings.workflows, settings.notations if settings.convert else ("",)):
        if len(paths := projects.project_paths((path,))) > 1:
            continue  # another project may allow both
        answers = {
            pattern.name: unbalanced(pattern, paths[0], converted, settings.seed, settings.instances)
            for pattern in patterns
        }
        if sided := [f"{name} (only {answer})" for name, answer in answers.items() if answer]:
            place = f"{path}{f' in {converted}' if converted else ''}"
            yield f"{place}: not asked, because no change of one step leads to the other answer: {', '.join(sided)}"


def left_out_notices(paths: Iterable[str]) -> Iterator[str]:
    """Yield lines for each of the user's paths: files and parts of files that are not used, each with the reason.

    Files that contain no workflow share a line.
    """
    for path in paths:
        own = projects.load_all(path)
        if refusals := own.refusals:
            yield from (f"not used: {refusal}" for refusal in refusals)
            yield f"{path}: {len(refusals)} of {len(refusals) + own.files} workflow files not used"
        if files := own.skipped_files:
            more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
            yield f"{path}: skipped, because they contain no workflow: {', '.join(files[:MOST_NAMED])}{more}"
        lines = [line for project in own.projects for line in left_out_lines(project)]
        yield from lines[:MOST_LINES]
        if len(lines) > MOST_LINES:
            yield f"{path}: {len(lines) - MOST_LINES} more parts are left out; `{SHOW} FILE` lists those of a file"


def left_out_lines(project: projects.Project) -> list[str]:
    """Return a line for each part of a project's files that is no part of its workflows."""
    return [f"left out{'' if project.path in line else f' of {project.path}'}: {line}" for line in project.left_out]


def source_lines(settings: UnderstandingSettings) -> list[str]:
    """Return lines that state how many files, workflows and parts left out there are at the user's paths, by format."""
    own = [projects.load_all(path) for path in settings.workflows]
    if not own:
        return []
    used = [project for each in own for project in each.projects]
    formats = Counter[str]()
    for project in used:
        formats[title_of(project.notation)] += project.own_files
    workflows = sum(project.own_workflows for project in used)
    left_out = {
        "not used": sum(len(each.refusals) for each in own),
        "without workflow": sum(len(each.skipped_files) for each in own),
    }
    parts = sum(len(project.left_out) for project in used)
    files = sum(each.files for each in own)
    by_format = ", ".join(f"{name}: {number}" for name, number in formats.most_common())
    counts = [
        f"{count(files, 'file')} with {count(workflows, 'workflow')} ({by_format})"
        if files > 1
        else f"{', '.join(formats)}, {count(workflows, 'workflow')}",
        *(() if settings.convert else _texts_shown(used)),
        *(f"{count(number, 'file')} {words}" for words, number in left_out.items() if number),
        *([f"{count(parts, 'part')} of files left out"] if parts else []),
    ]
    more = ": -v" if any(left_out.values()) or parts else ""
    lines = [f"{settings.workflows[0] if len(own) == 1 else f'{len(own)} paths'}: {'; '.join(counts)}{more}"]
    if most := max((len(each.projects) for each in own if len(each.projects) > 1), default=0):
        lines.append(
            f"{settings.instances} questions per pattern, spread over {most} files; --taskgraph-instances=N asks more"
        )
    return lines


def _texts_shown(used: Sequence[projects.Project]) -> Iterator[str]:
    """Yield how the texts that are shown differ from the files, for each format of which they do."""
    by_format = {project.notation.name: project for project in used}
    for project in by_format.values():
        if shown := "shown verbatim" if split_path(project.path).is_verbatim else project.notation.shown_as:
            yield shown if len(by_format) == 1 else f"{title_of(project.notation)}: {shown}"
