"""Build the references of a run from its settings, and the question about a task from its reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ...benchmarks.data_sets.items import draw_items
from ...benchmarks.family import QuestionReference
from ...benchmarks.option import SPLITS
from ...diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair
from ...errors import UnmeasuredError, UsageError
from ...scoring.task_graphs.shared_parts import alike_pairs
from ...scoring.task_graphs.step_graphs import StepGraph, answered_graph, gold_graph
from ...scoring.task_graphs.step_matching import resolve_similarity, similarity_matrix
from ...trial import Question, Score, digest_of
from .complex_task import ComplexTask
from .embedded_similarity import EMBEDDINGS
from .method import Method
from .methods import EMBEDDINGS_SUFFIX
from .methods import METHODS as METHODS
from .prompts import PROMPTS
from .sequences import FILTERED, check_filter, draw_examples
from .task_baselines import data_problems
from .task_sets import TaskSet, load
from .task_sets.embedded import read_embedded
from .tasklama_options import SAMPLES, SEQUENCES, SIMILARITY
from .tasklama_settings import TaskLamaSettings

WITH, WITHOUT = "with", "without"
_BOTH: Final = "both"
MOST_SEQUENCES: Final = 1000
"""Of a task; a plan holds the requests of all of them."""


def check(settings: TaskLamaSettings) -> None:
    """Check that the methods, the similarity and the coefficients of a filter are available. Raises UsageError."""
    _reference_similarity(settings)
    for option, stated in ((SEQUENCES, settings.sequences), (SAMPLES, settings.samples)):
        if stated > MOST_SEQUENCES:
            raise UsageError(f"{option.flag}: {stated}; expected at most {MOST_SEQUENCES}")
    check_filter(settings, [method.name for method in _methods(settings)])
    PROMPTS.check(settings)


def references(settings: TaskLamaSettings, instances: int | None = None) -> list[QuestionReference]:
    """Return the questions about the tasks of the split, one for each method and context.

    Args:
        settings: The settings; they decide which tasks are drawn, and the same ones for every method.
        instances: The number of tasks that the suite states.

    Raises:
        UsageError: if there is no such task, or an option cannot be met.
    """
    check(settings)
    tasks = _tasks(settings, settings.instances_of(instances))
    contexts = (WITH, WITHOUT) if settings.context == _BOTH else (settings.context,)
    return [
        _reference(method, task, context, apart=settings.context == _BOTH)
        for method in _methods(settings)
        for context in contexts
        for task in tasks
        if len(task.steps) > 1 or method.section != "golden_dependencies"  # of one step there is no pair
    ]


def notices(settings: TaskLamaSettings, instances: int | None = None) -> Iterator[str]:
    """Yield what the reader of the tasks found, and what is left out, a line each."""
    task_set = load(settings)
    yield from task_set.problems
    if not task_set.train and settings.examples:
        yield "TaskLAMA: the data hold no training split; in-context examples are taken from the embedded tasks"
    yield from data_problems(settings)
    if left_out := [method.name for method in METHODS.select(settings.methods) if method not in _methods(settings)]:
        remedy = "they need --taskgraph-data=tasklama-filter=FILE (python -m pytest_taskgraph tasklama fit)"
        yield f"--taskgraph-tasklama-method leaves out {', '.join(left_out)}: {remedy}"
    if settings.context == _BOTH:
        bare = sum(not task.context for task in task_set.split(settings.split))
        if bare:
            tasks = f"{bare} {'tasks' if bare > 1 else 'task'} of the {settings.split} split without context"
            yield f"--taskgraph-tasklama-context=both leaves out {tasks}: there is nothing to compare"


def question(reference: QuestionReference, settings: TaskLamaSettings) -> Question:
    """Return the question that a reference stands for."""
    method, payload = METHODS[reference.group], reference.payload
    task, task_set = ComplexTask.from_json(payload["task"]), load(settings)
    examples: Sequence[ComplexTask] = draw_examples(_training_tasks(task_set), task, settings.examples, settings.seed)
    if payload["context"] == WITHOUT:
        task, examples = replace(task, context=()), [replace(example, context=()) for example in examples]
    prompt = method.prompt(task, examples, settings)
    context = f"\nContext: {'; '.join(task.context)}" if task.context else ""
    return Question(
        id=reference.id,
        family="tasklama",
        group=method.name,
        section=method.section,
        text=f"Task: {task.title}{context}",
        prompt=prompt,
        form=method.form,
        reference={
            "steps": [*task.steps],
            "dependencies": [[*pair] for pair in task.dependencies],
            "similarity": _reference_similarity(settings),
        },
        metric=method.metric,
        further=[*method.further],
        pass_threshold=0.0 if settings.pass_threshold is None else settings.pass_threshold,
        place="whole",
        parsing=settings.parsing,
        episode=method.name + (EMBEDDINGS_SUFFIX if settings.similarity == EMBEDDINGS else ""),
        episode_settings=method.settings(task, examples, settings),
        labels={name: value for name, value in reference.labels.items() if value is not None},
        cluster=reference.cluster,
        digests={"task": digest_of(str(task.to_json())), "prompt": digest_of(prompt)},
    )


def _reference_similarity(settings: TaskLamaSettings) -> str:
    """Return the similarity as a reference states it. Raises UsageError."""
    try:
        return resolve_similarity(settings.similarity)
    except UsageError as error:
        raise UsageError(f"{SIMILARITY.flag}: {error}") from None


def _methods(settings: TaskLamaSettings) -> tuple[Method, ...]:
    """Return the methods to ask; without coefficients, those that need them only where they are named one by one."""
    chosen = METHODS.select(settings.methods)
    unfit = () if settings.filter else {*FILTERED} - {*settings.methods}
    return tuple(method for method in chosen if method.name not in unfit)


def _tasks(settings: TaskLamaSettings, count: int) -> tuple[ComplexTask, ...]:
    task_set = load(settings)
    split = task_set.split(settings.split)
    usable = tuple(task for task in split if task.context) if settings.context == _BOTH else split
    if split and not usable:
        raise UsageError(
            f"--taskgraph-tasklama-context=both: none of the {len(split)} tasks of the {settings.split} split has a "
            "context; there is nothing to compare: state with or without"
        )
    if not usable and task_set.source != "generated":
        raise UsageError(f"TaskLAMA, {task_set.source} tasks: none in the {settings.split} split{_others(task_set)}")
    return draw_items(usable, count, settings.seed)


def _training_tasks(task_set: TaskSet) -> Sequence[ComplexTask]:
    """Return the tasks that examples are drawn from: the training split, the embedded one where the data have none.

    Of generated tasks, as many as every run has: else other --taskgraph-instances would change all prompts.
    """
    if task_set.source == "generated":
        from .task_sets.generated import LEAST_TASKS

        return task_set.train[:LEAST_TASKS]
    return task_set.train or read_embedded().train


def _others(task_set: TaskSet) -> str:
    counts = {name: len(task_set.split(name)) for name in SPLITS}
    return "; " + ", ".join(f"{name}: {count}" for name, count in counts.items())


def _reference(method: Method, task: ComplexTask, context: str, apart: bool) -> QuestionReference:
    """Return a reference; with `apart` both contexts are asked, and the id names the context."""
    labels: Mapping[str, Any] = {"context": context, "steps": len(task.steps)}
    return QuestionReference(
        f"{method.name}-{task.id}" + (f"-{context}-context" if apart else ""),
        method.name,
        payload={"task": task.to_json(), "context": context},
        labels=labels,
        cluster=f"task:{task.cluster or task.title.casefold()}",
    )


def graph_pair(question: Question, score: Score) -> DiagramPair | None:
    """Return the gold graph and that of an answer; None if the similarity that an embedder measures is missing.

    A step of the answer is drawn as a step of the gold graph where `graph_f1` takes them for the same.
    """
    gold, given = gold_graph(question.reference), answered_graph(score.given)
    try:
        matrix = similarity_matrix(score.given, question.reference)
    except UnmeasuredError:
        return None
    if question.section == "step_generation":  # dependencies were not asked for: none are missing
        gold, given = replace(gold, dependencies=()), replace(given, dependencies=())
    ids = {mine: f"gold-{theirs}" for mine, theirs in alike_pairs(matrix)}
    title = question.text.partition("\n")[0]
    return DiagramPair(_diagram(title, gold, {}, "gold"), _diagram(title, given, ids, "given"))


def _diagram(title: str, graph: StepGraph, ids: dict[int, str], own: str) -> Diagram:
    names = [ids.get(at, f"{own}-{at}") for at in range(len(graph.steps))]
    nodes = [DiagramNode(name, step) for name, step in zip(names, graph.steps, strict=True)]
    return Diagram(title, nodes, [DiagramEdge(names[before], names[after]) for before, after in graph.dependencies])
