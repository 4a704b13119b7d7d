"""The guide of a notation says what its reader understands: sentence by sentence, against texts written by hand."""

from __future__ import annotations

import pytest
from pinned_guides import problems_of_guide, statements

from pytest_taskgraph.notations import NOTATIONS, Notation


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.name)
def test_guide_means_what_is_pinned(notation: Notation) -> None:
    found = problems_of_guide(notation)
    assert not found, "\n".join(found)


def test_statements_are_about_known_notations() -> None:
    assert {name for one in statements() for name in one.notations} == NOTATIONS.keys()
    assert all(one.means for one in statements())
