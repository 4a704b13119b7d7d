"""The rule-based extractor: a procedural graph out of a document by cue words and the structure of sentences.

It reads English as a person skims it: "if", "otherwise", "then", "at the same time", "note that", subjects and headings
as actors. It understands no more than that, and is a baseline for models that do. In other languages it finds little.

`document_sentences` divides a document, `clause_reader` reads its sentences, and `tree_builder` states the rules by
which a graph is built of what they say.
"""

from __future__ import annotations

from ....workflow.procedural_graph import ProceduralGraph
from .clause_reader import read_mentions
from .document_sentences import read_sentences
from .tree_builder import build_graph


def extract_graph(document: str) -> ProceduralGraph:
    """Return the procedural graph of a document; an empty one if it states no action.

    The work is bounded: of a longer document the first 100,000 characters are read, and 1,000 sentences at most.
    """
    return build_graph(read_mentions(read_sentences(document)))
