"""Conditions as answers: how a reference states one, and whether an answer means the same.

As a reference it is JSON, `{"condition": text, "domains": {parameter: domain or null}}`, where a domain has a "kind"
("integer", "real" or "words") and, where they are bounded, "low" and "high", or "words".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..errors import UsageError
from ..trial import Json
from ..workflow.guards.solver import equivalent
from ..workflow.model import Domain, Parameter


def condition_reference(condition: str, parameters: Sequence[Parameter]) -> Json:
    """The reference that states a condition over the domains of these parameters."""
    return {"condition": condition, "domains": {one.name: _written(one.domain) for one in parameters}}


def condition_text(reference: Json) -> str:
    """The text of the condition that a reference, or an answer, states. Raises UsageError where it states none."""
    text = reference.get("condition") if isinstance(reference, dict) else reference
    if not isinstance(text, str):
        raise _no_condition(reference)
    return text


def is_same_condition(given: str, reference: Json) -> bool:
    """Whether the answer provably holds in the same situations as the condition of the reference.

    Where no domain is stated, integers and reals must agree on it. Raises UsageError for a reference that is none.
    """
    return equivalent(given, condition_text(reference), _parameters(reference)) is True


def _written(domain: Domain | None) -> Json:
    if domain is None:
        return None
    bounds: dict[str, Json] = {"low": domain.low, "high": domain.high, "words": list(domain.words) or None}
    return {"kind": domain.kind, **{name: value for name, value in bounds.items() if value is not None}}


def _parameters(reference: Json) -> list[Parameter]:
    domains = reference.get("domains") if isinstance(reference, dict) else {}
    if not isinstance(domains, dict):
        raise _no_condition(reference)
    return [Parameter(name, domain=_read(domain, reference)) for name, domain in domains.items()]


def _read(domain: Json, reference: Json) -> Domain | None:
    if domain is None:
        return None
    if not isinstance(domain, dict):
        raise _no_condition(reference)
    match domain:
        case {"kind": "integer" | "real" as name}:
            kind: Literal["integer", "real"] = "integer" if name == "integer" else "real"
            return Domain(kind, _number(domain.get("low"), reference), _number(domain.get("high"), reference))
        case {"kind": "words", "words": [*words]}:
            return Domain("words", words=tuple(map(str, words)))
    raise _no_condition(reference)


def _number(value: Json, reference: Json) -> float | int | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise _no_condition(reference)


def _no_condition(reference: Json) -> UsageError:
    shape = '{"condition": text, "domains": {parameter: {"kind": ...} or null}}'
    return UsageError(f"the reference of a question about a condition: found {str(reference)[:80]}, expected {shape}")
