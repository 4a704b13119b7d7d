"""The baselines of PAGED that use no language model.

rules  a graph out of the document by cue words and the structure of sentences (`extraction_rules.rule_extractor`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ....asking import Model
from ....benchmarks.settings import Settings
from .rule_baseline import RuleBaseline

__all__ = ["BASELINES"]


def _rules(settings: Settings) -> Model:
    return RuleBaseline()


BASELINES: Final[Mapping[str, Callable[[Settings], Model]]] = {"rules": _rules}
"""From the name of a baseline to what opens it; the first is the default."""
