"""Hypothesis strategies for questions of a pattern: notation, prompt template, phrasing, workflow and case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Final

from hypothesis import reject
from hypothesis import strategies as st

from ....benchmarks.drawn_instances import unbuilt_instance
from ....benchmarks.instances import Check, Instance
from ....benchmarks.prompts import prompt_sources
from ....errors import NoCaseError, UnsupportedFeatureError, UsageError
from ....generation.builder import build, shuffle_declarations
from ....generation.flaws import MUTATIONS
from ....generation.recipe import Recipe
from ....generation.strategies import recipes
from ....generation.vocabularies import domain_names
from ....notations import NOTATIONS, notation
from ....notations.notation import Notation
from ....notations.plain_json import dumps
from ....reports.drawing.diagram_text import diagram_lines
from ....trial import Question
from ....workflow.check import problems
from ....workflow.features import FEATURES
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.workflow_diagram import diagram
from ..patterns import catalogue
from ..patterns.pattern import Pattern
from ..patterns.scope import cases, scopes, use_own_name
from ..prompts import PROMPTS
from ..questions.composition import compose
from ..questions.examples import shots_of, unsupported_by_examples
from ..questions.ingredients import PatternQuestion, PatternReference, write_workflow
from ..questions.phrasings import apply_phrasings
from ..renaming import RESERVED, names_of, renaming_to, with_texts
from ..understanding_settings import UnderstandingSettings
from .question_checks import question_checks

RENAMED: Final = ("task", "data", "workflow")  # guards contain the names of parameters, which stay plain
UNUSUAL: Final = (
    *("Check", "Check it", "Check it again", "Check1", "Check11"),
    *("task", "tasks", "workflow", "define", "condition", "data", "from", "in", "parallel", "PARALLEL", "subworkflow"),
    *("end", "start", "graph", "subgraph", "flowchart", "class", "style", "click", "links", "null", "After", "The"),
    *("Größe prüfen", "検査する", "naïve", "проверка", "Ωμέγα", "étape-2"),
    *("it's", 'the "main" one', "'quoted'", "rock'n'roll", "`code`"),
    *("salt, pepper", "bread and butter", "either/or", "A; B", "1. First", "- dash", "Yes, please", "a = b", "n < 3"),
    *("{x}", "{{ name }}", "[list]", "(again)", "<b>", "a|b", "#35;", "&amp;", "a -> b", "--> end", "back\\slash"),
    "a name of many words that goes on " + "and on " * 30 + "to its end",
    "L" * 200,
)
_LETTERS: Final = "ab Zé_ß日'\"{}[]()<>#;:|-.,=&\\/"
SEEDS: Final = 9_999
MOST_TASKS: Final = 8  # unless the drawn features need more
_STATED: Final = ("shots", "presentation", "parsing", "pass_threshold")
FAMILY: Final = "understanding"
_PHRASINGS: Final = ("first", "second")


def unusual_names() -> st.SearchStrategy[str]:
    """Draw unusual names; none is a word of conditions or of answers."""
    random_names = st.text(_LETTERS, min_size=1, max_size=12).map(lambda text: " ".join(text.split()))
    return (st.sampled_from(UNUSUAL) | random_names).filter(_is_usable)


def _is_usable(name: str) -> bool:
    return bool(name.strip()) and name.lower() not in RESERVED and name not in ("START", "END")


@st.composite
def with_unusual_names(draw: st.DrawFn, project: Workflow) -> Workflow:
    """Draw the project with unusual names for some tasks, data and workflows; shrinks towards its own names."""
    kinds = names_of(project)
    old_names = [name for name, kind in kinds.items() if kind in RENAMED]
    new_names = draw(st.lists(unusual_names(), max_size=len(old_names), unique_by=lambda name: name.casefold()))
    if not new_names:
        return project
    if not kinds.keys().isdisjoint(new_names):
        reject()
    renamed = with_texts(project, renaming_to(dict(zip(old_names, new_names, strict=False))))
    if problems(renamed):
        reject()
    return renamed


@st.composite
def workflows_for(draw: st.DrawFn, pattern: Pattern, notation: Notation) -> Workflow:
    """Draw a workflow that the pattern can be asked about and that the notation supports.

    It has what the pattern needs and nothing that it avoids, and a flaw for one of its answers if the pattern has
    flaws. Shrinks towards few tasks, few further features, plain names, and no flaw if none is required.
    """
    recipe = draw(_recipes(pattern, notation))
    # A single seed for all choices of the builder: hundreds of choices by Hypothesis take minutes to shrink.
    rng = Random(f"fuzz|{draw(st.integers(0, SEEDS))}")
    flaw = draw(st.sampled_from(_flaws(pattern)))
    try:
        project = build(recipe, rng)
        if flaw:
            project = shuffle_declarations(MUTATIONS[flaw](project, rng), rng)
    except NoCaseError:  # no consistent choice of tasks, or no place for the flaw
        reject()
    return project if pattern.domain or pattern.planted else draw(with_unusual_names(project))


def supports(pattern: Pattern, notation: Notation) -> bool:
    """Return True if a notation supports what workflows for the pattern need."""
    try:
        Recipe(features=pattern.needs, avoid=notation.unsupported)
    except UsageError:
        return False
    return True


def _recipes(pattern: Pattern, notation: Notation) -> st.SearchStrategy[Recipe]:
    vocabularies = domain_names() if pattern.domain else ("neutral", *domain_names())
    matching_recipes = recipes(
        max_tasks=MOST_TASKS,
        features=pattern.needs,
        avoid=pattern.avoids | notation.unsupported,
        among=FEATURES - pattern.avoids - notation.unsupported,
        vocabularies=vocabularies,
    )
    domain_fields = {"complete": True, "prose": True} if pattern.domain else {}

    def finish(recipe: Recipe) -> Recipe:
        try:
            return replace(recipe, tasks=max(recipe.tasks, pattern.least), **{**domain_fields, **pattern.recipe})
        except UsageError:  # the domain has fewer tasks
            reject()

    return matching_recipes.map(finish)


def _flaws(pattern: Pattern) -> list[str]:
    """Return the flaws to plant; the empty name, for none, comes first where the answers do not depend on a flaw."""
    names = dict.fromkeys(name for some in pattern.flaws.values() for name in some)
    return [*([] if pattern.planted and names else [""]), *names]


def workflow_instance(
    posed: PatternQuestion, question: Question, settings: UnderstandingSettings, checks: Sequence[Check] = ()
) -> Instance:
    """Return a question as an instance.

    Args:
        posed: The case of the question.
        question: The question.
        settings: The settings of the question; the suite states those that differ from the defaults.
        checks: The checks of the question.
    """
    workflow, name = posed.workflow, posed.pattern.name
    file = f"{re.sub(r'[^0-9A-Za-z_-]', '_', name)}.json"
    suite = {
        "patterns": name,
        "workflow": file,
        "question": question.text,
        "notation": posed.notation,
        "prompt": settings.prompt,
        **_changed_settings(settings),
    }
    return Instance(question, diagram_of(workflow), {file: dumps(workflow)}, task_count(workflow), tuple(checks), suite)


def task_count(project: Workflow) -> int:
    """Return the number of tasks of a project, at any depth."""
    return sum(len(level.tasks) for level in every_level(project))


def diagram_of(project: Workflow) -> tuple[str, ...]:
    """Return the diagram of a workflow as lines of text; none if drawing fails."""
    try:
        return tuple(diagram_lines(diagram(project)))
    except UsageError:
        return ()


def _changed_settings(settings: UnderstandingSettings) -> dict[str, Any]:
    """Return the settings that a suite has to state because they differ from the defaults."""
    defaults = UnderstandingSettings()
    return {name: value for name in _STATED if (value := getattr(settings, name)) != getattr(defaults, name)}


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
