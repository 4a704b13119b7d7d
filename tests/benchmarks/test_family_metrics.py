"""Metrics that a family states for its patterns, against those of the questions."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_taskgraph.benchmarks.family import Family
from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings

AGENT = "specifications_read"


@pytest.mark.parametrize("chosen", [{}, {"text_metrics": ("rouge2", "judge")}])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_family_metrics_equal_those_of_questions(family: Family, chosen: dict[str, Any]) -> None:
    settings = UnderstandingSettings(instances=1, **chosen)
    for reference in family.references(settings, {}):
        question = family.question(reference, settings)
        assert [question.metric, *question.further] == list(family.metrics(reference.group, settings) or ())


def test_family_metrics_of_agent_include_specifications_read() -> None:
    metrics = [
        understanding.metrics("next_tasks", UnderstandingSettings(presentation=kind)) for kind in ("inline", "agent")
    ]
    assert [AGENT in names for names in metrics] == [False, True]
