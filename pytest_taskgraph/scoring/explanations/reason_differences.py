"""What is wrong with names or a verdict that stand with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from ...trial import Json
from ..metrics.agreement import name_set
from ..metrics.texts import rouge1
from ..rouge import tokens
from .name_differences import spelling_sentences
from .sentence_parts import cut, join_names, quote, write_name


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
