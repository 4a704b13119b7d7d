"""The guide of a notation says what its reader understands: sentence by sentence, against texts written by hand."""

from __future__ import annotations

import pytest
from pinned_guides import problems_of_guide, statements

from pytest_taskgraph.notations import NOTATIONS, Notation


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.name)
def test_guide_agrees_with_pinned_statements(notation: Notation) -> None:
    differences = problems_of_guide(notation)
    assert not differences, "\n".join(differences)


def test_statements_are_about_known_notations() -> None:
    assert {name for statement in statements() for name in statement.notations} == NOTATIONS.keys()
    assert all(statement.means for statement in statements())
