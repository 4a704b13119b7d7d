"""The similarity of steps, matchings of generated steps (rows) with gold steps (columns), and precision and recall.

There are three, after Yuan et al. (2024), "Metrics":

- unlimited: every step counts with its best partner (Zhang et al. 2021; it rewards duplicates);
- Hungarian: a one-to-one matching of the largest total (Kuhn 1955);
- relaxed: "one-to-two", for a step that a graph splits. Precision takes the best way to give every generated step one
  gold step, no gold step to more than two; recall the best way to give every gold step one generated step, likewise. It
  lies between the two others, and is the Hungarian algorithm with the gold columns, or the generated rows, doubled.

Precision is the total over the number of generated steps, recall over that of gold steps; 0 where there are none.

The similarity of two steps, 0.0 to 1.0, is that of their words, of vectors of a sentence model, or measured by an
embedder. Yuan et al. (2024) take the cosine of vectors of the Universal Sentence Encoder. `lexical`, the default, needs
no model: it is the F1 of the words that two steps share. Its scores are not comparable with those of the paper.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import Final

from ...errors import UnknownNameError, UnmeasuredError
from ...trial import Json
from ..assignment import assign
from .sentence_models import DEFAULT_MODEL, add_sentence_model, model_label, sentence_encoder
from .step_graphs import answered_graph, gold_graph

Matrix = Sequence[Sequence[float]]
_TIE = 1e-9  # weight of the order of the steps in a pair: it decides among equal totals only
SENTENCES: Final = "sentence-transformers"
SIMILARITIES = ("lexical", SENTENCES, "embeddings")
_ROUNDING = 1e-6  # of a cosine that a model's single precision takes beyond 1


def match_steps(matrix: Matrix) -> list[tuple[int, int]]:
    """Return a one-to-one matching of the largest total, as pairs of row and column, sorted by row.

    It is complete: min(rows, columns) pairs, however poor. Among equal totals it keeps to the order of the steps: the
    sum of the squared distances between row and column is least. So equal graphs are matched step by step, even where
    two of their steps are alike.
    """
    if not matrix or not matrix[0]:
        return []
    rows, columns = len(matrix), len(matrix[0])
    weight = _TIE / max(rows, columns) ** 2
    return assign(
        [
            [value - weight * (row - column) ** 2 for column, value in enumerate(values)]
            for row, values in enumerate(matrix)
        ]
    )


def unlimited_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall where every step counts with its most similar one."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    best_columns = [max(column) for column in zip(*matrix, strict=True)]
    return fsum(map(max, matrix)) / len(matrix), fsum(best_columns) / len(best_columns)


def hungarian_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall of a one-to-one matching of the largest total."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    total = fsum(matrix[row][column] for row, column in match_steps(matrix))
    return total / len(matrix), total / len(matrix[0])


def relaxed_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall where a step may be the partner of two."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    rows, columns = len(matrix), len(matrix[0])
    doubled_columns = [[*row, *row] for row in matrix]
    doubled_rows = [*matrix, *matrix]
    return _largest_total(doubled_columns) / rows, _largest_total(doubled_rows) / columns


def _largest_total(matrix: Matrix) -> float:
    return fsum(matrix[row][column] for row, column in assign(matrix))


def _parts_of(name: str) -> tuple[str, str]:
    """Return the kind of a similarity and its sentence model, empty for none. Raises UnknownNameError."""
    kind, colon, model = name.partition(":")
    if kind not in SIMILARITIES or (colon and (kind != SENTENCES or not model.strip())):
        raise UnknownNameError("similarity of steps", name, SIMILARITIES, f"{SENTENCES}:MODEL")
    return kind, (model.strip() or DEFAULT_MODEL) if kind == SENTENCES else ""


def resolve_similarity(name: str) -> str:
    """Return a similarity as references state it: the name of a sentence model is followed by a digest of its files.

    Args:
        name: One of SIMILARITIES, or "sentence-transformers:" with the path of a folder or a name in the local cache.

    Raises:
        UnknownNameError: if there is none of that name.
        UsageError: if the package sentence-transformers or the model is missing, or the model cannot be used.
    """
    kind, model = _parts_of(name)
    return f"{kind}:{add_sentence_model(model)}" if model else kind


def similarity_label(name: str) -> str:
    """Return what reports call a similarity: a sentence model without its path. Raises UnknownNameError."""
    kind, model = _parts_of(name)
    return f"{kind}:{model_label(model)}" if model else kind


def similarity_matrix(given: Json, reference: Json) -> list[list[float]]:
    """Return the similarity of each given step (row) to each gold step (column); negative values count as 0.

    Args:
        given: An answer; one without steps gives no rows.
        reference: The gold graph; its "similarity" names what to take, `lexical` if it is missing.

    Raises:
        UnknownNameError: if the reference states a similarity that is not known.
        UnmeasuredError: if the similarity is `embeddings`, and the answer carries no matrix of the right shape.
        UsageError: if the reference is malformed, or a package or the sentence model is missing.
    """
    steps, gold = answered_graph(given).steps, gold_graph(reference).steps
    name = reference.get("similarity", "lexical") if isinstance(reference, dict) else ""
    kind, model = _parts_of(str(name))
    if not steps or not gold:
        return [[] for _ in steps]
    if kind == "embeddings":
        return _measured_matrix(given, len(steps), len(gold))
    if kind == SENTENCES:
        return [[*row] for row in _cosines(model, steps, gold)]
    counts = [_word_counts(step) for step in gold]
    return [[_word_f1(ours, theirs) for theirs in counts] for ours in map(_word_counts, steps)]


def words(text: str) -> list[str]:
    """Return the runs of letters, marks and digits of a text, case folded; without any, the parts between blanks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    runs = "".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in folded)
    return runs.split() or folded.split()


def _word_counts(text: str) -> Counter[str]:
    return Counter(words(text))


def _word_f1(ours: Counter[str], theirs: Counter[str]) -> float:
    """Return the F1 of the words that two texts share (ROUGE-1), 0.0 to 1.0."""
    few, many = (ours, theirs) if len(ours) <= len(theirs) else (theirs, ours)
    hits = sum(min(count, many[word]) for word, count in few.items() if word in many)
    return 2 * hits / (ours.total() + theirs.total()) if hits else 0.0


@lru_cache(maxsize=8)  # the metrics of one question ask for the same matrix
def _cosines(model: str, steps: tuple[str, ...], gold: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    import numpy as np

    texts = list(dict.fromkeys((*steps, *gold)))
    vectors = np.asarray(sentence_encoder(model).encode(texts, show_progress_bar=False), dtype=float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    place = {text: at for at, text in enumerate(texts)}
    cosines = vectors[[place[step] for step in steps]] @ vectors[[place[step] for step in gold]].T
    return tuple(tuple(row) for row in np.clip(cosines, 0.0, 1.0).tolist())


def _measured_matrix(given: Json, rows: int, columns: int) -> list[list[float]]:
    """Return the matrix that an embedder measured, as the answer carries it.

    Raises:
        UnmeasuredError: if there is none of that shape, or a value is no cosine.
    """
    matrix = given.get("similarity") if isinstance(given, dict) else None
    if not isinstance(matrix, list) or len(matrix) != rows:
        raise _unmeasured(rows, columns)
    cosines = [[_cosine(value) for value in row] if isinstance(row, list) else [] for row in matrix]
    if any(len(row) != columns or None in row for row in cosines):
        raise _unmeasured(rows, columns)
    return [[min(1.0, max(0.0, value)) for value in row if value is not None] for row in cosines]


def _cosine(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= 1 + _ROUNDING else None  # nor is what is no number


def _unmeasured(rows: int, columns: int) -> UnmeasuredError:
    return UnmeasuredError(
        f"similarity 'embeddings': the answer carries no \"similarity\" of {rows} rows of {columns} numbers from -1 to "
        "1; an episode that asks an embedder adds it"
    )
