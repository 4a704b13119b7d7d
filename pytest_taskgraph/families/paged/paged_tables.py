"""The tables of the family, in the layout of Du et al. (2024), table 2, with their numbers as reference values.

The paper's numbers are of the paper's documents, and of a script that differs from the metrics of its appendix, mostly
towards higher scores; ours follow the appendix (docs/reference/metrics.md). They are not directly
comparable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...family_description import RATE_LAYOUTS, RATES, Aggregate, Column, ReferenceValue, TableLayout, TableSpec

ELEMENTS: Final = {
    "actor": ("actor", "actor", 1),
    "action": ("action", "action", 0),
    "data": ("data constraint", "data", 3),
    "notice": ("action constraint", "notice", 3),
    "exclusive": ("exclusive", "XOR", 1),
    "inclusive": ("inclusive", "OR", 1),
    "parallel": ("parallel", "AND", 1),
    "sequence": ("sequence flow", "seq", 2),
    "condition": ("condition flow", "cond", 2),
    "constraint": ("constraint flow", "constr", 3),
}
"""The elements of a graph that are scored: title, short title and rank of their column.

The HTML report draws the intervals of rank 0 alone, so that all ten elements stand side by side.
"""
MOST_ROUNDS: Final = 5
"""Rounds of self-refine that the table of rounds shows."""

AGGREGATES: Final = (
    Aggregate("unread_lines", "ratio", ("unread_lines",), neutral=True),  # more of them is no better
    *(
        Aggregate(f"{element}_{rate}", "ratio", (f"{element}_{rate}",))
        for element in (*ELEMENTS, *(f"round_{at}_gateway" for at in range(MOST_ROUNDS + 1)))
        for rate in ("precision", "recall")
    ),
    *(
        Aggregate(f"{element}_f1", "harmonic-mean", (f"{element}_precision", f"{element}_recall"))
        for element in (*ELEMENTS, *(f"round_{at}_gateway" for at in range(MOST_ROUNDS + 1)))
    ),
)
_PAPER: Final = "Du et al. (2024), table 2, other documents and another script: not directly comparable"
_TABLE_2: Final = """
Sonbol et al. (2023)           .028 .308 .213 -    .485 -    .279 .056 .047 .017
Neuberger et al. (2023)        .027 .276 -    -    .469 -    .337 .074 .061 -
Sholiq et al. (2022)           -    .387 -    -    .463 -    .198 .091 .022 -
PET, Bellan et al. 2023        .085 .430 .069 -    .493 -    -    .164 .026 .000
CIS, Bellan et al. 2022        .633 .639 -    -    .455 -    -    .203 .157 -
Flan-T5, few-shot              .206 .362 -    -    .376 -    -    .084 .013 -
Flan-T5, fine-tuned            .659 .684 .589 .366 .419 .045 .393 .395 .168 .363
ChatGPT, few-shot              .625 .681 .687 .286 .477 .173 .388 .408 .158 .444
Llama2, few-shot               .502 .573 .357 .049 .446 .067 .128 .193 .107 .201
Llama2, fine-tuned             .674 .744 .779 .499 .554 .090 .398 .478 .319 .467
"""
"""F1 of each element, in the order of ELEMENTS; a hyphen where the method does not extract it."""
_LAYOUTS: Final = tuple(TableLayout(rank, short) for rank in (3, 2, 1, 0) for short in (False, True))


def _paper_values() -> tuple[ReferenceValue, ...]:
    values = []
    for line in _TABLE_2.strip().splitlines():
        words = line.split()
        name, numbers = " ".join(words[: -len(ELEMENTS)]), words[-len(ELEMENTS) :]
        values += [
            ReferenceValue(name, f"{element}_f1", float(number), _PAPER)
            for element, number in zip(ELEMENTS, numbers, strict=True)
            if number != "-"
        ]
    return tuple(values)


_UNANSWERED: Final = tuple(
    Column(count, rank=2, optional=True) for count in ("errors", "unparseable", "refused", "skipped")
)
_UNANSWERED_LAST: Final = tuple(replace(column, rank=3) for column in _UNANSWERED)
"""For the table that has no room to spare: the counts stand in the next one, too."""
_OVERALL: Final = (
    Column("n"), Column("mean", "F1 of all elements", "F1"), Column("interval"),
    Column("unread_lines", "lines left out", "left out", 1, optional=True), *_UNANSWERED,
)  # fmt: skip
_ROUNDS: Final = (
    Column("n"),
    Column("round_0_gateway_f1", "gateways, first reply", "first"),
    *(
        Column(f"round_{at}_gateway_f1", f"gateways, round {at}", f"round {at}", int(at > 2), optional=True)
        for at in range(1, MOST_ROUNDS + 1)
    ),
)


def _by_element(rate: str) -> tuple[Column, ...]:
    """Return a column for each element: its precision, its recall, or its F1."""
    return tuple(Column(f"{element}_{rate}", title, short, rank) for element, (title, short, rank) in ELEMENTS.items())


TABLES: Final = (
    TableSpec(
        "elements", "F1 by element", (Column("n"), *_by_element("f1"), *_UNANSWERED_LAST), rows="model-group",
        total=False, graded=True, references=_paper_values(), caption="F1 by element (layout of table 2)",
        layouts=_LAYOUTS,
    ),
    TableSpec(
        "overall", "whole graph", _OVERALL, rows="model-group", total=False, graded=True,
        caption="Whole graphs: F1 of all elements", layouts=_LAYOUTS, headline="mean",
    ),
    *(
        TableSpec(
            rate, rate, (Column("n"), *_by_element(rate)), rows="model-group", total=False, graded=True,
            caption=f"{rate.capitalize()} by element", layouts=_LAYOUTS,
        )
        for rate in ("precision", "recall")
    ),
    TableSpec(
        "rounds", "self-refine", _ROUNDS, rows="model-group", total=False, graded=True, groups=("refine",),
        caption="Gateways after each round of feedback (figure 6)", layouts=_LAYOUTS,
    ),
    TableSpec("rates", "method", RATES, sections=True, caption="Pass rates by method", layouts=RATE_LAYOUTS),
)  # fmt: skip
"""The last one is about runs with a pass threshold, the others about graded questions."""
