"""The interpretation of workflow files of GitHub Actions: workflows, guide, spellings and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from ..notation import Interpretation
from .expressions import read_rule
from .job_graph import workflow_of
from .step_names import LONGEST, name_steps
from .workflow_file import GUIDE, Job, Step, WorkflowFile, file_of, read_files

_STEPS = (
    "The steps of a job are tasks inside it, so that a job with steps is a composite task. They run one after another. "
    "A step is named by its 'name', else by the first line of its 'run', else by its 'uses'."
)
_LATER_LABEL = (
    "Where several steps of a job share such a name, a step is named by its 'id', else by the first of these texts "
    "that no other step of the job has; where there is none, those after the first have a number in brackets behind "
    "the name, such as 'NAME (2)'."
)
_CUT = f"Of a name with more than {LONGEST} characters only the words among the first {LONGEST} count."
_CONDITIONAL_JOBS = (
    "A job runs only if its 'if' holds; a skipped job skips all jobs that need it, directly or at any distance, even "
    "behind a job that runs all the same, unless their own 'if' has a status function that allows it, such as always()."
)
_CONDITIONAL_STEPS = (
    "A step with an 'if' may be skipped; then the step after it comes directly after the step before it."
)
_CONDITIONS = (
    "Whatever a condition reads may have any value, whatever event starts the workflow. Questions are about runs in "
    "which no job and no step fails and nobody cancels: there failure() and cancelled() are false, and 'if: always()' "
    "is no condition."
)
_MATRIX = "A job with a matrix is one task; questions about its steps are about one of its combinations."
_CALLS = "A job that uses a workflow file of the text is a composite task: the jobs of that workflow are inside it."

_REASONS: Mapping[str, str] = {
    "matrix": "a job with a matrix is one task, whatever its combinations are",
    "continue-on-error": "questions are about runs in which nothing fails",
    "concurrency": "questions are about runs that nothing cancels",
    "environment": "a job that waits for an approval counts as a job that runs",
    "status functions in 'if'": "whether something runs after a failure or a cancellation is not asked",
    "'if'": "a condition on results, on 'env', or in a form that is not computed: no question depends on its value",
    "'uses' of a job": "the workflow that the job calls is not in the text, so the job is a task without an inside",
}


def interpret(text: str, where: str = "") -> Interpretation:
    """Return the workflows of the files in a text and the rules by which they were read.

    Raises:
        ReadError: if a file is not valid.
    """
    files = read_files(text, where)
    names = _workflow_names(files)
    called = {file_of(file.path): name for file, name in zip(files, names, strict=True) if file.path}
    readings = [
        tuple(workflow_of(file, name, called, second) for file, name in zip(files, names, strict=True))
        for second in (False, True)
    ]
    return Interpretation(
        readings[0],
        _guide(files, called),
        text,
        unnamed=len(files) == 1 and not files[0].name,
        spellings={name: _spellings(file) for file, name in zip(files, names, strict=True)},
        left_out=tuple(line for file in files for line in _left_out(file, called)),
        doubtful=readings[1] if readings[1] != readings[0] else (),
    )


def _workflow_names(files: Sequence[WorkflowFile]) -> list[str]:
    """Return a name for each workflow: its own, else the path of its file; of equal names, the first stays."""
    names: list[str] = []
    for file in files:
        base = file.name if file.name and file.name not in names else file.path
        name = base or file.name or PurePath(file.source.where).name or "workflow"
        number = 1
        while name in names:
            number += 1
            name = f"{base or file.name} ({number})"
        names.append(name)
    return names


def _guide(files: Sequence[WorkflowFile], called: Mapping[str, str]) -> tuple[str, ...]:
    jobs = [job for file in files for job in file.jobs]
    steps = [step for job in jobs for step in job.steps]
    names = [(name, step) for job in jobs for name, step in zip(name_steps(job.steps), job.steps, strict=True)]
    conditional_jobs = any(job.condition is not None for job in jobs)
    conditional_steps = any(step.condition is not None for step in steps)
    sentences = {
        GUIDE: True,
        _CONDITIONAL_JOBS: conditional_jobs,
        _STEPS: bool(steps),
        _CUT: any(len(label) > LONGEST for step in steps for label in step.labels[:1]),
        _LATER_LABEL: any(step.labels[:1] != (name,) for name, step in names),
        _CONDITIONAL_STEPS: conditional_steps,
        _CONDITIONS: conditional_jobs or conditional_steps,
        _MATRIX: any("matrix" in file.notes for file in files),
        _CALLS: any(job.local in called for job in jobs),
    }
    return tuple(sentence for sentence, needed in sentences.items() if needed)


def _spellings(file: WorkflowFile) -> dict[str, str]:
    """Return other ways to write the names of jobs and steps, each with the one name that it can mean."""
    meanings: dict[str, set[str]] = {}
    names = {job.key for job in file.jobs}
    for job in file.jobs:
        if job.title:
            meanings.setdefault(job.title, set()).add(job.key)
        for name, step in zip(name_steps(job.steps), job.steps, strict=True):
            names.add(name)
            for other in filter(None, (step.id, *step.labels[:1], *(f"Run {label}" for label in step.labels[:1]))):
                meanings.setdefault(other, set()).add(name)
    return {other: next(iter(found)) for other, found in meanings.items() if len(found) == 1 and other not in names}


def _left_out(file: WorkflowFile, called: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each kind of construct that is no part of the workflow and could matter, with its places."""
    places = {**file.notes}
    for construct, offset in _conditions_left_out(file.jobs):
        places.setdefault(construct, []).append(offset)
    if remote := [job.keys["uses"] for job in file.jobs if job.calls and job.local not in called]:
        places["'uses' of a job"] = remote
    for construct in _REASONS:
        if offsets := places.get(construct):
            more = f" and {len(offsets) - 1} more" if len(offsets) > 1 else ""
            yield f"{construct} ({file.place(min(offsets))}{more}): {_REASONS[construct]}"


def _conditions_left_out(jobs: Sequence[Job]) -> Iterator[tuple[str, int]]:
    owners: list[Job | Step] = [*jobs, *(step for job in jobs for step in job.steps)]
    for owner in owners:
        if owner.condition is not None:
            condition = read_rule(owner.condition).condition
            if condition is not None and not condition.clear:
                yield "'if'", owner.keys["if"]
            elif (condition is None or condition.never) and "(" in owner.condition:
                yield "status functions in 'if'", owner.keys["if"]
