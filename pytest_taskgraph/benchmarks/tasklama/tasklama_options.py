"""The options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ..data_sets.splits import SPLITS, Split
from ..settings import Option, Settings

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
SPLIT: Final = Option(
    "tasklama-split",
    "NAME",
    "split of the TaskLAMA tasks that are asked about: train, validation or test",
    "test",
    choices=SPLITS,
)
SOURCE: Final = Option(
    "tasklama-source",
    "NAME",
    "where TaskLAMA's tasks come from: published (--taskgraph-data=tasklama=PATH), embedded, or generated",
    choices=("published", "embedded", "generated"),
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
FILTER: Final = Option(
    "tasklama-filter",
    "FILE",
    "coefficients by which the methods filter rank sequences, of python -m pytest_taskgraph tasklama fit",
    kind="path",
)
SIMILARITY: Final = Option(
    "tasklama-similarity",
    "NAME",
    "similarity of steps: lexical, sentence-transformers, or embeddings (of --taskgraph-embedder)",
    "lexical",
    choices=("lexical", "sentence-transformers", "embeddings"),
)
OPTIONS: Final = (METHOD, SPLIT, SOURCE, CONTEXT, SEQUENCES, SAMPLES, FILTER, SIMILARITY)
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
    "filter": FILTER,
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
    filter: str = ""  # the file of coefficients; empty for none
    similarity: Similarity = "lexical"

    @property
    def examples(self) -> int:
        """The number of in-context examples."""
        return SHOTS if self.shots is None else self.shots

    @classmethod
    def of(cls, settings: Settings) -> TaskLamaSettings:
        """Return the settings of a run with the family's own; those that are of the family already, as they are."""
        if isinstance(settings, cls):
            return settings
        return settings.extended(
            cls,
            _FIELDS,
            source=settings.value_of(SOURCE) or ("published" if "tasklama" in settings.data else "embedded"),
        )
