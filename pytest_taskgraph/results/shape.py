"""Whether a value of JSON is of the kind that a type hint declares: where it is not, what was found in its place.

Records are read back from files that anyone may have changed. A shape is made once of the hints of the dataclasses that
are read, and then looks at many thousand values: what its type alone decides is decided by that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

DEEPEST: Final = 100  # levels of lists and objects in a value of any kind
DIGITS: Final = 100  # of a number that has no range of its own: sums and squares of such are finite
WHOLE_DIGITS: Final = 18
LONGEST: Final = 40  # characters of what was found, and of a name in a path


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that is of another kind than was expected: where, as in `score.parts.f1[0]`, and both in words."""

    path: str
    found: str  # "" for nothing
    expected: str

    def __str__(self) -> str:
        found = f"found {self.found}, expected {self.expected}"
        return f"{self.path}: {found}" if self.found else f"{self.path!r} is missing"

    def below(self, name: str) -> Fault:
        """The fault as seen from a value that holds this one under the name."""
        between = "." if self.path and not self.path.startswith("[") else ""
        return Fault(f"{name}{between}{self.path}", self.found, self.expected)


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a number may have, both ends among them: `Annotated[float, Range(0, 1)]`."""

    least: float
    most: float | None = None  # None: as in numbers without a range


Check = Callable[[Any], Fault | None]


@dataclass(slots=True)
class Shape:
    """What is expected, in words, and by the type of a value what else is to be looked at; None for nothing."""

    expected: str
    kinds: Mapping[type, Check | None]
    simple: frozenset[type] = field(init=False)  # the types whose values fit, whatever they are

    def __post_init__(self) -> None:
        self.simple = frozenset(kind for kind, check in self.kinds.items() if check is None)

    def fault(self, value: object) -> Fault | None:
        """The first fault of the value; None where it fits."""
        if type(value) in self.simple:
            return None
        check = self.kinds.get(type(value))
        return check(value) if check else Fault("", _shown(value), self.expected)


class _Absent:
    """Stands for a member that an object does not have."""


_ABSENT: Final = _Absent()
_SCALARS: Final = {str: "a text", bool: "true or false", NoneType: "null"}


def shape_of(hint: Any) -> Shape:  # noqa: ANN401
    """The shape of a type hint: str, int, float, bool, None, Any (for Json), Literal of texts, Annotated with a Range,
    list, tuple, dict by texts, a dataclass, a union of these; or a shape, which stays as it is.

    Raises TypeError for any other.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, Shape):
        return hint
    if hint is Any:
        return _anything()
    if hint is None or hint in _SCALARS:
        return Shape(_SCALARS[hint or NoneType], {hint or NoneType: None})
    if hint in (int, float):
        return _number(hint, None)
    if origin is Annotated:
        return _number(arguments[0], arguments[1])
    if origin is Literal:
        return _words(arguments)
    if origin in (list, tuple):
        return listed(arguments[0])
    if origin is dict:
        return named(arguments[1])
    if origin in (Union, UnionType):
        return either(*arguments)
    if is_dataclass(hint) and isinstance(hint, type):
        return fields_shape(hint)
    raise TypeError(f"no shape is known of {hint!r}")


def fields_shape(
    kind: type,
    instead: Mapping[str, Any] = MappingProxyType({}),
    spare: AbstractSet[str] = frozenset(),
) -> Shape:
    """The shape of the JSON of a dataclass: an object in which fields with a default may be left out.

    `instead` has hints for fields that are written in another way than they are declared, and for members besides,
    which must be there where they are not `spare`. All others are those of a later version: not looked at.
    """
    hints = get_type_hints(kind, localns={"Json": Any}, include_extras=True) | dict(instead)
    default = {one.name for one in fields(kind) if one.default is not MISSING or one.default_factory is not MISSING}
    return members_shape(hints, spare | default)


def members_shape(hints: Mapping[str, Any], spare: AbstractSet[str]) -> Shape:
    """The shape of an object with these members; those that are `spare` may be left out."""
    shapes = {name: shape_of(hint) for name, hint in hints.items()}
    members = [
        (name, shape.simple | {_Absent} if name in spare else shape.simple, shape) for name, shape in shapes.items()
    ]

    def check(value: Mapping[str, Any]) -> Fault | None:
        get = value.get
        for name, simple, shape in members:
            one = get(name, _ABSENT)
            if type(one) not in simple and (fault := shape.fault(one)) is not None:
                return fault.below(name)
        return None

    return Shape("an object", {dict: check})


def either(*hints: Any) -> Shape:  # noqa: ANN401
    """The shape of what fits one of the hints, no two of which are of one kind of JSON."""
    shapes = [shape_of(one) for one in hints]
    kinds = {kind: check for one in shapes for kind, check in one.kinds.items()}
    return Shape(" or ".join(one.expected for one in shapes), kinds)


def _anything() -> Shape:
    return Shape("any value", {**dict.fromkeys((*_SCALARS, int, float)), list: _nested, dict: _nested})


def _nested(value: Any, room: int = DEEPEST) -> Fault | None:  # noqa: ANN401
    """The fault of lists and objects that stand in one another too deep for what walks through them."""
    if not room:
        return Fault("", "values nested deeper", f"at most {DEEPEST} levels")
    inner = (one for one in (value.values() if type(value) is dict else value) if type(one) in (list, dict))
    return next((fault for one in inner if (fault := _nested(one, room - 1))), None)


def _number(kind: type, limits: Range | None) -> Shape:
    digits = WHOLE_DIGITS if kind is int else DIGITS
    most = 10**digits if limits is None or limits.most is None else limits.most
    least = -most if limits is None else limits.least
    told = "a whole number" if kind is int else "a number"
    if limits is not None:
        told += f" of at least {least:g}" if limits.most is None else f" from {least:g} to {most:g}"
    exact = told if limits is not None and limits.most is not None else f"{told}, of at most {digits} digits"

    def check(value: float) -> Fault | None:
        return None if least <= value <= most else Fault("", _shown(value), exact)

    return Shape(told, dict.fromkeys((int,) if kind is int else (int, float), check))


def _words(words: Sequence[str]) -> Shape:
    known, told = frozenset(words), f"one of {', '.join(words)}"
    return Shape(told, {str: lambda value: None if value in known else Fault("", _shown(value), told)})


def listed(hint: Any) -> Shape:  # noqa: ANN401
    """The shape of a list of what fits the hint."""
    inner = shape_of(hint)

    def check(values: Sequence[Any]) -> Fault | None:
        if inner.simple.issuperset(map(type, values)):
            return None
        return _first(((f"[{at}]", one) for at, one in enumerate(values)), inner)

    return Shape("a list", {list: check})


def named(hint: Any) -> Shape:  # noqa: ANN401
    """The shape of an object whose values fit the hint, whatever their names are."""
    inner = shape_of(hint)

    def check(values: Mapping[str, Any]) -> Fault | None:
        if inner.simple.issuperset(map(type, values.values())):
            return None
        return _first(values.items(), inner)

    return Shape("an object", {dict: check})


def _first(parts: Iterable[tuple[str, Any]], inner: Shape) -> Fault | None:
    found = ((name, fault) for name, one in parts if (fault := inner.fault(one)) is not None)
    return next((fault.below(name if name.startswith("[") else _quoted(name)) for name, fault in found), None)


def _quoted(name: str) -> str:
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{_cut(json.dumps(name)[1:-1])}"]'


def _shown(value: object) -> str:
    """What was found: a short value as JSON, of lists and objects only what they are."""
    if isinstance(value, _Absent):
        return ""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return _cut(json.dumps(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
