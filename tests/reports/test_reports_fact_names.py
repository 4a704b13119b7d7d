"""The names of the facts that reports begin with, and of models."""

from __future__ import annotations

import pytest

from pytest_taskgraph.reports.wording import fact_name, model_name


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("notation", "wadl", "notation"),
        ("notation", "wadl, mermaid", "notations"),
        ("documents", "generated (test split)", "documents"),
        ("documents", "generated (test split), own (test split)", "documents"),
        ("similarity", "lexical, embeddings", "similarities"),
    ],
)
def test_fact_name_of_several_values_is_a_plural(name: str, value: str, expected: str) -> None:
    assert fact_name(name, value) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("baseline:lexical", "baseline lexical"),
        ("baseline", "baseline"),
        ("simulated:0.8 (knows the answers; for testing the machinery)", "simulated:0.8"),
        ("openai/gpt-4o (a)", "openai/gpt-4o (a)"),
        ("http://baseline:8000/v1#m", "http://baseline:8000/v1#m"),
    ],
)
def test_model_name_says_baseline_and_has_no_remark(name: str, expected: str) -> None:
    assert model_name(name) == expected
