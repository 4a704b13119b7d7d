"""Runs of families with tables of their own, for tests of tables in every report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_taskgraph.family_description import RATES, Aggregate, Column, FamilyDescription, ReferenceValue, TableSpec
from pytest_taskgraph.results.record import About, build
from pytest_taskgraph.trial import Json, Outcome, Question, Reply, Score, Trial

PUBLISHED = "Doe et al. (2023), table 2"
CLASSES = (Aggregate("recall", "ratio", ("yes",)), Aggregate("specificity", "ratio", ("no",)))
CLAIMS = FamilyDescription(
    "claims",
    group="method",
    section="task",
    cluster="document",
    groups=("whole", "pairs"),
    aggregates=(*CLASSES, Aggregate("g_mean", "geometric-mean", ("recall", "specificity"))),
    tables=(
        TableSpec(
            "methods",
            "method",
            (Column("n"), Column("recall", "recall"), Column("specificity"), Column("g_mean", "G-mean", rank=1)),
            references=(ReferenceValue("pairs", "recall", 0.71, PUBLISHED),),
        ),
    ),
    difficulty={"tasks": "number of tasks"},
)
STEPS = FamilyDescription(
    "steps", group="recipe", section="kitchen", groups=("soup", "bread"), difficulty={"tasks": "number of tasks"}
)


def claim(
    at: int, group: str = "pairs", *, right: bool = True, yes: bool = True, model: str = "m", **labels: Json
) -> Trial:
    """Return a trial about a true or false claim, which contributes to one of two parts."""
    question = Question(
        f"claims-{group}-{at}", "claims", group, "", "?", "p", "yes-no", "yes" if yes else "no", "correctness",
        pass_threshold=1.0, cluster=f"d{at}", labels={name: str(value) for name, value in labels.items()},
    )  # fmt: skip
    parts = {"yes" if yes else "no": [float(right), 1.0]}
    score = Score(float(right), {"overlap": 0.25 * (at % 4)}, parts=parts, given="yes")
    return Trial(question, model, "right" if right else "wrong", Reply("yes"), score)


def step(at: int, group: str = "soup", score: float | None = None, model: str = "m") -> Trial:
    """Return a trial about a recipe: right, or graded if it has a score."""
    graded = score is not None
    question = Question(
        f"steps-{group}-{at}", "steps", group, "", "?", "p", "text" if graded else "yes-no", "x",
        "rouge1" if graded else "correctness", pass_threshold=0.0 if graded else 1.0, cluster=f"r{at}",
    )  # fmt: skip
    outcome: Outcome = "graded" if graded else "right"
    return Trial(question, model, outcome, Reply("x"), Score(1.0 if score is None else score, given="x"))


def run_of(trials: Sequence[Trial], *families: FamilyDescription) -> dict[str, Any]:
    """Return the record of trials of these families."""
    models = tuple(sorted({trial.model for trial in trials}))
    return build(trials, About("0.1.0", models, 7, families=families or (CLAIMS, STEPS)))


CLAIMED = [claim(at, yes=at % 2 == 0, right=at % 4 != 0) for at in range(12)] + [claim(1, "whole")]
SOUPS = [step(at) for at in range(3)]
GRADED = [step(at, "bread", 0.2 * at) for at in range(4)]
RATED = TableSpec("rated", "method", RATES)
