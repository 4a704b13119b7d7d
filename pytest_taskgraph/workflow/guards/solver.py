"""What guards mean: in which situations they hold, and whether guards exclude, equal or together cover each other.

Their language is `guard_syntax.py`. All is decided exactly over the cells of the parameters' domains
(`guard_cells.py`); where no domain is shown, only if integers and reals give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
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
"""Of how many guards that leave one node every two are compared."""

MAX_CHECKS = 1_000_000
"""How many comparisons are looked at for one answer."""

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
    """Whether the guard holds. A number never equals a word.

    Raises KeyError where the situation lacks a parameter of the guard, TypeError where it orders a word and a number,
    ValueError for "otherwise", whose truth depends on the guards beside it (see `evaluate_guards`).
    """
    match guard:
        case Comparison(name, operator, value):
            return compare(exact_value(situation[name]), operator, value)
        case Not(part):
            return not holds(part, situation)
        case And(parts):
            return all(holds(part, situation) for part in parts)
        case Or(parts):
            return any(holds(part, situation) for part in parts)
    raise ValueError(
        "'otherwise' holds where none of the guards beside it does; ask evaluate_guards() about all of them"
    )


def evaluate_guards(guards: Sequence[Guard], situation: Situation) -> tuple[bool, ...]:
    """Which of the guards that leave one task hold; "otherwise" does where none of the others does.

    Raises as `holds`.
    """
    found = [not isinstance(guard, Otherwise) and holds(guard, situation) for guard in guards]
    none = not any(found)
    return tuple(none if isinstance(guard, Otherwise) else one for guard, one in zip(guards, found, strict=True))


def conditions(level: Workflow) -> list[str]:
    """The guards of the links of a level, link by link, but "otherwise", which is no condition by itself."""
    return [link.guard for link in level.links if link.guard and link.guard.strip().lower() != OTHERWISE]


def exclusive(guards: Sequence[str], parameters: Sequence[Parameter]) -> bool | None:
    """Whether no situation satisfies two of the guards; None where that is undecided.

    Decided exactly over the domains of the parameters (`guard_cells.py`). Where no domain is shown, only if integers
    and reals give the same answer. "Otherwise" excludes all others. Two equal texts never exclude each other; prose
    beside any other guard is undecided, and so are more than MAX_SITUATIONS situations. Of more than MAX_GUARDS, only
    that one parameter equals different constants is looked at.
    """
    if len(guards) > MAX_GUARDS:
        return _equal_different(guards, parameters)
    answer: bool | None = True
    for one, other in combinations(guards, 2):
        verdict = _exclude(one, other, tuple(parameters))
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


def _equal_different(guards: Sequence[str], parameters: Sequence[Parameter]) -> bool | None:
    """Return True if each of many guards says that one parameter equals another constant; None for any others."""
    found = [parse_guard(guard) for guard in guards]
    named = [one for one in found if isinstance(one, Comparison) and unambiguous(one, parameters)]
    constants = {one.value for one in named}
    clear = len(named) == len(found) == len(constants) and {one.operator for one in named} == {"="}
    if clear and len({one.parameter for one in named}) == 1 and len({isinstance(one, str) for one in constants}) == 1:
        return True
    record_bound("steps")
    return None


def equivalent(one: str | Guard, other: str | Guard, parameters: Sequence[Parameter]) -> bool | None:
    """Whether two guards hold in the same situations; None where that is undecided, for the reasons of `exclusive`.

    Undecided too for two different texts of which one is prose, and for "otherwise", which says nothing alone.
    """
    first, second = _guard(one), _guard(other)
    if isinstance(first, Otherwise) or isinstance(second, Otherwise):
        return None
    if first is None or second is None:
        same = isinstance(one, str) and isinstance(other, str) and one.split() == other.split()
        return True if same else None
    if first == second:
        return True
    apart = satisfiable((Or((And((first, Not(second))), And((Not(first), second)))),), parameters)
    return None if apart is None else not apart


def covers(guards: Sequence[str | Guard], parameters: Sequence[Parameter]) -> bool | None:
    """Whether some guard holds in every situation; None where that is undecided, for the reasons of `exclusive`.

    "Otherwise" covers all that is left. Prose may cover what the guards beside it do not: undecided.
    """
    found = [_guard(guard) for guard in guards]
    if any(isinstance(guard, Otherwise) for guard in found):
        return True
    gap = satisfiable((Not(Or(tuple(guard for guard in found if guard is not None))),), parameters)
    return None if gap is None or (gap and None in found) else not gap


def satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    """Whether some situation satisfies all of the guards; None where that is undecided, for the reasons of `exclusive`.

    Guards without a parameter in common are looked at apart, so only entangled ones are expensive. Raises ValueError
    for "otherwise".
    """
    answer: bool | None = True
    for group in _entangled([clause for guard in guards for clause in _clauses(guard)]):
        verdict = _satisfiable(group, parameters)
        if verdict is False:
            return False
        answer = answer and verdict
    return answer


def unambiguous(comparison: Comparison, parameters: Sequence[Parameter]) -> bool:
    """Whether a comparison can be read one way only.

    It cannot if a bare word is the name of a parameter and no word of the compared parameter's domain.
    """
    named = {parameter.name: parameter for parameter in parameters}
    if not comparison.bare or comparison.value not in named:
        return True
    compared = named.get(comparison.parameter)
    return compared is not None and compared.domain is not None and comparison.value in compared.domain.words


def compare(value: Constant, operator: Operator, constant: Constant) -> bool:
    """Whether the comparison is true of a value. Raises TypeError where it orders a word and a number."""
    if operator in ("=", "!="):
        return (value == constant) == (operator == "=")
    if isinstance(value, str) or isinstance(constant, str):
        raise TypeError(f"{value!r} {operator} {constant!r}: a word and a number have no order")
    less, equal = value < constant, value == constant
    return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less}[operator]


def _guard(guard: str | Guard) -> Guard | None:
    return parse_guard(guard) if isinstance(guard, str) else guard


@lru_cache(maxsize=65536)
def _exclude(one: str, other: str, parameters: tuple[Parameter, ...]) -> bool | None:
    first, second = parse_guard(one), parse_guard(other)
    if isinstance(first, Otherwise) or isinstance(second, Otherwise):
        return None if first == second else True
    if first is None or second is None:
        return False if one.split() == other.split() else None
    together = satisfiable((first, second), parameters)
    return None if together is None else not together


def _clauses(guard: Guard) -> tuple[Guard, ...]:
    return guard.parts if isinstance(guard, And) else (guard,)


def _entangled(guards: Sequence[Guard]) -> list[list[Guard]]:
    """The guards in groups; no parameter occurs in two of them."""
    groups: list[tuple[set[str], list[Guard]]] = []
    for guard in guards:
        names, members, apart = {c.parameter for c in comparisons(guard)}, [guard], []
        for group in groups:
            if group[0].isdisjoint(names):
                apart.append(group)
            else:
                names, members = names | group[0], group[1] + members
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def _satisfiable(guards: Sequence[Guard], parameters: Sequence[Parameter]) -> bool | None:
    found = [comparison for guard in guards for comparison in comparisons(guard)]
    if not all(unambiguous(comparison, parameters) for comparison in found):
        return None
    constants: dict[str, set[Constant]] = {}
    for one in found:
        constants.setdefault(one.parameter, set()).add(one.value)
    narrow = situations(constants, parameters, wide=False)
    if narrow is not None and len(narrow) * len(found) > MAX_CHECKS:
        record_bound("steps")
        return None
    if narrow is not None and any(all(holds(guard, one) for guard in guards) for one in narrow):
        return True  # more values cannot take that back
    wide = situations(constants, parameters, wide=True)
    if wide is None or any(all(holds(guard, one) for guard in guards) for one in wide):
        return None
    return False
