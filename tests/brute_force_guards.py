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
        self.is_true = self._any()
        assert not self.tokens, text

    def _any(self) -> Condition:
        parts = [self._all()]
        while self.tokens[:1] == ["or"]:
            self.tokens.pop(0)
            parts.append(self._all())
        return lambda values: any(part(values) for part in parts)

    def _all(self) -> Condition:
        parts = [self._term()]
        while self.tokens[:1] == ["and"]:
            self.tokens.pop(0)
            parts.append(self._term())
        return lambda values: all(part(values) for part in parts)

    def _term(self) -> Condition:
        token = self.tokens.pop(0)
        if token == "not":
            denied = self._term()
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
    shared = {parameter.name for parameter in level.parameters}
    own = {parameter.name for task in level.tasks if task.name == node for parameter in task.parameters} - shared
    return lambda name: f"{node}.{name}" if name in own else name


@lru_cache(maxsize=4096)
def read_link(level: Workflow, link: Link) -> Read | None:
    """The link's condition; None if it has none, or "otherwise"."""
    if link.guard is None or link.guard.strip() == OTHERWISE:
        return None
    return Read(link.guard, meaning(level, link.source))


def domains(level: Workflow) -> dict[str, Domain | None]:
    """The domains of all variables that have one."""
    own = {meaning(level, task.name)(each.name): each.domain for task in level.tasks for each in task.parameters}
    return own | {each.name: each.domain for each in level.parameters}


def grid(atoms: Iterable[Atom], domain: Domain | None) -> list[Constant]:
    """Values to try for one parameter: all words, or numbers at, around and between constants, halves among them."""
    constants = sorted({other for _, _, other in atoms}, key=str)
    words = [each for each in constants if isinstance(each, str)]
    if domain is not None and domain.kind == "words":
        return list(domain.words)
    if words:
        return [*words, "something else"]
    numbers = [each for each in constants if isinstance(each, Fraction)]
    ends = [Fraction(each) for each in (domain.low, domain.high) if each is not None] if domain else []
    around = {each + Fraction(step, 2) for each in (*numbers, *ends) for step in range(-4, 5)}
    around |= {(a + b) / 2 for a in numbers for b in numbers}
    return [each for each in sorted(around) if _within(each, domain)]


def _within(value: Fraction, domain: Domain | None) -> bool:
    if domain is None:
        return True
    low = domain.low is None or value >= Fraction(domain.low)
    high = domain.high is None or value <= Fraction(domain.high)
    return low and high and (domain.kind == "real" or value.denominator == 1)


def assignments(atoms: Iterable[Atom], domains_by_name: Mapping[str, Domain | None]) -> Iterator[dict[str, Constant]]:
    """Values for all parameters of some comparisons, but only one of all values that compare alike."""
    of: dict[str, list[Atom]] = {}
    for atom in atoms:
        of.setdefault(atom[0], []).append(atom)
    columns = []
    for name, own in sorted(of.items()):
        alike = {tuple(compared(atom, value) for atom in own): value for value in grid(own, domains_by_name.get(name))}
        columns.append(list(alike.values()))
    for row in product(*columns):
        yield dict(zip(sorted(of), row, strict=True))


def situations(level: Workflow, given: Values | None = None) -> Iterator[dict[str, Constant]]:
    """Values for what the guards of a level compare; those given are kept.

    Of what tasks change, values from which it takes a few changes to a constant, as well.
    """
    read = [read_link(level, link) for link in level.links]
    atoms = [atom for condition in read if condition for atom in condition.atoms if atom[0] not in (given or {})]
    changed = {meaning(level, task.name)(effect.parameter) for task in level.tasks for effect in task.effects}
    domains_of_level = domains(level)
    steady = assignments([atom for atom in atoms if atom[0] not in changed], domains_of_level)
    moved = sorted({atom[0] for atom in atoms} & changed)
    columns = [_started([atom for atom in atoms if atom[0] == name], domains_of_level.get(name)) for name in moved]
    for steady_values, row in product(list(steady), product(*columns)):
        yield {**steady_values, **dict(zip(moved, row, strict=True)), **(given or {})}


def _started(atoms: Iterable[Atom], domain: Domain | None) -> list[Constant]:
    """Values to try for a parameter that tasks change: words, or numbers up to some steps away from the constants."""
    tried = grid(atoms, domain)
    numbers = {other for _, _, other in atoms if isinstance(other, Fraction)}
    away = {number + step for number in numbers for step in range(-AWAY, AWAY + 1)}
    return tried if not numbers else sorted({*numbers, *[value for value in away if _within(value, domain)], tried[0]})


def taken(level: Workflow, out: list[Link], values: Values) -> list[bool]:
    """For each link out of a node, whether it is taken: without a condition always, "otherwise" if no other holds."""
    read = [read_link(level, link) for link in out]
    held = [condition is not None and condition.is_true(values) for condition in read]
    return [held[i] or link.guard is None or (read[i] is None and not any(held)) for i, link in enumerate(out)]


def read_situation(text: str) -> dict[str, Constant]:
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
                a, b = value(left), value(right)
                return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(operator)]
        number_of_name = values[name(ast.unparse(node))]
        assert isinstance(number_of_name, Fraction)
        return number_of_name

    body = _parsed(expression.strip())
    return body.value if isinstance(body, ast.Constant) and isinstance(body.value, str) else value(body)
