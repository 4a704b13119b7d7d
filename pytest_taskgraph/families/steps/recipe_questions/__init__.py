"""The methods that ask about the steps of recipes.

next_steps  whether a candidate is the next step: zero_shot, one_shot, few_shot
two_options  which of two steps is the next one: perplexity, letter
"""

from __future__ import annotations

from typing import Final

from ..step_method import StepMethod
from .next_steps import DEMONSTRATED
from .next_steps import METHODS as NEXT_STEPS
from .two_options import METHODS as TWO_OPTIONS

__all__ = ["DEMONSTRATED", "METHODS"]

METHODS: Final[tuple[StepMethod, ...]] = (*NEXT_STEPS, *TWO_OPTIONS)
