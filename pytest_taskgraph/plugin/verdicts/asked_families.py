"""The families whose questions a run asks, and what they state about themselves.

A family that a conftest file of a deeper folder registers is known to the workers of xdist alone: they tell the
controller what it states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...benchmarks.family import Family
    from ...benchmarks.settings import Settings
    from ...family_description import FamilyDescription
    from ...results.descriptions import Descriptions
    from ...trial import Json
    from ..suite_settings import SuiteSettings


class AskedFamilies:
    """What the families of a run state, by name: their description, their options, the versions of their questions."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, Any]] = {}  # plain JSON, for it travels
        self._of_run: dict[str, dict[str, Any]] = {}  # the descriptions with the settings of the run

    @cached_property
    def _descriptions(self) -> Descriptions:
        from ...results.descriptions import Descriptions

        return Descriptions()

    @property
    def names(self) -> set[str]:
        """The names of the families whose suites were collected, as far as this process knows them."""
        return set(self._told)

    @property
    def default_baseline(self) -> str:
        """The name of the default baseline that these families share; empty if they share none."""
        found = {told["baseline"] for told in self._told.values()} - {""}
        return found.pop() if len(found) == 1 else ""

    @property
    def metrics(self) -> set[str]:
        """The names of the metrics that the episodes of these families measure."""
        return {name for told in self._told.values() for name in told["metrics"]}

    def declare(self, family: Family, described: FamilyDescription, settings: Settings, groups: Iterable[str]) -> None:
        """Note what a family states whose suite was collected, and the versions of the questions of its groups."""
        from ...benchmarks.contract import question_set_of, stated_options

        self._of_run.setdefault(family.name, described.to_json())
        told = self._told.get(family.name) or {
            "description": self._of_run[family.name],
            "options": stated_options(family, settings),
            "metrics": list(family.episode_metrics),
            "baseline": next(iter(family.baselines), ""),
            "versions": {},
            "suites": {},
        }
        told["versions"] |= {group: question_set_of(family, group) for group in groups}
        self._told[family.name] = told

    def declare_suite(self, family: Family, function: str, suite: SuiteSettings) -> None:
        """Note the settings of a suite whose family is declared."""
        from ...benchmarks.contract import description_of
        from ...results.record.json_values import public_settings

        told = self._told[family.name]
        described = description_of(family, suite.prompts[0]).to_json() if suite.stated else self._of_run[family.name]
        told["suites"][function] = {
            "prompts": [one.prompt for one in suite.prompts] if family.prompt_templates else [],
            "parsing": suite.prompts[0].parsing,
            "stated": public_settings(suite.stated),
            "facts": described["facts"],
        }
        self._state_facts(family.name)

    @property
    def suites(self) -> dict[str, dict[str, Any]]:
        """Return what was told of each suite, by the node id of its function."""
        return {function: suite for told in self._told.values() for function, suite in told["suites"].items()}

    def _state_facts(self, name: str) -> None:
        """Let the description of a family state the facts of all its suites."""
        from ...family_description import FamilyDescription

        told = self._told[name]
        found: dict[str, dict[str, None]] = {}
        for suite in told["suites"].values():
            for fact, value in suite["facts"].items():
                found.setdefault(fact, {})[value] = None
        facts = {fact: ", ".join(values) for fact, values in found.items()}
        if facts and facts != told["description"]["facts"]:
            told["description"] = {**told["description"], "facts": facts}
            if name in self._descriptions:
                self._descriptions.add(FamilyDescription.from_json(told["description"]))

    def pack(self) -> dict[str, dict[str, Any]]:
        """Return what is known as plain values, for another process."""
        return self._told

    def unpack(self, told: Mapping[str, dict[str, Any]]) -> None:
        """Note what another process knows."""
        for name, facts in told.items():
            known = self._told.setdefault(name, {**facts, "versions": {}, "suites": {}})
            known["versions"] |= facts["versions"]
            known["suites"] |= facts["suites"]
            self._state_facts(name)

    def described(self, families: Sequence[Family], settings: Settings) -> Descriptions:
        """Return the descriptions of the families of this process in their order, and of others that were asked.

        It is always the same object: further families are added to it as they are known.
        """
        from ...benchmarks.contract import description_of
        from ...family_description import FamilyDescription

        for family in families:
            if family.name not in self._descriptions:
                self._descriptions.add(description_of(family, settings))
        for name, told in self._told.items():
            if name not in self._descriptions:
                self._descriptions.add(FamilyDescription.from_json(told["description"]))
        return self._descriptions

    def gate_metrics(self) -> frozenset[str]:
        """Return the names that the last part of a gate may have as a metric."""
        from ...benchmarks import FAMILIES
        from ...results.gates import SCORE
        from ...scoring.metrics import METRICS, MODEL_METRICS, measured_names

        of_episodes = {name for family in FAMILIES.values() for name in family.episode_metrics}
        return frozenset({SCORE, *measured_names(METRICS), *MODEL_METRICS, *of_episodes, *self.metrics})

    def gate_aggregates(self, settings: Settings) -> frozenset[str]:
        """Return the names that the last part of a gate may have as an aggregate of some family."""
        from ...benchmarks import FAMILIES

        described = self.described(list(FAMILIES.values()), settings)
        return frozenset(one.name for family in described for one in family.aggregates)

    def options(self, names: Iterable[str]) -> dict[str, Json]:
        """Return the values of the options of these families, as the record states them."""
        return {
            key: value for name in names if name in self._told for key, value in self._told[name]["options"].items()
        }

    def question_sets(self, asked: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Return the versions of the question sets that groups, each after its family, belong to, by family."""
        found: dict[str, int] = {}
        for family, group in sorted(set(asked)):
            version = self._told[family]["versions"].get(group) if family in self._told else None
            if version is not None:
                found[family] = version
        return found
