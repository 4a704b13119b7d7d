"""The tables of the family, in the layout of Wang et al. (2023), with their numbers as reference values.

The paper's numbers are of the published questions and of language models that are compared by log-probability. The
published classification file is not that of table 4: half of its answers are Yes, and with these a specificity
of 0.4 % is impossible.
"""

from __future__ import annotations

from typing import Final

from ...family_description import Aggregate, Column, ReferenceValue, TableLayout, TableSpec

_RATES: Final = ("accuracy", "sensitivity", "specificity", "g_mean")
AGGREGATES: Final = (
    Aggregate("accuracy"),
    Aggregate("sensitivity", "ratio", ("sensitivity",)),
    Aggregate("specificity", "ratio", ("specificity",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
    *(Aggregate(f"{name}_over_seeds", "seed-mean", (name,)) for name in _RATES),
    *(Aggregate(f"{name}_deviation", "seed-deviation", (name,)) for name in _RATES),
    Aggregate("by_logprobs", "ratio", ("by_logprobs",), neutral=True),
    Aggregate("ties", "ratio", ("ties",), neutral=True),
    Aggregate("chosen_a", "ratio", ("chosen_a",), neutral=True),
    Aggregate("right_a", "ratio", ("right_a",), neutral=True),
    Aggregate("accuracy_a", "ratio", ("accuracy_a",)),
    Aggregate("accuracy_b", "ratio", ("accuracy_b",)),
)
_PAPER: Final = "Wang et al. (2023), table {}, other models"
_TABLE_3: Final = {
    "Majority Class": 50.0, "GPT2-Small": 59.3, "GPT2-Medium": 63.5, "GPT2-Large": 65.1, "OPT-1.3B": 66.0,
    "GPT2-XL": 65.4, "BLOOM-3B": 68.4, "BLOOM-7b1": 69.8, "OPT-13B": 71.3, "OPT-30B": 71.7,
}  # fmt: skip
_ZERO_SHOT: Final = """
Random                  48.6 51.2 49.9
GPT2-S                  95.4  5.3 22.6
GPT2-M                 100.0  0.4  6.1
GPT2-L                  99.5  0.4  6.1
GPT2-XL                100.0  0.4  6.1
OPT-1.3B                49.1 60.5 54.5
OPT-13B                 84.9 20.4 41.6
OPT-30B                 85.8 14.5 35.3
BLOOM-3B                99.5  1.2 11.1
BLOOM-7B1               75.7 32.7 49.7
GPT2-S, fine-tuned      81.2 72.8 76.9
GPT2-M, fine-tuned      90.8 68.3 78.8
GPT2-L, fine-tuned      83.0 73.4 78.1
"""
_FEW_SHOT: Final = """
Random                  48.6    -  51.2    -  49.9    -
GPT2-S                  98.5  2.2  1.8  2.4  8.7  9.9
GPT2-M                  90.1 14.8 10.1 12.0 22.2 15.8
GPT2-L                  76.4 11.7 29.6 13.5 44.5 11.4
GPT2-XL                 78.5 11.4 25.6 11.7 42.5  8.8
OPT-1.3B                62.8  9.7 39.2 11.2 48.4  4.8
OPT-13B                 44.0 15.0 68.0 10.6 52.9  7.3
OPT-30B                 86.7 14.4 16.7 14.4 33.6 10.8
BLOOM-3B                97.3  1.9  5.8  3.8 22.5  7.4
BLOOM-7B1               98.4  3.6  1.3  2.3  8.5  7.2
"""
"""In percent: the mean over six draws of demonstrations, and its standard deviation; - where the paper states none."""
_ZERO_COLUMNS: Final = ("sensitivity", "specificity", "g_mean")
_FEW_COLUMNS: Final = tuple(f"{name}_{kind}" for name in _ZERO_COLUMNS for kind in ("over_seeds", "deviation"))
_LAYOUTS: Final = tuple(TableLayout(rank, short) for rank in (3, 2, 1, 0) for short in (False, True))


def _paper_values(table: str, values: tuple[str, ...]) -> tuple[ReferenceValue, ...]:
    """Return the numbers of a part of table 4, which are in percent, under the names of its rows."""
    published = []
    for line in table.strip().splitlines():
        words = line.split()
        name, numbers = " ".join(words[: -len(values)]), words[-len(values) :]
        published += [
            ReferenceValue(name, value, round(float(number) / 100, 3), _PAPER.format(4))
            for value, number in zip(values, numbers, strict=True)
            if number != "-"
        ]
    return tuple(published)


_UNANSWERED: Final = (
    Column("errors", rank=1, optional=True),
    Column("unparseable", rank=1, optional=True),
    Column("refused", rank=1, optional=True),
    Column("skipped", rank=1, optional=True),
)
_BY_LOGPROBS: Final = Column("by_logprobs", "by log-probability", "by logp", rank=1)
_TIES: Final = Column("ties", "ties", rank=2, optional=True)
_ZERO: Final = (
    Column("n"), Column("sensitivity", "sensitivity", "sens"), Column("specificity", "specificity", "spec"),
    Column("g_mean", "G-mean"), Column("rate", "accuracy", "acc", rank=2), _BY_LOGPROBS, _TIES, *_UNANSWERED,
)  # fmt: skip
_FEW: Final = (
    Column("n"),
    *(
        Column(f"{name}_{kind}", title, short, rank)
        for name, title, short, rank in (
            ("sensitivity", "sensitivity", "sens", 0), ("specificity", "specificity", "spec", 0),
            ("g_mean", "G-mean", "G", 0), ("accuracy", "accuracy", "acc", 2),
        )
        for kind, title, short, rank in (("over_seeds", title, short, rank), ("deviation", "±", "±", rank + 1))
    ),
    _BY_LOGPROBS, _TIES, *_UNANSWERED,
)  # fmt: skip
_CHOICE: Final = (
    Column("n"), Column("rate", "accuracy", "acc"), Column("interval"), Column("chance", rank=1),
    Column("above_chance", rank=2), Column("ties", "ties", optional=True), *_UNANSWERED,
)  # fmt: skip
_POSITION: Final = (
    Column("n"), Column("chosen_a", "A chosen"), Column("right_a", "A right"),
    Column("accuracy_a", "accuracy, A right", "acc, A"), Column("accuracy_b", "accuracy, B right", "acc, B"),
)  # fmt: skip

TABLES: Final = (
    TableSpec(
        "multiple choice", "multiple choice", _CHOICE, rows="model-group", total=False, groups=("perplexity", "letter"),
        references=tuple(
            ReferenceValue(name, "rate", round(value / 100, 3), _PAPER.format(3)) for name, value in _TABLE_3.items()
        ),
        caption="Multiple choice (layout of table 3)", layouts=_LAYOUTS, headline="rate",
    ),
    TableSpec(
        "zero-shot", "zero-shot", _ZERO, rows="model-group", total=False, groups=("zero_shot",),
        references=_paper_values(_ZERO_SHOT, _ZERO_COLUMNS),
        caption="Classification without demonstrations (layout of table 4)", layouts=_LAYOUTS, headline="g_mean",
    ),
    TableSpec(
        "demonstrations", "demonstrations", _FEW, rows="model-group", total=False, groups=("one_shot", "few_shot"),
        references=_paper_values(_FEW_SHOT, _FEW_COLUMNS),
        caption="Classification with demonstrations: mean and standard deviation over draws (layout of table 4)",
        layouts=_LAYOUTS, headline="g_mean_over_seeds",
    ),
    TableSpec(
        "positions", "positions", _POSITION, rows="model-group", total=False, groups=("letter",),
        caption="Position bias: how often each letter is chosen", layouts=_LAYOUTS,
    ),
)  # fmt: skip
