"""Questions about workflows as instances, with a diagram, a file, and the suite that asks each again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ....benchmarks.instances import Check, Instance
from ....errors import UsageError
from ....notations.plain_json import dumps
from ....reports.drawing.diagram_text import diagram_lines
from ....trial import Question
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.workflow_diagram import diagram
from ..family_options import UnderstandingSettings
from ..questions.ingredients import PatternQuestion

_STATED: Final = ("shots", "presentation", "parsing", "pass_threshold")


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
