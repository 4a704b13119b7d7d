"""Conditions, expressions and situations read by code of their own, and decided by trying values.

Part of the independent answers (`brute_force_structure.py`, `brute_force_behaviour.py`): of the package, only the
model is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product

from pytest_taskgraph.workflow.model import OTHERWISE, Domain, Link, Workflow

Constant = Fraction | str
Values = Mapping[str, Constant]
Condition = Callable[[Values], bool]
Atom = tuple[str, str, Constant]  # parameter, operator, constant

AWAY = 6  # how far from a constant the values of what tasks change begin: two passes of the longest step

_TOKEN = re.compile(r"\s*(<=|>=|!=|==|[<>=()]|-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|[^\W\d][\w.]*)")


class Read:
    """A condition: whether it holds for values, and the comparisons in it. `name` says which variable a name means."""

    def __init__(self, text: str, name: Callable[[str], str] = str) -> None:
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s+", "", text) or '"' in text or "'" in text, text
        self.name = name
        self.atoms: list[Atom] = []
        self.holds = self._any()
        assert not self.tokens, text

    def _any(self) -> Condition:
        parts = [self._all()]
        while self.tokens[:1] == ["or"]:
            self.tokens.pop(0)
            parts.append(self._all())
        return lambda values: any(part(values) for part in parts)

    def _all(self) -> Condition:
        parts = [self._one()]
        while self.tokens[:1] == ["and"]:
            self.tokens.pop(0)
            parts.append(self._one())
        return lambda values: all(part(values) for part in parts)

    def _one(self) -> Condition:
        token = self.tokens.pop(0)
        if token == "not":
            denied = self._one()
            return lambda values: not denied(values)
        if token == "(":
            inner = self._any()
            assert self.tokens.pop(0) == ")"
            return inner
        atom = (self.name(token.strip("\"'")), self.tokens.pop(0), constant(self.tokens.pop(0)))
        self.atoms.append(atom)
        return lambda values: compared(atom, values[atom[0]])


def constant(text: str) -> Constant:
    """A number or a word."""
    return Fraction(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text.strip("\"'")


def compared(atom: Atom, value: Constant) -> bool:
    """Whether a value compares so with the constant; a word and a number are not equal, and in no order."""
    _, operator, other = atom
    if operator in ("=", "=="):
        return value == other
    if operator == "!=":
        return value != other
    if isinstance(value, str) or isinstance(other, str):
        return False
    return {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[operator]


@lru_cache(maxsize=4096)
def meaning(level: Workflow, node: str) -> Callable[[str], str]:
    """Which variable a name means at a node: a parameter of the task's own, which the level has not, or the level's."""
    shared = {one.name for one in level.parameters}
    own = {one.name for task in level.tasks if task.name == node for one in task.parameters} - shared
    return lambda name: f"{node}.{name}" if name in own else name


@lru_cache(maxsize=4096)
def read_link(level: Workflow, link: Link) -> Read | None:
    """The link's condition; None if it has none, or "otherwise"."""
    if link.guard is None or link.guard.strip() == OTHERWISE:
        return None
    return Read(link.guard, meaning(level, link.source))


def domains(level: Workflow) -> dict[str, Domain | None]:
    """The domains of all variables that have one."""
    own = {meaning(level, task.name)(one.name): one.domain for task in level.tasks for one in task.parameters}
    return own | {one.name: one.domain for one in level.parameters}


def grid(atoms: Iterable[Atom], domain: Domain | None) -> list[Constant]:
    """Values to try for one parameter: all words, or numbers at, around and between constants, halves among them."""
    found = sorted({other for _, _, other in atoms}, key=str)
    words = [one for one in found if isinstance(one, str)]
    if domain is not None and domain.kind == "words":
        return list(domain.words)
    if words:
        return [*words, "something else"]
    numbers = [one for one in found if isinstance(one, Fraction)]
    ends = [Fraction(one) for one in (domain.low, domain.high) if one is not None] if domain else []
    around = {one + Fraction(step, 2) for one in (*numbers, *ends) for step in range(-4, 5)}
    around |= {(one + other) / 2 for one in numbers for other in numbers}
    return [one for one in sorted(around) if _within(one, domain)]


def _within(value: Fraction, domain: Domain | None) -> bool:
    if domain is None:
        return True
    low = domain.low is None or value >= Fraction(domain.low)
    high = domain.high is None or value <= Fraction(domain.high)
    return low and high and (domain.kind == "real" or value.denominator == 1)


def assignments(atoms: Iterable[Atom], known: Mapping[str, Domain | None]) -> Iterator[dict[str, Constant]]:
    """Values for all parameters of some comparisons, but only one of all values that compare alike."""
    of: dict[str, list[Atom]] = {}
    for atom in atoms:
        of.setdefault(atom[0], []).append(atom)
    columns = []
    for name, own in sorted(of.items()):
        alike = {tuple(compared(atom, value) for atom in own): value for value in grid(own, known.get(name))}
        columns.append(list(alike.values()))
    for row in product(*columns):
        yield dict(zip(sorted(of), row, strict=True))


def situations(level: Workflow, given: Values | None = None) -> Iterator[dict[str, Constant]]:
    """Values for what the guards of a level compare; those given are kept.

    Of what tasks change, values from which it takes a few changes to a constant, as well.
    """
    read = [read_link(level, link) for link in level.links]
    atoms = [atom for one in read if one for atom in one.atoms if atom[0] not in (given or {})]
    changed = {meaning(level, task.name)(one.parameter) for task in level.tasks for one in task.effects}
    known = domains(level)
    steady = assignments([atom for atom in atoms if atom[0] not in changed], known)
    moved = sorted({atom[0] for atom in atoms} & changed)
    columns = [_started([atom for atom in atoms if atom[0] == name], known.get(name)) for name in moved]
    for found, row in product(list(steady), product(*columns)):
        yield {**found, **dict(zip(moved, row, strict=True)), **(given or {})}


def _started(atoms: Iterable[Atom], domain: Domain | None) -> list[Constant]:
    """Values to try for a parameter that tasks change: words, or numbers up to some steps away from the constants."""
    tried = grid(atoms, domain)
    numbers = {other for _, _, other in atoms if isinstance(other, Fraction)}
    away = {one + step for one in numbers for step in range(-AWAY, AWAY + 1)}
    return tried if not numbers else sorted({*numbers, *[one for one in away if _within(one, domain)], tried[0]})


def taken(level: Workflow, out: list[Link], values: Values) -> list[bool]:
    """For each link out of a node, whether it is taken: without a condition always, "otherwise" if no other holds."""
    read = [read_link(level, link) for link in out]
    held = [one is not None and one.holds(values) for one in read]
    return [held[i] or link.guard is None or (read[i] is None and not any(held)) for i, link in enumerate(out)]


def told(text: str) -> dict[str, Constant]:
    """The situation that a question states, "n = 3, mode = fast"."""
    return {
        part.split("=")[0].strip().strip("\"'"): constant(part.split("=")[1].strip())
        for part in text.split(",")
        if part.strip()
    }


@cache
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


def computed(expression: str, values: Values, name: Callable[[str], str]) -> Constant:
    """The value of an effect's expression: numbers, names, + - *; or a word in quotes."""

    def value(node: ast.expr) -> Fraction:
        match node:
            case ast.Constant(value=number):
                return Fraction(str(number))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -value(inner)
            case ast.BinOp(left=left, op=operator, right=right):
                one, other = value(left), value(right)
                return {ast.Add: one + other, ast.Sub: one - other, ast.Mult: one * other}[type(operator)]
        found = values[name(ast.unparse(node))]
        assert isinstance(found, Fraction)
        return found

    body = _parsed(expression.strip())
    return body.value if isinstance(body, ast.Constant) and isinstance(body.value, str) else value(body)
