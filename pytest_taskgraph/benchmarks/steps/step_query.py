"""The query of Wang et al. (2023), section 3.4, and the joint of steps, in it and in the published files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .next_step_samples import NextStepSample

STEP_JOINT: Final = " . "
QUERY_MIDDLE: Final = f"{STEP_JOINT}Is the next step of "
"""What stands between the steps done so far and the candidate."""
QUERY_END: Final = " a reasonable step in this recipe ?"
"""What stands behind the candidate."""


def join_steps(steps: Iterable[str]) -> str:
    """Return the steps in one text."""
    return STEP_JOINT.join(steps)


def query_of(sample: NextStepSample) -> str:
    """Return the query of a sample: the text of the prompt `paper` without demonstrations."""
    return f"{join_steps(sample.prefix)}{QUERY_MIDDLE}{sample.candidate}{QUERY_END}"
