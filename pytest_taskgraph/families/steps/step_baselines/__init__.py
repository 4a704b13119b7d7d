"""The baselines of STEPS, which answer from the request alone.

n-gram    the perplexity of an n-gram model that is trained on recipes (`ngram_baseline`)
majority  always No, always the first option (`step_baseline`)
random    either answer with equal probability (`step_baseline`)

`step_baseline` also states how they read what a prompt asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ....asking import Model
from .ngram_baseline import NgramBaseline
from .step_baseline import MajorityBaseline, RandomBaseline

if TYPE_CHECKING:
    from ..steps_settings import StepsSettings

__all__ = ["BASELINES"]


def _open_ngram(settings: StepsSettings) -> Model:
    return NgramBaseline("n-gram", settings)


def _open_majority(settings: StepsSettings) -> Model:
    return MajorityBaseline("majority")


def _open_random(settings: StepsSettings) -> Model:
    return RandomBaseline("random", settings.seed)


BASELINES: Final[Mapping[str, Callable[[StepsSettings], Model]]] = {
    "n-gram": _open_ngram,
    "majority": _open_majority,
    "random": _open_random,
}
"""From the name of a baseline to what opens it; the first is the default. Opening reads no file."""
