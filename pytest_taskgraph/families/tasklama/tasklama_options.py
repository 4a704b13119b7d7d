"""The options of the family. An idle session imports this module."""

from __future__ import annotations

from typing import Final, Literal

from ...benchmarks.option import SPLIT, Option

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
    "NAME[:MODEL]",
    "similarity of steps: lexical, embeddings (of --taskgraph-embedder), or sentence-transformers:MODEL, a folder or a "
    "name in the local cache",
    "lexical",
)
OPTIONS: Final = (METHOD, SPLIT, CONTEXT, SEQUENCES, SAMPLES, SIMILARITY)
HELP: Final = {"instances": "per method", "shots": "tasks"}
"""The words of this family for the help of shared options."""

Source = Literal["published", "embedded", "generated"]
Context = Literal["with", "without", "both"]
