"""What guards mean: in which situations they hold, and whether guards exclude, equal or together cover each other.

Their language is in `syntax.py`. Answers are exact over the cells of the parameters' domains (`cells.py`); without a
domain, only if integers and reals give the same answer.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from ..bounds import record_bound
from ..model import OTHERWISE, Parameter, Workflow
from .cells import Constant, Situation, exact_value, situations
from .syntax import (
    And,
    Comparison,
    Guard,
    Not,
    Operator,
    Or,
    Otherwise,
    comparisons,
    parse_guard,
    read_guard,
    write_guard,
)

MAX_GUARDS = 100
"""Largest number of guards out of one node that are compared in pairs."""

MAX_CHECKS = 1_000_000
"""Largest number of comparisons evaluated for one answer."""

_ORDERS: Mapping[Operator, Callable[[Fraction, Fraction], bool]] = {
    "<": python_operator.lt,
    "<=": python_operator.le,
    ">": python_operator.gt,
    ">=": python_operator.ge,
}

__all__ = [
    "And",
    "Comparison",
    "Guard",
    "Not",
    "Or",
    "Otherwise",
    "compare",
    "comparisons",
    "conditions",
    "covers",
    "difference",
    "equivalent",
    "evaluate_guards",
    "exclusive",
    "holds",
    "parse_guard",
    "read_guard",
    "satisfiable",
    "unambiguous",
    "write_guard",
]


def holds(guard: Guard, situation: Situation) -> bool:
    """Return True if the guard holds in the situation. A number never equals a word.

    Raises:
        KeyError: if the situation lacks a parameter of the guard.
        TypeError: if the guard orders a word and a number.
        ValueError: for "otherwise", whose truth depends on the guards beside it (see `evaluate_guards`).
    """
    if isinstance(guard, Comparison):
        return compare(exact_value(situation[guard.parameter]), guard.operator, guard.value)
    if isinstance(guard, Not):
        return not holds(guard.part, situation)
    if isinstance(guard, (And, Or)):
        decisive = isinstance(guard, Or)
        for part in guard.parts:
            if holds(part, situation) is decisive:
                return decisive
        return not decisive
    raise ValueError(
        "'otherwise' holds where none of the guards beside it does; ask evaluate_guards() about all of them"
    )


def evaluate_guards(guards: Sequence[Guard], situation: Situation) -> tuple[bool, ...]:
    """Return, for each of the guards out of one task, whether it holds; "otherwise" does if none of the others does.

    Raises:
        KeyError, TypeError: as `holds`.
    """
    truths = [not isinstance(guard, Otherwise) and holds(guard, situation) for guard in guards]
    none_holds = not any(truths)
    return tuple(
        none_holds if isinstance(guard, Otherwise) else truth for guard, truth in zip(guards, truths, strict=True)
    )


def conditions(level: Workflow) -> list[str]:
    """Return the guards of the links of a level in order, without "otherwise", which is not a condition by itself."""
    return [link.guard for link in level.links if link.guard and link.guard.strip().lower() != OTHERWISE]


def exclusive(guards: Sequence[str], parameters: Sequence[Parameter]) -> bool | None:
    """Return True if no situation satisfies two of the guards; None if that is undecided.

    Decided exactly over the domains of the parameters (`cells.py`); without a domain, only if integers and reals give
    the same answer. "Otherwise" excludes all others. Two equal texts never exclude each other; prose beside any other
    guard is undecided, and so are more than MAX_SITUATIONS situations. Of more than MAX_GUARDS, only this is decided:
    each requires the same parameter to equal another constant.
    """
    if len(guards) > MAX_GUARDS:
        return _equal_distinct_constants(guards, parameters)
    answer: bool | None = True
    for first, second in combinations(guards, 2):
        verdict = _excludes(first, second, tuple(parameters))
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


def _equal_distinct_constants(guards: Sequence[str], parameters: Sequence[Parameter]) -> bool | None:
    """Return True if each of many guards requires one parameter to equal another constant; None for any others."""
    parsed = [parse_guard(guard) for guard in guards]
    comparisons_found = [
        comparison
        for comparison in parsed
        if isinstance(comparison, Comparison) and unambiguous(comparison, parameters)
    ]
    constants = {comparison.value for comparison in comparisons_found}
    clear = len(comparisons_found) == len(parsed) == len(constants) and {
        comparison.operator for comparison in comparisons_found
    } == {"="}
    if (
        clear
        and len({comparison.parameter for comparison in comparisons_found}) == 1
        and len({isinstance(constant, str) for constant in constants}) == 1
    ):
        return True
    record_bound("steps")
    return None


def equivalent(first: str | Guard, second: str | Guard, parameters: Sequence[Parameter]) -> bool | None:
    """Return True if two guards hold in the same situations; None if that is undecided, as for `exclusive`.

    Undecided too for two different texts of which one is prose, and for "otherwise", which has no meaning alone.
    """
    first_guard, second_guard = _parsed(first), _parsed(second)
    if isinstance(first_guard, Otherwise) or isinstance(second_guard, Otherwise):
        return None
    if first_guard is None or second_guard is None:
        same = isinstance(first, str) and isinstance(second, str) and first.split() == second.split()
        return True if same else None
    if first_guard == second_guard:
        return True
    differ = satisfiable((_either_alone(first_guard, second_guard),), parameters)
    return None if differ is None else not differ


def difference(
    first: str | Guard, second: str | Guard, parameters: Sequence[Parameter]
) -> tuple[Situation, bool] | None:
    """Return a situation in which exactly one of two guards holds, and True if it is the first guard.

    It is one of integers where possible. None for guards that hold in the same situations, where `equivalent` is
    undecided for another reason than that integers and reals differ, and where MAX_CHECKS do not suffice.
    """
    first_guard, second_guard = _parsed(first), _parsed(second)
    if first_guard is None or second_guard is None:
        return None
    if isinstance(first_guard, Otherwise) or isinstance(second_guard, Otherwise):
        return None
    apart = _either_alone(first_guard, second_guard)
    all_comparisons = [*comparisons(apart)]
    if not all(unambiguous(comparison, parameters) for comparison in all_comparisons):
        return None
    for wide in (False, True):
        all_situations = situations(_constants(all_comparisons), parameters, wide=wide)
        if all_situations is None or len(all_situations) * len(all_comparisons) > MAX_CHECKS:
            return None
        for situation in all_situations:
            if holds(apart, situation):
                return situation, holds(first_guard, situation)
    return None


def _either_alone(first: Guard, second: Guard) -> Guard:
    return Or((And((first, Not(second))), And((Not(first), second))))


def covers(guards: Sequence[str | Guard], parameters: Sequence[Parameter]) -> bool | None:
    """Return True if some guard holds in every situation; None if that is undecided, as for `exclusive`.

    "Otherwise" covers all that is left. Prose may cover what the guards beside it do not: undecided.
    """
    parsed = [_parsed(guard) for guard in guards]
    if any(isinstance(guard, Otherwise) for guard in parsed):
        return True
    gap = satisfiable((Not(Or(tuple(guard for guard in parsed if guard is not None))),), parameters)
    return None if gap is None or (gap and None in parsed) else not gap


def satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    """Return True if some situation satisfies all of the guards; None if that is undecided, as for `exclusive`.

    Guards without a parameter in common are decided separately, so only guards that share parameters are expensive.

    Raises:
        ValueError: for "otherwise".
    """
    answer: bool | None = True
    for group in _group_by_parameters([clause for guard in guards for clause in _conjuncts(guard)]):
        verdict = _satisfiable(group, parameters)
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


def unambiguous(comparison: Comparison, parameters: Sequence[Parameter]) -> bool:
    """Return True if a comparison has only one reading.

    It has two if a bare word is the name of a parameter and not a word of the compared parameter's domain.
    """
    if not comparison.bare:
        return True
    by_name = {parameter.name: parameter for parameter in parameters}
    if comparison.value not in by_name:
        return True
    compared = by_name.get(comparison.parameter)
    return compared is not None and compared.domain is not None and comparison.value in compared.domain.words


def compare(value: Constant, operator: Operator, constant: Constant) -> bool:
    """Return True if the comparison is true of a value.

    Raises:
        TypeError: if it orders a word and a number.
    """
    if operator in ("=", "!="):
        return (value == constant) == (operator == "=")
    if isinstance(value, str) or isinstance(constant, str):
        raise TypeError(f"{value!r} {operator} {constant!r}: a word and a number have no order")
    return _ORDERS[operator](value, constant)


def _parsed(guard: str | Guard) -> Guard | None:
    return parse_guard(guard) if isinstance(guard, str) else guard


@lru_cache(maxsize=65536)
def _excludes(first: str, second: str, parameters: tuple[Parameter, ...]) -> bool | None:
    first_guard, second_guard = parse_guard(first), parse_guard(second)
    if isinstance(first_guard, Otherwise) or isinstance(second_guard, Otherwise):
        return None if first_guard == second_guard else True
    if first_guard is None or second_guard is None:
        return False if first.split() == second.split() else None
    together = satisfiable((first_guard, second_guard), parameters)
    return None if together is None else not together


def _conjuncts(guard: Guard) -> tuple[Guard, ...]:
    return guard.parts if isinstance(guard, And) else (guard,)


def _group_by_parameters(guards: Sequence[Guard]) -> list[list[Guard]]:
    """Group the guards so that no parameter occurs in two groups."""
    groups: list[tuple[set[str], list[Guard]]] = []
    for guard in guards:
        names, members, other_groups = {c.parameter for c in comparisons(guard)}, [guard], []
        for group in groups:
            if group[0].isdisjoint(names):
                other_groups.append(group)
            else:
                names, members = names | group[0], group[1] + members
        groups = [*other_groups, (names, members)]
    return [members for _, members in groups]


def _satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    all_comparisons = [comparison for guard in guards for comparison in comparisons(guard)]
    if not all(unambiguous(comparison, parameters) for comparison in all_comparisons):
        return None
    constants = _constants(all_comparisons)
    narrow = situations(constants, parameters, wide=False)
    if narrow is not None and len(narrow) * len(all_comparisons) > MAX_CHECKS:
        record_bound("steps")
        return None
    if narrow is not None and any(all(holds(guard, values) for guard in guards) for values in narrow):
        return True  # the wide reading has more values, so it stays satisfiable
    wide = situations(constants, parameters, wide=True)
    if wide is None or any(all(holds(guard, values) for guard in guards) for values in wide):
        return None
    return False


def _constants(compared: Sequence[Comparison]) -> dict[str, set[Constant]]:
    """Return the parameters, each with the constants that it is compared with."""
    constants: dict[str, set[Constant]] = {}
    for comparison in compared:
        constants.setdefault(comparison.parameter, set()).add(comparison.value)
    return constants
