"""What is wrong with a short answer: names, a number, a condition, or names or a verdict with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final

from ...trial import Json
from ...workflow.guards.cells import Situation, exact_value
from ...workflow.guards.solver import comparisons, parse_guard
from ...workflow.guards.syntax import write_value
from ...workflow.model import Scalar
from ..condition_meaning import condition_text, distinguishing_situation, is_same_condition
from ..metrics.agreement import name_set
from ..metrics.texts import rouge1, tokens

MOST: Final = 5
"""Sentences of one kind."""
_MOST_NAMES: Final = 4  # of a list within a sentence
_LONGEST: Final = 80  # characters of a name
_LONGEST_QUOTE: Final = 240  # characters of a text
_PLAIN: Final = re.compile(r"\w+(?:[.\-/]\w+)*")
_TIMES: Final = {1: "once", 2: "twice"}
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}
_MOST_PARAMETERS: Final = 6


def write_name(name: object) -> str:
    """Return a name in one line, in quotes unless it is one word, and shortened if it is long."""
    text = _shorten(name, _LONGEST)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'


def quote(text: str) -> str:
    """Return a text in quotes and one line, shortened if it is long."""
    return f'"{_shorten(text, _LONGEST_QUOTE)}"'


def _shorten(text: object, longest: int) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def join_names(names: Sequence[object]) -> str:
    """Return names as a list such as "A, B and C"; of many, the first ones and the number of the others."""
    texts = [write_name(name) for name in islice(names, _MOST_NAMES + 1)]
    if len(names) > _MOST_NAMES + 1:
        texts[_MOST_NAMES:] = [f"{len(names) - _MOST_NAMES:,} more"]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1]))) if texts else "nothing"


def ordinal(number: int) -> str:
    """Return a number such as "1st" or "12th"."""
    ending = "th" if number // 10 % 10 == 1 else _ENDINGS.get(number % 10, "th")
    return f"{number:,}{ending}"


def times(number: int) -> str:
    """Return how often: "once", "twice", "3 times"."""
    return _TIMES.get(number, f"{number:,} times")


def cut(sentences: Sequence[str], noun: str) -> list[str]:
    """Return at most MOST sentences; of more, the last one is the number of the others, such as "and 4 more pairs"."""
    more = len(sentences) - MOST
    return [*sentences] if more <= 0 else [*sentences[:MOST], f"and {more:,} more {noun}{'s' if more > 1 else ''}"]


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


def explain_name(reference: Json, given: Json) -> list[str]:
    """Say that an answer gives several names, or spells the expected one differently."""
    if not isinstance(reference, str) or not isinstance(given, str) or given == reference:
        return []
    if reference in given.split(", "):  # as the form joins several names
        return [f"the answer gives several names, {write_name(reference)} among them; expected one name"]
    return spelling_sentences([reference], [given])


def explain_names(reference: Json, given: Json) -> list[str]:
    """Say which names are spelled differently from expected ones."""
    if not isinstance(reference, list) or not isinstance(given, list):
        return []
    return spelling_sentences(map(str, reference), map(str, given))


def spelling_sentences(expected: Iterable[str], given: Iterable[str]) -> list[str]:
    """Return a sentence for each given name that is an expected one but for case, spaces or punctuation."""
    expected_names, given_names = dict.fromkeys(expected), dict.fromkeys(given)
    by_letters = {_letters(name): name for name in expected_names if name not in given_names}
    pairs = ((name, by_letters.get(_letters(name))) for name in given_names if name not in expected_names)
    return cut(
        [
            f"{write_name(name)} is not {write_name(right)}: case, spaces and punctuation count"
            for name, right in pairs
            if right is not None
        ],
        "name",
    )


def _letters(name: str) -> str:
    """Return the letters and digits of a name, case folded; the name itself without any."""
    return "".join(filter(str.isalnum, name)).casefold() or name


def explain_reasons(reference: Json, given: Json) -> list[str]:
    """Say why each missed name is right, which names stand without a reason, and which reasons say something else."""
    right, given_names = name_set(_part(reference, "tasks")), name_set(_part(given, "tasks"))
    reasons, given_reasons = _texts(_part(reference, "reasons")), _texts(_part(given, "reasons"))
    missed = [
        f"{write_name(name)} is missed, and the reason for it: {quote(reasons[name])}"
        for name in sorted(right - given_names)
        if name in reasons
    ]
    faults = [
        fault
        for name in sorted(right & given_names)
        if name in reasons and (fault := _fault(write_name(name), reasons[name], given_reasons.get(name, "")))
    ]
    return [*cut(missed, "name"), *cut(faults, "reason"), *spelling_sentences(sorted(right), sorted(given_names))]


def explain_pair(reference: Json, given: Json) -> list[str]:
    """Say which name of a pair is wrong beside a right one, and whether the reason is missing or another."""
    right, given_names = sorted(name_set(_part(reference, "tasks"))), sorted(name_set(_part(given, "tasks")))
    right_names = [name for name in given_names if name in right]
    sentences = []
    if right_names and given_names != right:
        sentences = [_pair_sentence(right_names, right, given_names)]
    reason = _texts(_part(reference, "reasons")).get("", "")
    fault = _fault("the pair", reason, _texts(_part(given, "reasons")).get("", "")) if reason and right_names else ""
    return [*sentences, *([fault] if fault else []), *spelling_sentences(right, given_names)]


def explain_verdict(reference: Json, given: Json) -> list[str]:
    """Say that the reason of a verdict is missing, or shares no word with the expected one."""
    reason = _part(reference, "reason")
    if not isinstance(given, dict) or not isinstance(reason, str) or not reason.strip():
        return []
    stated = given.get("reason")
    fault = _fault("the verdict", reason, stated if isinstance(stated, str) else "")
    return [fault] if fault else []


def _pair_sentence(right_names: Sequence[str], right: Sequence[str], given_names: Sequence[str]) -> str:
    others, expected = ([name for name in names if name not in right_names] for names in (given_names, right))
    if not expected:
        return f"{len(given_names):,} names are given, expected the pair {join_names(right)}"
    stands = f"stands with {join_names(others)}" if others else "stands alone"
    return f"{join_names(right_names)} {stands}, but belongs with {join_names(expected)}"


def _fault(title: str, expected: str, reason: str) -> str:
    """Return what is wrong with a reason; empty if it shares a word with the expected one, if that has words."""
    if not reason.strip():
        return f"{title} has no reason, expected: {quote(expected)}"
    if not tokens(expected) or rouge1(reason, expected) > 0:
        return ""
    return f"the reason of {title} shares no word with the expected one: {quote(expected)}"


def _texts(reasons: Json) -> dict[str, str]:
    items = reasons.items() if isinstance(reasons, dict) else ()
    return {name: text for name, text in items if isinstance(text, str) and text.strip()}


def _part(answer: Json, name: str) -> Json:
    return answer.get(name) if isinstance(answer, dict) else None
