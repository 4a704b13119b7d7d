"""The reference implementation that our ROUGE is checked against."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def rouge_reference() -> Any:  # noqa: ANN401 - it has no types
    """Return the scorer of rouge-score; its import takes a second."""
    return import_module("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
