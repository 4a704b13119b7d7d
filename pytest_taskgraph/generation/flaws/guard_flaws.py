"""Plant guards that exclude each other, or do not, in shapes that do not reveal which.

The shape is drawn first: the parameters, the operators, "and" and "or". It is used only if constants are found with
which the guards exclude each other, and others with which two of them do not; so a shape is equally likely with either
answer. Such guards may leave gaps, and several may hold, so workflows with them are not executed.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import prod
from random import Random

from ...errors import NoCaseError
from ...workflow.guards.solver import exclusive
from ...workflow.model import OTHERWISE, Domain, Flaw, Link, Parameter, Workflow
from ..guards import LOWER, UPPER, Conditions, GuardChoice, conditions_for, words_in_use

MOST_GUARDS = 4  # guards of one choice; fitting constants for more are found too rarely
MOST_SHAPES = 30  # shapes tried for one choice
MOST_FILLINGS = 300  # fillings tried for one shape

Constant = int | str


@dataclass(frozen=True, slots=True)
class GuardSlot:
    """A comparison whose constant is still open."""

    name: str
    operator: str


Shape = tuple[tuple[GuardSlot, ...], ...]  # the shape of one guard: comparisons joined by "and", and these by "or"
Filling = tuple[tuple[Constant, ...], ...]  # the constants of one guard

_COMPARE: Mapping[str, Callable[[float | str, float | str], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
NUMBER_PAIRS = (
    *[("below", "above")] * 5,
    *[("below", "between"), ("above", "between"), ("between", "between")] * 2,
    ("outside", "between"), ("outside", "point"), ("between", "point"), ("below", "point"), ("above", "point"),
    ("but", "point"),
)  # fmt: skip
WORD_PAIRS = (("either", "one"), ("either", "either"), ("neither", "either"), ("neither", "one"), ("but", "one"))


def draw_guards(conditions: Conditions, count: int, exclusive_wanted: bool, domains_shown: bool) -> GuardChoice | None:
    """Draw `count` guards of which no two can hold together or, if not `exclusive_wanted`, exactly two can.

    The answer is that of `workflow.guards.exclusive`, with the domains of the parameters if `domains_shown`. None if no
    such guards are found.
    """
    shape_count = count - 1 if count > 2 and conditions.rng.random() > 0.5 else count
    for _ in range(MOST_SHAPES if shape_count <= MOST_GUARDS else 0):
        domains, shapes = _Shapes(conditions).draw(shape_count)
        guards = _fill_shapes(shapes, _Situations(domains, domains_shown), exclusive_wanted, conditions.rng)
        if guards is not None and _are_exclusive(guards, domains, domains_shown) is exclusive_wanted:
            guards += [OTHERWISE] * (count - shape_count)
            conditions.rng.shuffle(guards)
            return GuardChoice(guards, [*domains.items()])
    return None


def _are_exclusive(guards: Sequence[str], domains: Mapping[str, Domain], domains_shown: bool) -> bool | None:
    return exclusive(guards, [Parameter(name, domain=domain) for name, domain in domains.items() if domains_shown])


class _Shapes:
    """Draws the shapes of the guards of one choice, over new parameters."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions, self.rng = conditions, conditions.rng
        self.domains: dict[str, Domain] = {}

    def draw(self, count: int) -> tuple[dict[str, Domain], list[Shape]]:
        """Return the domains of the parameters, and a shape for every guard."""
        kind = self.rng.choice(["numbers", "numbers", "words", "both"])
        if kind == "numbers":
            return self.domains, self._of_numbers(self._measure(), count)
        mode = self._mode()
        if kind == "words":
            return self.domains, self._of_words(mode, count)
        return self.domains, self._of_both(self._measure(), mode, count)

    def _measure(self) -> str:
        measure = self.conditions.measure()
        self.domains[measure.name] = self.conditions.numbers(measure)
        return measure.name

    def _mode(self) -> str:
        name, words = self.conditions.mode() or ("mode", ("on", "off"))
        self.domains[name] = Domain("words", words=words)
        return name

    def _of_numbers(self, name: str, count: int) -> list[Shape]:
        if count == 2:
            return [self._number(name, kind) for kind in self.rng.choice(NUMBER_PAIRS)]
        kinds = ["below", "above", *["between"] * count, "point"]
        return [self._number(name, kind) for kind in self.rng.sample(kinds, count)]

    def _of_words(self, name: str, count: int) -> list[Shape]:
        kinds = self.rng.choice(WORD_PAIRS) if count == 2 else ("either", *["one"] * (count - 1))
        return [self._word(name, kind) for kind in kinds]

    def _of_both(self, name: str, mode: str, count: int) -> list[Shape]:
        """Draw guards on a number and a word: both in all guards, both in all but one, or one of the two in one."""
        numbers = [shape[0] for shape in self._of_numbers(name, count) if len(shape) == 1]
        if len(numbers) < count:
            return self._of_both(name, mode, count)
        shapes: list[Shape] = [((*slots, GuardSlot(mode, "=")),) for slots in numbers]
        change = self.rng.randrange(3) if count == 2 else 0
        if change == 1:
            shapes[0] = (numbers[0],)
        if change == 2:
            shapes[0] = (numbers[0], (GuardSlot(mode, "="),))
        return shapes

    def _number(self, name: str, kind: str) -> Shape:
        upper, lower = GuardSlot(name, UPPER[self._strict()]), GuardSlot(name, LOWER[self._strict()])
        kinds: dict[str, Shape] = {
            "below": ((upper,),), "above": ((lower,),), "between": ((lower, upper),), "outside": ((upper,), (lower,)),
            "point": ((GuardSlot(name, "="),),), "but": ((GuardSlot(name, "!="),),),
        }  # fmt: skip
        return kinds[kind]

    def _strict(self) -> bool:
        """Draw strictness so that two ends meet in a point as often as they do not."""
        return self.rng.random() > 0.7

    def _word(self, name: str, kind: str) -> Shape:
        equal, other = (GuardSlot(name, "="),), GuardSlot(name, "!=")
        kinds: dict[str, Shape] = {
            "one": (equal,), "either": (equal, equal), "but": ((other,),), "neither": ((other, other),),
        }  # fmt: skip
        return kinds[kind]


class _Situations:
    """The situations of a choice, one for each combination of values; sets of them are bits of a number."""

    def __init__(self, domains: Mapping[str, Domain], domains_shown: bool) -> None:
        self.domains = domains
        self.values = {name: [*_representative_values(domain, domains_shown)] for name, domain in domains.items()}
        count = prod(map(len, self.values.values()))
        self.every = (1 << count) - 1
        self.runs: dict[str, tuple[int, int]] = {}  # in how many situations in a row each value is, and how often so
        inner, outer = count, 1
        for name, values in self.values.items():
            inner //= len(values)
            self.runs[name] = inner, outer
            outer *= len(values)
        self.whole = self.every
        for name, values in self.values.items():
            self.whole &= self._bits(name, [(isinstance(value, str) or value % 1 == 0, 1) for value in values])
        self.bits_by_comparison: dict[tuple[GuardSlot, Constant], int] = {}

    def fill(self, shapes: Sequence[Shape], rng: Random) -> list[Filling] | None:
        """Draw constants for all guards, numbers among few; None if a guard makes no sense with them."""
        pools: dict[str, list[Constant]] = {
            name: [*parameter_domain.words]
            if parameter_domain.words
            else list(rng.sample(_inside(parameter_domain), 2 + rng.randrange(3 * len(shapes) - 3)))
            for name, parameter_domain in self.domains.items()
        }
        fillings = [tuple(tuple(rng.choice(pools[slot.name]) for slot in slots) for slots in shape) for shape in shapes]
        sensible = all(self._sensible(shape, filling) for shape, filling in zip(shapes, fillings, strict=True))
        return fillings if sensible and len(set(zip(shapes, fillings, strict=True))) == len(fillings) else None

    def _sensible(self, shape: Shape, filling: Filling) -> bool:
        """Return True if the guard holds sometimes, but not always, and every comparison matters."""
        whole = self.holding(shape, filling) & self.whole
        slots_with_constants = [*zip(chain(*shape), chain(*filling), strict=True)]
        plain = all(len(set(row)) == len(row) for row in filling)  # not "n >= 2 and n <= 2"
        return (
            bool(whole)
            and whole != self.whole
            and len(set(slots_with_constants)) == len(slots_with_constants)
            and plain
        )

    def holding(self, shape: Shape, filling: Filling) -> int:
        """Return the situations in which a guard holds."""
        holding = 0
        for slots, constants in zip(shape, filling, strict=True):
            both = self.every
            for slot, constant in zip(slots, constants, strict=True):
                both &= self._where(slot, constant)
            holding |= both
        return holding

    def _where(self, slot: GuardSlot, constant: Constant) -> int:
        """Return the situations in which a comparison holds."""
        if (slot, constant) not in self.bits_by_comparison:
            compare, values = _COMPARE[slot.operator], self.values[slot.name]
            if isinstance(constant, str):
                truths = [(compare(value, constant), 1) for value in values]
            else:  # numbers ascend
                least, most = bisect_left(values, constant), bisect_right(values, constant)
                truths = [(compare(-1, 0), least), (compare(0, 0), most - least), (compare(1, 0), len(values) - most)]
            self.bits_by_comparison[slot, constant] = self._bits(slot.name, truths)
        return self.bits_by_comparison[slot, constant]

    def _bits(self, name: str, truths: Iterable[tuple[bool, int]]) -> int:
        """Return the situations in which a parameter has certain values.

        Args:
            name: The parameter.
            truths: For its values in order, whether they are among them, and of how many in a row that is stated.
        """
        inner, outer = self.runs[name]
        return int("".join(["01"[truth] * (inner * count) for truth, count in truths]) * outer, 2)

    def exclude_each_other(self, shapes: Sequence[Shape], fillings: Sequence[Filling]) -> bool | None:
        """Return True if no two guards hold together, False if exactly two do, over integers too; else None."""
        held_by_guard = [self.holding(shape, filling) for shape, filling in zip(shapes, fillings, strict=True)]
        common = [first & second for first, second in combinations(held_by_guard, 2) if first & second]
        if not common:
            return True
        return False if len(common) == 1 and common[0] & self.whole else None


def _fill_shapes(
    shapes: Sequence[Shape], situations: _Situations, exclusive_wanted: bool, rng: Random
) -> list[str] | None:
    """Return guards of these shapes with the wanted answer; None unless constants are found for both answers."""
    filling_by_answer: dict[bool | None, list[Filling]] = {}
    for _ in range(MOST_FILLINGS):
        fillings = situations.fill(shapes, rng)
        if fillings is not None:
            filling_by_answer.setdefault(situations.exclude_each_other(shapes, fillings), fillings)
        if True in filling_by_answer and False in filling_by_answer:
            return [
                _write_guard(shape, filling)
                for shape, filling in zip(shapes, filling_by_answer[exclusive_wanted], strict=True)
            ]
    return None


def _write_guard(shape: Shape, filling: Filling) -> str:
    parts = [
        " and ".join(f"{slot.name} {slot.operator} {constant}" for slot, constant in zip(slots, constants, strict=True))
        for slots, constants in zip(shape, filling, strict=True)
    ]
    return " or ".join(f"({part})" if len(parts) > 1 and " and " in part else part for part in parts)


def _representative_values(domain: Domain, domains_shown: bool) -> Iterator[float | str]:
    """Yield values that stand for all; unless `domains_shown`, also for those outside the domain."""
    if domain.words:
        yield from domain.words if domains_shown else (*domain.words, "")
        return
    inside = _inside(domain)
    low, high = inside[0] - (1 if domains_shown else 2), inside[-1] + (1 if domains_shown else 2)
    step = 1 if domains_shown and domain.kind == "integer" else 2
    yield from (numerator / step for numerator in range(step * low, step * high + 1))


def _inside(domain: Domain) -> list[int]:
    """Return the integers inside a range, without its ends."""
    return list(range(int(domain.low or 0) + 1, int(domain.high or 0)))


def exclude_guards(workflow: Workflow, rng: Random) -> Workflow:
    """Redraw the guards of all choices, so that those of at least one task exclude each other.

    The guards of each other choice do or do not, by a coin toss. Guards may leave gaps.

    Raises:
        NoCaseError: if no task has two guarded links.
    """
    return _redraw_guards(workflow, True, rng)


def overlap_guards(workflow: Workflow, rng: Random) -> Workflow:
    """Redraw the guards as `exclude_guards` does, so that two of at least one task can hold together."""
    return _redraw_guards(workflow, False, rng)


def _redraw_guards(workflow: Workflow, exclusive_wanted: bool, rng: Random) -> Workflow:
    choices = [links for links in _guarded_links(workflow) if len(links) > 1]
    if not choices:
        raise NoCaseError(f"guards: no task of workflow {workflow.name!r} has two guarded links")
    other_links = [link for link in workflow.links if not any(link in links for links in choices)]
    used = {*words_in_use(other_links, workflow)}
    domains_shown = any(parameter.domain is not None for parameter in workflow.parameters)
    conditions = conditions_for(workflow, used, rng)
    new: dict[Link, Link] = {}
    domains: list[tuple[str, Domain]] = []
    planted = rng.randrange(len(choices))
    for at, links in enumerate(choices):
        choice = draw_guards(
            conditions, len(links), exclusive_wanted if at == planted else rng.random() < 0.5, domains_shown
        )
        if choice is None:
            raise NoCaseError(f"guards: none are found for task {links[0].source!r} of workflow {workflow.name!r}")
        guarded = zip(links, choice.guards, strict=True)
        new.update((link, replace(link, guard=guard)) for link, guard in guarded)
        domains += choice.domains
    old = {*words_in_use([*new], workflow)} - used
    parameters = [parameter for parameter in workflow.parameters if parameter.name not in old]
    parameters += [Parameter(name, domain=domain) for name, domain in domains if domains_shown]
    return replace(
        workflow,
        links=tuple(new.get(link, link) for link in workflow.links),
        parameters=tuple(parameters),
        flaw=Flaw("exclude-guards" if exclusive_wanted else "overlap-guards", (choices[planted][0].source,)),
    )


def _guarded_links(workflow: Workflow) -> Iterator[list[Link]]:
    """Yield the guarded links out of every task that has some."""
    for task in workflow.task_names:
        links = [link for link in workflow.links if link.source == task and link.guard is not None]
        if links:
            yield links
