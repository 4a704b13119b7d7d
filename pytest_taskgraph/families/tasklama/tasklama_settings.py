"""The settings of the family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...benchmarks.option import GENERATED, SPLIT, Split
from ...benchmarks.settings import Settings
from .tasklama_options import (
    CONTEXT,
    DATA,
    FILTER_DATA,
    METHOD,
    SAMPLES,
    SEQUENCES,
    SHOTS,
    SIMILARITY,
    Context,
    Source,
)

_FIELDS: Final = {
    "methods": METHOD,
    "split": SPLIT,
    "context": CONTEXT,
    "sequences": SEQUENCES,
    "samples": SAMPLES,
    "similarity": SIMILARITY,
}
"""The fields of TaskLamaSettings that hold the value of an option, as it is."""


@dataclass(frozen=True, slots=True)
class TaskLamaSettings(Settings):
    """The settings that decide which tasks are asked about, by which methods, and how answers are compared.

    Of each method there are questions about `instances` tasks.
    """

    methods: tuple[str, ...] = ("icl", "linear", "golden_whole")
    split: Split = "test"
    source: Source = "embedded"
    context: Context = "with"
    sequences: int = 4
    samples: int = 16
    similarity: str = "lexical"

    @property
    def examples(self) -> int:
        """The number of in-context examples."""
        return SHOTS if self.shots is None else self.shots

    @property
    def filter(self) -> str:
        """The file of coefficients; empty for none."""
        return self.data.get(FILTER_DATA, "")

    @classmethod
    def of(cls, settings: Settings) -> TaskLamaSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        return settings.extended(cls, _FIELDS, source=_source(settings.data.get(DATA)))


def _source(stated: str | None) -> Source:
    if stated is None:
        return "embedded"
    return "generated" if stated == GENERATED else "published"
