"""The families whose questions a run asks, with their descriptions.

Only the workers of xdist know a family that a conftest file of a deeper folder registers; they send its description to
the controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ...families import FAMILIES

if TYPE_CHECKING:
    from ...benchmarks.family import Family
    from ...benchmarks.settings import Settings
    from ...family_description import FamilyDescription
    from ...results.descriptions import Descriptions
    from ...trial import Json
    from ..suite_settings import SuiteSettings


class AskedFamilies:
    """Descriptions, options and question set versions of the families of a run, by name."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, Any]] = {}  # plain JSON, for workers send it to the controller
        self._of_run: dict[str, dict[str, Any]] = {}  # the descriptions with the settings of the run

    @cached_property
    def _descriptions(self) -> Descriptions:
        from ...results.descriptions import Descriptions

        return Descriptions()

    @property
    def names(self) -> set[str]:
        """Return the names of the families whose suites were collected, as far as this process knows them."""
        return set(self._facts)

    @property
    def default_baseline(self) -> str:
        """Return the name of the default baseline that these families share; empty if they share none."""
        baselines = {facts["baseline"] for facts in self._facts.values()} - {""}
        return baselines.pop() if len(baselines) == 1 else ""

    @property
    def metrics(self) -> set[str]:
        """Return the names of the metrics that the episodes of these families measure."""
        return {name for facts in self._facts.values() for name in facts["metrics"]}

    def declare(self, family: Family, described: FamilyDescription, settings: Settings, groups: Iterable[str]) -> None:
        """Note the facts of a family whose suite was collected.

        Args:
            family: The family.
            described: Its description with the settings of the run.
            settings: The settings of the run.
            groups: The groups of the suite's questions, whose versions are noted.
        """
        from ...benchmarks.contract import question_set_of, stated_options

        self._of_run.setdefault(family.name, described.to_json())
        facts = self._facts.get(family.name) or {
            "description": self._of_run[family.name],
            "options": stated_options(family, settings),
            "metrics": list(family.episode_metrics),
            "baseline": next(iter(family.baselines), ""),
            "versions": {},
            "suites": {},
        }
        facts["versions"] |= {group: question_set_of(family, group) for group in groups}
        self._facts[family.name] = facts

    def declare_suite(self, family: Family, function: str, suite: SuiteSettings) -> None:
        """Note the settings of a suite whose family is declared."""
        from ...benchmarks.contract import description_of
        from ...results.record.json_values import public_settings

        facts = self._facts[family.name]
        described = description_of(family, suite.grid[0]).to_json() if suite.stated else self._of_run[family.name]
        facts["suites"][function] = {
            "prompts": list(dict.fromkeys(cell.prompt for cell in suite.grid)) if family.prompt_templates else [],
            "parsing": suite.grid[0].parsing,
            "stated": public_settings(suite.stated),
            "facts": described["facts"],
        }
        self._update_description(family.name)

    @property
    def suites(self) -> dict[str, dict[str, Any]]:
        """Return the facts of each suite, by the node id of its function."""
        return {function: suite for facts in self._facts.values() for function, suite in facts["suites"].items()}

    def _update_description(self, name: str) -> None:
        """Update the description of a family with the facts of all its suites."""
        from ...family_description import FamilyDescription

        family = self._facts[name]
        values: dict[str, dict[str, None]] = {}  # the values of each fact, in order
        for suite in family["suites"].values():
            for fact, value in suite["facts"].items():
                values.setdefault(fact, {})[value] = None
        facts = {fact: ", ".join(of_fact) for fact, of_fact in values.items()}
        if facts and facts != family["description"]["facts"]:
            family["description"] = {**family["description"], "facts": facts}
            if name in self._descriptions:
                self._descriptions.add(FamilyDescription.from_json(family["description"]))

    def pack(self) -> dict[str, dict[str, Any]]:
        """Return the facts of all families as plain values, for another process."""
        return self._facts

    def unpack(self, packed: Mapping[str, dict[str, Any]]) -> None:
        """Add the facts of another process."""
        for name, facts in packed.items():
            own = self._facts.setdefault(name, {**facts, "versions": {}, "suites": {}})
            own["versions"] |= facts["versions"]
            own["suites"] |= facts["suites"]
            self._update_description(name)

    def described(self, families: Sequence[Family], settings: Settings) -> Descriptions:
        """Return the descriptions of the families of this process in their order, then those of other processes.

        It is always the same object, to which further families are added when they become known. A built-in family
        describes itself when its description is first needed, a registered one at once, so that a mistake is reported.
        """
        from ...benchmarks.contract import description_of
        from ...family_description import FamilyDescription

        for family in families:
            if family.name in self._descriptions:
                continue
            if family.name in FAMILIES.registered:
                self._descriptions.add(description_of(family, settings))
            else:
                self._descriptions.defer(family.name, partial(description_of, family, settings))
        for name, facts in self._facts.items():
            if name not in self._descriptions:
                self._descriptions.add(FamilyDescription.from_json(facts["description"]))
        return self._descriptions

    def gate_metrics(self) -> frozenset[str]:
        """Return the names of metrics that the last part of a gate may have."""
        from ...results.gates import SCORE
        from ...scoring.metrics import METRICS, MODEL_METRICS, measured_names

        of_episodes = {name for family in FAMILIES.values() for name in family.episode_metrics}
        return frozenset({SCORE, *measured_names(METRICS), *MODEL_METRICS, *of_episodes, *self.metrics})

    def gate_aggregates(self, settings: Settings) -> frozenset[str]:
        """Return the names of aggregates that the last part of a gate may have."""
        described = self.described(list(FAMILIES.values()), settings)
        return frozenset(aggregate.name for family in described for aggregate in family.aggregates)

    def options(self, names: Iterable[str]) -> dict[str, Json]:
        """Return the values of the options of these families, as the record states them."""
        return {
            key: value for name in names if name in self._facts for key, value in self._facts[name]["options"].items()
        }

    def question_sets(self, asked: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Return the versions of question sets by family, for pairs of family and group."""
        versions: dict[str, int] = {}
        for family, group in sorted(set(asked)):
            version = self._facts[family]["versions"].get(group) if family in self._facts else None
            if version is not None:
                versions[family] = version
        return versions
