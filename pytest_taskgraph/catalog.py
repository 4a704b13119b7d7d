"""Catalogs of named objects of one kind, such as metrics: the built-in ones and those that a session registers.

A pytest session opens `Registrations` and closes them at its end. While they are open, every catalog also contains the
registered objects of its kind. Of nested sessions, as pytester runs them, only the innermost one counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, overload

from .errors import UnknownNameError, UsageError

BUILT_IN = "pytest-taskgraph"

T = TypeVar("T")
_D = TypeVar("_D")
_NAME = r"\w[\w.+-]*"


class _Cache(Protocol):
    def cache_clear(self) -> None: ...


_C = TypeVar("_C", bound=_Cache)


class Deferred(Generic[T]):
    """Object that is loaded when it is first looked up."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load

    @cached_property
    def value(self) -> T:
        """Return the object, which is loaded once."""
        return self._load()


class Registrations:
    """The registered objects of a session, by kind and name, each with the plugin that owns it."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, object]] = {}
        self._owners: dict[tuple[str, str], str] = {}

    def add(self, kind: str, name: str, value: object, owner: str) -> None:
        """Register a value under a name.

        Args:
            kind: The kind of the value, as in `Catalog.kind`.
            name: The name: letters, digits and any of `_ . + -`.
            value: The object, or a Deferred that loads it.
            owner: The plugin or conftest file that registers it, for messages.

        Raises:
            UsageError: if the name is invalid, or another value of the kind has it. The message names the owner.
        """
        if not isinstance(name, str) or not re.fullmatch(_NAME, name):
            raise UsageError(f"the {kind} {name!r}: expected a name of letters, digits and any of _ . + -")
        first = self._owners.get((kind, name))
        if first is not None:
            raise UsageError(f"the {kind} {name!r} is registered twice, first by {first}; choose another name")
        if kind in _catalogs:
            _catalogs[kind].refuse_built_in(name)
        self._values.setdefault(kind, {})[name] = value
        self._owners[kind, name] = owner
        if self is _current():
            _clear_caches()

    def of(self, kind: str) -> Mapping[str, object]:
        """Return the registered objects of a kind, by name."""
        return self._values.get(kind, {})

    def owner(self, kind: str, name: str) -> str:
        """Return the owner of a name; BUILT_IN for a name that is not registered."""
        return self._owners.get((kind, name), BUILT_IN)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds with at least one registered object."""
        return tuple(self._values)

    def open(self) -> None:
        """Show these registrations in the catalogs, in place of those that are open."""
        hidden = _current()
        _open.append(self)
        if self.kinds or (hidden is not None and hidden.kinds):
            _clear_caches()

    def close(self) -> None:
        """Hide these registrations, and show those that were open before. Closing twice has no effect."""
        if self in _open:
            _open.remove(self)
            visible = _current()
            if self.kinds or (visible is not None and visible.kinds):
                _clear_caches()


class Catalog(Mapping[str, T], Generic[T]):
    """Mapping from names to objects of one kind: the built-in ones in their order, then those of the session.

    Looking up an unknown name raises UnknownNameError, whose message lists all known names.

    Args:
        kind: The word for its objects in messages, such as "metric". No two catalogs have the same kind.
        built_in: The built-in objects by name.
    """

    def __init__(self, kind: str, built_in: Mapping[str, T | Deferred[T]]) -> None:
        self.kind, self._built_in = kind, dict(built_in)
        _catalogs[kind] = self

    @property
    def registered(self) -> tuple[str, ...]:
        """Return the names that the session registered."""
        return tuple(self._registered)

    @property
    def _registered(self) -> Mapping[str, T | Deferred[T]]:
        current = _current()
        return current.of(self.kind) if current is not None else {}  # type: ignore[return-value]  # by kind

    def owner(self, name: str) -> str:
        """Return the owner of a name; BUILT_IN for a built-in name."""
        current = _current()
        return BUILT_IN if current is None else current.owner(self.kind, name)

    def is_built_in(self, name: str) -> bool:
        """Return True if an object of that name is built in."""
        return name in self._built_in

    def refuse_built_in(self, name: str) -> None:
        """Check that the name is not built in. Raises UsageError."""
        if name in self._built_in:
            raise UsageError(f"the {self.kind} {name!r} is built in; choose another name")

    def __getitem__(self, name: str) -> T:
        objects = self._built_in if name in self._built_in else self._registered
        if name not in objects:
            raise UnknownNameError(self.kind, name, self)
        value = objects[name]
        return value.value if isinstance(value, Deferred) else value

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._registered

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self._registered

    def __len__(self) -> int:
        return len(self._built_in) + len(self._registered)

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, default: T | _D, /) -> T | _D: ...
    def get(self, name: str, default: T | _D | None = None, /) -> T | _D | None:
        """Return the object of that name, or the default."""
        if name not in self:
            return default
        return self[name]

    def __repr__(self) -> str:
        return f"<Catalog of {self.kind}: {', '.join(self)}>"


def catalog_cache(cache: _C) -> _C:
    """Clear a cache of functools whenever the registrations change, for its values depend on catalogs."""
    _caches.append(cache)
    return cache


@contextmanager
def registrations() -> Iterator[Registrations]:
    """Open new registrations for as long as the context lasts."""
    opened = Registrations()
    opened.open()
    try:
        yield opened
    finally:
        opened.close()


def is_registered(kind: str, name: str) -> bool:
    """Return True if the session registered an object of that kind under the name."""
    current = _current()
    return current is not None and name in current.of(kind)


def registered_kinds() -> frozenset[str]:
    """Return the kinds of which the session registered an object."""
    current = _current()
    return frozenset() if current is None else frozenset(current.kinds)


_open: list[Registrations] = []
_catalogs: dict[str, Catalog[Any]] = {}
_caches: list[_Cache] = []


def _current() -> Registrations | None:
    return _open[-1] if _open else None


def _clear_caches() -> None:
    for cache in _caches:
        cache.cache_clear()
