"""The descriptions of the families of a run: their terms and the order of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from ..family_description import FamilyDescription

Word = Literal["group", "section", "cluster"]


class Descriptions:
    """What families state about themselves, in their order; undescribed families have the plain terms."""

    def __init__(self, families: Iterable[FamilyDescription] = ()) -> None:
        self._by_name: dict[str, FamilyDescription] = {}
        self._deferred: dict[str, Callable[[], FamilyDescription]] = {}
        self._families: dict[str, int] = {}
        self._groups: dict[str, dict[str, int]] = {}
        self._sections: dict[str, dict[str, int]] = {}
        for description in families:
            self.add(description)

    def add(self, description: FamilyDescription) -> None:
        """Append the description of a family."""
        name = description.name
        self._deferred.pop(name, None)
        self._by_name[name] = description
        self._families.setdefault(name, len(self._families))
        self._groups[name], self._sections[name] = _places(description.groups), _places(description.sections)

    def defer(self, name: str, load: Callable[[], FamilyDescription]) -> None:
        """Append a family whose description is loaded when it is first needed."""
        self._families.setdefault(name, len(self._families))
        self._deferred[name] = load

    def __contains__(self, family: object) -> bool:
        return family in self._by_name or family in self._deferred

    def __iter__(self) -> Iterator[FamilyDescription]:
        return (self[name] for name in sorted(self.names, key=self.family_place))

    def __getitem__(self, family: str) -> FamilyDescription:
        self._load(family)
        return self._by_name.get(family) or FamilyDescription(family)

    @property
    def names(self) -> list[str]:
        """Return the names of the families, in order."""
        return list(self._families)

    def _load(self, family: str) -> None:
        if load := self._deferred.pop(family, None):
            self.add(load())

    def word(self, word: Word, families: Iterable[str]) -> str:
        """Return what the families call a group, a section or a cluster; the plain word if they differ."""
        used = {str(getattr(self[family], word)) for family in families}
        return used.pop() if len(used) == 1 else word

    def family_place(self, family: str) -> tuple[int, str]:
        """Return the sort key of a family."""
        return self._families.get(family, len(self._families)), family

    def section_place(self, family: str, section: str) -> tuple[int, str]:
        """Return the sort key of a section of the family."""
        self._load(family)
        places = self._sections.get(family, {})
        return places.get(section, len(places)), section

    def group_place(self, family: str, group: str) -> tuple[int, str]:
        """Return the sort key of a group of the family."""
        self._load(family)
        places = self._groups.get(family, {})
        return places.get(group, len(places)), group


def descriptions_of(record: Mapping[str, Any]) -> Descriptions:
    """Return the descriptions that a record holds."""
    return Descriptions(map(FamilyDescription.from_json, record["families"]))


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
