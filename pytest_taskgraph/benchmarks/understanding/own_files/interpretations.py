"""How a text of the user's own is to be read: kept for each text, as many questions show the same one."""

from __future__ import annotations

from functools import lru_cache

from ....catalog import catalog_cache
from ....errors import TaskgraphError
from ....notations import NOTATIONS, Notation
from ....notations.notation import Interpretation
from ....workflow.model import Workflow


@catalog_cache
@lru_cache(maxsize=64)
def interpretation(name: str, text: str) -> Interpretation | None:
    """Return how a text of a notation is read; None where that is the same for every text of the notation.

    Raises:
        ReadError: if the notation cannot read the text.
    """
    notation = NOTATIONS[name]
    return notation.interpret(text) if notation.interpreter is not None else None


@catalog_cache
@lru_cache(maxsize=64)
def leaves_unnamed(text: str) -> bool:
    """Return True if a text in any notation holds one workflow and does not name it."""
    for notation in NOTATIONS.values():
        if notation.interpreter is not None:
            try:
                return notation.interpret(text).unnamed
            except TaskgraphError:
                continue
    return False


def guide_for(notation: Notation, text: str, own: bool, examples: bool) -> str:
    """Return the guide to a text: of the user's own, the rules by which it was read; else that of the notation.

    Args:
        notation: the one in which the text is shown.
        text: the workflow as it is shown.
        own: the text is the user's own, or written from it.
        examples: solved examples stand before it, which our own writer wrote.
    """
    read = interpretation(notation.name, text) if own else None
    if read is None:
        return notation.guide
    guide = " ".join(read.guide)
    return f"Of the examples: {notation.guide} Of the workflow that you are asked about: {guide}" if examples else guide


def spellings_for(notation: Notation, text: str, root: Workflow) -> dict[str, str]:
    """Return further ways to write the names of tasks and data of a workflow in the user's own text, to the names."""
    read = interpretation(notation.name, text)
    if read is None:
        return {}
    only = next(iter(read.spellings.values())) if len(read.spellings) == 1 else {}
    return dict(read.spellings.get(root.name, only))
