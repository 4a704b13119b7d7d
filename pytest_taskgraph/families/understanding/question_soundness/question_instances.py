"""Hypothesis strategies for questions of a pattern: notation, prompt template, phrasing, workflow and case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ....benchmarks.drawn_instances import unbuilt_instance
from ....benchmarks.instances import Instance
from ....benchmarks.prompts import prompt_sources
from ....errors import NoCaseError, UnsupportedFeatureError
from ....notations import NOTATIONS, Notation, notation
from ....trial import Question
from ....workflow.model import Workflow
from ..family_options import UnderstandingSettings
from ..patterns import catalogue
from ..patterns.pattern import Pattern
from ..patterns.scope import cases, scopes, use_own_name
from ..prompts import PROMPTS
from ..questions.composition import compose
from ..questions.examples import shots_of, unsupported_by_examples
from ..questions.ingredients import PatternQuestion, PatternReference, write_workflow
from ..questions.phrasings import apply_phrasings
from .question_checks import question_checks
from .workflow_strategy import diagram_of, supports, task_count, workflow_instance, workflows_for

FAMILY: Final = "understanding"
_PHRASINGS: Final = ("first", "second")


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """The parts of a question beside its workflow and case."""

    pattern: Pattern
    phrased: Pattern  # the same pattern with the phrasings of the run
    settings: UnderstandingSettings  # with the drawn prompt template
    notation: Notation
    phrasing: int


def question_instances(name: str, settings: UnderstandingSettings) -> st.SearchStrategy[Instance]:
    """Draw questions of a pattern, in any notation and prompt template that the user of the run has not fixed.

    Raises:
        NoCaseError: if none of the notations supports what the pattern needs.
    """
    pattern = catalogue()[name]
    candidates = settings.notations if settings.convert else tuple(NOTATIONS)
    notations = [supported for supported in map(notation, candidates) if supports(pattern, supported)]
    if not notations:
        raise NoCaseError(
            f"pattern {name!r}: none of {', '.join(candidates)} supports {', '.join(sorted(pattern.needs))}"
        )
    templates = [settings.prompt] if "prompt" in settings.given else list(_prompt_names(settings))
    return _instances(pattern, settings, notations, templates)


def _prompt_names(settings: UnderstandingSettings) -> list[str]:
    """Return the names of the prompt templates, that of the settings first."""
    return list(dict.fromkeys([settings.prompt, *prompt_sources(PROMPTS, settings.templates)]))


@st.composite
def _instances(
    draw: st.DrawFn, pattern: Pattern, settings: UnderstandingSettings, notations: list[Notation], templates: list[str]
) -> Instance:
    phrased = apply_phrasings(pattern, settings.templates)
    settings_drawn = replace(settings, prompt=draw(st.sampled_from(templates)), workflows=())
    phrasings = range(len(phrased.templates))
    if settings.phrasing in _PHRASINGS:
        phrasings = range(_PHRASINGS.index(settings.phrasing) % len(phrasings), len(phrasings))[:1]
    drawn_question = DrawnQuestion(
        pattern, phrased, settings_drawn, draw(st.sampled_from(notations)), draw(st.sampled_from(phrasings))
    )
    if shots_of(settings_drawn) and unsupported_by_examples(pattern, drawn_question.notation.name):
        reject()
    project = draw(workflows_for(pattern, drawn_question.notation))
    return _instance(draw, drawn_question, project)


def _instance(draw: st.DrawFn, drawn_question: DrawnQuestion, project: Workflow) -> Instance:
    """Draw a case about the workflow; an unbuilt instance where the pattern, the notation or the template fails."""
    try:
        text = write_workflow(project, drawn_question.notation.name)
        pairs = [(scope, case) for scope in scopes(project) for case in cases(drawn_question.pattern, scope)]
    except UnsupportedFeatureError:
        reject()
    except Exception as error:  # any failure of a pattern or notation is a finding
        return _unbuilt_instance(drawn_question, project, error)
    if not pairs:
        reject()
    index: int = draw(st.integers(0, len(pairs) - 1))
    scope, case = pairs[index]
    by_name: bool = draw(st.booleans()) if scope.path else False
    if by_name:
        scope = use_own_name(scope, project, text)
    posed = PatternQuestion(
        drawn_question.pattern,
        drawn_question.phrased,
        project,
        scope,
        case,
        drawn_question.phrasing,
        drawn_question.notation.name,
        text,
    )
    try:
        return instance_of(posed, drawn_question.settings)
    except NoCaseError:  # no examples to show
        reject()
    except Exception as error:  # of a template
        return _unbuilt_instance(drawn_question, project, error)


def instance_of(posed: PatternQuestion, settings: UnderstandingSettings) -> Instance:
    """Return the question that asks a case, as an instance.

    Raises:
        UsageError: if its templates fail.
    """
    question = compose_posed(posed, settings)
    checks = question_checks(posed, question, partial(compose_posed, settings=settings))
    return workflow_instance(posed, question, settings, checks)


def compose_posed(posed: PatternQuestion, settings: UnderstandingSettings) -> Question:
    """Return the question that asks a case.

    Raises:
        UsageError: if its templates fail.
    """
    name = f"{posed.pattern.name}-{posed.notation}-p{posed.phrasing + 1}"
    return compose(posed, PatternReference(name, posed.pattern.name, posed.notation, 0), settings, posed.workflow)


def _unbuilt_instance(drawn_question: DrawnQuestion, project: Workflow, error: Exception) -> Instance:
    name = f"{drawn_question.pattern.name}-{drawn_question.notation.name}-p{drawn_question.phrasing + 1}"
    return unbuilt_instance(FAMILY, drawn_question.pattern.name, error, name, diagram_of(project), task_count(project))
