"""The metrics of document quality: ESA and FINE, as Du et al. (2024, appendix B) use them.

ESA (Faille et al. 2021) is the coverage of a graph's names by a document. The paper finds entities with a model for
named entities; here they are what the graph states as such: its actors and its data. A name is covered if its words
stand in the document, all of them, in a row. Case, punctuation, white space and the form of Unicode characters do not
matter; inflection and synonyms do.

FINE (Dušek and Kasner 2020) is entailment between a document and its fragments. A fragment that the document does not
entail was omitted; a sentence of the document that the fragments together do not entail was hallucinated. Whether one
text entails another is for a model of natural language inference to say. The paper does not state how documents become
numbers. Here both scores are shares, of fragments and of sentences: a document as a whole is seldom entailed word by
word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ....workflow.procedural_graph import ProceduralGraph
from ..documents.written_document import write_document
from ..entailment_models.entailment_scores import EntailmentModel, judge_texts

NameSort = Literal["action", "actor", "data"]
NAME_SORTS: Final[tuple[NameSort, ...]] = get_args(NameSort)
_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # scripts without blanks between words
_WORD: Final = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
THRESHOLD: Final = 0.5
"""A text is entailed if the probability of that is greater, as in Dušek and Kasner (2020)."""
LONGEST_TEXT: Final = 100_000  # characters of a document that are compared
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]?\s+(?![a-z\s])")  # "e.g. at noon" goes on


@dataclass(frozen=True, slots=True)
class GraphName:
    """A name in a graph: the text of an action or of a data constraint, or an actor."""

    sort: NameSort
    text: str


@dataclass(frozen=True, slots=True)
class NameCoverage:
    """The names of a graph, by whether a document covers them.

    Args:
        covered: Those whose words stand in the document.
        lost: The others.
    """

    covered: tuple[GraphName, ...]
    lost: tuple[GraphName, ...]

    def ratio(self, *sorts: NameSort) -> tuple[int, int]:
        """Return the number of covered names and that of all names, of some sorts or, by default, of every sort."""
        chosen = sorts or NAME_SORTS
        covered, lost = (sum(name.sort in chosen for name in names) for names in (self.covered, self.lost))
        return covered, covered + lost

    def share(self, *sorts: NameSort) -> float | None:
        """Return the share of covered names from 0.0 to 1.0; None if the graph has no such name."""
        covered, total = self.ratio(*sorts)
        return covered / total if total else None


def graph_names(graph: ProceduralGraph) -> tuple[GraphName, ...]:
    """Return the names of a graph: actions, actors and data, in its order; those of the same words once."""
    first_names: dict[tuple[NameSort, str], GraphName] = {}
    for name in _names(graph):
        first_names.setdefault((name.sort, name_key(name.text)), name)
    return tuple(first_names.values())


def _names(graph: ProceduralGraph) -> Iterator[GraphName]:
    yield from (GraphName("action", node.text) for node in graph.nodes_of("action"))
    yield from (GraphName("actor", actor) for actor in graph.actors)
    yield from (GraphName("data", node.text) for node in graph.nodes_of("data"))


def name_coverage(graph: ProceduralGraph, document: str) -> NameCoverage:
    """Return which names of a graph a document covers; the time is linear in the document for each name."""
    return coverage_of(graph_names(graph), document)


def coverage_of(names: Iterable[GraphName], document: str) -> NameCoverage:
    """Return which of some names a document covers."""
    words, letters = _words(document), _letters(document)
    covered: list[GraphName] = []
    lost: list[GraphName] = []
    for name in names:
        key = _words(name.text)
        # A name such as "?!" has no words.
        is_covered = key in words if key != " " else _letters(name.text) in letters
        (covered if is_covered else lost).append(name)
    return NameCoverage(tuple(covered), tuple(lost))


def name_key(text: str) -> str:
    """Return what decides whether two texts are the same name: their words, else their letters without case."""
    words = _words(text).strip()
    return words or _letters(text)


def _words(text: str) -> str:
    """Return the words of a text with a blank around each, without case."""
    return f" {' '.join(_WORD.findall(_fold_case(text)))} ".replace("  ", " ")


def _letters(text: str) -> str:
    return " ".join(_fold_case(text).split())


def _fold_case(text: str) -> str:
    """Return a text without case, in one form of Unicode; apostrophes are dropped, so that "store's" is one word."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")


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
