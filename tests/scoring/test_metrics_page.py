"""docs/reference/metrics.md states the metrics that exist, and values that the code computes."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from pytest_taskgraph.families.understanding.questions.chance import GUESSES, MOST_FREQUENT_NUMBER
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.measurement import measure_answer
from pytest_taskgraph.scoring.metrics import METRICS, measured_names, text_metrics
from pytest_taskgraph.scoring.partial_order import MOST_STATES
from pytest_taskgraph.scoring.procedural_graphs.graph_scores import ELEMENTS
from pytest_taskgraph.scoring.procedural_graphs.node_matches import MATCHED, bleu1
from pytest_taskgraph.scoring.task_graphs.sentence_models import DEFAULT_MODEL
from pytest_taskgraph.scoring.task_graphs.shared_parts import ALIKE
from pytest_taskgraph.scoring.task_graphs.step_matching import SIMILARITIES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| `([^`]+)` \| (\S+) \|$", PAGE, re.MULTILINE)


def section(heading: str) -> str:
    """Return the text below a heading of the second level, up to the next one."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def names_below(head: str, text: str) -> list[str]:
    """Return the names in the first columns of the tables of the text whose first column has this head."""
    tables = re.findall(rf"^\| {head} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = re.findall(r"^\| (`.*?) \|", "".join(tables), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]


def rows(head: str) -> list[list[str]]:
    """Return the cells of the rows of the table with this head."""
    (table,) = re.findall(rf"^\| {re.escape(head)} \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]


@pytest.mark.parametrize(("metric", "answer", "reference", "value"), EXAMPLES)
def test_metric_of_worked_example_has_value_of_page(metric: str, answer: str, reference: str, value: str) -> None:
    result = measure_answer(metric, METRICS[metric], json.loads(answer), json.loads(reference)).value
    assert result == (None if value == "undefined" else pytest.approx(float(value), abs=5e-5))


def test_worked_examples_cover_every_metric_without_a_model() -> None:
    assert {metric for metric, *_ in EXAMPLES} == {*METRICS} - {"bertscore"}


def test_page_names_every_metric_in_a_table() -> None:
    listed_names = {
        name for row in re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert {*METRICS, *text_metrics()} - listed_names - {metric for metric, *_ in EXAMPLES} == set()


def test_table_of_forms_states_metrics_of_the_forms() -> None:
    stated: dict[str, tuple[str, ...]] = {}
    for forms, metric, further in rows("answer form | metric of the score | further metrics"):
        names = [re.findall(r"`([\w-]+)`", cell) for cell in (forms, metric, further)]
        stated |= dict.fromkeys(names[0], (*names[1], *names[2]))
    assert stated == {name: (FORMS[name].metric, *FORMS[name].further) for name in FORMS}


def test_table_of_chance_levels_names_every_guess() -> None:
    forms = [form for row in rows("answer form | guess | expected score") for form in re.findall(r"`([\w-]+)`", row[0])]
    assert set(forms) == {*GUESSES, "text"}
    assert f"the most frequent number, 1 | {MOST_FREQUENT_NUMBER} by simulation" in PAGE
    assert f"more than {MOST_STATES:,} states" in PAGE


def test_tables_of_task_graphs_name_every_metric_and_similarity() -> None:
    text = section("Task graphs").partition("###")[2]
    metrics = measured_names(("hungarian_f1", "in_degree_rouge1", "graph_f1", "pairwise_accuracy"))
    assert sorted(names_below("metric", text)) == sorted(metrics)
    assert sorted(names_below("`similarity`", text)) == sorted(SIMILARITIES)
    assert f"a similarity of at least {ALIKE} " in text
    assert f"`{DEFAULT_MODEL}`" in text


def test_tables_of_procedural_graphs_name_every_element_and_metric() -> None:
    text = section("Procedural graphs").partition("###")[2]
    assert sorted(names_below("element", text)) == sorted(ELEMENTS)
    assert sorted(names_below("metric", text)) == sorted(measured_names(("procedural_f1",)))


def test_example_of_procedural_graphs_prints_its_output() -> None:
    text = section("Procedural graphs")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == printed


def test_page_states_similarity_of_worked_texts() -> None:
    assert f"at least {MATCHED}." in PAGE
    texts = "find an empty seat", "find empty seat near the window"
    assert f"scores {bleu1(*texts):.4f} against".replace("0.", ".") in PAGE
    assert f"and {bleu1(*reversed(texts)):g} the other way".replace("0.", ".") in PAGE
