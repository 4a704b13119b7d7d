"""What models are tuned for: the procedural graph of a document, as Du et al. (2024) do with LoRA (appendix C.2).

The prompt is that of the method `extract` without worked examples, so the tuned model is asked with
`--taskgraph-shots=0`. Documents are split 3 : 1 : 2 into train, validation and test, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Final

from ...benchmarks.settings import Settings
from ...benchmarks.tuning_task import TuningData, TuningParameters, TuningSample, TuningTask, draw_samples
from ...errors import UnparseableError
from ...notations.procedural_text import write_procedural_graph
from ...scoring.forms.procedural_graph_form import read_procedure
from ...scoring.measurement import measure_answer
from ...scoring.metrics.procedural_metrics import procedural_f1
from .document_sets import DocumentPair, load
from .extraction_methods import extraction_prompt
from .paged_settings import PagedSettings

_METRIC: Final = "procedural_f1"
PAPER_TRAIN: Final = 1697
"""Documents of the paper's train split: 3 of 6 of its 3,394."""


def graph_sample(pair: DocumentPair, settings: PagedSettings) -> TuningSample:
    """Return the prompt about a document, with its graph in the text form."""
    prompt = extraction_prompt(False, pair, replace(settings, shots=0))
    return TuningSample(prompt, write_procedural_graph(pair.graph), reference={"flows": [*pair.graph.to_json()]})


def graph_data(settings: Settings, stated: TuningParameters) -> TuningData:
    """Return the documents with their graphs: the user's own, else generated ones, as many as are stated.

    Raises:
        UsageError: if the user's documents cannot be used, or so many cannot be generated.
    """
    own = PagedSettings.of(settings)
    documents = load(replace(own, split="train", instances=stated.train or PAPER_TRAIN))
    train = draw_samples(documents.train, stated.train, stated.seed, "documents")
    dev = draw_samples(documents.validation, stated.dev, stated.seed, "dev")
    facts = {
        "source": documents.source,
        "train_documents": len(train),
        "validation_documents": len(documents.validation),
    }
    learned, checked = (tuple(graph_sample(pair, own) for pair in pairs) for pairs in (train, dev))
    return TuningData(learned, checked, facts, tuple(documents.problems))


def score_graphs(samples: Sequence[TuningSample], replies: Sequence[str]) -> Mapping[str, float | None]:
    """Return the mean F1 of all elements of written graphs; 0 of a reply without a graph."""
    scores = []
    for sample, reply in zip(samples, replies, strict=True):
        try:
            graph = read_procedure(reply, "lenient")
            scores.append(measure_answer(_METRIC, procedural_f1, graph, sample.reference).value or 0.0)
        except UnparseableError:
            scores.append(0.0)
    return {_METRIC: fsum(scores) / len(scores) if scores else None}


_SHARED: Final = TuningParameters(epochs=10, tokens=2048, learning_rate=2e-4, train=PAPER_TRAIN, dev=50)
TASKS: Final = (
    TuningTask(
        name="graph",
        title="procedural graphs of documents",
        ask="suites/paged --taskgraph-shots=0 --taskgraph-model-option max_tokens=1024",
        data=graph_data,
        score=score_graphs,
        parameters={
            "full": replace(_SHARED, learning_rate=5e-5),
            "lora": _SHARED,
            "soft-prompt": replace(_SHARED, learning_rate=1e-2, prompt_tokens=(20, 50, 100)),
        },
        paired={"lora": replace(_SHARED, learning_rate=1e-4)},
    ),
)
"""The paper trains 10 epochs, Flan-T5 at 1e-4 and Llama2 at 2e-4; the rest is ours."""
