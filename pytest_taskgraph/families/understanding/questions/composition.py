"""Composition of a question from a case about a workflow: prompt, metrics, labels and digests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType

from ....benchmarks.prompts import ComposedPrompt
from ....notations import notation
from ....notations.plain_json import digest
from ....scoring.forms import form
from ....scoring.forms.form import Form
from ....scoring.metrics import MODEL_METRICS
from ....trial import Question, digest_of
from ....workflow.model import Workflow
from ....workflow.references import nested_task_paths
from ..family_options import UnderstandingSettings
from ..own_files.interpretations import guide_for, spellings_for
from ..patterns.scope import sentence
from ..prompts import Example, WorkflowPrompt, prompt_template
from .chance import chance_level
from .examples import ExampleSeries, draw_examples, shots_of, size_of, solve_examples
from .ingredients import PatternQuestion, PatternReference, known_names, write_workflow
from .labels import difficulty
from .presentation import present


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
    names = known_names(question.workflow, question.scope.workflow, paths)
    text = sentence(question.phrased, question.phrasing, question.scope, question.case)
    notation_shown = notation(question.notation)
    needs = question.pattern.needs
    shown_workflow = present(question.text, settings.presentation, notation_shown, question.scope, needs, files)
    shots = _examples(reference, question, workflow_digest, settings)
    composed = template.compose(
        workflow=shown_workflow.text,
        notation=notation_shown.title,
        in_notation=notation_shown.phrase,
        guide=guide_for(notation_shown, question.text, reference.source >= 0, bool(shots)),
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
    series = ExampleSeries(shots_of(settings), size, settings.seed, reference.ordinal)
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


_encode_sorted = json.JSONEncoder(sort_keys=True).encode
_template_digest = lru_cache(maxsize=256)(digest_of)  # a run has few templates, and many questions of each
