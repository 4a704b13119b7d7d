"""FINE (Dušek and Kasner 2020) as Du et al. (2024, appendix B) use it: entailment between a document and its fragments.

A fragment that the document does not entail was omitted; a sentence of the document that the fragments together do not
entail was hallucinated. Whether one text entails another is for a model of natural language inference to say. The paper
does not state how documents become numbers. Here both scores are shares, of fragments and of sentences: a document as a
whole is seldom entailed word by word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph
from ..documents.written_document import write_document
from ..entailment_models.entailment_scores import EntailmentModel, judge_texts

THRESHOLD: Final = 0.5
"""A text is entailed if the probability of that is greater, as in Dušek and Kasner (2020)."""
LONGEST_TEXT: Final = 100_000  # characters of a document that are compared
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]?\s+(?![a-z\s])")  # "e.g. at noon" goes on


@dataclass(frozen=True, slots=True)
class FineScores:
    """What a document omits of its fragments, and what it adds.

    Args:
        fragments: The number of fragments.
        omitted: Those that the document does not entail.
        sentences: The number of sentences of the document.
        hallucinated: Those that the fragments together do not entail.
        confidence: The least probability of an entailment that was asked for; None if there was none. The paper by
            Dušek and Kasner (2020) takes it as the score of the whole document.
    """

    fragments: int
    omitted: tuple[str, ...]
    sentences: int
    hallucinated: tuple[str, ...]
    confidence: float | None

    @property
    def omission(self) -> float | None:
        """The share of fragments that are not omitted, so that more is better; None if there are no fragments."""
        return 1 - len(self.omitted) / self.fragments if self.fragments else None

    @property
    def hallucination(self) -> float | None:
        """The share of sentences that are not hallucinated, so that more is better; None if there are none."""
        return 1 - len(self.hallucinated) / self.sentences if self.sentences else None


def fine_scores(model: EntailmentModel, fragments: Sequence[str], document: str) -> FineScores:
    """Return what a document omits and adds.

    Args:
        model: The model of natural language inference.
        fragments: What the document is to say, a sentence each; see `fragment_sentences`.
        document: The document.

    Raises:
        UsageError: if the model cannot take the texts, or does not give a score for each.
    """
    sentences = split_sentences(document)
    ours = _entailments(model, " ".join(sentences), fragments)
    theirs = _entailments(model, " ".join(fragments), sentences)
    return FineScores(
        len(fragments),
        tuple(text for text, value in zip(fragments, ours, strict=True) if value <= THRESHOLD),
        len(sentences),
        tuple(text for text, value in zip(sentences, theirs, strict=True) if value <= THRESHOLD),
        min((*ours, *theirs), default=None),
    )


def fragment_sentences(graph: ProceduralGraph) -> tuple[str, ...]:
    """Return the fragments of a graph as sentences: one that only begins a sentence stands with what follows it."""
    return tuple(sentence.text for sentence in write_document(graph, "concatenated").sentences)


def split_sentences(document: str) -> list[str]:
    """Return the sentences of a document; those behind a limit of length are not read."""
    pieces = _SENTENCE_END.split(" ".join(document[:LONGEST_TEXT].split()))
    return [piece for piece in pieces if piece]


def _entailments(model: EntailmentModel, premise: str, hypotheses: Sequence[str]) -> list[float]:
    """Return the probability of each entailment; 0.0 behind an empty premise, of which the model is not asked."""
    if not hypotheses or not premise:
        return [0.0] * len(hypotheses)
    return [scores.entailment for scores in judge_texts(model, premise, hypotheses)]
