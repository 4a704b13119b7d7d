"""The conditions of GitHub Actions: expressions such as `always() && github.ref == 'refs/heads/main'`.

A condition is judged under the premise of all questions: no job and no step fails, and nobody cancels the run. So
`failure()` and `cancelled()` are false and `always()` is true. What is left may be true or false.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

LONGEST: Final = 500  # characters of a condition that is computed with
DEEPEST: Final = 50  # brackets and negations inside one another
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<sign>&&|\|\||==|!=|<=|>=|[!()<>,\[\]])|(?P<word>[\w.*+-]+))", re.ASCII
)
_REFERENCE = re.compile(r"[A-Za-z_][\w-]*(?:\.(?:[\w-]+|\*))*\Z", re.ASCII)
_COMPARED = re.compile(r"((?!(?:not|otherwise|and|or)\b)[a-z_]\w*(?:\.[a-z_]\w*)*) ?(==|!=) ?'([^'\"]*)'", re.I | re.A)
_WRAPPED = re.compile(r"\$\{\{(.*)\}\}", re.DOTALL)
_RESULT = re.compile(r"needs\b.*\.result\b|steps\b.*\.(?:outcome|conclusion)\b|^job\.status$|^env\b", re.I)
_STATUS = {"always": True, "success": None, "failure": False, "cancelled": False}
_LITERALS = {"true": True, "false": False, "null": False}
_CORRELATED = {"matrix": "runner", "strategy": "runner"}


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a job or step, as far as a run in which nothing fails decides it.

    Args:
        text: The condition as written, with single spaces and without `${{ }}` around it.
        never: True if it does not hold in a run in which nothing fails.
        clear: False if it depends on the results of jobs or steps, or cannot be parsed.
        compared: Reference, operator and word if it is the comparison of a reference with a word.
        sources: What it reads; two conditions with a source in common may depend on each other.
    """

    text: str
    never: bool = False
    clear: bool = True
    compared: tuple[str, str, str] | None = None
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """When a job or step runs.

    Args:
        condition: Its condition; None if that always holds, as always() does.
        follows: True if a skipped need skips it.
        stated: The condition as written, "" without one.
    """

    condition: Condition | None
    follows: bool = True
    stated: str = ""


ALWAYS: Final = Rule(None)


@lru_cache(maxsize=4096)
def read_rule(text: str) -> Rule:
    """Return when a job or step with the text behind `if:` runs, in runs in which nothing fails."""
    wrapped = _WRAPPED.fullmatch(text.strip())
    inner = " ".join((wrapped[1] if wrapped else text).split())
    if not inner:
        return ALWAYS
    unclear = Rule(Condition(inner, clear=False), stated=inner)
    if "${{" in inner or "`" in inner or len(inner) > LONGEST:
        return unclear
    try:
        tree = _Parser(inner).parse()
    except _MalformedError:
        return unclear
    explicit = _calls_status(tree)
    succeeded, skipped = _simplify(tree, True), _simplify(tree, False)
    if not explicit or skipped is False:
        return Rule(_condition(inner, succeeded), follows=True, stated=inner)
    return Rule(_condition(inner, succeeded), follows=False, stated=inner) if succeeded == skipped else unclear


_Tree = bool | tuple[object, ...]  # ("and", …), ("or", …), ("not", part), ("call", name), ("atom", text, sources)


def _condition(text: str, value: _Tree) -> Condition | None:
    if value is True:
        return None
    atoms = [*_atoms(value)]
    sources = frozenset(source for atom in atoms for source in atom)
    constant = not sources and "(" not in text
    if value is not False and (constant or any(_RESULT.search(source) for source in sources)):
        return Condition(text, clear=False)
    compared = _COMPARED.fullmatch(text)
    plain = compared is not None and bool(compared[3].strip()) and "  " not in compared[3] and len(atoms) == 1
    comparison = (compared[1], compared[2], compared[3]) if compared is not None and plain else None
    groups = frozenset(_group(source) for source in sources) or frozenset({text})
    return Condition(text, value is False, True, comparison, groups)


def _group(source: str) -> str:
    """Return the name that all sources share that may depend on each other.

    The event, its payload and its refs do; so do the values of a matrix and the runner chosen by them.
    """
    parts = source.lower().split(".")
    if parts[0] == "github":
        name = parts[1] if len(parts) > 1 else ""
        return f"github.{name}" if name.startswith(("repository", "actor", "triggering_actor")) else "github"
    return _CORRELATED.get(parts[0], "runner" if parts[0] == "runner" else ".".join(parts))


def _atoms(tree: _Tree) -> list[frozenset[str]]:
    if isinstance(tree, bool):
        return []
    if tree[0] == "atom":
        assert isinstance(tree[2], frozenset)
        return [tree[2]]
    return [atom for part in tree[1:] if isinstance(part, (tuple, bool)) for atom in _atoms(part)]


def _calls_status(tree: _Tree) -> bool:
    if isinstance(tree, bool):
        return False
    return tree[0] == "call" or any(_calls_status(part) for part in tree[1:] if isinstance(part, tuple))


def _simplify(tree: _Tree, success: bool) -> _Tree:
    """Return the tree with the status functions replaced by their values, as far as these decide it."""
    if isinstance(tree, bool) or tree[0] == "atom":
        return tree
    if tree[0] == "call":
        value = _STATUS[str(tree[1])]
        return success if value is None else value
    parts = [_simplify(part, success) for part in tree[1:] if isinstance(part, (tuple, bool))]
    if tree[0] == "not":
        return not parts[0] if isinstance(parts[0], bool) else ("not", parts[0])
    deciding = tree[0] == "or"
    if deciding in [part for part in parts if isinstance(part, bool)]:
        return deciding
    rest = [part for part in parts if not isinstance(part, bool)]
    return (tree[0], *rest) if len(rest) > 1 else rest[0] if rest else not deciding


class _MalformedError(Exception):
    """The text is no expression."""


class _Parser:
    """A parser of expressions; whatever is no `&&`, `||`, `!`, bracket or status function is an atom."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise _MalformedError
            self.tokens.append(match[0].strip())
            at = match.end()
        self.at = self.depth = 0

    def parse(self) -> _Tree:
        """Return the tree of the whole text.

        Raises:
            _MalformedError: if it is no expression.
        """
        tree = self._joined("||", "or")
        if self.at < len(self.tokens):
            raise _MalformedError
        return tree

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, expected: str = "") -> str:
        token = self._next()
        if not token or (expected and token != expected):
            raise _MalformedError
        self.at += 1
        return token

    def _joined(self, sign: str, name: str) -> _Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _MalformedError
        parts = [self._joined("&&", "and") if sign == "||" else self._compared()]
        while self._next() == sign:
            self._take()
            parts.append(self._joined("&&", "and") if sign == "||" else self._compared())
        self.depth -= 1
        return (name, *parts) if len(parts) > 1 else parts[0]

    def _compared(self) -> _Tree:
        begin = self.at
        tree = self._negated()
        while self._next() in ("==", "!=", "<", ">", "<=", ">="):
            self._take()
            self._negated()
            tree = self._atom(begin)
        return tree

    def _negated(self) -> _Tree:
        if self._next() != "!":
            return self._value()
        self._take()
        self.depth += 1
        if self.depth > DEEPEST:
            raise _MalformedError
        part = self._negated()
        self.depth -= 1
        return ("not", part)

    def _value(self) -> _Tree:
        begin, token = self.at, self._take()
        if token == "(":
            tree = self._joined("||", "or")
            self._take(")")
            return tree if self._next() not in ("[",) else self._index(begin)
        if token[0] in "&|=!<>,)[]":
            raise _MalformedError
        if self._next() == "(":
            self._arguments()
            if token.lower() in _STATUS and self.at == begin + 3:
                return ("call", token.lower())
        elif token.lower() in _LITERALS:
            return _LITERALS[token.lower()]
        return self._index(begin)

    def _arguments(self) -> None:
        self._take("(")
        while self._next() != ")":
            self._joined("||", "or")
            if self._next() != ")":
                self._take(",")
        self._take(")")

    def _index(self, begin: int) -> _Tree:
        """Return the atom that begins at a token, with all indexes behind it."""
        while self._next() == "[" or (self.at > begin and self._next().startswith(".")):
            if self._take() == "[":
                self._joined("||", "or")
                self._take("]")
        return self._atom(begin)

    def _atom(self, begin: int) -> _Tree:
        """Return the tokens from there on as one atom, with the references in them."""
        tokens = self.tokens[begin : self.at]
        if any(token.lower() in _STATUS and tokens[i + 1 : i + 2] == ["("] for i, token in enumerate(tokens)):
            raise _MalformedError  # a status inside a comparison or an argument
        sources = frozenset(
            "".join([token, *_indexes(tokens, i + 1)])
            for i, token in enumerate(tokens)
            if _REFERENCE.match(token) and token.lower() not in _LITERALS and tokens[i + 1 : i + 2] != ["("]
        )
        return ("atom", " ".join(tokens), sources)


def _indexes(tokens: list[str], at: int) -> list[str]:
    """Return the keys of the indexes in brackets from a token on, each behind a dot."""
    keys: list[str] = []
    while at < len(tokens):
        if tokens[at] == "[" and tokens[at + 2 : at + 3] == ["]"]:
            keys.append("." + tokens[at + 1].strip("'"))
            at += 3
        elif keys and tokens[at].startswith("."):
            keys.append(tokens[at])
            at += 1
        else:
            break
    return keys
