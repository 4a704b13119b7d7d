"""Tables of the family: pass rates by category and pattern, mean scores of graded patterns, and pass rates by size."""

from __future__ import annotations

from typing import Final

from ...family_description import RATE_LAYOUTS, RATES, SCORE_LAYOUTS, SCORES, TableSpec

TABLES: Final = (
    TableSpec(
        "patterns",
        "pattern",
        RATES,
        sections=True,
        caption="Pass rates by category and pattern",
        layouts=RATE_LAYOUTS,
    ),
    TableSpec(
        "graded",
        "graded",
        SCORES,
        total=False,
        graded=True,
        caption="Graded questions: mean scores",
        layouts=SCORE_LAYOUTS,
    ),
    TableSpec(
        "by size",
        "size",
        RATES,
        rows="label",
        label="size",
        total=False,
        caption="Pass rates by size of the workflow",
        layouts=RATE_LAYOUTS,
        least_rows=2,
    ),
)
