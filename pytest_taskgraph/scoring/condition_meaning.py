"""Conditions as answers: the JSON of a reference, and the comparison of an answer with it.

A reference is `{"condition": text, "domains": {parameter: domain or null}}`, where a domain has a "kind" ("integer",
"real" or "words") and, if it is bounded, "low" and "high", or "words".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..errors import UsageError
from ..trial import Json
from ..workflow.guards.cells import Situation
from ..workflow.guards.solver import difference, equivalent
from ..workflow.model import Domain, Parameter


def condition_reference(condition: str, parameters: Sequence[Parameter]) -> Json:
    """Return the reference that states a condition over the domains of these parameters."""
    return {
        "condition": condition,
        "domains": {parameter.name: _domain_to_json(parameter.domain) for parameter in parameters},
    }


def condition_text(reference: Json) -> str:
    """Return the text of the condition that a reference, or an answer, states.

    Raises:
        UsageError: if it states none.
    """
    text = reference.get("condition") if isinstance(reference, dict) else reference
    if not isinstance(text, str):
        raise _malformed_reference_error(reference)
    return text


def is_same_condition(condition: str, reference: Json) -> bool:
    """Return True if the answer provably holds in the same situations as the condition of the reference.

    If no domain is stated, the conditions must agree for integers and for reals.

    Raises:
        UsageError: if the reference states no condition.
    """
    return equivalent(condition, condition_text(reference), _parameters_from_json(reference)) is True


def distinguishing_situation(condition: str, reference: Json) -> tuple[Situation, bool] | None:
    """Return a situation in which exactly one of an answer and the reference holds, and True if it is the answer.

    None if they hold in the same situations, or if no such situation was found.

    Raises:
        UsageError: if the reference states no condition.
    """
    return difference(condition, condition_text(reference), _parameters_from_json(reference))


def _domain_to_json(domain: Domain | None) -> Json:
    if domain is None:
        return None
    bounds: dict[str, Json] = {"low": domain.low, "high": domain.high, "words": list(domain.words) or None}
    return {"kind": domain.kind, **{name: value for name, value in bounds.items() if value is not None}}


def _parameters_from_json(reference: Json) -> list[Parameter]:
    domains = reference.get("domains") if isinstance(reference, dict) else {}
    if not isinstance(domains, dict):
        raise _malformed_reference_error(reference)
    return [Parameter(name, domain=_domain_from_json(domain, reference)) for name, domain in domains.items()]


def _domain_from_json(domain: Json, reference: Json) -> Domain | None:
    if domain is None:
        return None
    if not isinstance(domain, dict):
        raise _malformed_reference_error(reference)
    match domain:
        case {"kind": "integer" | "real" as name}:
            kind: Literal["integer", "real"] = "integer" if name == "integer" else "real"
            return Domain(kind, _number(domain.get("low"), reference), _number(domain.get("high"), reference))
        case {"kind": "words", "words": [*words]}:
            return Domain("words", words=tuple(map(str, words)))
    raise _malformed_reference_error(reference)


def _number(value: Json, reference: Json) -> float | int | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise _malformed_reference_error(reference)


def _malformed_reference_error(reference: Json) -> UsageError:
    shape = '{"condition": text, "domains": {parameter: {"kind": ...} or null}}'
    return UsageError(f"the reference of a question about a condition: found {str(reference)[:80]}, expected {shape}")
