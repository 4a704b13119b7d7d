"""Patterns about descriptions, names and data, and the flaws that are planted in them (docs/reference/patterns.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .....trial import Json
from .....workflow.model import Workflow
from ..pattern import Cases, case, pattern


def details(workflow: Workflow, kind: str, width: int) -> Iterator[tuple[str, ...]]:
    """Yield the details of the planted flaw in tuples of a width, if the workflow has a flaw of that kind."""
    if workflow.flaw is not None and workflow.flaw.kind == kind:
        values = workflow.flaw.details
        yield from (values[i : i + width] for i in range(0, len(values), width))


def whole_of(level: Workflow) -> str:
    """Return the name of the workflow that the level is, or lies in."""
    return level.others[0].name if level.others else level.name


def task_reasons(reasons: Mapping[str, str]) -> Json:
    """Return an answer of the form task-reasons: tasks in alphabetical order, each with its reason."""
    return {"tasks": [*sorted(reasons)], "reasons": {name: reasons[name] for name in sorted(reasons)}}


def as_clause(sentence: str) -> str:
    """Return a sentence as a clause of another: without its full stop and initial capital."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")


@pattern(
    "In {{ place }}, task '{{ task }}' is given without a description. Describe in one sentence what it does.",
    "What does task '{{ task }}' of {{ place }} do? It has no description of its own; write one, of a single sentence.",
    form="text",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"": "hide-description"},
    planted=True,
    domain=True,
    exceptional=True,
)
def describe_task(workflow: Workflow) -> Cases:
    """Check that the model infers what a task does from its name and its surroundings.

    All other tasks of its level are described. The reference is the description that was removed.
    """
    for name, description in details(workflow, "hide-description", 2):
        yield case(description, task=name)


@pattern(
    "Describe in one sentence what {{ place }} does.",
    "What is the purpose of {{ place }} as a whole? Answer in a single sentence.",
    form="text",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"": "hide-purpose"},
    levels="workflow",
    planted=True,
    domain=True,
    exceptional=True,
)
def describe_workflow(workflow: Workflow) -> Cases:
    """Check that the model sees the purpose of a whole workflow, and not only its steps.

    The tasks are described, the workflow is not. The reference is the description that was removed.
    """
    for (description,) in details(workflow, "hide-purpose", 1):
        yield case(description)


@pattern(
    "In {{ place }}, which tasks' names do not correspond to their descriptions?",
    "Compare the name of every task in {{ place }} with its description. Name each task whose description tells of "
    "something else than its name does.",
    form="task-reasons",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"": "misdescribe"},
    planted=True,
    domain=True,
    exceptional=True,
)
def inconsistent_task_description(workflow: Workflow) -> Cases:
    """Check that the model notices a task that is described as another one.

    The wrong description is that of a task of another kind, which the workflow does not have.
    """
    reasons = {
        name: f"The description of task '{name}' does not correspond with its name. By its name it should "
        f"be one that {as_clause(true)}, while the description says: {false}"
        for name, true, false in details(workflow, "misdescribe", 3)
    }
    if reasons:
        yield case(task_reasons(reasons), labels={"planted": len(reasons)})


@pattern(
    "In {{ place }}, which tasks' names do not correspond to the data they read and write?",
    "Compare the name of every task in {{ place }} with its inputs and outputs. Name each task whose data belong to "
    "something else than its name tells.",
    form="task-reasons",
    needs={"data"},
    avoids={"references", "loop", "guards", "descriptions"},
    varies={"hierarchy"},
    flaws={"": "misname"},
    planted=True,
    domain=True,
    exceptional=True,
)
def inconsistent_task_data(workflow: Workflow) -> Cases:
    """Check that the model notices a task whose name does not fit its inputs and outputs.

    Nothing is described. The wrong name is that of a task which the workflow does not have, and whose data have no word
    in common with those of the task.
    """
    reasons = {
        name: f"The data of task '{name}' do not correspond with its name. By its name one would expect that it "
        f"{true}, while it {false}."
        for name, true, false in details(workflow, "misname", 3)
    }
    if reasons:
        yield case(task_reasons(reasons), labels={"planted": len(reasons)})


@pattern(
    "In {{ place }}, which tasks' names do not correspond to the names of the other tasks?",
    "Compare the name of every task in {{ place }} with the names of the other tasks. Name each task that, by its "
    "name, belongs to another process than most of them.",
    form="task-reasons",
    avoids={"references", "loop", "guards", "descriptions", "data"},
    varies={"hierarchy"},
    flaws={"": "rename-foreign"},
    planted=True,
    domain=True,
    exceptional=True,
)
def inconsistent_task_name(workflow: Workflow) -> Cases:
    """Check that the model notices a task whose name does not fit those of the other tasks.

    Nothing is described, and no data are shown. The wrong name is that of a task of a domain so far away that it is
    foreign in any such workflow. Fewer than half of the tasks of a level are named so.
    """
    reasons = {
        name: f"The name of task '{name}' does not correspond to those of the other tasks. By its name it "
        f"{as_clause(foreign)}, while the workflow {as_clause(whole)}."
        for name, foreign, whole in details(workflow, "rename-foreign", 3)
    }
    if reasons:
        yield case(task_reasons(reasons), labels={"planted": len(reasons)})


@pattern(
    "Does the name of {{ place }} correspond to its description?",
    "Look at the name of {{ place }} and at its description: do both mean the same process?",
    form="yes-no-reason",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"yes": "keep-purpose", "no": "swap-purpose"},
    levels="workflow",
    planted=True,
    domain=True,
    exceptional=True,
)
def inconsistent_workflow_description(workflow: Workflow) -> Cases:
    """Check that the model notices a whole workflow that is described, or named, as one of another domain.

    The reference has a reason only where the answer is no.
    """
    for _ in details(workflow, "keep-purpose", 2):
        yield case({"answer": "yes", "reason": ""})
    for true, false in details(workflow, "swap-purpose", 2):
        reason = (
            f"The description of workflow '{workflow.name}' does not correspond with its name. By its name it should "
            f"be one that {as_clause(true)}, while the description says: {false}"
        )
        yield case({"answer": "no", "reason": reason})


@pattern(
    "In {{ place }}, which tasks contradict the description of workflow '{{ whole }}', by their descriptions or by "
    "their parameters?",
    "Which tasks of {{ place }} cannot serve what workflow '{{ whole }}' is for, given its description, and their own "
    "descriptions and parameters?",
    form="task-reasons",
    needs={"descriptions"},
    avoids={"references", "loop", "data"},
    varies={"hierarchy"},
    flaws={"": ("stray-task", "contradict-goal")},
    planted=True,
    domain=True,
    recipe={"goal": True},
    exceptional=True,
)
def contradicting_task_descriptions(workflow: Workflow) -> Cases:
    """Check that the model notices tasks that do not serve the purpose of the workflow.

    The easier kind is a task of a domain so far away that it is foreign in any such workflow; its name and description
    agree. The harder kind, as in Töpfer et al. (2025) (label difficulty), is a task of the same domain that is done by
    a method, or with a parameter, with which the stated goal cannot be reached. Every workflow has a goal that is
    definite enough, and each task that could contradict it states how it serves it, so that such a statement is no
    hint.
    """
    planted = {
        "easy": {
            name: f"The description of task '{name}' contradicts that of the workflow. The workflow {as_clause(true)}, "
            f"while the task {as_clause(false)}."
            for name, true, false in details(workflow, "stray-task", 3)
        },
        "hard": {name: reason for name, _, reason in details(workflow, "contradict-goal", 3)},
    }
    for difficulty, reasons in planted.items():
        if reasons:
            labels: dict[str, str | int] = {"planted": len(reasons), "difficulty": difficulty}
            yield case(task_reasons(reasons), whole=whole_of(workflow), labels=labels)
