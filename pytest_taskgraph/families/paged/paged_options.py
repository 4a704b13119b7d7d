"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ...benchmarks.data_sets.splits import SPLIT, Split
from ...benchmarks.settings import GENERATED, Option, Settings

EXAMPLES: Final = 3
"""The number of worked examples before the document, unless --taskgraph-shots states fewer: there are no more."""
DATA: Final = "paged"
"""The data set of the user's own documents and graphs."""

DocumentQuality = Literal["pipeline", "concatenated"]
QUALITIES: Final[tuple[DocumentQuality, ...]] = get_args(DocumentQuality)
"""How documents are written from graphs, the default first."""

METHOD: Final = Option(
    "paged-method",
    "NAME[,NAME]",
    "methods of PAGED: extract, reason (reasoning first), elements (graph built by rules), refine (feedback of "
    "verifiers), or all",
    "extract",
    kind="list",
)
QUALITY: Final = Option(
    "paged-quality",
    "KIND",
    "how documents are written from generated graphs: pipeline (grouped and joined into sentences) or concatenated",
    "pipeline",
    choices=QUALITIES,
)
ROUNDS: Final = Option("paged-rounds", "N", "rounds of feedback of the method refine", "2", kind="whole", least=1)
NLI: Final = Option(
    "paged-nli",
    "NAME",
    "entailment model that finds conflicts of conditions for the method refine, instead of their words: a folder of "
    "transformers, or a name in the local cache",
)
OPTIONS: Final = (METHOD, SPLIT, QUALITY, ROUNDS, NLI)
HELP: Final = {"instances": "of N documents per method", "shots": "documents"}
"""The words of this family for the help of shared options."""

DocumentSource = Literal["generated", "own"]
ConditionVerifierName = Literal["lexical", "nli"]


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
