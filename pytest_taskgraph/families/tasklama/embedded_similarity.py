"""The similarity of the steps of an answer and of the gold graph, measured by an embedder."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from ...errors import ProviderError
from ...scoring.metrics.texts import cosine
from ...trial import Json, Question, Reply, Request

EMBEDDINGS: Final = "embeddings"
_DIGITS: Final = 4  # of a cosine in the record


def measure_similarity(
    question: Question, steps: Sequence[str]
) -> Generator[list[Request], list[Reply], list[Json] | None]:
    """Ask the embedder, in one request, for the vectors of all steps, and return the cosines of given and gold steps.

    Args:
        question: The question; its reference holds the gold steps, and which similarity is taken.
        steps: The steps of the answer.

    Returns:
        A row for each given step with a value from 0.0 to 1.0 for each gold step. None if another
        similarity is chosen; the embedder is then not asked.

    Raises:
        ProviderError: if the embedder does not give a vector of one length for each text.
    """
    reference = question.reference if isinstance(question.reference, dict) else {}
    stated = reference.get("steps")
    gold = [str(step) for step in stated] if isinstance(stated, list) else []
    if reference.get("similarity") != EMBEDDINGS or not steps or not gold:
        return None
    texts = list(dict.fromkeys([*steps, *gold]))
    (reply,) = yield [Request(role="embedder", kind="embed", texts=texts)]
    if len(reply.embeddings) != len(texts) or len({*map(len, reply.embeddings)}) != 1:
        raise ProviderError("malformed", f"expected {len(texts)} vectors of one length from the embedder")
    vectors = dict(zip(texts, reply.embeddings, strict=True))
    return [[round(cosine((vectors[ours], vectors[theirs])) or 0.0, _DIGITS) for theirs in gold] for ours in steps]
