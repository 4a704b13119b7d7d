"""Tables that families declare, in every report: aggregates, intervals, published numbers, several families."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import pytest
from described_tables import CLAIMED, CLAIMS, GRADED, PUBLISHED, SOUPS, STEPS, claim, run_of, step
from html_page import Page
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.family_description import Column, FamilyDescription, ReferenceValue, TableSpec
from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.csv import TABLE_COLUMNS, tables_csv
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.junit import properties, suite_properties
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.results.record import about_of, tally_of
from pytest_taskgraph.trial import Trial

TWO = [*CLAIMED, *SOUPS, *GRADED]
OTHER = "Miller & Roe (2024), appendix B"
HOSTILE = "=cmd|' /C calc'!A0\x1b[31m<script>|`@you\n::error::x"


def summary_lines(
    trials: Sequence[Trial], *families: FamilyDescription, verbosity: int = 2, width: int = 80
) -> list[tuple[str, dict[str, bool]]]:
    record = run_of(trials, *families)
    return terminal.lines(tally_of(record), about_of(record), verbosity, width)


def text(trials: Sequence[Trial], *families: FamilyDescription, verbosity: int = 2, width: int = 80) -> list[str]:
    return [line for line, _ in summary_lines(trials, *families, verbosity=verbosity, width=width)]


def with_tables(*tables: TableSpec) -> FamilyDescription:
    return replace(CLAIMS, tables=tables)


def rows_of(trials: Sequence[Trial], *families: FamilyDescription) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(tables_csv(run_of(trials, *families)), newline="")))


def test_terminal_published_numbers_stand_beside_own() -> None:
    lines = text(CLAIMED, width=80)
    at = next(at for at, line in enumerate(lines) if line.startswith("method"))
    assert lines[at : at + 5] == [
        "method   n   recall  published  specificity  G-mean",
        "whole    1*   1.000                       -       -",
        "pairs   12    0.500      0.710        1.000   0.707",
        "total   13    0.571                   1.000   0.756",
        f"published: {PUBLISHED}",
    ]


def test_terminal_aggregate_intervals_stand_if_they_fit() -> None:
    lines = text(CLAIMED, width=120)
    head = next(line for line in lines if line.startswith("method"))
    assert re.split(r"  +", head) == [
        "method", "n", "recall", "95% interval", "published", "specificity", "95% interval", "G-mean", "95% interval",
    ]  # fmt: skip


def test_terminal_several_sources_have_letter_each() -> None:
    references = (*CLAIMS.tables[0].references, ReferenceValue("whole", "g_mean", 0.645, OTHER))
    lines = text(CLAIMED, with_tables(replace(CLAIMS.tables[0], references=references)))
    assert any("0.710b" in line and line.startswith("pairs") for line in lines)
    assert f"published a: {OTHER}" in lines
    assert f"published b: {PUBLISHED}" in lines


def test_terminal_published_numbers_stand_below_without_room() -> None:
    lines = text(CLAIMED, width=40)
    head = next(line for line in lines if line.startswith("method"))
    assert "published" not in head
    assert "published, pairs: recall 0.710 (Doe et" in lines
    assert max(map(len, lines)) <= 40


def test_terminal_rows_by_model_show_published_systems() -> None:
    spec = TableSpec(
        "systems", "system", (Column("n"), Column("recall")), rows="model",
        references=(ReferenceValue("GPT-3", "recall", 0.4, OTHER),),
    )  # fmt: skip
    lines = text([*CLAIMED, claim(4, model="k")], with_tables(spec))
    assert [line.split()[0] for line in lines if re.match(r"(system|k|m|GPT-3|total) ", line)] == [
        "system", "k", "m", "GPT-3", "total",
    ]  # fmt: skip
    assert "| `GPT-3` † | - | 0.400 |" in markdown(run_of(CLAIMED, with_tables(spec)))


def test_terminal_tables_with_same_heading_have_captions() -> None:
    spec = replace(CLAIMS.tables[0], name="again", caption="The same again")
    lines = text(CLAIMED, with_tables(CLAIMS.tables[0], spec))
    assert lines.count("The same again") == 1
    assert lines.count("methods") == 1
    assert "The same again" in markdown(run_of(CLAIMED, with_tables(CLAIMS.tables[0], spec)))
    assert "methods" not in text(CLAIMED)


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_families_have_tables_under_their_names(width: int) -> None:
    lines = summary_lines(TWO, width=width)
    names = [line for line, markup in lines if line.startswith("family ") and markup.get("bold")]
    assert names[:2] == ["family claims", "family steps"]
    firsts = [line.split()[0] for line, _ in lines if line and not line.startswith(("taskgraph", "published", "*"))]
    assert firsts[:13] == [
        "family", "method", "whole", "pairs", "total",
        "family", "recipe", "soup", "total", "graded", "bread",
        "family", "claims",
    ]  # fmt: skip
    assert max(len(line) for line, _ in lines) <= width


def test_terminal_total_over_families_omits_graded() -> None:
    lines = text(TWO)
    at = next(at for at, line in enumerate(lines) if line.startswith("family  "))
    assert [line.split()[:2] for line in lines[at + 1 : at + 4]] == [["claims", "13"], ["steps", "3*"], ["total", "16"]]
    assert "4 graded questions of steps do not count in pass rates and totals" in lines


def test_terminal_single_family_has_no_family_table() -> None:
    output = "\n".join(text([*SOUPS, *GRADED], STEPS))
    assert "family" not in output
    record = run_of([*SOUPS, *GRADED], STEPS)
    assert "#### " not in markdown(record)
    assert "<h3>" not in html(record).partition('id="questions"')[0].partition('id="rates"')[2]


def test_markdown_families_have_headings_and_published_numbers() -> None:
    report = markdown(run_of(TWO))
    assert report.index("#### `claims`") < report.index("| method | n | recall |") < report.index("#### `steps`")
    assert "| `pairs` | 12 | 0.500 |" in report
    assert " | 0.710 | " in report
    assert f"published: {PUBLISHED}" in report
    assert "| **total** | 16 | 0.812 |" in report


def test_html_aggregate_intervals_drawn_and_sources_named() -> None:
    page = html(run_of(TWO))
    tables = page.partition('id="rates"')[2].partition("</section>")[0]
    assert re.findall(r"<h3>(?:<bdi>)?(.*?)<", tables) == ["claims", "steps", "All families"]
    assert re.findall(r"<caption>(.*?)</caption>", tables) == [
        "methods", "Pass rates by kitchen and recipe", "Graded questions: mean scores", "Pass rates by family",
    ]  # fmt: skip
    pairs = tables.partition("show:group=pairs")[2].partition("</tr>")[0]
    assert "<svg" in pairs
    assert ">0.710<" in pairs
    assert f"published: {PUBLISHED}" in tables


def rates_table(trials: Sequence[Trial]) -> str:
    page = html(run_of(trials)).partition('id="rates"')[2]
    return page[page.index("<table") : page.index("</table>")] + "</table>"


def test_html_values_have_drawn_intervals_except_where_none_is_known() -> None:
    table = rates_table(CLAIMED)
    rows = Page(table).all("tr")
    assert "pairs 12 0.500 0.000–1.000 0.710 1.000 0.610–1.000 0.707 0.291–1.000" in rows
    assert "whole 1* 1.000 - -" in rows
    assert re.findall(r'class="range" d="M([\d.]+),6H([\d.]+)"', table)[:3] == [
        ("0.0", "100.0"), ("61.0", "100.0"), ("29.1", "100.0"),
    ]  # fmt: skip
    single = Page(rates_table([claim(0)]))
    assert single.all("td", class_="number") == single.all("td") != []


def test_html_many_columns_draw_first_rank_alone() -> None:
    columns = (Column("n"), Column("recall"), *(Column("overlap", f"overlap {at}", rank=1) for at in range(4)))
    of_ranks = {rank: replace(columns[1], rank=rank) for rank in (0, 1)}
    svg_counts = {}
    for rank, recall in of_ranks.items():
        spec = TableSpec("wide", "method", (columns[0], recall, *columns[2:]), total=False)
        page = html(run_of(CLAIMED, with_tables(spec))).partition('id="rates"')[2].partition("</table>")[0]
        svg_counts[rank] = page.count("<svg")
    assert svg_counts == {0: 1, 1: 0}  # the other row has no interval


def test_html_difficulty_is_drawn_for_each_family() -> None:
    claims = [claim(at, tasks=8 + at % 2) for at in range(6)]
    soups = [replace(trial, question=replace(trial.question, labels={"tasks": at})) for at, trial in enumerate(SOUPS)]
    page = html(run_of([*claims, *soups]))
    assert re.findall(r"<figcaption>(.*?)</figcaption>", page) == [
        "claims: Pass rate by number of tasks", "steps: Pass rate by number of tasks",
    ]  # fmt: skip
    ids = re.findall(r' id="([^"]*)"', page.partition("<template")[0])
    assert len(ids) == len(set(ids))
    assert re.findall(r"<figcaption>(.*?)</figcaption>", html(run_of(soups))) == ["Pass rate by number of tasks"]


def test_terminal_models_have_rows_if_not_rates_alone() -> None:
    trials = [*TWO, *(claim(at, model="org/k") for at in range(12)), step(1, model="org/k")]
    lines = text(trials)
    assert any(line.startswith("pairs, m ") for line in lines)
    assert any(line.startswith("pairs, org/k ") for line in lines)
    assert next(line for line in lines if line.startswith("soup")).split() == ["soup", "1.000/1.000*", "1.000/1.000*"]
    assert "| `pairs` | `org/k` | 12 |" in markdown(run_of(trials))
    assert "<bdi>org/k</bdi></td>" in html(run_of(trials))


def test_tables_csv_has_line_for_every_number() -> None:
    rows = rows_of(TWO)
    assert tuple(rows[0]) == TABLE_COLUMNS
    (recall,) = (row for row in rows if (row["row"], row["column"]) == ("pairs", "recall"))
    assert float(recall.pop("low")) < 0.5 < float(recall.pop("high"))
    assert recall == {
        "family": "claims", "table": "methods", "model": "m", "section": "", "row": "pairs", "kind": "group",
        "column": "recall", "value": "0.5", "n": "6", "reference": "0.71", "source": PUBLISHED,
    }  # fmt: skip
    assert {row["family"] for row in rows} == {"claims", "steps", ""}
    assert not [row for row in rows if row["column"] == "interval"]


def test_junit_lines_use_words_of_family() -> None:
    alone, two = run_of(SOUPS, STEPS), run_of(TWO)
    assert "taskgraph.recipe.soup" in dict(suite_properties(tally_of(alone), about_of(alone)))
    values = dict(suite_properties(tally_of(two), about_of(two)))
    assert values["taskgraph.claims.method.pairs"].startswith("n=12 right=9 ")
    assert values["taskgraph.steps.recipe.bread"].startswith("n=4 interval=")
    assert values["taskgraph.n"] == "16"
    assert dict(properties(CLAIMED[0], CLAIMS))["taskgraph.method"] == "pairs"


def hostile() -> FamilyDescription:
    table = TableSpec(
        HOSTILE, HOSTILE, (Column("n", HOSTILE), Column("recall", HOSTILE)), caption=HOSTILE,
        references=(ReferenceValue(HOSTILE, "recall", 0.5, HOSTILE),),
    )  # fmt: skip
    return replace(CLAIMS, name="claims", group=HOSTILE, tables=(table,))


def test_reports_hostile_names_are_escaped() -> None:
    trials = [*(claim(at, HOSTILE) for at in range(3)), *SOUPS]
    for line in text(trials, hostile(), STEPS, width=120):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
    page = html(run_of(trials, hostile(), STEPS))
    assert "<script>|" not in page
    assert "\x1b" not in page
    report = markdown(run_of(trials, hostile(), STEPS))
    assert "\x1b" not in report
    table = report.partition("#### `claims`")[2].partition("####")[0]
    assert not re.search(r"(?<!`)<script>(?!.*`)", table)
    assert all(line.count("|") - line.count(r"\|") == 6 for line in table.splitlines() if line.startswith("|"))


def test_tables_csv_holds_no_formula() -> None:
    for row in csv.reader(StringIO(tables_csv(run_of([claim(1, HOSTILE)], hostile())), newline="")):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r", "\n"))
            assert "\x1b" not in cell


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(NAMES, st.booleans(), st.booleans(), st.sampled_from("km")), min_size=1, max_size=6),
    NAMES, NAMES, st.sampled_from([40, 60, 80, 120]), st.sampled_from([0, 1]),
)  # fmt: skip
def test_terminal_any_family_words_fit_width(
    names: list[tuple[str, bool, bool, str]], title: str, source: str, width: int, verbosity: int
) -> None:
    spec = replace(
        CLAIMS.tables[0], title=title, caption=title,
        references=(ReferenceValue(names[0][0], "recall", 0.5, source), ReferenceValue("total", "recall", 0.4, title)),
    )  # fmt: skip
    trials = [claim(at, name, right=right, yes=yes, model=model) for at, (name, right, yes, model) in enumerate(names)]
    for line in text([*trials, *SOUPS], with_tables(spec), STEPS, width=width, verbosity=verbosity):
        assert len(line) <= width or not line.isascii()
        assert line.isprintable()
