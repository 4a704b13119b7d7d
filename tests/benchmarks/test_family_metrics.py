"""The metrics that a family tells of its patterns, against those of the questions."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_taskgraph.benchmarks import FAMILIES
from pytest_taskgraph.benchmarks.family import Family
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings

AGENT = "specifications_read"


@pytest.mark.parametrize("chosen", [{}, {"text_metrics": ("rouge2", "judge")}])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_question_has_the_metrics_that_its_family_told_of_its_pattern(family: Family, chosen: dict[str, Any]) -> None:
    settings = UnderstandingSettings(instances=1, **chosen)
    for one in family.references(settings, {}):
        question = family.question(one, settings)
        assert [question.metric, *question.further] == list(family.metrics(one.group, settings) or ())


def test_agents_are_measured_by_what_they_read_too() -> None:
    told = [understanding.metrics("next_tasks", UnderstandingSettings(presentation=one)) for one in ("inline", "agent")]
    assert [AGENT in one for one in told] == [False, True]
