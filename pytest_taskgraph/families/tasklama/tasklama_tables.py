"""The tables of the family, in the layout of Yuan et al. (2024), with their numbers as reference values.

The paper's numbers are of its own language model, of the published test split, and of a similarity by the Universal
Sentence Encoder. Rows of a model whose soft prompt was tuned (`task_tuning`) have the paper's names.
"""

from __future__ import annotations

from typing import Final

from ...family_description import RATE_LAYOUTS, RATES, Aggregate, Column, ReferenceValue, TableLayout, TableSpec
from .methods import METHODS

AGGREGATES: Final = (
    Aggregate("pair_accuracy", "ratio", ("pairs",)),
    Aggregate("majority_accuracy", "ratio", ("majority_pairs",), neutral=True),
)
_LAYOUTS: Final = (
    TableLayout(3),
    TableLayout(3, short=True),
    TableLayout(2, short=True),
    TableLayout(1, short=True),
    TableLayout(0, short=True),
)
_NODES: Final = {
    "steps_rouge1_f1": ("ROUGE-1 F1", "R1 F1", 2),
    "steps_rouge1_f2": ("F2", "F2", 3),
    "steps_rouge2_f1": ("ROUGE-2 F1", "R2 F1", 3),
    "steps_rouge2_f2": ("F2", "F2", 3),
    "steps_rouge_l_f1": ("ROUGE-L F1", "RL F1", 3),
    "steps_rouge_l_f2": ("F2", "F2", 3),
    "hungarian_f1": ("Hungarian F1", "Hu F1", 0),
    "hungarian_f2": ("F2", "F2", 1),
    "relaxed_f1": ("relaxed F1", "re F1", 1),
    "relaxed_f2": ("F2", "F2", 2),
}
_EDGES: Final = {
    "in_degree_rouge1": ("in-degree R1", "in R1", 0),
    "in_degree_rouge2": ("R2", "R2", 2),
    "in_degree_rouge_l": ("RL", "RL", 3),
    "out_degree_rouge1": ("out-degree R1", "out R1", 0),
    "out_degree_rouge2": ("R2", "R2", 2),
    "out_degree_rouge_l": ("RL", "RL", 3),
    "step_proximity_rouge1": ("proximity R1", "prox R1", 0),
    "step_proximity_rouge2": ("R2", "R2", 2),
    "step_proximity_rouge_l": ("RL", "RL", 3),
}
_CONTRAST: Final = {
    "hungarian_precision": ("Hungarian P", "Hu P", 0),
    "hungarian_recall": ("R", "R", 0),
    "relaxed_precision": ("relaxed P", "re P", 1),
    "relaxed_recall": ("R", "R", 1),
    "unlimited_precision": ("unlimited P", "un P", 0),
    "unlimited_recall": ("R", "R", 0),
}
_PARTS: Final = {
    "hungarian_f1": ("Hungarian F1", "Hu F1", 0),
    "chain_f1": ("chain F1", "", 0),
    "graph_f1": ("graph F1", "", 0),
}
_FACTS: Final = ("similarity",)
"""What all scores of steps rest on: the numbers of the paper are of another similarity."""
_PAPER: Final = "Yuan et al. (2024), table {}, another model and similarity"
_TABLE_2: Final = """
Repeat Task            12.2 10.3  1.7  1.5 12.1 10.2 34.6 33.0 41.3 37.7
Repeat Sim             11.6 10.2  1.5  1.3 10.8  9.5 33.0 33.4 40.1 38.4
Co-occur               16.4 15.0  2.7  2.5 13.6 12.5 34.8 34.7 41.7 40.0
Hierarchical           14.6 12.6  2.3  2.0 12.7 11.0 34.3 34.1 41.2 39.3
ICL                    33.1 31.7 10.0  9.5 24.0 23.0 40.1 40.3 48.1 47.3
MultSeq                32.5 37.2 10.5 12.1 22.9 26.3 35.3 42.8 47.5 50.4
S&F                    36.6 34.3 11.3 10.6 25.6 24.1 42.7 41.9 50.2 49.1
SPT                    38.7 36.3 13.2 12.3 26.7 25.1 43.6 42.4 51.5 50.3
MultSeq + S&F          37.6 38.3 12.1 12.3 25.2 25.7 41.7 44.4 50.5 51.1
MultSeq + SPT          36.8 41.3 13.4 15.0 25.3 28.4 39.6 46.2 51.3 53.2
S&F + SPT              39.0 38.2 13.4 13.1 26.7 26.2 43.8 43.2 51.5 50.4
MultSeq + S&F + SPT    38.7 40.0 13.7 14.1 25.8 26.7 42.5 44.5 51.6 51.9
"""
_TABLE_3: Final = """
Linear Order, 1 sequence    18.3 8.8 17.7 17.3 7.5 16.7 20.2 5.9 18.2
ICL, 1 sequence             13.6 8.0 13.3 13.6 7.6 13.3 15.2 4.0 13.8
ICL with CoT, 1 sequence    14.0 6.4 13.5 13.7 5.9 13.2 18.2 4.8 16.2
SPT, 1 sequence             18.0 8.9 17.3 17.4 8.2 16.7 19.9 5.6 17.8
SPT + Linear, 1 sequence    18.1 8.9 17.4 17.1 8.1 16.4 20.0 5.7 17.9
LLM Scoring, 1 sequence     18.4 8.8 17.7 17.2 7.5 16.6 20.2 5.9 18.2
ICL, 2 sequences            10.3 4.4 10.0 10.1 4.2  9.8 13.6 3.5 12.3
ICL with CoT, 2 sequences   10.8 3.8 10.3 10.5 3.9 10.0 14.4 3.7 12.8
SPT, 2 sequences            13.1 5.8 12.7 12.8 5.5 12.3 15.1 4.2 13.5
"""
_TABLE_4: Final = {"Majority Class": 53.8, "ICL": 47.5, "ICL with CoT": 49.6, "SPT": 78.6}
"""Accuracies in percent."""
_TUNED_STEPS: Final = (
    ("icl", "SPT"), ("multseq", "MultSeq + SPT"), ("filter", "S&F + SPT"), ("multseq_filter", "MultSeq + S&F + SPT"),
)  # fmt: skip
_TUNED_DEPENDENCIES: Final = (
    ("linear", "Linear Order, 1 sequence"), ("pairs", "SPT, 1 sequence"),
    ("pairs_linear", "SPT + Linear, 1 sequence"), ("scoring", "LLM Scoring, 1 sequence"),
    ("pairs_two", "SPT, 2 sequences"),
)  # fmt: skip
"""All rows of the paper's table 3 are of steps that a model with a soft prompt wrote."""


def _columns(titles: dict[str, tuple[str, str, int]]) -> tuple[Column, ...]:
    columns = (Column(value, title, short, rank) for value, (title, short, rank) in titles.items())
    return (
        Column("n"),
        *columns,
        Column("errors", rank=1, optional=True),
        Column("unparseable", rank=1, optional=True),
    )


def _paper_values(table: str, values: tuple[str, ...], source: str) -> tuple[ReferenceValue, ...]:
    """Return the numbers of a table of the paper, which are in percent, under the names of its rows."""
    published = []
    for line in table.strip().splitlines():
        (*words,) = line.split()
        name, numbers = " ".join(words[: -len(values)]), words[-len(values) :]
        published += [
            ReferenceValue(name, value, round(float(number) / 100, 3), source)
            for value, number in zip(values, numbers, strict=True)
        ]
    return tuple(published)


def _methods_of(section: str) -> tuple[str, ...]:
    return tuple(method.name for method in METHODS.values() if method.section == section)


TABLES: Final = (
    TableSpec(
        "steps", "steps", _columns(_NODES), rows="model-group", total=False, graded=True,
        groups=_methods_of("step_generation"), tuned_rows=_TUNED_STEPS,
        references=_paper_values(_TABLE_2, tuple(_NODES), _PAPER.format(2)),
        caption="Generated steps (layout of table 2)", layouts=_LAYOUTS, headline="hungarian_f1", facts=_FACTS,
    ),
    TableSpec(
        "context", "context", _columns(_NODES), rows="label", label="context", total=False, graded=True,
        groups=_methods_of("step_generation"), caption="Generated steps with and without context (figure 2)",
        layouts=_LAYOUTS, least_rows=2, facts=_FACTS,
    ),
    TableSpec(
        "matchings", "matching", _columns(_CONTRAST), rows="model-group", total=False, graded=True,
        groups=_methods_of("step_generation"), caption="The same answers by three ways to match steps",
        layouts=_LAYOUTS, facts=_FACTS,
    ),
    TableSpec(
        "dependencies", "dependencies", _columns(_EDGES), rows="model-group", total=False, graded=True,
        groups=_methods_of("generated_dependencies"), tuned_rows=_TUNED_DEPENDENCIES,
        references=_paper_values(_TABLE_3, tuple(_EDGES), _PAPER.format(3)),
        caption="Dependencies between generated steps (layout of table 3)", layouts=_LAYOUTS,
        headline="in_degree_rouge1", facts=_FACTS,
    ),
    TableSpec(
        "parts", "chain and graph", _columns(_PARTS), rows="model-group", total=False, graded=True,
        groups=_methods_of("generated_dependencies"), caption="Parts of the graph that agree (as WorFBench measures)",
        layouts=_LAYOUTS, facts=_FACTS,
    ),
    TableSpec(
        "golden", "golden steps",
        (
            Column("n"), Column("pair_accuracy", "pairs right"), Column("majority_accuracy", "majority class"),
            Column("errors", rank=1, optional=True), Column("unparseable", rank=1, optional=True),
        ),
        rows="model-group", total=False, graded=True, groups=_methods_of("golden_dependencies"),
        tuned_rows=(("golden_pairs", "SPT"),),
        references=tuple(
            ReferenceValue(name, "pair_accuracy", round(value / 100, 3), _PAPER.format(4))
            for name, value in _TABLE_4.items()
        ),
        caption="Dependencies between golden steps (layout of table 4)", headline="pair_accuracy",
    ),
    TableSpec("rates", "method", RATES, sections=True, caption="Pass rates by method", layouts=RATE_LAYOUTS),
)  # fmt: skip
"""The last one is about runs with a pass threshold, the others about graded questions."""
