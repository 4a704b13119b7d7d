"""The names of the facts that reports begin with."""

from __future__ import annotations

import pytest

from pytest_taskgraph.reports.wording import fact_name


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
