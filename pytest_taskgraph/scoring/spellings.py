"""Further ways to write a name in an answer: a label as it stands in the text, or the id of its node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..trial import Json

_BREAKING = frozenset(",;|\t>→:=~^")  # characters at which groups, orders and reasons are cut

LISTS, ORDERS, REASONS = ("task-set",), ("task-order",), ("task-reasons", "pair-reason")
NAMING = frozenset({"task", "groups", *LISTS, *ORDERS, *REASONS})  # the forms whose answers hold names


def known_with(names: Sequence[str], spellings: Mapping[str, str], form: str) -> Sequence[str]:
    """Return the names that an answer of a form may hold, with their further spellings.

    In groups, orders and reasons no spelling may hold a character that separates names there.
    """
    if not spellings or form not in NAMING:
        return names
    usable = [text for text in spellings if form in ("task", *LISTS) or _BREAKING.isdisjoint(text)]
    return [*names, *(text for text in usable if text not in names)]


def in_names(answer: Json, spellings: Mapping[str, str], form: str) -> Json:
    """Return the answer with each further spelling replaced by the name that it stands for; sets stay sorted."""
    if not spellings or form not in NAMING:
        return answer
    if isinstance(answer, str):
        return spellings.get(answer, answer)
    if isinstance(answer, dict) and isinstance(answer.get("tasks"), list):
        reasons = answer.get("reasons")
        renamed = {spellings.get(name, name): why for name, why in reasons.items()} if isinstance(reasons, dict) else {}
        return answer | {"tasks": in_names(answer["tasks"], spellings, LISTS[0]), "reasons": renamed}
    if not isinstance(answer, list):
        return answer
    if form == "groups":
        return [in_names(group, spellings, LISTS[0]) for group in answer]
    found = [spellings.get(name, name) for name in answer if isinstance(name, str)]
    return [*found] if form in ORDERS else [*sorted(set(found))]
