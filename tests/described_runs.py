"""Descriptions of runs for tests of results and reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pytest_taskgraph.family_description import Aggregate, Column, FamilyDescription, ReferenceValue, TableSpec
from pytest_taskgraph.results.descriptions import Descriptions
from pytest_taskgraph.results.record.facts import About

PATTERNS = FamilyDescription(
    "understanding",
    group="pattern",
    section="category",
    cluster="workflow",
    presented_by=("notation",),
    difficulty={"tasks": "number of tasks", "depth": "depth", "width": "width", "guards": "number of guards"},
    sections=("structure", "behaviour", "functionality"),
)

WITH_TABLES = replace(
    PATTERNS,
    groups=("next_tasks",),
    facts={"notation": "wadl"},
    question_set=2,
    aggregates=(Aggregate("f1", "ratio", ("f1",)),),
    tables=(
        TableSpec(
            "patterns", "pattern", (Column("f1", "F1", rank=1),), groups=("next_tasks",),
            references=(ReferenceValue("next_tasks", "f1", 0.5, "A. Author 2024, Table 1"),),
        ),
    ),
)  # fmt: skip


def described(*groups: str) -> Descriptions:
    """Return the description of one family of patterns, in the order of `groups`."""
    return Descriptions([replace(PATTERNS, groups=groups)])


def about_run(
    version: str = "",
    models: Iterable[str] = (),
    seed: int = 0,
    notations: Iterable[str] = (),
    *facts: object,
    **more: object,
) -> About:
    """Return the facts of a run of the family of patterns; `facts` follow the order of About from `prompts` on."""
    names = ("prompts", "parsing", "fail_on", "questions", "settings", "gates", "lost", "question_sets", "interrupted")
    stated = {"notation": ", ".join(notations)} if notations else {}
    families = {"families": (replace(PATTERNS, facts=stated),)}
    stated_facts: dict[str, Any] = families | dict(zip(names, facts, strict=False)) | more
    if isinstance(prompt := stated_facts.get("prompts"), str):
        stated_facts["prompts"] = (prompt,)
    return About(version, tuple(models), seed, **stated_facts)
