"""The facts of a run with which every report begins, and what the run itself sent and spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...family_description import FamilyDescription
from ...trial import Json, Trial
from ...usage import NO_USAGE, TOKENS, Usage, sum_usages
from .exchanges import trial_usages

_SUMMED = (*TOKENS, "cost", "unpriced")  # numbers that a record has of live and of stored replies
_STORED = "stored_"
_DIGITS = 9  # of US dollars; the last digits of a sum depend on the order in which replies arrive
REAL_NAMES = "model_names"  # setting: short name of each model -> its full name
SEEDS = "seeds"  # setting: the seeds of a run with several


@dataclass(frozen=True, slots=True)
class Provenance:
    """The circumstances of a run; what could not be found out is empty."""

    started: str = ""  # date and time with the offset of the zone, ISO 8601, to the second
    seconds: float | None = None  # duration from the start of the session to its last report
    command: tuple[str, ...] = ()  # the words of the command line, without keys and passwords
    commit: str = ""  # the commit that git checked out in the folder of the project
    dirty: bool | None = None  # True if git reported changes to it; None if unknown
    versions: dict[str, str] = field(default_factory=dict)  # package, or "python", -> version
    platform: str = ""  # operating system and machine


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What a run sent and what came of it.

    The requests of judges and embedders are among those sent. Requests that failed or were in flight at the end were
    sent and not answered.
    """

    sent: int = 0  # requests sent by this run, every retry included
    retries: int = 0  # of them, repetitions of a request after a failure
    live: Usage = NO_USAGE  # of the replies to them
    stored: Usage = NO_USAGE  # of the replies of earlier runs in the trials, as it was when they were sent
    complete: bool = True  # False if a worker died: its requests are not in the sums

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as a record has them, where an unknown sum is 0."""
        return {
            "sent": self.sent,
            "answered": self.live.replies,
            "retries": self.retries,
            **{name: getattr(self.live, name) or 0 for name in (*_SUMMED, "untold")},
            "stored": self.stored.replies,
            **{_STORED + name: getattr(self.stored, name) or 0 for name in _SUMMED},
            "complete": self.complete,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunUsage:
        """Return the usage from its numbers in a record. Raises KeyError if one is missing."""
        live = Usage(data["answered"], untold=data["untold"], **{name: data[name] for name in _SUMMED})
        stored = Usage(data["stored"], data["stored"], **{name: data[_STORED + name] for name in _SUMMED})
        return cls(data["sent"], data["retries"], live, stored, data["complete"])


def sum_run_usages(usages: Iterable[RunUsage]) -> RunUsage:
    """Return the sums over the processes of a run, however the requests were divided among them."""
    all_usages = list(usages)
    return RunUsage(
        sum(usage.sent for usage in all_usages),
        sum(usage.retries for usage in all_usages),
        _round_cost(sum_usages(usage.live for usage in all_usages)),
        _round_cost(sum_usages(usage.stored for usage in all_usages)),
        all(usage.complete for usage in all_usages),
    )


def add_stored(usage: RunUsage, trials: Iterable[Trial]) -> RunUsage:
    """Return the usage with the stored replies of the trials."""
    return replace(usage, stored=sum_usages(one for trial in trials for one in trial_usages(trial) if one.stored))


def _round_cost(usage: Usage) -> Usage:
    return usage if usage.cost is None else replace(usage, cost=round(usage.cost, _DIGITS))


@dataclass(frozen=True, slots=True)
class About:
    """The facts of a run: its models, prompts and settings. Names of models must not contain keys."""

    version: str  # of the plugin
    models: tuple[str, ...] = ()
    seed: int = 0  # the first of several
    prompts: tuple[str, ...] = ()  # the names of the prompt templates, or their files
    parsing: str = "lenient"
    fail_on: tuple[str, ...] = ("answers",)  # some of FAILURES; empty if the run is report only
    questions: int | None = None  # number collected; None until it is known
    settings: dict[str, Json] = field(default_factory=dict)
    gates: tuple[dict[str, Json], ...] = ()  # verdicts over the whole run, as in docs/reference/record.schema.json
    lost: tuple[str, ...] = ()  # questions whose worker died while their test ran
    question_sets: dict[str, int] = field(default_factory=dict)  # family -> version of its questions, if it has one
    interrupted: bool = False  # True if the run ended before the verdicts of gates and comparisons
    usage: RunUsage | None = None  # what the run sent and spent; None if no live model was asked
    families: tuple[FamilyDescription, ...] = ()  # families that were asked, in the order of reports
    provenance: Provenance | None = None  # None if unknown

    @property
    def facts(self) -> dict[str, str]:
        """Return the facts that the families state of the run, by name; those of several families joined by commas."""
        values_by_name: dict[str, dict[str, None]] = {}
        for family in self.families:
            for name, value in family.facts.items():
                values_by_name.setdefault(name, {})[value] = None
        return {name: ", ".join(values) for name, values in values_by_name.items()}

    @property
    def seeds(self) -> str:
        """Return the seeds, joined by commas."""
        several = self.settings.get(SEEDS)
        return ", ".join(map(str, several)) if isinstance(several, list) else str(self.seed)

    @property
    def report_only(self) -> bool:
        """Return True if no answer, gate or comparison fails the run."""
        return not self.fail_on

    @property
    def simulated(self) -> bool:
        """Return True if one of the models knows the answers, so that its scores have no meaning."""
        return any(model.split(":")[0].split(" ")[0] == "simulated" for model in self.models)
