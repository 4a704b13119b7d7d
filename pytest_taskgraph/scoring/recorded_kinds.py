"""The kinds of recorded answers (`docs/recorded.md`): the form of each, and how a file states its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..trial import Json, Place


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of recorded answers: its form, its metric if that is not the form's, and what its reference is."""

    form: str
    reference: str  # in words
    fits: Callable[[Json], bool]  # True for a value that is a reference of the kind
    names: Callable[[Json], list[str]] = lambda reference: []  # the known names, where the file states none
    answer: Callable[[Json], Json] = lambda reference: reference  # the reference as the metrics of the form take it
    metric: str = ""
    place: Place = "marker"


def is_names(value: object) -> bool:
    """Return True for a list of texts."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_verdict(value: Json) -> bool:
    return value in ("yes", "no")


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_groups(value: Json) -> bool:
    return isinstance(value, list) and all(map(is_names, value))


def _is_reasons(value: Json) -> bool:
    return isinstance(value, dict) and all(isinstance(reason, str) for reason in value.values())


def _is_pair(value: Json) -> bool:
    return isinstance(value, dict) and is_names(value.get("tasks")) and isinstance(value.get("reason"), str)


def _is_explained_verdict(value: Json) -> bool:
    return isinstance(value, dict) and _is_verdict(value.get("answer")) and isinstance(value.get("reason"), str)


def _listed(reference: Json) -> list[str]:
    """The names of a list, those of the lists in it, or the keys of an object."""
    if isinstance(reference, list):
        return [str(name) for item in reference for name in (item if isinstance(item, list) else [item])]
    return list(reference) if isinstance(reference, dict) else [str(reference)]


def _names_of_pair(reference: Json) -> list[str]:
    return _listed(reference["tasks"]) if isinstance(reference, dict) else []


def _order(reference: Json) -> Json:
    """The order as a partial one that leaves no freedom (`scoring.partial_order`)."""
    places = len(reference) if isinstance(reference, list) else 0
    return {"tasks": reference, "before": [[place, place + 1] for place in range(places - 1)]}


def _reasons(reference: Json) -> Json:
    reasons = reference if isinstance(reference, dict) else {}
    return {"tasks": [*sorted(reasons)], "reasons": {task: reason for task, reason in reasons.items() if reason}}


def _pair(reference: Json) -> Json:
    reason = reference.get("reason") if isinstance(reference, dict) else ""
    return {"tasks": [*sorted(_names_of_pair(reference))], "reasons": {"": reason} if reason else {}}


_NAMES = "a list of names"
KINDS: dict[str, Kind] = {
    "yesno": Kind("yes-no", '"yes" or "no"', _is_verdict),
    "task": Kind("task", "a text", _is_text, _listed),
    "set": Kind("task-set", _NAMES, is_names, _listed),
    "order": Kind("task-order", _NAMES, is_names, _listed, _order),
    "groups": Kind("groups", "a list of lists of names", _is_groups, _listed),
    "number": Kind("number", "a whole number", _is_number),
    "condition": Kind("condition", "a text", _is_text),
    "reasons": Kind("task-reasons", "an object: task -> reason", _is_reasons, _listed, _reasons, "explanation"),
    "pair": Kind("pair-reason", 'an object: "tasks", a list of names, and "reason"', _is_pair, _names_of_pair, _pair),
    "verdict": Kind("yes-no-reason", 'an object: "answer", "yes" or "no", and "reason"', _is_explained_verdict),
    "open": Kind("text", "a text", _is_text, metric="rouge1_recall", place="whole"),
}
