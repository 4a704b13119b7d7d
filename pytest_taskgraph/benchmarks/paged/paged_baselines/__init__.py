"""The baselines of PAGED that use no language model, and the rules of the one that uses one for the elements alone.

rules  a graph out of the document by cue words and the structure of sentences (`rule_extractor`)

CIS (Bellan et al. 2022) takes the elements from a model, and the graph from rules (`document_elements`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ....asking import Model
from ...settings import Settings
from .rule_baseline import RuleBaseline

__all__ = ["BASELINES"]


def _rules(settings: Settings) -> Model:
    return RuleBaseline()


BASELINES: Final[Mapping[str, Callable[[Settings], Model]]] = {"rules": _rules}
"""From the name of a baseline to what opens it; the first is the default."""
