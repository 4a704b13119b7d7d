"""Catalogs: built-in things, and those that a session registers for as long as it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from pytest_taskgraph import catalog
from pytest_taskgraph.catalog import BUILT_IN, Catalog, Deferred, Registrations, catalog_cache, registrations
from pytest_taskgraph.errors import UnknownNameError, UsageError

KIND = "fruit of the test"
loads: list[str] = []


def _pear() -> int:
    loads.append("pear")
    return 2


@pytest.fixture
def fruits() -> Iterator[Catalog[int]]:
    loads.clear()
    yield Catalog(KIND, {"apple": 1, "pear": Deferred(_pear)})
    del catalog._catalogs[KIND]


def test_catalog_shows_built_in_things_in_order(fruits: Catalog[int]) -> None:
    assert (list(fruits), len(fruits), "pear" in fruits, fruits.owner("pear")) == (["apple", "pear"], 2, True, BUILT_IN)
    assert loads == []
    assert (fruits["pear"], fruits["pear"], dict(fruits), loads) == (2, 2, {"apple": 1, "pear": 2}, ["pear"])


def test_registered_thing_is_there_while_registrations_are_open(fruits: Catalog[int]) -> None:
    with registrations() as session:
        session.add(KIND, "fig", 3, "conftest.py")
        assert (list(fruits), fruits["fig"], fruits.owner("fig")) == (["apple", "pear", "fig"], 3, "conftest.py")
    assert (list(fruits), fruits.get("fig"), fruits.get("fig", 0)) == (["apple", "pear"], None, 0)


def test_unknown_name_lists_registered_ones(fruits: Catalog[int]) -> None:
    with registrations() as session:
        session.add(KIND, "fig", 3, "conftest.py")
        with pytest.raises(UnknownNameError, match=f"unknown {KIND} 'plum'; known: apple, fig, pear"):
            fruits["plum"]
    with pytest.raises(UnknownNameError, match=r"known: apple, pear$"):
        fruits["fig"]


def test_name_taken_is_refused_with_first_owner(fruits: Catalog[int]) -> None:
    with registrations() as session:
        session.add(KIND, "fig", 3, "conftest.py")
        with pytest.raises(UsageError, match=r"'fig' is registered twice, first by conftest\.py"):
            session.add(KIND, "fig", 4, "sub/conftest.py")
        for name in ("apple", "pear"):
            with pytest.raises(UsageError, match=f"the {KIND} '{name}' is built in; choose another name"):
                session.add(KIND, name, 4, "conftest.py")
        assert fruits["fig"] == 3


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a/b", ".a", "-a", "a\n", "a:b", "a,b", None, 3])
def test_name_with_other_characters_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="expected a name of letters, digits and any of"):
        Registrations().add(KIND, name, 1, "conftest.py")


@pytest.mark.parametrize("name", ["a", "B2", "my-metric_1.0+x", "3"])
def test_name_of_letters_digits_and_signs_is_taken(name: str) -> None:
    opened = Registrations()
    opened.add(KIND, name, 1, "conftest.py")
    assert (opened.of(KIND), opened.kinds, opened.owner(KIND, name)) == ({name: 1}, (KIND,), "conftest.py")


def test_innermost_registrations_alone_count(fruits: Catalog[int]) -> None:
    with registrations() as outer:
        outer.add(KIND, "fig", 3, "outer")
        with registrations() as inner:
            assert "fig" not in fruits
            inner.add(KIND, "fig", 4, "inner")
            assert fruits["fig"] == 4
            outer.close()  # out of order, as sessions of a test may be
            assert fruits["fig"] == 4
        assert "fig" not in fruits


def test_cache_that_depends_on_catalogs_is_cleared_on_change(fruits: Catalog[int]) -> None:
    @catalog_cache
    @cache
    def total() -> int:
        return sum(fruits.values())

    assert total() == 3
    with registrations() as session:
        assert total.cache_info().currsize == 1, "nothing changed yet"
        session.add(KIND, "fig", 3, "conftest.py")
        assert total() == 6
        with registrations():
            assert total() == 3
        assert total() == 6
    assert total() == 3
    catalog._caches.pop()
