"""The descriptions of the families of a run: their terms and the order of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ..family_description import FamilyDescription

Word = Literal["group", "section", "cluster"]


class Descriptions:
    """What families state about themselves, in their order; undescribed families have the plain terms."""

    def __init__(self, families: Iterable[FamilyDescription] = ()) -> None:
        self._by_name: dict[str, FamilyDescription] = {}
        self._families: dict[str, int] = {}
        self._groups: dict[str, dict[str, int]] = {}
        self._sections: dict[str, dict[str, int]] = {}
        for description in families:
            self.add(description)

    def add(self, description: FamilyDescription) -> None:
        """Append the description of a family."""
        name = description.name
        self._by_name[name] = description
        self._families.setdefault(name, len(self._families))
        self._groups[name], self._sections[name] = _places(description.groups), _places(description.sections)

    def __contains__(self, family: object) -> bool:
        return family in self._by_name

    def __iter__(self) -> Iterator[FamilyDescription]:
        return iter(self._by_name.values())

    def __getitem__(self, family: str) -> FamilyDescription:
        return self._by_name.get(family) or FamilyDescription(family)

    def word(self, word: Word, families: Iterable[str]) -> str:
        """Return what the families call a group, a section or a cluster; the plain word if they differ."""
        used = {str(getattr(self[family], word)) for family in families}
        return used.pop() if len(used) == 1 else word

    def family_place(self, family: str) -> tuple[int, str]:
        """Return the sort key of a family."""
        return self._families.get(family, len(self._families)), family

    def section_place(self, family: str, section: str) -> tuple[int, str]:
        """Return the sort key of a section of the family."""
        places = self._sections.get(family, {})
        return places.get(section, len(places)), section

    def group_place(self, family: str, group: str) -> tuple[int, str]:
        """Return the sort key of a group of the family."""
        places = self._groups.get(family, {})
        return places.get(group, len(places)), group


def descriptions_of(record: Mapping[str, Any]) -> Descriptions:
    """Return the descriptions that a record holds."""
    return Descriptions(map(FamilyDescription.from_json, record.get("families", ())))


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
