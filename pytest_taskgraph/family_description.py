"""The description of a benchmark family as plain data: its terms, order, aggregates and tables.

The record of a run contains it, so that results and reports need not know any family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

AggregateKind = Literal["mean", "ratio", "geometric-mean", "harmonic-mean", "seed-mean", "seed-deviation"]
Rows = Literal["group", "section", "model", "model-group", "label"]
MEAN: Final = "mean"  # stands for the mean of the main score where an aggregate is named
STATISTICS: Final = frozenset(  # of every table row; no aggregate has these names. "interval": of rate or mean
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
        name: The name in gates, tables and comparisons, unique among the metrics and aggregates of the run.
        kind: "mean": of a metric over the answered questions where it is defined. "ratio": the sum of the numerators
            of a part by the sum of its denominators. "geometric-mean" and "harmonic-mean": of other aggregates, such as
            the G-mean of two rates, or the F1 of precision and recall. "seed-mean" and "seed-deviation": the mean and
            the sample standard deviation (n-1) of another aggregate over the values of a label, each value by itself.
        of: A metric for "mean" (the empty text is the main score), a part for "ratio", names of aggregates otherwise,
            which the family lists before this aggregate.
        label: The label whose values are the seeds.
        neutral: True if a larger value is neither better nor worse, such as a share that only describes the answers:
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
        value: The value of its cells: a statistic (`STATISTICS`), an aggregate, or a metric (its mean).
        title: The heading; if empty, the name of the value, or the report's title of that statistic.
        short: The heading of narrow tables; the title if empty.
        rank: Columns of a higher rank are left out first of a narrow table; those of rank 0 never are.
        optional: True for a column that is left out if every cell is 0 or empty.
        reports: The reports that show it, of "terminal", "md" and "html"; all if empty. CSV and JSON hold every
            column.
    """

    value: str
    title: str = ""
    short: str = ""
    rank: int = 0
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
    """A published number shown beside the run's own.

    Args:
        row: The name of the row.
        column: The value of the column, as in `Column.value`.
        value: The number.
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
        name: The name of the table, unique within the family.
        title: The heading of the first column.
        columns: The columns, in order. A value occurs twice if reports show it at different places.
        rows: The subject of each row: "group", "section", "model", a group of one model ("model-group"), or a value
            of `label`.
        label: The label whose values have a row each.
        sections: True if rows of groups stand below a row of their section.
        total: True if the last row is over all trials.
        graded: True for a table of graded questions, False for a table of all others; no table has both.
        groups: The groups in the table; all if empty.
        references: Published numbers. In a table by model, or by model and group, a number whose row is not in the run
            gets a row of its own.
        caption: The subject of the table in a few words; the name if empty.
        layouts: The layouts that the terminal tries, in this order, until the table fits. By default each rank from the
            highest to 0, then 0 with short headings.
        tuned_rows: In a table by model and group, names of rows that a model with a tuned soft prompt answered: pairs
            of group and row.
        least_rows: A table with fewer rows, the total not counted, is not shown.
        headline: The value of a column that stands for the table's questions where they have one number, as in the
            scoreboard. If empty, the table has no row there, and its questions count in the mean score of the family.
        facts: The names of facts of the family that its numbers depend on; a line below the table states each.
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
    tuned_rows: tuple[tuple[str, str], ...] = ()
    least_rows: int = 1
    headline: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyDescription:
    """The terms, the order and the tables of one family.

    Args:
        name: The name of the family.
        group: The term for a row of its main table, such as "pattern".
        section: The term for several groups together, such as "category".
        cluster: The term for what dependent questions share, such as "workflow"; `Question.digests` holds the digest
            of it under this name.
        presented_by: Labels of the presentation; questions that differ in the value of such a label are different
            questions.
        groups: Names of groups, in the order of reports.
        sections: Names of sections, in the order of reports.
        facts: What headers state about the run, by name, such as {"notation": "json"}.
        question_set: Version of the questions; runs of different versions are not compared. None without versions.
        aggregates: The aggregates of the family, in the order of reports.
        tables: The tables of the family, in the order of reports.
        difficulty: Labels for the difficulty of a question, with their titles; charts show the scores by each.
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
        values = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        values |= {name: tuple(values[name]) for name in ("presented_by", "groups", "sections") if name in values}
        values["aggregates"] = tuple(Aggregate(**row | {"of": tuple(row["of"])}) for row in data.get("aggregates", ()))
        values["tables"] = tuple(map(_table, data.get("tables", ())))
        return cls(**values)


def _table(data: Mapping[str, Any]) -> TableSpec:
    parts = {
        "columns": tuple(Column(**row | {"reports": tuple(row.get("reports", ()))}) for row in data["columns"]),
        "references": tuple(ReferenceValue(**reference) for reference in data.get("references", ())),
        "layouts": tuple(TableLayout(**layout) for layout in data.get("layouts", ())),
        "groups": tuple(data.get("groups", ())),
        "facts": tuple(data.get("facts", ())),
        "tuned_rows": tuple((group, row) for group, row in data.get("tuned_rows", ())),
    }
    return TableSpec(**{**data, **parts})


RATES = (
    Column("n"),
    Column("rate"),
    Column("interval", rank=1),
    Column("mean"),
    Column("chance", rank=3, optional=True, reports=("terminal",)),
    Column("above_chance", rank=2, optional=True, reports=("terminal",)),
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
"""The layouts of standard tables, from wide to narrow; of scores, the chance level is the last column left out."""


def standard_tables(group: str, section: str) -> tuple[TableSpec, ...]:
    """Return the tables of a family that declares none: pass rates, and mean scores of graded questions.

    Args:
        group: The family's term for a group.
        section: The family's term for a section.
    """
    rates, scores = f"Pass rates by {section} and {group}", "Graded questions: mean scores"
    return (
        TableSpec("rates", group, RATES, sections=True, caption=rates, layouts=RATE_LAYOUTS),
        TableSpec("graded", "graded", SCORES, total=False, graded=True, caption=scores, layouts=SCORE_LAYOUTS),
    )
