"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from ..data_sets.splits import SPLITS, Split
from ..settings import Option, Settings

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
SPLIT: Final = Option(
    "paged-split",
    "NAME",
    "split of the PAGED documents that are asked about: train, validation or test",
    "test",
    choices=SPLITS,
)
SOURCE: Final = Option(
    "paged-source",
    "NAME",
    "where PAGED's documents come from: generated, or own (--taskgraph-data=paged=PATH)",
    choices=("generated", "own"),
)
QUALITY: Final = Option(
    "paged-quality",
    "KIND",
    "how documents are written from generated graphs: pipeline (grouped and joined into sentences) or concatenated",
    "pipeline",
    choices=QUALITIES,
)
ROUNDS: Final = Option("paged-rounds", "N", "rounds of feedback of the method refine", "2", kind="whole", least=1)
VERIFIER: Final = Option(
    "paged-verifier",
    "NAME",
    "how the method refine finds conflicts of conditions: lexical, or nli (a model, of the extra nli)",
    "lexical",
    choices=("lexical", "nli"),
)
NLI: Final = Option(
    "paged-nli",
    "NAME",
    "entailment model of --taskgraph-paged-verifier=nli: a folder of transformers, or a name in the local cache",
    "FacebookAI/roberta-large-mnli",
)
OPTIONS: Final = (METHOD, SPLIT, SOURCE, QUALITY, ROUNDS, VERIFIER, NLI)
HELP: Final = {"instances": "of N documents per method", "shots": "documents"}
"""The words of this family for the help of shared options."""

DocumentSource = Literal["generated", "own"]
ConditionVerifierName = Literal["lexical", "nli"]


_FIELDS: Final = {
    "methods": METHOD,
    "split": SPLIT,
    "quality": QUALITY,
    "rounds": ROUNDS,
    "verifier": VERIFIER,
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
    verifier: ConditionVerifierName = "lexical"
    nli: str = NLI.default

    @property
    def examples(self) -> int:
        """The number of worked examples."""
        return EXAMPLES if self.shots is None else min(self.shots, EXAMPLES)

    @classmethod
    def of(cls, settings: Settings) -> PagedSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        return settings.extended(
            cls, _FIELDS, source=settings.value_of(SOURCE) or ("own" if DATA in settings.data else "generated")
        )
