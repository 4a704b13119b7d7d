"""Interpretations of the user's own texts, cached because many questions show the same text."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from ....catalog import catalog_cache
from ....errors import TaskgraphError
from ....notations import Notation, known_notation, known_notations
from ....notations.notation import Interpretation
from ....workflow.model import Workflow


@catalog_cache
@lru_cache(maxsize=256)
def interpretation(name: str, text: str) -> Interpretation | None:
    """Return how a notation reads a text; None where that is the same for every text of the notation.

    Raises:
        ReadError: if the notation cannot read the text.
    """
    notation = known_notation(name)
    return notation.interpret(text) if notation.interpreter is not None else None


@catalog_cache
@lru_cache(maxsize=256)
def leaves_unnamed(text: str) -> bool:
    """Return True if a text in any notation holds exactly one workflow and does not name it."""
    for notation in known_notations():
        if notation.interpreter is not None:
            try:
                return notation.interpret(text).unnamed
            except TaskgraphError:
                continue
    return False


def guide_for(notation: Notation, text: str, own: bool, examples: bool, special: Collection[str]) -> str:
    """Return the guide to a text: for the user's own, the rules by which it was read; else that of the notation.

    Args:
        notation: The notation in which the text is shown.
        text: The workflow as it is shown.
        own: True if the text is the user's own, or written from it.
        examples: True if solved examples, written by the notation's own writer, stand before it.
        special: Features of the workflow, and so of the examples, on which the guide has further sentences.
    """
    general = notation.guide_to(special)
    interpreted = interpretation(notation.name, text) if own else None
    if interpreted is None:
        return general
    guide = " ".join(interpreted.guide)
    return f"Of the examples: {general} Of the workflow that you are asked about: {guide}" if examples else guide


def spellings_for(notation: Notation, text: str, root: Workflow) -> dict[str, str]:
    """Return alternative spellings of the names of tasks and data in the user's own text, each with its name."""
    interpreted = interpretation(notation.name, text)
    if interpreted is None:
        return {}
    default = next(iter(interpreted.spellings.values())) if len(interpreted.spellings) == 1 else {}
    return dict(interpreted.spellings.get(root.name, default))
