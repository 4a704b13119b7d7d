"""The example of aggregates in docs/reference/metrics.md has the values that the page states."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from pytest_taskgraph.family_description import AggregateKind
from pytest_taskgraph.results.aggregates import estimate_aggregate, find_aggregate_mistake
from pytest_taskgraph.scoring.measurement import measure_answer, measure_unparseable
from pytest_taskgraph.trial import Json, Outcome, Question, Score, Trial

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Aggregates\n")[2].partition("\n## ")[0]


@pytest.fixture
def example(tmp_path: Path) -> ModuleType:
    (block,) = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    path = tmp_path / "example_of_the_page.py"
    path.write_text(block, encoding="utf-8")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trial(example: ModuleType, at: int, given: Json, reference: Json) -> Trial:
    outcome: Outcome = "right" if given == reference else "wrong"
    measurement = measure_answer("classified", example.classified, given, reference)
    if given is None:
        outcome, measurement = "unparseable", measure_unparseable("classified", example.classified, reference)
    question = Question(f"q{at}", "steps", "g", "", "?", "?", "yes-no", reference, "classified", labels={"seed": 1})
    return Trial(
        question,
        "m",
        outcome,
        score=Score(measurement.value or 0.0, parts={n: [*p] for n, p in measurement.parts.items()}),
    )


def test_docs_example_has_documented_values(example: ModuleType) -> None:
    answers = [*zip("yyyn", "yyyy", strict=True), *zip("nnyy", "nnnn", strict=True), (None, "n")]
    words: dict[str | None, Json] = {"y": "yes", "n": "no", None: None}
    trials = [trial(example, at, words[given], words[right]) for at, (given, right) in enumerate(answers)]
    aggregates = {aggregate.name: aggregate for aggregate in example.DESCRIPTION.aggregates}
    assert find_aggregate_mistake(example.DESCRIPTION.aggregates, {"classified"}) == ""
    values = {name: estimate_aggregate(aggregate, aggregates, trials).value for name, aggregate in aggregates.items()}
    assert values == {
        "sensitivity": 0.75, "specificity": 0.4, "g_mean": pytest.approx(0.5477, abs=5e-5),
        "g_mean_of_seeds": pytest.approx(0.5477, abs=5e-5), "g_mean_deviation": None,
    }  # fmt: skip


def test_docs_page_lists_every_aggregate_kind() -> None:
    kinds = re.findall(r"^\| `([a-z-]+)` \| .*$", SECTION, re.MULTILINE)
    assert kinds == list(get_args(AggregateKind))
