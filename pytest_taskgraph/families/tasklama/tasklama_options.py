"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ...benchmarks.data_sets.splits import SPLIT, Split
from ...benchmarks.settings import GENERATED, Option, Settings

DATA: Final = "tasklama"
"""The data set of tasks: the published ones, or generated ones."""
FILTER_DATA: Final = "tasklama-filter"
"""The file of the coefficients by which the methods filter rank sequences."""
SHOTS: Final = 3
"""The number of in-context examples, unless --taskgraph-shots is set."""

METHOD: Final = Option(
    "tasklama-method",
    "NAME[,NAME]",
    "methods of TaskLAMA: icl, multseq, filter, linear, pairs, golden_pairs, ... (docs/benchmarks/tasklama.md), or all "
    "of a kind: steps, golden, generated",
    "icl,linear,golden_whole",
    kind="list",
)
CONTEXT: Final = Option(
    "tasklama-context",
    "KIND",
    "whether the context of a task is shown: with, without, or both (each task is asked twice)",
    "with",
    choices=("with", "without", "both"),
)
SEQUENCES: Final = Option(
    "tasklama-sequences", "N", "sequences of steps that the methods multseq put together", "4", kind="whole", least=1
)
SAMPLES: Final = Option(
    "tasklama-samples", "N", "sequences of steps of which the methods filter keep the best", "16", kind="whole", least=1
)
SIMILARITY: Final = Option(
    "tasklama-similarity",
    "NAME",
    "similarity of steps: lexical, sentence-transformers, or embeddings (of --taskgraph-embedder)",
    "lexical",
    choices=("lexical", "sentence-transformers", "embeddings"),
)
OPTIONS: Final = (METHOD, SPLIT, CONTEXT, SEQUENCES, SAMPLES, SIMILARITY)
HELP: Final = {"instances": "per method", "shots": "tasks"}
"""The words of this family for the help of shared options."""

Source = Literal["published", "embedded", "generated"]
Context = Literal["with", "without", "both"]
Similarity = Literal["lexical", "sentence-transformers", "embeddings"]


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
    similarity: Similarity = "lexical"

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
