"""The JSON of a record, as pydantic checks it; docs/reference/record.schema.json is its schema.

`find_faults` finds the parts that the schema refuses, since anyone may have changed the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from ...family_description import AggregateKind, Rows
from ...trial import Parsing
from ...validation_faults import LONGEST, describe_expected, describe_value, shorten_text
from .trial_schema import Count, DiagramJson, Digest, Number, Ordinal, RecordPart, Share, Size, TrialJson, Value, Whole


class VerdictJson(RecordPart):
    """A case about the whole run, of one model or of all."""

    name: str
    """Name as in pytest's report, such as `gates::total`; `gates::total[model]` if there are several models."""
    outcome: Literal["passed", "failed", "skipped"]
    """Outcome of the case."""
    reason: str
    """Reason for the outcome, in one line."""
    model: str = ""
    """Model that the case is about; empty if it is about all."""
    estimate: Number | None = None
    """Rate or mean that was decided on; null if there is none."""
    low: Number | None = None
    """Lower end of its interval, at the level of the gate or 95 %."""
    high: Number | None = None
    """Upper end of its interval."""
    threshold: Number | None = None
    """Threshold of the gate; null if there is none."""


class UsageJson(RecordPart):
    """Sums over a run. Replies that do not report tokens or cost are not in those sums."""

    sent: Count
    """Requests that this run sent to models under test, judges and embedders; every retry counts."""
    answered: Count
    """Sent requests that a reply came to."""
    retries: Count
    """Sent requests that repeated a request after a failure."""
    tokens_in: Count
    """Tokens of the requests, of the replies that state them."""
    tokens_out: Count
    """Tokens of the replies that state them."""
    tokens_reasoning: Count
    """Those of `tokens_out` that are reasoning, of the replies that state it."""
    untold: Count
    """Replies that do not state their tokens."""
    cost: Number
    """US dollars, of the replies whose cost is known."""
    unpriced: Count
    """Replies whose cost is not known."""
    stored: Count
    """Requests of the trials that replies of earlier runs answered."""
    stored_tokens_in: Count
    """Tokens of these requests, as recorded when they were sent."""
    stored_tokens_out: Count
    """Tokens of these replies, as recorded when they arrived."""
    stored_tokens_reasoning: Count
    """Those of `stored_tokens_out` that are reasoning."""
    stored_cost: Number
    """US dollars of these replies, as recorded when they arrived."""
    stored_unpriced: Count
    """Stored replies whose cost is not known."""
    complete: bool
    """False if a worker died: what it sent is not in the sums."""


class ProvenanceJson(RecordPart):
    """Circumstances of a run; what could not be found out is empty."""

    started: str = ""
    """Date and time when the session started, in ISO 8601 with the offset of the zone."""
    seconds: Size | None = None
    """Duration in seconds from the start of the session to the writing of the record."""
    command: list[str] = Field([])
    """Words of the command line; keys and passwords are masked."""
    commit: str = ""
    """Commit that git had checked out in the root folder of the session; empty outside of a repository."""
    dirty: bool | None = None
    """True if tracked files differed from the commit; null if unknown."""
    versions: dict[str, str] = Field({})
    """Versions of Python (`python`), pytest, pytest-taskgraph-bench and litellm, where they are installed."""
    platform: str = ""
    """Operating system and machine."""


class RowJson(RecordPart):
    """Counts and means of trials.

    n = right + wrong + unparseable + refused; rate and means are over these. For graded questions, n is the number of
    answered questions, and right and wrong are 0.
    """

    name: str
    """Name of the row: a group, a section or a total."""
    model: str
    """Model under test."""
    section: str
    """Section that the row stands under."""
    n: Count
    """Answered questions."""
    right: Count
    """Answers that are right."""
    wrong: Count
    """Answers that are wrong."""
    unparseable: Count
    """Replies from which no answer can be parsed."""
    refused: Count
    """Replies that refuse to answer."""
    errors: Count
    """Missing replies."""
    skipped: Count
    """Questions that were not asked."""
    attempts: Count
    """Trials, repeated ones included; more than the questions if some were asked again."""
    rate: Share | None
    """Pass rate, right / n; null if no question was answered, and for graded questions."""
    mean: Share | None
    """Mean of the main score."""
    deviation: Size | None
    """Sample standard deviation of the main score."""
    metrics: dict[str, Number]
    """Mean of each further metric over the trials where it is defined."""
    undefined: dict[str, Ordinal]
    """Number of trials where a metric is undefined."""
    chance: Number | None = None
    """Mean chance level over the answered questions where it is known."""
    above_chance: Number | None = None
    """(mean - chance) / (1 - chance) over the same questions."""
    graded: Count = 0
    """Trials of graded questions of the same kind, which enter no other number of the row."""


class GradedRowJson(RowJson):
    """Counts and means of graded questions."""

    interval: Annotated[list[Number], Field(min_length=2, max_length=2)] | None
    """95 % interval of the mean score, by cluster; null for a single question."""


class PublishedValueJson(RecordPart):
    """A published value."""

    value: Number
    source: str


class CellJson(RecordPart):
    """One value of a table."""

    value: Number | None
    """The value; null if it is undefined."""
    low: Number | None
    """Lower end of the 95 % interval."""
    high: Number | None
    """Upper end of the 95 % interval."""
    n: Whole
    """Answered questions that the value is taken over; for counts, all questions."""
    references: list[PublishedValueJson]
    """Published values of the same quantity, with their sources."""


class TableColumnJson(RecordPart):
    """A column of a table."""

    value: str
    """A statistic, an aggregate or a metric."""
    title: str


class TableRowJson(RecordPart):
    """A row of a table."""

    name: str
    kind: Literal["group", "section", "model", "label", "family", "total", "published"]
    """What the row is; `published` for a row of published values only."""
    section: str
    """Section of a group, else empty."""
    model: str
    """Model of the row; empty if several are pooled."""
    few: bool
    """True if 1 to 9 questions were answered."""
    cells: dict[str, CellJson]
    """Cells by the value of the column. The interval of a row stands in the cell of its pass rate, or of the mean score
    of graded questions."""


class TableJson(RecordPart):
    """A table with its values, as reports show it."""

    family: str
    """Family of the table; empty for the table over several families."""
    name: str
    """Name of the table."""
    title: str
    """Heading of the first column."""
    caption: str
    """What the table is about."""
    graded: bool
    """True for a table of graded questions; else no graded question is in it."""
    about: Rows | Literal["family"]
    """What a row is about."""
    columns: list[TableColumnJson]
    """Columns: the statistic, aggregate or metric, and the heading."""
    rows: list[TableRowJson]
    """Rows with their name, kind, section, model and cells. `few` marks a rate of fewer than 10 questions. A row of the
    kind `published` holds published values only."""
    notes: list[str] = Field([])
    """Facts of the run that the numbers depend on, a line each."""


class AggregateJson(RecordPart):
    """A rule that pools trials into one number."""

    name: str
    """Name of the aggregate."""
    kind: AggregateKind
    """Kind of the aggregate."""
    of: list[str]
    """Input: a metric for `mean` (none for the main score), a part for `ratio`, other aggregates for the rest."""
    neutral: bool = False
    """True if a larger value is neither better nor worse; comparisons draw no conclusion from it."""
    label: str
    """Label whose values are the seeds."""


class ColumnJson(RecordPart):
    """A column of a declared table."""

    value: str
    """A statistic, an aggregate or a metric."""
    title: str
    short: str
    rank: Whole
    optional: bool = False
    """True if the column is left out where all cells are 0 or empty."""
    reports: list[str] = Field([])
    """Reports that show the column; empty for all."""


class ReferenceValueJson(RecordPart):
    """A published value that a table shows beside the run's own."""

    row: str
    column: str
    value: Number
    source: str


class LayoutJson(RecordPart):
    """A selection of the columns of a table for the terminal."""

    rank: Whole
    short: bool


class TableSpecJson(RecordPart):
    """Declaration of a table over the trials of one family."""

    name: str
    """Name of the table."""
    title: str
    """Heading of the first column."""
    rows: Rows
    """What a row is about."""
    label: str
    """Label of the rows, if they are about a label."""
    sections: bool
    """True if the rows stand under sections."""
    total: bool
    """True if the table ends with a total."""
    graded: bool
    """True if the table is about graded questions."""
    groups: list[str]
    """Groups of the table; empty for all."""
    columns: list[ColumnJson]
    """Columns: the statistic, aggregate or metric, its headings, and its rank."""
    references: list[ReferenceValueJson]
    """Published values: row, column, value and source."""
    caption: str = ""
    """What the table is about; its name if empty."""
    headline: str = ""
    """Value of the column that stands for the table's questions in the scoreboard; the table has no row there if it is
    empty."""
    layouts: list[LayoutJson] = Field([])
    """Layouts that the terminal tries in this order: columns of a higher rank are left out."""
    tuned_rows: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field([])
    """Names of the rows of groups that a model with a tuned soft prompt answered: pairs of group and row."""
    least_rows: Whole = 1
    """A table with fewer rows, the total not counted, is not shown."""
    facts: list[str] = Field([])
    """Facts of the family that its numbers depend on; a line below the table states each."""


class FamilyJson(RecordPart):
    """Terms, order and tables of a benchmark family."""

    name: str
    """Name of the family."""
    group: str
    """Term for a row of its main table."""
    section: str
    """Term for what groups stand under."""
    cluster: str
    """Term for what dependent questions share; the digest of it has this name."""
    difficulty: dict[str, str]
    """Labels of difficulty, with the words for them; charts show scores by each."""
    presented_by: list[str]
    """Labels of the presentation; a question with another value of one is another question."""
    groups: list[str]
    """Names of groups, in the order of reports."""
    sections: list[str]
    """Names of sections, in the order of reports."""
    facts: dict[str, str]
    """Facts that headers state about the run, by name."""
    question_set: Count | None
    """Version of its question set; null without versions."""
    aggregates: list[AggregateJson]
    """Aggregates that the family declares."""
    tables: list[TableSpecJson]
    """Tables that the family declares."""


class RecordJson(RecordPart):
    """A record is self-contained: every report is a function of it.

    Later versions may add properties; a change of meaning raises the schema number.
    """

    schema_number: Literal[1] = Field(alias="schema")
    """Number of this schema, 1. A file of another number is refused."""
    version: str
    """Version of the package pytest-taskgraph-bench."""
    models: list[str]
    """Names of the models under test."""
    seed: Whole
    """Seed of everything that was generated; the first of several, which `settings.seeds` lists."""
    prompts: list[str]
    """Prompt templates: names or files."""
    parsing: Parsing
    """Answer parsing."""
    fail_on: list[Literal["answers", "gates", "regression", "inconclusive", "missing"]]
    """What makes the run fail, in this order; empty if the run is report only."""
    questions: Count | None
    """Number of questions that were collected; null if it is not known."""
    settings: dict[str, Value]
    """Settings as the user gave them, without keys, tokens, secrets, passwords and authorizations. `suites` holds what
    suites set for their own questions, by the node id of the function."""
    question_sets: dict[str, Whole]
    """Version of the question set of each family that states one. Runs of different versions are not compared."""
    interrupted: bool
    """True if the run was broken off before gates and comparisons were decided."""
    usage: UsageJson | None
    """What this run sent and spent, apart from what the store answered; null if no live model was asked."""
    provenance: ProvenanceJson | None
    """Circumstances of the run; null if they are unknown."""
    gates: list[VerdictJson]
    """Cases about the whole run: gates, budgets, comparisons."""
    lost: list[str]
    """Questions whose worker died while their test ran: ids, or names of items."""
    totals: list[RowJson]
    """One row for each model, over questions that are right or wrong."""
    graded: list[GradedRowJson]
    """One row for each model and group whose questions are graded: no answer is right or wrong, and `rate` is null.
    `interval` is the 95 % interval of the mean score, by cluster; null for a single question."""
    tables: list[TableJson]
    """Tables as reports show them: those of each family, then one over several families."""
    families: list[FamilyJson]
    """What the benchmark families of the run state about themselves, in the order of reports."""
    texts: dict[Digest, str]
    """Texts that trials share, by the SHA-256 of their UTF-8 (a lone surrogate as its three bytes): parts of prompts,
    and other messages."""
    diagrams: dict[str, DiagramJson]
    """What questions are about, to be drawn, by the `cluster` of the question; empty if no report that draws
    was written."""
    trials: list[TrialJson]
    """Trials by question id, then model; errors and skipped questions included."""


class _Facts(RecordJson):
    """A record without the contents of its trials. To save memory, each diagram is dropped before the next is read."""

    diagrams: dict[str, Annotated[DiagramJson, AfterValidator(lambda _: None)]]
    trials: list[Any]


def find_faults(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the invalid parts of a record: the place ("facts of the run", or "trial 3") and its first fault."""
    if fault := _find_fault(_Facts, record):
        yield "facts of the run", fault
        return
    for at, trial in enumerate(record["trials"], 1):
        if fault := _find_fault(TrialJson, trial):
            yield f"trial {at}", fault


def _find_fault(kind: type[BaseModel], value: object) -> str:
    try:
        kind.model_validate(value)  # only the validation matters
    except ValidationError as error:
        return _describe_fault(error.errors(include_url=False), value)
    return ""


def _describe_fault(errors: Sequence[Mapping[str, Any]], value: object) -> str:
    """Return the first fault of a value in words."""
    first = errors[0]
    path = _fault_path(first, value)
    if first["type"] == "missing":
        return f"{path!r} is missing"
    # A value that matches no member of a union has an error for each member.
    expected = dict.fromkeys(describe_expected(error) for error in errors if _fault_path(error, value) == path)
    return f"{path}: found {describe_value(first['input'])}, expected {' or '.join(expected)}".removeprefix(": ")


def _fault_path(fault: Mapping[str, Any], value: Any) -> str:  # noqa: ANN401
    """Return the path to the fault, such as `score.parts.f1[0]`, without the names of members of a union."""
    path = ""
    for name in fault["loc"]:
        if name == "[key]" or (value is fault["input"] and fault["type"] != "missing"):
            break
        value = value.get(name) if isinstance(value, dict) else value[name] if isinstance(value, list) else None
        step = f"[{name}]" if isinstance(name, int) else _quote_name(name)
        path += step if not path or step.startswith("[") else f".{step}"
    return path


def _quote_name(name: str) -> str:
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{shorten_text(json.dumps(name)[1:-1])}"]'
