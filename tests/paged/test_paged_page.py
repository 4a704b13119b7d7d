"""docs/benchmarks/paged.md: its methods, options, values, examples and numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from typing import get_args

import pytest

from pytest_taskgraph import Settings, paged
from pytest_taskgraph.benchmarks.option import SPLIT
from pytest_taskgraph.families.paged import paged_tables
from pytest_taskgraph.families.paged.document_sets import document_set, generated_documents, pair_texts
from pytest_taskgraph.families.paged.document_sets.document_set import count_sentences
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents
from pytest_taskgraph.families.paged.documents.units import LINKING, SPOKEN
from pytest_taskgraph.families.paged.extraction_methods import METHODS
from pytest_taskgraph.families.paged.extraction_rules.tree_builder import extract_graph
from pytest_taskgraph.families.paged.paged_options import METHOD, QUALITY, ConditionVerifierName, DocumentQuality
from pytest_taskgraph.families.paged.paged_settings import PagedSettings
from pytest_taskgraph.families.paged.prompts import PROMPTS
from pytest_taskgraph.families.paged.refinement.verifier_feedback import MOST_FEEDBACK, FeedbackKind
from pytest_taskgraph.families.paged.worked_examples import read_worked_examples
from pytest_taskgraph.notations.procedural_text import write_procedural_graph
from pytest_taskgraph.scoring.forms.procedural_graph_form import MOST_FLOWS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "benchmarks" / "paged.md").read_text(encoding="utf-8")
FLAT_PAGE = re.sub(r"\s+", " ", PAGE)
BENCHMARKS = re.sub(r"\s+", " ", (DOCS / "benchmarks" / "index.md").read_text(encoding="utf-8"))
WORDS = {4: "four", 6: "six", 8: "Eight", 19: "Nineteen"}


def table(head: str) -> list[list[str]]:
    """Return the cells of the rows of the table whose first line begins with these words."""
    (rows,) = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|:]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows.splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def first_names(head: str) -> tuple[str, ...]:
    return tuple(names(row[0])[0] for row in table(head))


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_methods_of_the_page_are_those_of_the_family() -> None:
    assert first_names("method") == tuple(METHODS)
    assert f"The default is `{METHOD.default}`." in FLAT_PAGE


def test_options_of_the_family_are_all_on_the_page() -> None:
    assert [f"--taskgraph-{option.name}" for option in paged.options if f"--taskgraph-{option.name}" not in PAGE] == []


def test_values_of_options_on_the_page_are_those_of_the_code() -> None:
    assert first_names("`--taskgraph-data`") == ("paged=generated", "paged=PATH")
    assert first_names("value | the document") == QUALITY.choices
    assert first_names("verifier | conditions in prose conflict if") == get_args(ConditionVerifierName)
    assert f"`{SPLIT.choices[0]}`, `{SPLIT.choices[1]}` or `{SPLIT.choices[2]}` (the default)" in FLAT_PAGE
    assert SPLIT.default == SPLIT.choices[2]


def test_defaults_on_the_page_are_those_of_the_settings() -> None:
    settings = PagedSettings.of(Settings())
    assert settings.examples == len(read_worked_examples()) == 3
    assert "worked examples before the document: 3, which are all there are, by default" in FLAT_PAGE
    assert f"asks each method about N documents, {settings.instances} by default" in FLAT_PAGE
    assert f"the largest number of such rounds, {settings.rounds} by default" in FLAT_PAGE
    assert f"{settings.rounds} by default and at most {paged_tables.MOST_ROUNDS}" in FLAT_PAGE
    (row,) = (row for row in table("value | the document") if names(row[0]) == [QUALITY.default])
    assert row[1].endswith("the default")
    (row,) = (
        row for row in table("verifier | conditions in prose conflict if") if names(row[0]) == [settings.verifier]
    )
    assert row[1].endswith("the default")


def test_pages_count_the_questions_of_the_default_run() -> None:
    settings = Settings()
    count = WORDS[len(paged.references(settings, {}))]
    assert f"rules extract the graphs of {count} generated documents" in FLAT_PAGE
    assert f"`suites/paged` adds {count} graded questions" in BENCHMARKS


def test_prompt_files_on_the_page_are_those_of_the_package() -> None:
    assert {*re.findall(r"`paged/(\w+)\.jinja`", PAGE)} == {path.stem for path in PROMPTS.path.glob("*.jinja")}


def test_document_of_the_page_describes_the_graph_of_the_page() -> None:
    document, graph = next(
        (text, following)
        for text, following in zip(blocks("text"), blocks("text")[1:], strict=False)
        if following.startswith("For ")
    )
    expected = pair_texts.read_graph_text(graph)
    assert write_procedural_graph(extract_graph(document)) == write_procedural_graph(expected)


def test_line_of_own_documents_on_the_page_is_read(tmp_path: Path) -> None:
    (line,) = blocks("json")
    (tmp_path / "own.jsonl").write_text(line, encoding="utf-8")
    documents = read_documents(tmp_path)
    assert documents.problems == ()
    assert [(pair.id, len(pair.graph.flows)) for pair in documents.test] == [("tea", 3)]


@pytest.mark.parametrize("quality", get_args(DocumentQuality))
def test_page_states_the_mean_number_of_sentences(quality: DocumentQuality) -> None:
    documents = generated_documents.generate_documents(0, 100, "test", quality).pairs
    assert len(documents) == 300
    (row,) = (row for row in table("value | the document") if names(row[0]) == [quality])
    assert row[2] == f"{fmean(count_sentences(pair.document) for pair in documents):.1f}"


def test_page_counts_units_and_splits() -> None:
    assert f"{WORDS[len(SPOKEN)]} kinds of units are spoken" in FLAT_PAGE
    assert f"{WORDS[len(LINKING)]} kinds of ours link the others" in FLAT_PAGE
    counts = [document_set.DEALT.count(split) for split in ("train", "validation", "test")]
    assert counts == [3, 1, 2]
    assert (
        "Three of six generated documents are in the split `train`, one is in `validation` and two are in `test`"
        in (FLAT_PAGE)
    )


def test_feedback_on_the_page_is_that_of_the_verifiers() -> None:
    assert first_names("feedback") == ("exclusive", "inclusive", "parallel", "sequential")
    assert {*first_names("feedback")} == {*get_args(FeedbackKind)}
    assert f"A message holds at most {WORDS[MOST_FEEDBACK]} of these" in FLAT_PAGE


def test_values_for_gates_on_the_page_are_those_of_the_tables() -> None:
    gateable = {aggregate.name for aggregate in paged_tables.AGGREGATES} | {*paged.metrics("extract", Settings())}
    values = [name for row in table("table") for name in names(row[2])]
    assert len(values) > 6
    assert [name for name in values if name not in gateable] == []
    elements = FLAT_PAGE.partition("The elements are ")[2].partition(" (the flows of each type)")[0]
    assert names(elements) == [*paged_tables.ELEMENTS]
    gates = re.findall(r'--taskgraph-gate "(\w+)\.?(\w*)>=', PAGE)
    assert {group for group, _ in gates} <= {"paged", *METHODS}
    assert {value for _, value in gates if value} <= gateable


def test_titles_of_tables_on_the_page_are_those_of_reports() -> None:
    titles = [title for row in table("table") for title in row[0].split(", ")]
    assert titles == [table.title for table in paged_tables.TABLES if table.graded]


def test_limits_on_the_page_are_those_of_the_code() -> None:
    assert f"At most {generated_documents.MOST_DOCUMENTS:,} documents of a split are generated" in FLAT_PAGE
    assert f"Your own documents have at most {pair_texts.LONGEST_DOCUMENT:,} characters" in FLAT_PAGE
    assert f"Replies and your own graphs have at most {MOST_FLOWS} flows" in FLAT_PAGE
