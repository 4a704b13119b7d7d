"""What a benchmark family states about itself, as plain data: words, order, aggregates and tables.

It travels in the record of a run, so that results and reports need to know no family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

AggregateKind = Literal["mean", "ratio", "geometric-mean", "harmonic-mean", "seed-mean", "seed-deviation"]
Rows = Literal["group", "section", "model", "label"]
MEAN: Final = "mean"  # in place of the name of an aggregate: the mean of the main score
STATISTICS: Final = frozenset(  # of every row of a table; no aggregate is called so
    {MEAN, "n", "rate", "interval", "deviation", "chance", "above_chance", "errors", "unreadable", "refused", "skipped"}
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
    """

    name: str
    kind: AggregateKind = "mean"
    of: tuple[str, ...] = ()
    label: str = "seed"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        value: What stands in its cells: an aggregate, a metric (its mean), or one of the counts and statistics of
            every row: n, rate, interval, mean, deviation, chance, above_chance, errors, unreadable, refused, skipped.
        title: The heading.
        short: The heading where room is scarce; the title where empty.
        rank: Columns of a higher rank are left out first where room is scarce; those of rank 0 never are.
        verbose: True for a column that the terminal shows under -v only.
    """

    value: str
    title: str
    short: str = ""
    rank: int = 0
    verbose: bool = False


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
        rows: What each row is about: "group", "section", "model", or the values of `label`.
        sections: Whether rows of groups stand below a row of their section.
        total: Whether the last row is over all trials.
        graded: Whether the table is about graded questions, or about all others; never about both.
        groups: The groups that the table is about; all where empty.
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
        "columns": tuple(Column(**one) for one in data["columns"]),
        "references": tuple(ReferenceValue(**one) for one in data.get("references", ())),
        "groups": tuple(data.get("groups", ())),
    }
    return TableSpec(**{**data, **parts})
