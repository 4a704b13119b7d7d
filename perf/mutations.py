"""Small changes of the functions of a module: which there are, and the source with one of them.

A change is named by the function, the text of the changed node in the notation of `ast.unparse`, its ordinal among the
same changes of equal texts in the function, and the kind of the change. So it is found again after lines shifted or the
layout changed. Left out is what cannot run or is seen by no test: docstrings, annotations, decorators, defaults,
assertions, f-strings, `if TYPE_CHECKING`, `__repr__`, and methods that are abstract or overloads.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.ClassDef
SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
EMPTY = {
    ast.List: "[]", ast.ListComp: "[]", ast.Dict: "{}", ast.DictComp: "{}", ast.Set: "set()", ast.SetComp: "set()",
    ast.Tuple: "()", ast.JoinedStr: "''",
}  # fmt: skip
EMPTY_CALLS = {"list": "[]", "sorted": "[]", "dict": "{}", "set": "set()", "tuple": "()", "frozenset": "frozenset()"}
NEVER_RUN = {"overload", "abstractmethod", "abc.abstractmethod", "typing.overload"}


@dataclass(frozen=True)
class Mutation:
    """A change of one node, and where it stands in the source that it was found in."""

    function: str  # qualified name
    text: str
    ordinal: int  # from 0
    change: str
    replacement: str
    digest: str  # of the function, without layout and comments
    line: int
    span: tuple[int, int]  # offsets of the node in the UTF-8 of the source


def mutations(source: str) -> Iterator[Mutation]:
    """Yield the changes of all functions of a module, in the order of the source."""
    starts = [0]
    for line in source.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for name, function in _functions(ast.parse(source).body, ""):
        seen: Counter[tuple[str, str]] = Counter()
        digest = sha256(ast.unparse(function).encode()).hexdigest()[:16]
        for node, change, replacement in _changes(function):
            text = ast.unparse(node)
            span = starts[node.lineno - 1] + node.col_offset, _end(node, starts)
            yield Mutation(name, text, seen[text, change], change, replacement, digest, node.lineno, span)
            seen[text, change] += 1


def mutated(source: str, mutation: Mutation) -> str:
    """Return the source with the change. Raises: SyntaxError: if it is no Python then."""
    text, (start, end) = source.encode(), mutation.span
    changed = (text[:start] + mutation.replacement.encode() + text[end:]).decode()
    compile(changed, "<mutant>", "exec")
    return changed


def _end(node: ast.expr | ast.stmt, starts: list[int]) -> int:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.end_lineno - 1] + node.end_col_offset


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    """Yield the functions with their qualified names, those in classes and in functions included."""
    for statement in body:
        if isinstance(statement, Scope):
            name = f"{prefix}{statement.name}"
            if isinstance(statement, Function) and _runs(statement):
                yield name, statement
            yield from _functions(statement.body, f"{name}.")


def _runs(function: Function) -> bool:
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    return function.name != "__repr__" and not decorators & NEVER_RUN


def _changes(function: Function) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield node, kind and replacement of each change of a function."""
    for statement in function.body:
        for node in _nodes(statement):
            for change in CHANGES:
                yield from change(node)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that run, without those of functions and classes in it."""
    if isinstance(node, Scope | ast.JoinedStr | ast.arguments | ast.Assert):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name != "annotation":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


Found = Iterator[tuple[ast.expr | ast.stmt, str, str]]


def _negated_conditions(node: ast.AST) -> Found:
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    for test in tests:
        if not isinstance(test, ast.Constant):
            yield test, "negate condition", f"(not ({ast.unparse(test)}))"


def _swapped_comparisons(node: ast.AST) -> Found:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        swapped = ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)
        yield node, "swap comparison", f"({ast.unparse(swapped)})"


def _changed_numbers(node: ast.AST) -> Found:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        changed = ast.unparse(ast.Constant(node.value + 1))
        if changed != ast.unparse(node):
            yield node, "add 1 to number", changed


def _swapped_operators(node: ast.AST) -> Found:
    if isinstance(node, ast.BoolOp):
        operator = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "swap and with or", f"({ast.unparse(ast.BoolOp(operator, node.values))})"
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    texts = any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) or _is_text(side) for side in sides)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and not texts:
        sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield node, "swap + with -", f"({ast.unparse(ast.BinOp(node.left, sign, node.right))})"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _replaced_returns(node: ast.AST) -> Found:
    if not isinstance(node, ast.Return) or node.value is None:
        return
    value = node.value
    called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    if isinstance(value, ast.Constant) and value.value is None:
        return
    negated = isinstance(value, ast.Compare | ast.BoolOp) or called in ("any", "all", "isinstance", "bool")
    if negated or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)) or _is_bool(value):
        yield node, "return negation", f"return not ({ast.unparse(value)})"
        return
    empty = EMPTY.get(type(value)) or EMPTY_CALLS.get(called) or ("''" if _is_text(value) else "")
    if empty and empty != ast.unparse(value):
        yield node, "return empty", f"return {empty}"
    else:
        yield node, "return None", "return None"


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _dropped_statements(node: ast.AST) -> Found:
    called = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Await) else None
    if isinstance(node, ast.Expr) and isinstance(called or node.value, ast.Call):
        yield node, "drop call", "pass"
    elif isinstance(node, ast.AugAssign):
        yield node, "drop assignment", "pass"


CHANGES: tuple[Callable[[ast.AST], Found], ...] = (
    _negated_conditions, _swapped_comparisons, _changed_numbers, _swapped_operators, _replaced_returns,
    _dropped_statements,
)  # fmt: skip
