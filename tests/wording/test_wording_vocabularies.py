"""A task of a vocabulary is described as itself: nearly all descriptions share a word with the data of their task."""

from __future__ import annotations

from typing import Final

import pytest
from described_tasks import undescribed

from pytest_taskgraph.generation.vocabularies import domain_names, vocabulary

IN_OTHER_WORDS: Final = {
    "ChooseAntibiotic", "LightCandles", "SwitchOffPhotometer", "ReturnPartnerBook", "WatchLiveDrift",
    "RequestGoodsRating", "CheckCodeLicences", "FilmFeatureDemo", "HoldProgrammerRetrospective", "RankFeatureWishes",
    "ReplaceVulnerableCode", "StressServerVersion", "FlyAbroad", "JoinExcursion", "TourCathedral",
}  # fmt: skip
"""Tasks that are described rightly, but in other words than their names and data have."""


@pytest.mark.parametrize("name", domain_names())
def test_vocabulary_description_shares_word_with_task(name: str) -> None:
    assert undescribed(vocabulary(name)) <= IN_OTHER_WORDS


def test_tasks_described_in_other_words_are_tasks() -> None:
    assert {name for domain in domain_names() for name in undescribed(vocabulary(domain))} == IN_OTHER_WORDS
