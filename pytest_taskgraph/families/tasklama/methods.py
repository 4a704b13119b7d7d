"""The methods of TaskLAMA, in the order of reports, and their episodes."""

from __future__ import annotations

from functools import partial
from typing import Final

from ...asking import Episode
from ...benchmarks.method_family import MethodSet
from .edges import METHODS as EDGE_METHODS
from .sequences import METHODS as SEQUENCE_METHODS

METHODS: Final = MethodSet(
    "TaskLAMA",
    (*SEQUENCE_METHODS, *EDGE_METHODS),
    {"steps": "step_generation", "golden": "golden_dependencies", "generated": "generated_dependencies"},
)
EMBEDDINGS_SUFFIX: Final = "+embeddings"
"""Suffix of the name of an episode that asks an embedder for the similarity of steps, in one further request."""


def episodes() -> dict[str, Episode]:
    """Return the episodes by name: those of all methods, and each with an embedder, whose requests no plan foresees."""
    own = {name: method.episode for name, method in METHODS.items()}
    return own | {f"{name}{EMBEDDINGS_SUFFIX}": partial(episode) for name, episode in own.items()}
