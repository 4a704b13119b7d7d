"""Catalogs: named things of one kind, such as metrics; those that are built in, and those that a session registers.

A session of pytest opens `Registrations` and closes them at its end. While they are open, every catalog also has what
they hold of its kind. Of sessions within one another, as pytester runs them, only the innermost one's count.
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
_NAME = re.compile(r"\w[\w.+-]*")


class _Cache(Protocol):
    def cache_clear(self) -> None: ...


_C = TypeVar("_C", bound=_Cache)


class Deferred(Generic[T]):
    """A thing that is loaded when it is first looked up."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load

    @cached_property
    def value(self) -> T:
        """The thing, loaded once."""
        return self._load()


class Registrations:
    """What one session registered, by kind and name, each with its owner: the plugin that registered it."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, object]] = {}
        self._owners: dict[tuple[str, str], str] = {}

    def add(self, kind: str, name: str, value: object, owner: str) -> None:
        """Register a value under a name.

        Raises:
            UsageError: if the name is none, or is taken by another of the kind. The message names the owner.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
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
        """Return what is registered of a kind, by name."""
        return self._values.get(kind, {})

    def owner(self, kind: str, name: str) -> str:
        """Return who registered the name; BUILT_IN if nobody did."""
        return self._owners.get((kind, name), BUILT_IN)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which something is registered."""
        return tuple(self._values)

    def open(self) -> None:
        """Make these the registrations that catalogs show, in place of those that are open."""
        hidden = _current()
        _open.append(self)
        if self.kinds or (hidden is not None and hidden.kinds):
            _clear_caches()

    def close(self) -> None:
        """Hide these registrations; those that were open before count again. Closing twice does no harm."""
        if self in _open:
            _open.remove(self)
            visible = _current()
            if self.kinds or (visible is not None and visible.kinds):
                _clear_caches()


class Catalog(Mapping[str, T], Generic[T]):
    """A mapping from names to things of one kind: the built-in ones in their order, then those of the session.

    Looking up an unknown name raises UnknownNameError, whose message lists all known ones.

    Args:
        kind: What its things are called in messages, such as "metric". No two catalogs have the same kind.
        built_in: The built-in things by name.
    """

    def __init__(self, kind: str, built_in: Mapping[str, T | Deferred[T]]) -> None:
        self.kind, self._built_in = kind, dict(built_in)
        _catalogs[kind] = self

    @property
    def registered(self) -> tuple[str, ...]:
        """The names of what the session registered."""
        return tuple(self._registered)

    @property
    def _registered(self) -> Mapping[str, T | Deferred[T]]:
        current = _current()
        return current.of(self.kind) if current is not None else {}  # type: ignore[return-value]  # by kind

    def owner(self, name: str) -> str:
        """Return who registered the name; BUILT_IN if it is built in."""
        current = _current()
        return BUILT_IN if current is None else current.owner(self.kind, name)

    def refuse_built_in(self, name: str) -> None:
        """Raise UsageError if the name is that of a built-in thing."""
        if name in self._built_in:
            raise UsageError(f"the {self.kind} {name!r} is built in; choose another name")

    def __getitem__(self, name: str) -> T:
        for things in (self._built_in, self._registered):
            if name in things:
                thing = things[name]
                return thing.value if isinstance(thing, Deferred) else thing
        raise UnknownNameError(self.kind, name, self)

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
        """Return the thing of that name, or the default."""
        if name not in self:
            return default
        return self[name]

    def __repr__(self) -> str:
        return f"<Catalog of {self.kind}: {', '.join(self)}>"


def catalog_cache(cache: _C) -> _C:
    """Clear a cache of functools whenever other things are registered: what it holds depends on catalogs."""
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
    """Return True if the session registered something of that kind under the name."""
    current = _current()
    return current is not None and name in current.of(kind)


_open: list[Registrations] = []
_catalogs: dict[str, Catalog[Any]] = {}
_caches: list[_Cache] = []


def _current() -> Registrations | None:
    return _open[-1] if _open else None


def _clear_caches() -> None:
    for cache in _caches:
        cache.cache_clear()
