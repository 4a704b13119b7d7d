"""docs/reference/procedural-graph-metrics.md: its example prints what it says, its tables name metrics and elements."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from pytest_taskgraph.scoring.metrics import measured_names
from pytest_taskgraph.scoring.procedural_graphs.bleu import MATCHED, bleu1
from pytest_taskgraph.scoring.procedural_graphs.graph_scores import ELEMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "procedural-graph-metrics.md").read_text(encoding="utf-8")


def names_under(heading: str) -> list[str]:
    """Return the names in the first columns of the tables behind a heading of a table."""
    rows = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]


def test_example_of_the_page_prints_its_output() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == printed


def test_tables_of_the_page_name_every_element_and_metric() -> None:
    assert sorted(names_under("element")) == sorted(ELEMENTS)
    assert sorted(names_under("metric")) == sorted(measured_names(("procedural_f1",)))


def test_page_states_the_bounds_and_the_worked_texts() -> None:
    assert f"at least {MATCHED}." in PAGE
    texts = "find an empty seat", "find empty seat near the window"
    assert f"scores {bleu1(*texts):.4f} against".replace("0.", ".") in PAGE
    assert f"and {bleu1(*reversed(texts)):g} the other way".replace("0.", ".") in PAGE
