"""docs/reference/task-graph-metrics.md: its example prints what it says, and its tables name every metric."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from pytest_taskgraph.scoring.metrics import measured_names
from pytest_taskgraph.scoring.task_graphs.shared_parts import ALIKE
from pytest_taskgraph.scoring.task_graphs.similarity import SENTENCE_MODEL, SIMILARITIES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "task-graph-metrics.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) if row != "`similarity`"]


def test_example_of_the_page_prints_its_output() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == printed


def test_tables_of_the_page_name_every_metric_and_similarity() -> None:
    names = [name for row in ROWS for name in re.findall(r"`(\w[\w-]*)`", row)]
    metrics = measured_names(("hungarian_f1", "in_degree_rouge1", "graph_f1", "pairwise_accuracy"))
    assert sorted(names) == sorted([*metrics, *SIMILARITIES])


def test_page_states_the_threshold_and_the_model() -> None:
    assert f"a similarity of at least {ALIKE} " in PAGE
    assert f"`{SENTENCE_MODEL.rpartition('/')[2]}`" in PAGE
