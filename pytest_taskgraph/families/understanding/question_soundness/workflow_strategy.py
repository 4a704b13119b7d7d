"""Hypothesis strategies for workflows of a pattern: its needs and further features that a notation supports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from hypothesis import reject
from hypothesis import strategies as st

from ....benchmarks.instances import Check, Instance
from ....errors import NoCaseError, UsageError
from ....generation.builder import build, shuffle_declarations
from ....generation.flaws import MUTATIONS
from ....generation.recipe import Recipe
from ....generation.strategies import recipes
from ....generation.vocabularies import domain_names
from ....notations.notation import Notation
from ....notations.plain_json import dumps
from ....reports.drawing.diagram_text import diagram_lines
from ....trial import Question
from ....workflow.check import problems
from ....workflow.features import FEATURES
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.workflow_diagram import diagram
from ..family_options import UnderstandingSettings
from ..patterns.pattern import Pattern
from ..questions.ingredients import PatternQuestion
from ..renaming import RESERVED, names_of, renaming_to, with_texts

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
