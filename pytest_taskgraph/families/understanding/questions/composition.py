"""Composition of a question from a case about a workflow: prompt, metrics, labels and digests."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType

from ....benchmarks.prompts import ComposedPrompt
from ....notations import FILE_FORMATS, known_notation
from ....notations.notation import Notation, combine_workflows
from ....notations.plain_json import digest
from ....notations.wadl.files import referenced_names
from ....scoring.forms import form
from ....scoring.forms.form import Form
from ....scoring.metrics import MODEL_METRICS
from ....trial import Question, digest_of
from ....workflow.features import features
from ....workflow.model import QualifiedName, Workflow
from ....workflow.project import Index
from ....workflow.references import assemble, nested_task_paths
from ..agent import LIST, READ
from ..family_options import Presentation
from ..own_files.interpretations import guide_for, spellings_for
from ..patterns.scope import Scope, sentence
from ..prompts import Example, WorkflowPrompt, prompt_template
from ..understanding_settings import UnderstandingSettings
from .chance import chance_level
from .examples import ExampleSeries, draw_examples, shots_of, size_of, solve_examples
from .ingredients import PatternQuestion, PatternReference, known_names, write_workflow
from .labels import difficulty

BELOW = frozenset({"hierarchy", "references"})  # features of patterns that ask about the inside of tasks
NOT_SHOWN = (
    "The text of the workflow is not shown here: it is kept as specifications, one for each workflow it is made of. "
    f"Read those that you need with your tools: {LIST} tells their names, {READ} gives the text of one."
)
_encode_sorted = json.JSONEncoder(sort_keys=True).encode
_template_digest = lru_cache(maxsize=256)(digest_of)  # a run has few templates, and many questions of each


@dataclass(frozen=True, slots=True)
class PresentedWorkflow:
    """Text in the prompt, specifications that can be read, and the episode that asks the question."""

    text: str
    episode: str = "single"
    specifications: dict[str, str] = field(default_factory=dict)  # by name
    needed: list[str] = field(default_factory=list)  # names of the specifications that the answer depends on


def present(
    text: str,
    presentation: Presentation,
    notation: Notation,
    scope: Scope,
    needs: Collection[str] = (),
    files: Mapping[str, str] | None = None,
    own: bool = False,
) -> PresentedWorkflow:
    """Return a workflow's text in the given presentation.

    For an agent there is a specification for each workflow of the text, under its qualified name. Needed are the
    specifications of the workflow around the level that the question is about, of the workflows on the path down to
    that level, and of all their bases; if the pattern asks about the inside of tasks, also of all referenced workflows.

    Args:
        text: The text of the workflow.
        presentation: "inline" or "agent".
        notation: The notation of the text.
        scope: The level that the question is about.
        needs: The features that the pattern needs.
        files: The user's own files, path to text, shown verbatim: a file of several workflows is the specification of
            each of them.
        own: True if the text is the user's own, or written from it.
    """
    if presentation != "agent":
        return PresentedWorkflow(text)
    only_read = own and notation.name in FILE_FORMATS
    if only_read:  # its files are read together, and none is written
        whole = combine_workflows(notation.interpret(text).workflows)
    else:
        whole = notation.read_files(files) if files else notation.read(text)
    index = Index(whole)
    if only_read:
        texts = dict.fromkeys(index.exact, text)
    else:
        texts = _verbatim_texts(notation, files) if files else _rendered_texts(notation, index)
    specifications = {str(name): texts[name] for name in index.exact}
    root = index.exact.get(scope.root.qualified, whole)
    return PresentedWorkflow(
        NOT_SHOWN, "agent", specifications, [str(n) for n in _needed_names(index, root, scope, needs)]
    )


def _verbatim_texts(notation: Notation, files: Mapping[str, str]) -> dict[QualifiedName, str]:
    """Return the text of the file that defines each workflow; of several definitions, the first."""
    texts: dict[QualifiedName, str] = {}
    for path, text in files.items():
        for workflow in notation.parse(text, path):
            texts.setdefault(workflow.qualified, text.strip("\n"))
    return texts


def _rendered_texts(notation: Notation, index: Index) -> dict[QualifiedName, str]:
    """Return the text of each workflow, written separately."""
    return {name: notation.render(replace(workflow, others=())).strip("\n") for name, workflow in index.exact.items()}


def _needed_names(index: Index, root: Workflow, scope: Scope, needs: Collection[str]) -> list[QualifiedName]:
    """Return the names of the workflows that a question about the level depends on, in the order of the project."""
    path_workflows = _names_on_path(index, root, scope.path)
    below = path_workflows is None or not BELOW.isdisjoint(needs)
    waiting, needed = list(path_workflows or (root.qualified,)), set[QualifiedName]()
    while waiting:
        workflow = index.exact[waiting.pop()]
        needed.add(workflow.qualified)
        names = referenced_names(workflow) if below else filter(None, [workflow.base])
        targets = (index.find(name, workflow.package) for name in names)
        waiting += [other.qualified for other in targets if other is not None and other.qualified not in needed]
    return [name for name in index.exact if name in needed]


def _names_on_path(index: Index, root: Workflow, path: tuple[str, ...]) -> list[QualifiedName] | None:
    """Return the workflows in which the level at a path of composite tasks is written, from the root on.

    Returns:
        None where other workflows configure the level, so that no specification shows it alone.
    """
    others = [workflow for workflow in index.exact.values() if workflow.qualified != root.qualified]
    level = assemble(replace(root, others=tuple(replace(workflow, others=()) for workflow in others)))
    by_name, names = {workflow.qualified: workflow for workflow in (level, *level.others)}, [root.qualified]
    for step in path:
        task = next((task for task in level.tasks if task.name == step), None)
        below = task and (task.subworkflow or (task.reference and by_name.get(task.reference)))
        if not task or not below:
            return None
        if task.reference is not None:
            if below.qualified not in index.exact:
                return None
            names.append(below.qualified)
        level = below
    return names


@dataclass(frozen=True, slots=True)
class QuestionMetrics:
    """Metrics of a question: the main one, the further ones, and those that a model measures."""

    metric: str
    further: list[str]
    model_measured: list[str]


def question_metrics(answer_form: Form, metric: str, chosen: Sequence[str]) -> QuestionMetrics:
    """Return the metrics that score answers of a form.

    Of texts the first chosen metric is the main one, and the form's own metrics are further ones: they cost no
    requests.

    Args:
        answer_form: The form of answer.
        metric: The pattern's own main metric, empty for the form's.
        chosen: The metrics of texts that the settings name.
    """
    if answer_form.name != "text":
        return QuestionMetrics(metric or answer_form.metric, list(answer_form.further), [])
    first, *others = dict.fromkeys([*([metric] if metric else []), *chosen, answer_form.metric, *answer_form.further])
    return QuestionMetrics(first, others, [name for name in (first, *others) if name in MODEL_METRICS])


def pass_threshold(answer_form: Form, settings: UnderstandingSettings) -> float:
    """Return the smallest score that passes: the user's if one is set, else the form's; 0.0 for graded forms."""
    return answer_form.pass_threshold if settings.pass_threshold is None else settings.pass_threshold


def compose(
    question: PatternQuestion,
    reference: PatternReference,
    settings: UnderstandingSettings,
    subject: Workflow,
    files: Mapping[str, str] = MappingProxyType({}),
) -> Question:
    """Return the question that asks a case; nothing of it is drawn or looked up again.

    Args:
        question: The case, with the level, the phrasing, the notation and the text that is shown.
        reference: Id, size and examples of the question. A `source` of 0 or more means that the text is the user's own,
            or written from it.
        settings: The settings of the run.
        subject: The workflow that the question is about, with the others of its project beside it.
        files: The user's own files, path to text, where they are shown verbatim.
    """
    template, workflow_digest = prompt_template(settings.prompt, settings.templates), digest(question.workflow)
    answer_form = form(question.pattern.form)
    paths = nested_task_paths(question.scope.workflow)
    names = known_names(question.workflow, question.scope.workflow, paths, plain=answer_form.names_all)
    text = sentence(question.phrased, question.phrasing, question.scope, question.case)
    notation_shown = known_notation(question.notation)
    needs, own = question.pattern.needs, reference.source >= 0
    shown_workflow = present(question.text, settings.presentation, notation_shown, question.scope, needs, files, own)
    special = features(question.workflow, {"exceptional", "durations"})
    shots = _examples(reference, question, workflow_digest, settings)
    composed = template.compose(
        workflow=shown_workflow.text,
        notation=notation_shown.title,
        in_notation=notation_shown.phrase,
        guide=guide_for(notation_shown, question.text, own, bool(shots), special),
        question=text,
        instruction=answer_form.instruct(names),
        examples=shots,
        fenced=not shown_workflow.specifications,
    )
    metrics = question_metrics(answer_form, question.pattern.metric, settings.text_metrics)
    return Question(
        reference.id, "understanding", question.pattern.name, question.pattern.category, text, composed.prompt,
        answer_form.name, question.case.answer, metrics.metric, metrics.further,
        pass_threshold(answer_form, settings), judged=metrics.model_measured, names=names, place=template.place,
        parsing=settings.parsing, labels=_labels(reference, question, template, len(paths)),
        episode=shown_workflow.episode, specifications=shown_workflow.specifications, needed=shown_workflow.needed,
        cluster=workflow_digest if subject == question.workflow else digest(subject), system=composed.system,
        digests=_digests(question, workflow_digest, template, composed),
        chance=chance_level(question, metrics.metric),
        relation=reference.relation, twin=reference.twin,
        spellings=spellings_for(notation_shown, question.text, question.scope.root) if reference.source >= 0 else {},
    )  # fmt: skip


def _examples(
    reference: PatternReference,
    question: PatternQuestion,
    workflow_digest: str,
    settings: UnderstandingSettings,
) -> tuple[Example, ...]:
    """Return the solved examples that stand before the question."""
    if not shots_of(settings):
        return ()
    size = size_of(question.pattern, reference.tasks)
    series = ExampleSeries(shots_of(settings), size, settings.seed, reference.turn)
    cases = draw_examples(question.pattern, series, workflow_digest)
    place = prompt_template(settings.prompt, settings.templates).place
    return solve_examples(
        cases,
        question.phrased,
        question.phrasing,
        place,
        partial(write_workflow, name=question.notation),
    )


def _labels(
    reference: PatternReference, question: PatternQuestion, chosen: WorkflowPrompt, nested: int
) -> dict[str, str | int]:
    return {
        **({"size": reference.tasks} if reference.tasks else {}),
        "notation": question.notation,
        "phrasing": question.phrasing + 1,
        "prompt": chosen.name,
        **({"names": question.names} if question.names else {}),
        **({"edit": question.edit} if question.edit else {}),
        **difficulty(question.scope.workflow, nested),
        **question.case.labels,
    }


def _digests(
    question: PatternQuestion, workflow_digest: str, chosen: WorkflowPrompt, composed: ComposedPrompt
) -> dict[str, str]:
    template = question.phrased.templates[question.phrasing]
    return {
        "workflow": workflow_digest,
        "prompt": digest_of(composed.prompt),
        **({"system": digest_of(composed.system)} if composed.system else {}),
        "prompt_template": _template_digest(chosen.source),
        "template": _template_digest(template),
        "reference": digest_of(_encode_sorted(question.case.answer)),
    }
