"""The settings of the family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...benchmarks.option import GENERATED, SPLIT, Split
from ...benchmarks.settings import Settings
from .paged_options import (
    DATA,
    EXAMPLES,
    METHOD,
    NLI,
    QUALITY,
    ROUNDS,
    ConditionVerifierName,
    DocumentQuality,
    DocumentSource,
)

_FIELDS: Final = {
    "methods": METHOD,
    "split": SPLIT,
    "quality": QUALITY,
    "rounds": ROUNDS,
    "nli": NLI,
}
"""The fields of PagedSettings that hold the value of an option, as it is."""


@dataclass(frozen=True, slots=True)
class PagedSettings(Settings):
    """The settings that decide which documents are asked about, by which methods.

    Of each method there are questions about `instances` documents.
    """

    methods: tuple[str, ...] = ("extract",)
    split: Split = "test"
    source: DocumentSource = "generated"
    quality: DocumentQuality = "pipeline"
    rounds: int = 2
    nli: str = ""  # the entailment model; empty for none

    @property
    def examples(self) -> int:
        """The number of worked examples."""
        return EXAMPLES if self.shots is None else min(self.shots, EXAMPLES)

    @property
    def verifier(self) -> ConditionVerifierName:
        """How conflicts of conditions are found."""
        return "nli" if self.nli else "lexical"

    @classmethod
    def of(cls, settings: Settings) -> PagedSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        own = settings.data.get(DATA, GENERATED) != GENERATED
        return settings.extended(cls, _FIELDS, source="own" if own else "generated")
