"""What is wrong with a number or a condition."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from ...trial import Json
from ...workflow.guards.cells import Situation, exact_value
from ...workflow.guards.solver import comparisons, parse_guard
from ...workflow.guards.syntax import write_value
from ...workflow.model import Scalar
from ..condition_meaning import condition_text, distinguishing_situation, is_same_condition
from .sentence_parts import join_names, write_name

_MOST_PARAMETERS: Final = 6


def explain_number(reference: Json, given: Json) -> list[str]:
    """Say by how much a number is too large or too small."""
    if not _is_number(reference) or not _is_number(given) or given == reference:
        return []
    return [f"{abs(given - reference):,} too {'many' if given > reference else 'few'}"]  # type: ignore[operator]


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def explain_condition(reference: Json, given: Json) -> list[str]:
    """State values for which the given condition and the right one differ, and parameters of the given one alone.

    Raises:
        UsageError: if the reference states no condition.
    """
    if not isinstance(given, str) or is_same_condition(given, reference):
        return []
    example = distinguishing_situation(given, reference)
    sentences = [] if example is None else [_difference_sentence(*example)]
    if unknown := _parameters_of(given, except_for=_parameters_of(condition_text(reference))):
        verb = "is" if len(unknown) == 1 else "are"
        sentences.append(f"{join_names(unknown)} {verb} not in the right condition")
    return sentences or ["no proof that the given condition holds exactly where the right one does"]


def _difference_sentence(situation: Situation, given_holds: bool) -> str:
    values = [f"{name} = {_write_value(value)}" for name, value in sorted(situation.items())]
    if len(values) > _MOST_PARAMETERS:
        values[_MOST_PARAMETERS - 1 :] = [f"{len(values) - _MOST_PARAMETERS + 1} more values"]
    values_text = " and ".join(filter(None, (", ".join(values[:-1]), values[-1])))
    ours, theirs = ("true", "false") if given_holds else ("false", "true")
    return f"for {values_text} the given condition is {ours}, the right one {theirs}"


def _write_value(value: Scalar | Fraction) -> str:
    try:
        return write_value(exact_value(value), bare=True)
    except ValueError:  # the language of conditions has no text for it
        return write_name(value)


def _parameters_of(condition: str, except_for: Iterable[str] = ()) -> list[str]:
    guard = parse_guard(condition)
    names = [] if guard is None else [comparison.parameter for comparison in comparisons(guard)]
    return sorted({*names} - {*except_for})
