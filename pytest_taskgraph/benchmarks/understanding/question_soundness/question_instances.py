"""Draw questions of a pattern for fuzzing: notation, prompt template, phrasing, workflow and case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ....errors import NoCaseError, UnsupportedFeatureError
from ....notations import NOTATIONS, Notation, notation
from ....trial import Question
from ....workflow.model import Workflow
from ...drawn_instances import unbuilt_instance
from ...instances import Instance
from ...prompts import prompt_sources
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
from .workflow_instances import drawing, task_count, workflow_instance
from .workflow_strategy import drawn_workflows, supports

FAMILY: Final = "understanding"
_PHRASINGS: Final = ("first", "second")


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """What decides a question apart from its workflow and case."""

    pattern: Pattern
    phrased: Pattern  # the same pattern with the phrasings of the run
    settings: UnderstandingSettings  # with the prompt template that was drawn
    notation: Notation
    phrasing: int


def question_instances(name: str, settings: UnderstandingSettings) -> st.SearchStrategy[Instance]:
    """Draw questions of a pattern: in any notation and prompt template, but where the user of the run stated one.

    Raises:
        NoCaseError: if none of the notations supports what the pattern needs.
    """
    pattern = catalogue()[name]
    stated = settings.notations if settings.convert else tuple(NOTATIONS)
    notations = [shown for shown in map(notation, stated) if supports(pattern, shown)]
    if not notations:
        raise NoCaseError(f"pattern {name!r}: none of {', '.join(stated)} supports {', '.join(sorted(pattern.needs))}")
    templates = [settings.prompt] if "prompt" in settings.given else list(_prompts(settings))
    return _instances(pattern, settings, notations, templates)


def _prompts(settings: UnderstandingSettings) -> list[str]:
    """Return the names of the prompt templates, that of the settings first."""
    return list(dict.fromkeys([settings.prompt, *prompt_sources(PROMPTS, settings.templates)]))


@st.composite
def _instances(
    draw: st.DrawFn, pattern: Pattern, settings: UnderstandingSettings, notations: list[Notation], templates: list[str]
) -> Instance:
    words = apply_phrasings(pattern, settings.templates)
    chosen = replace(settings, prompt=draw(st.sampled_from(templates)), workflows=())
    phrasings = range(len(words.templates))
    if settings.phrasing in _PHRASINGS:
        phrasings = range(_PHRASINGS.index(settings.phrasing) % len(phrasings), len(phrasings))[:1]
    drawn = DrawnQuestion(pattern, words, chosen, draw(st.sampled_from(notations)), draw(st.sampled_from(phrasings)))
    if shots_of(chosen) and unsupported_by_examples(pattern, drawn.notation.name):
        reject()
    project = draw(drawn_workflows(pattern, drawn.notation))
    return _instance(draw, drawn, project)


def _instance(draw: st.DrawFn, drawn: DrawnQuestion, project: Workflow) -> Instance:
    """Draw a case about the workflow; an unbuilt instance where the pattern, the notation or the template fails."""
    try:
        text = write_workflow(project, drawn.notation.name)
        pairs = [(scope, case) for scope in scopes(project) for case in cases(drawn.pattern, scope)]
    except UnsupportedFeatureError:
        reject()
    except Exception as error:  # of a pattern or notation: a finding, whatever it is
        return _unbuilt(drawn, project, error)
    if not pairs:
        reject()
    place: int = draw(st.integers(0, len(pairs) - 1))
    scope, case = pairs[place]
    by_name: bool = draw(st.booleans()) if scope.path else False
    if by_name:
        scope = use_own_name(scope, project, text)
    asked = PatternQuestion(
        drawn.pattern, drawn.phrased, project, scope, case, drawn.phrasing, drawn.notation.name, text
    )
    try:
        return instance_about(asked, drawn.settings)
    except NoCaseError:  # no examples to show
        reject()
    except Exception as error:  # of a template
        return _unbuilt(drawn, project, error)


def instance_about(asked: PatternQuestion, settings: UnderstandingSettings) -> Instance:
    """Return the question that asks a case, as an instance. Raises UsageError where its templates fail."""
    question = composed(asked, settings)
    checks = question_checks(asked, question, partial(composed, settings=settings))
    return workflow_instance(asked, question, settings, checks)


def composed(asked: PatternQuestion, settings: UnderstandingSettings) -> Question:
    """Return the question that asks a case. Raises UsageError where its templates fail."""
    name = f"{asked.pattern.name}-{asked.notation}-p{asked.phrasing + 1}"
    return compose(asked, PatternReference(name, asked.pattern.name, asked.notation, 0), settings, asked.workflow)


def _unbuilt(drawn: DrawnQuestion, project: Workflow, error: Exception) -> Instance:
    name = f"{drawn.pattern.name}-{drawn.notation.name}-p{drawn.phrasing + 1}"
    return unbuilt_instance(FAMILY, drawn.pattern.name, error, name, drawing(project), task_count(project))
