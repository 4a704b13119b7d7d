"""What a benchmark family states about itself, as plain data: words, order, aggregates and tables.

It travels in the record of a run, so that results and reports need to know no family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

AggregateKind = Literal["mean", "ratio", "geometric-mean", "harmonic-mean", "seed-mean", "seed-deviation"]
Rows = Literal["group", "section", "model", "model-group", "label"]
MEAN: Final = "mean"  # in place of the name of an aggregate: the mean of the main score
STATISTICS: Final = frozenset(  # of every row of a table; no aggregate is called so. "interval": of rate or mean
    {
        MEAN,
        "n",
        "rate",
        "interval",
        "deviation",
        "chance",
        "above_chance",
        "errors",
        "unparseable",
        "refused",
        "skipped",
    }
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A way to pool trials into one number.

    Args:
        name: The name in gates, tables and comparisons; no metric and no other aggregate of the run has it.
        kind: "mean": of a metric over the answered questions where it is defined. "ratio": the sum of the numerators
            of a part by the sum of its denominators. "geometric-mean" and "harmonic-mean": of other aggregates, such as
            the G-mean of two rates, or the F1 of precision and recall. "seed-mean" and "seed-deviation": the mean and
            the sample standard deviation (n-1) of another aggregate over the values of a label, each value by itself.
        of: A metric for "mean" (the empty text is the main score), a part for "ratio", names of aggregates otherwise,
            which the family lists before this one.
        label: The label whose values are the seeds.
        neutral: Whether a larger value is neither better nor worse, as of a share that only describes the answers:
            comparisons show it, and draw no conclusion from it.
    """

    name: str
    kind: AggregateKind = "mean"
    of: tuple[str, ...] = ()
    label: str = "seed"
    neutral: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        value: What stands in its cells: a statistic (`STATISTICS`), an aggregate, or a metric (its mean).
        title: The heading; where empty, the name of the value, or what the report calls that statistic.
        short: The heading where room is scarce; the title where empty.
        rank: Columns of a higher rank are left out first where room is scarce; those of rank 0 never are.
        verbose: True for a column that the terminal shows under -v only.
        optional: True for a column that is left out where no cell has a value but 0.
        reports: The reports that show it, of "terminal", "md" and "html"; all where empty. CSV and JSON hold every
            column.
    """

    value: str
    title: str = ""
    short: str = ""
    rank: int = 0
    verbose: bool = False
    optional: bool = False
    reports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A selection of the columns of a table for the terminal.

    Args:
        rank: Columns of a higher rank are left out.
        short: True for short headings.
    """

    rank: int
    short: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceValue:
    """A published number that stands beside the run's own.

    Args:
        row: The name of the row.
        column: The value of the column, as in `Column.value`.
        source: Authors, year and table.
    """

    row: str
    column: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table over the trials of one family, for every report.

    Args:
        name: Unlike that of any other table of the family.
        title: The heading of the first column.
        columns: The columns, in order. A value stands twice where reports show it at different places.
        rows: What each row is about: "group", "section", "model", a group of one model ("model-group"), or the values
            of `label`.
        label: The label whose values have a row each.
        sections: Whether rows of groups stand below a row of their section.
        total: Whether the last row is over all trials.
        graded: Whether the table is about graded questions, or about all others; never about both.
        groups: The groups that the table is about; all where empty.
        references: Published numbers. In a table by model, or by model and group, one of another row has a row of its
            own.
        caption: What the table is about, in a few words; the name where empty.
        least_rows: A table of fewer rows, the total left out, is not shown.
        layouts: What the terminal tries, in this order, until one finds room. By default each rank from the highest
            to 0, then 0 with short headings.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Rows = "group"
    label: str = ""
    sections: bool = False
    total: bool = True
    graded: bool = False
    groups: tuple[str, ...] = ()
    references: tuple[ReferenceValue, ...] = ()
    caption: str = ""
    layouts: tuple[TableLayout, ...] = ()
    least_rows: int = 1


@dataclass(frozen=True, slots=True)
class FamilyDescription:
    """The words, the order and the tables of one family.

    Args:
        group: What a row of its main table is called, such as "pattern".
        section: What groups are put together under, such as "category".
        cluster: What questions that are not independent share, such as "workflow"; `Question.digests` holds
            the digest of it under this name.
        presented_by: Labels that say how it is presented; with another value of one, a question is another question.
        groups: Names of groups, in the order of reports.
        sections: Names of sections, in the order of reports.
        facts: What headers state of the run, by name, such as {"notation": "json"}.
        question_set: Version of the questions; runs of different versions are not compared. None without versions.
        difficulty: Labels that say how difficult a question is, with their titles; charts show the scores by each.
    """

    name: str
    group: str = "group"
    section: str = "section"
    cluster: str = "cluster"
    presented_by: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    question_set: int | None = None
    aggregates: tuple[Aggregate, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    difficulty: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the description as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FamilyDescription:
        """Return the description that `to_json` wrote."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        known |= {name: tuple(known[name]) for name in ("presented_by", "groups", "sections") if name in known}
        known["aggregates"] = tuple(Aggregate(**one | {"of": tuple(one["of"])}) for one in data.get("aggregates", ()))
        known["tables"] = tuple(map(_table, data.get("tables", ())))
        return cls(**known)


def _table(data: Mapping[str, Any]) -> TableSpec:
    parts = {
        "columns": tuple(Column(**one | {"reports": tuple(one.get("reports", ()))}) for one in data["columns"]),
        "references": tuple(ReferenceValue(**one) for one in data.get("references", ())),
        "layouts": tuple(TableLayout(**one) for one in data.get("layouts", ())),
        "groups": tuple(data.get("groups", ())),
    }
    return TableSpec(**{**data, **parts})


RATES = (
    Column("n"),
    Column("rate"),
    Column("interval", rank=1),
    Column("mean"),
    Column("chance", rank=3, optional=True, reports=("terminal",)),
    Column("above_chance", rank=2, verbose=True, optional=True, reports=("terminal",)),
    Column("above_chance", reports=("html",)),
    Column("deviation", rank=1, reports=("terminal",)),
    Column("errors", reports=("terminal", "md")),
    Column("unparseable", reports=("terminal",)),
    Column("unparseable", optional=True, reports=("md", "html")),
    Column("refused", optional=True),
    Column("errors", optional=True, reports=("html",)),
    Column("skipped", optional=True),
)
"""The columns of questions that are right or wrong."""

SCORES = (
    Column("n"),
    Column("mean"),
    Column("interval", rank=1),
    Column("chance"),
    Column("above_chance", rank=3),
    Column("deviation", rank=3, reports=("terminal",)),
    Column("errors", rank=2, reports=("terminal", "md")),
    Column("unparseable", rank=2),
    Column("refused", rank=2, optional=True, reports=("terminal",)),
    Column("refused", reports=("md", "html")),
    Column("errors", reports=("html",)),
    Column("skipped", rank=2, optional=True, reports=("terminal",)),
    Column("skipped", reports=("md", "html")),
)
"""The columns of graded questions."""

RATE_LAYOUTS = (TableLayout(3), TableLayout(2, short=True), TableLayout(1), TableLayout(0), TableLayout(0, short=True))
SCORE_LAYOUTS = (
    TableLayout(3),
    TableLayout(2),
    TableLayout(2, short=True),
    TableLayout(1, short=True),
    TableLayout(0, short=True),
)
"""What goes first where room is scarce: of scores, the chance level stays to the last."""


def standard_tables(group: str, section: str) -> tuple[TableSpec, ...]:
    """Return the tables of a family that declares none: pass rates, and mean scores where questions are graded.

    Args:
        group: What the family calls a group.
        section: What it calls a section.
    """
    rates, scores = f"Pass rates by {section} and {group}", "Graded questions: mean scores"
    return (
        TableSpec("rates", group, RATES, sections=True, caption=rates, layouts=RATE_LAYOUTS),
        TableSpec("graded", "graded", SCORES, total=False, graded=True, caption=scores, layouts=SCORE_LAYOUTS),
    )
