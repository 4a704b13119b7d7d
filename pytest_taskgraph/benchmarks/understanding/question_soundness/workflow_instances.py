"""Questions about workflows as instances: with the workflow's drawing, its file, and the suite that asks each again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ....errors import UsageError
from ....notations.plain_json import dumps
from ....reports.drawing.diagram_text import diagram_lines
from ....trial import Question
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.workflow_diagram import diagram
from ...instances import Check, Instance
from ..family_options import UnderstandingSettings
from ..questions.ingredients import PatternQuestion

_STATED: Final = ("shots", "presentation", "parsing", "pass_threshold")


def workflow_instance(
    asked: PatternQuestion, question: Question, settings: UnderstandingSettings, checks: Sequence[Check] = ()
) -> Instance:
    """Return a question as an instance.

    Args:
        asked: What the question asks, and about which workflow.
        question: The question.
        settings: The settings of the question; the suite states those that differ from the defaults.
        checks: The properties demanded of it.
    """
    workflow, name = asked.workflow, asked.pattern.name
    file = f"{re.sub(r'[^0-9A-Za-z_-]', '_', name)}.json"
    suite = {
        "patterns": name,
        "workflow": file,
        "question": question.text,
        "notation": asked.notation,
        "prompt": settings.prompt,
        **_differing(settings),
    }
    return Instance(question, drawing(workflow), {file: dumps(workflow)}, task_count(workflow), tuple(checks), suite)


def task_count(project: Workflow) -> int:
    """Return the number of tasks of a project, at any depth."""
    return sum(len(level.tasks) for level in every_level(project))


def drawing(project: Workflow) -> tuple[str, ...]:
    """Return a workflow drawn as lines of text; none where that fails."""
    try:
        return tuple(diagram_lines(diagram(project)))
    except UsageError:
        return ()


def _differing(settings: UnderstandingSettings) -> dict[str, Any]:
    """Return the settings that a suite has to state because they differ from the defaults."""
    usual = UnderstandingSettings()
    return {name: value for name in _STATED if (value := getattr(settings, name)) != getattr(usual, name)}
