"""From a case about a workflow to the question that is put: prompt, metrics, labels and digests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from ....notations import notation
from ....notations.plain_json import digest
from ....scoring.forms import form
from ....scoring.forms.form import Form
from ....scoring.metrics import MODEL_METRICS
from ....trial import Question, digest_of
from ....workflow.model import Workflow
from ...prompts import ComposedPrompt
from ..family_options import UnderstandingSettings
from ..own_files.interpretations import guide_for, spellings_for
from ..patterns.scope import sentence
from ..prompts import Example, WorkflowPrompt, prompt_template
from .chance import chance_at
from .examples import ExampleSeries, drawn, examples, shots_of, size_of
from .ingredients import Asked, PatternReference, known_names, written
from .labels import difficulty
from .presentation import present


@dataclass(frozen=True, slots=True)
class QuestionMetrics:
    """The metrics of a question: the one that decides, those beside it, and which of them a model measures."""

    metric: str
    further: list[str]
    judged: list[str]


def question_metrics(answer_form: Form, metric: str, chosen: Sequence[str]) -> QuestionMetrics:
    """Return the metrics that score answers of a form; `metric` is the pattern's own choice, empty for none.

    Of texts the first chosen metric decides, and the form's own stand beside the others: they cost nothing.
    """
    if answer_form.name != "text":
        return QuestionMetrics(metric or answer_form.metric, list(answer_form.further), [])
    first, *others = dict.fromkeys([*([metric] if metric else []), *chosen, answer_form.metric, *answer_form.further])
    return QuestionMetrics(first, others, [name for name in (first, *others) if name in MODEL_METRICS])


def pass_threshold(answer_form: Form, settings: UnderstandingSettings) -> float:
    """Return the smallest score that is right: the user's, where one is set, else the form's; 0.0 where none is."""
    return answer_form.pass_threshold if settings.pass_threshold is None else settings.pass_threshold


def compose(
    asked: Asked,
    reference: PatternReference,
    settings: UnderstandingSettings,
    subject: Workflow,
    files: Mapping[str, str] = MappingProxyType({}),
) -> Question:
    """Return the question that asks a case as it stands; nothing of it is drawn or looked up anew.

    Args:
        asked: The case, with the level, the phrasing, the notation and the text that is shown.
        reference: What the id, the size and the examples of the question are. A `source` of 0 or more says that the
            text is the user's own, or written from it.
        settings: The settings of the run.
        subject: The one workflow that the question is about, the others of its project beside it.
        files: The user's own files, path to text, where they are shown verbatim.
    """
    chosen, workflow_digest = prompt_template(settings.prompt, settings.templates), digest(asked.workflow)
    answer_form = form(asked.pattern.form)
    names = known_names(asked.workflow, asked.scope.workflow)
    text = sentence(asked.worded, asked.phrasing, asked.scope, asked.case)
    shown = notation(asked.notation)
    presented = present(asked.text, settings.presentation, shown, asked.scope, asked.pattern.needs, files)
    shots = _examples(reference, asked, workflow_digest, settings)
    told = chosen.compose(
        workflow=presented.text,
        notation=shown.title,
        in_notation=shown.phrase,
        guide=guide_for(shown, asked.text, reference.source >= 0, bool(shots)),
        question=text,
        instruction=answer_form.instruct(names),
        examples=shots,
        fenced=not presented.specifications,
    )
    metrics = question_metrics(answer_form, asked.pattern.metric, settings.text_metrics)
    return Question(
        reference.id, "understanding", asked.pattern.name, asked.pattern.category, text, told.prompt,
        answer_form.name, asked.case.answer, metrics.metric, metrics.further,
        pass_threshold(answer_form, settings), judged=metrics.judged, names=names, place=chosen.place,
        parsing=settings.parsing, labels=_labels(reference, asked, chosen),
        episode=presented.episode, specifications=presented.specifications, needed=presented.needed,
        cluster=workflow_digest if subject == asked.workflow else digest(subject), system=told.system,
        digests=_digests(asked, workflow_digest, chosen, told),
        chance=chance_at(answer_form.name, metrics.metric, asked.case.answer, asked.scope.workflow),
        relation=reference.relation, twin=reference.twin,
        spellings=spellings_for(shown, asked.text, asked.scope.root) if reference.source >= 0 else {},
    )  # fmt: skip


def _examples(
    reference: PatternReference, asked: Asked, workflow_digest: str, settings: UnderstandingSettings
) -> tuple[Example, ...]:
    """Return the solved examples that stand before the question."""
    if not shots_of(settings):
        return ()
    size = size_of(asked.pattern, reference.tasks)
    series = ExampleSeries(shots_of(settings), size, settings.seed, reference.ordinal)
    found = drawn(asked.pattern, series, workflow_digest)
    place = prompt_template(settings.prompt, settings.templates).place
    return examples(found, asked.worded, asked.phrasing, place, partial(written, name=asked.notation))


def _labels(reference: PatternReference, asked: Asked, chosen: WorkflowPrompt) -> dict[str, str | int]:
    return {
        **({"size": reference.tasks} if reference.tasks else {}),
        "notation": asked.notation,
        "phrasing": asked.phrasing + 1,
        "prompt": chosen.name,
        **({"names": asked.names} if asked.names else {}),
        **({"edit": asked.edit} if asked.edit else {}),
        **difficulty(asked.scope.workflow),
        **asked.case.labels,
    }


def _digests(asked: Asked, workflow_digest: str, chosen: WorkflowPrompt, told: ComposedPrompt) -> dict[str, str]:
    template = asked.worded.templates[asked.phrasing]
    return {
        "workflow": workflow_digest,
        "prompt": digest_of(told.prompt),
        **({"system": digest_of(told.system)} if told.system else {}),
        "prompt_template": digest_of(chosen.source),
        "template": digest_of(template),
        "reference": digest_of(json.dumps(asked.case.answer, sort_keys=True)),
    }
