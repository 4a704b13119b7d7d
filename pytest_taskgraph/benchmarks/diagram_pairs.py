"""The expected and the given diagram of a trial, as its family draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagram import pack

if TYPE_CHECKING:
    from ..trial import Trial
    from .family import Family


def packed_pair(family: Family, trial: Trial) -> str:
    """Return the pair of diagrams of an answer that was parsed, packed; empty where the family draws none."""
    if trial.score is None or trial.score.status != "read":
        return ""
    pair = family.diagram_pair(trial.question, trial.score)
    return pack(pair.bounded().to_json()) if pair else ""
