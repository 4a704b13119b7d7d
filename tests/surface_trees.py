"""Fit decision trees of a small depth to features of the surface of questions.

`fit_greedy` takes at each node the split that leaves the purest sides by Gini's impurity (CART; Breiman et al. 1984),
and as the last split the one that answers most samples right. A greedy tree misses two features that only together tell
the answer. `fit_pairs` therefore looks at all trees of depth 2 over the cuts of all features; for depth 3, below each
of the best ROOTS cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import SurfaceSample

DEPTHS = (1, 2, 3)
LEAST = 8  # samples on each side of a split, or a SHARE of all samples if these are more
SHARE = 0.02
CUTS = 6  # of a feature that `fit_pairs` looks at, evenly spread over its values
ROOTS = 6  # cuts below which `fit_pairs` looks for the best trees of depth 2

Matrix = NDArray[Any]
Side = tuple[str, float]  # a feature and the least value of its upper side


@dataclass(frozen=True, slots=True)
class Tree:
    """Decision tree: a leaf with its answer, or a split with a tree for the values below the cut and one for others."""

    yes: bool = True
    split: Side | None = None
    below: Tree | None = None
    above: Tree | None = None

    def says_yes(self, sample: SurfaceSample) -> bool:
        """Return True if the tree answers yes."""
        if self.split is None or self.below is None or self.above is None:
            return self.yes
        feature, cut = self.split
        return (self.above if surface(sample).get(feature, 0.0) >= cut else self.below).says_yes(sample)

    def accuracy(self, samples: Sequence[SurfaceSample]) -> float:
        """Return the share of the samples that the tree answers right, 0.0 to 1.0."""
        return sum(self.says_yes(sample) == sample.yes for sample in samples) / len(samples)

    def __str__(self) -> str:
        if self.split is None:
            return "yes" if self.yes else "no"
        return f"[{self.split[0]} >= {self.split[1]:g}: {self.above}, else {self.below}]"


@dataclass(frozen=True, slots=True)
class Table:
    """Samples as numbers: a row for each, a column for each feature that is not the same in all."""

    features: list[str]
    values: Matrix
    yes: Matrix  # 1.0 for yes, 0.0 for no

    @property
    def least(self) -> int:
        """Return the least number of samples on each side of a split."""
        return max(LEAST, int(SHARE * len(self.yes)))


def surface(sample: SurfaceSample) -> dict[str, float]:
    """Return the features of a sample, and those that say which wording and which kind of question it has."""
    return {**sample.features, f"wording {sample.words}": 1.0, f"kind {sample.kind}": 1.0}


def table(samples: Sequence[SurfaceSample]) -> Table:
    """Return the samples as a table."""
    rows = [surface(sample) for sample in samples]
    features = sorted({name for row in rows for name in row})
    values = np.array([[row.get(name, 0.0) for name in features] for row in rows])
    varying = np.flatnonzero(values.max(axis=0) > values.min(axis=0))
    yes = np.array([float(sample.yes) for sample in samples])
    return Table([features[i] for i in varying], values[:, varying], yes)


def fit_greedy(data: Table, depth: int) -> Tree:
    """Return a tree of at most that depth in which each split is the best by itself."""
    return _grow(data, np.arange(len(data.yes)), depth)


def fit_pairs(data: Table, depth: int) -> Tree:
    """Return the tree of that depth, 2 or 3, that answers most of the samples right.

    At depth 3, only the ROOTS best cuts are tried as the first split.
    """
    cuts, columns = _columns(data)
    rows = np.arange(len(data.yes))
    if depth == min(DEPTHS) + 1 or not cuts:
        return _best_pair(data, cuts, columns, rows)[1]
    roots = np.argsort(-_pair_scores(data, columns, rows)[0], kind="stable")[:ROOTS]
    best, right = Tree(), -1.0
    for root in roots:
        above = columns[:, root] > 0
        sides = [_best_pair(data, cuts, columns, rows[side]) for side in (~above, above)]
        if (count := sum(side[0] for side in sides)) > right:
            best, right = Tree(split=cuts[root], below=sides[0][1], above=sides[1][1]), count
    return best


FITS: tuple[tuple[int, Callable[[Table, int], Tree]], ...] = (
    *((depth, fit_greedy) for depth in DEPTHS),
    *((depth, fit_pairs) for depth in DEPTHS[1:]),
)
"""The sorts of trees: the depth and the function that fits them."""


def _leaf(yes: Matrix) -> Tree:
    return Tree(bool(2 * yes.sum() >= len(yes)))


def _grow(data: Table, rows: Matrix, depth: int) -> Tree:
    yes = data.yes[rows]
    found = _best_split(data, rows, depth == 1) if depth else None
    if found is None:
        return _leaf(yes)
    column, cut = found
    above = data.values[rows, column] >= cut
    below = _grow(data, rows[~above], depth - 1)
    return Tree(split=(data.features[column], cut), below=below, above=_grow(data, rows[above], depth - 1))


def _best_split(data: Table, rows: Matrix, last: bool) -> tuple[int, float] | None:
    """Return the column and the cut of the best split of the rows; None if no split leaves enough on each side."""
    total = len(rows)
    if total < 2 * data.least:
        return None
    values, yes = data.values[rows], data.yes[rows]
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    below = np.arange(1, total, dtype=float)[:, None]
    yes_below = np.cumsum(yes[order], axis=0)[:-1]
    yes_above = yes.sum() - yes_below
    above = total - below
    if last:
        quality = np.maximum(yes_below, below - yes_below) + np.maximum(yes_above, above - yes_above)
    else:  # Gini's impurity, but for constants
        quality = (yes_below**2 + (below - yes_below) ** 2) / below + (yes_above**2 + (above - yes_above) ** 2) / above
    allowed = (ordered[1:] > ordered[:-1]) & (np.minimum(below, above) >= data.least)
    quality = np.where(allowed, quality, -1.0)
    row, column = np.unravel_index(int(np.argmax(quality)), quality.shape)
    if quality[row, column] < 0:
        return None
    return int(column), float(ordered[row + 1, column])


def _columns(data: Table) -> tuple[list[Side], Matrix]:
    """Return cuts of all features, and for each sample 1.0 where it is on the upper side; equal columns stand once."""
    found: dict[bytes, tuple[Side, Matrix]] = {}
    for column, feature in enumerate(data.features):
        values = data.values[:, column]
        levels = np.unique(values)[1:]
        if len(levels) > CUTS:
            levels = np.unique(np.quantile(values, np.arange(1, CUTS + 1) / (CUTS + 1)))
        for cut in levels:
            above = values >= cut
            if data.least <= above.sum() <= len(values) - data.least:
                found.setdefault(above.tobytes(), ((feature, float(cut)), above))
    sides = [side for side, _ in found.values()]
    stacked = [above for _, above in found.values()]
    empty = np.zeros((len(data.yes), 0))
    return sides, np.array(stacked, dtype=np.float32).T if stacked else empty


def _pair_scores(data: Table, columns: Matrix, rows: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return, for each column as the first split of the rows, how many a tree of depth 2 answers right.

    Returns:
        The numbers, and the columns of the best second splits below and above.
    """
    inside = columns[rows]
    sign = (2 * data.yes[rows] - 1).astype(np.float32)
    balance, count = inside.T @ (inside * sign[:, None]), inside.T @ inside  # of both columns' upper sides
    own, size = np.diag(balance), np.diag(count)
    whole, total = float(sign.sum()), len(rows)
    # Below the first split: the upper side of the second one has own - balance, the lower side the rest.
    parts = {
        "above": (balance, own[:, None] - balance, count, size[:, None] - count),
        "below": (own[None] - balance, whole - own[:, None] - own[None] + balance, size[None] - count,
                  total - size[:, None] - size[None] + count),
    }  # fmt: skip
    right, chosen = np.full(len(own), total / 2), {}
    for name, (upper, lower, many_upper, many_lower) in parts.items():
        gain = np.abs(upper) + np.abs(lower)
        gain = np.where(np.minimum(many_upper, many_lower) >= data.least, gain, np.abs(upper + lower))
        chosen[name] = np.argmax(gain, axis=1)
        right = right + gain.max(axis=1) / 2
    return right, chosen["below"], chosen["above"]


def _best_pair(data: Table, cuts: Sequence[Side], columns: Matrix, rows: Matrix) -> tuple[float, Tree]:
    """Return the tree of depth 2 that answers most of the rows right, and their number."""
    if not cuts or not len(rows):
        leaf = _leaf(data.yes[rows])
        return float(np.sum((data.yes[rows] > 0) == leaf.yes)), leaf
    right, below, above = _pair_scores(data, columns, rows)
    root = int(np.argmax(right))
    upper = columns[rows, root] > 0
    tree = Tree(
        split=cuts[root],
        below=_stump(data, cuts[below[root]], columns[:, below[root]], rows[~upper]),
        above=_stump(data, cuts[above[root]], columns[:, above[root]], rows[upper]),
    )
    return float(right[root]), tree


def _stump(data: Table, cut: Side, column: Matrix, rows: Matrix) -> Tree:
    upper = column[rows] > 0
    if not data.least <= upper.sum() <= len(rows) - data.least:
        return _leaf(data.yes[rows])
    return Tree(split=cut, below=_leaf(data.yes[rows[~upper]]), above=_leaf(data.yes[rows[upper]]))
