"""Shuffles and samples of generation draw what those of `random.Random` draw."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence, Sequence
from random import Random
from typing import Any

import pytest

from pytest_taskgraph.generation.draws import sample, shuffle, shuffle_copy, skip_shuffle

COUNTS = (0, 1, 2, 3, 4, 5, 16, 17, 22, 64, 65, 200)


class OwnDraws(Random):
    """A source of choice whose shuffles and samples are its own, as those of Hypothesis."""

    def shuffle(self, x: MutableSequence[Any]) -> None:
        x.reverse()

    def sample(self, population: Sequence[Any], k: int, *, counts: Iterable[int] | None = None) -> list[Any]:
        return list(population[:k])


@pytest.mark.parametrize("count", COUNTS)
def test_shuffle_equals_shuffle_of_random(count: int) -> None:
    for seed in range(20):
        expected, expected_rng = list(range(count)), Random(seed)
        expected_rng.shuffle(expected)
        items, rng, skipping_rng = list(range(count)), Random(seed), Random(seed)
        shuffle(items, rng)
        skip_shuffle(count, skipping_rng)
        assert items == expected
        assert shuffle_copy(range(count), Random(seed)) == tuple(expected)
        assert rng.getstate() == skipping_rng.getstate() == expected_rng.getstate()


@pytest.mark.parametrize("count", COUNTS)
def test_sample_equals_sample_of_random(count: int) -> None:
    for size in range(count + 1):
        expected_rng, rng = Random(size), Random(size)
        assert sample(range(count), size, rng) == expected_rng.sample(range(count), size)
        assert rng.getstate() == expected_rng.getstate()


@pytest.mark.parametrize("size", [-1, 4])
def test_sample_of_impossible_size_raises(size: int) -> None:
    with pytest.raises(ValueError, match="Sample larger than population or is negative"):
        sample("abc", size, Random(1))


def test_other_source_of_choice_draws_itself() -> None:
    rng = OwnDraws(1)
    state, items = rng.getstate(), [1, 2, 3]
    shuffle(items, rng)
    skip_shuffle(3, rng)
    assert items == [3, 2, 1]
    assert sample(items, 2, rng) == [3, 2]
    assert rng.getstate() == state
