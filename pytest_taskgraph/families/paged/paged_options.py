"""The options of the family. An idle session imports this module."""

from __future__ import annotations

from typing import Final, Literal, get_args

from ...benchmarks.option import SPLIT, Option

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
