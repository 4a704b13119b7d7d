"""The facts of a run with which every report begins, and what the run itself sent and spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from ...family_description import FamilyDescription
from ...trial import Json, Trial
from .exchanges import trial_replies
from .provenance import Provenance

_DIGITS = 9  # of US dollars; the last digits of a sum depend on the order in which replies arrive


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over a run. Replies that do not report tokens or cost are not in those sums.

    The requests of judges and embedders are among those sent. Requests that failed or were in flight at the end were
    sent and not answered.
    """

    sent: int = 0  # requests sent by this run, every retry included
    answered: int = 0  # of them, requests that were answered
    retries: int = 0  # of them, repetitions of a request after a failure
    tokens_in: int = 0
    tokens_out: int = 0
    untold: int = 0  # replies without the number of their tokens
    cost: float = 0.0  # US dollars
    unpriced: int = 0  # replies of unknown cost
    stored: int = 0  # requests of the run's trials that were answered by replies of earlier runs
    stored_tokens_in: int = 0  # as recorded when they were sent, like the next three
    stored_tokens_out: int = 0
    stored_cost: float = 0.0
    stored_unpriced: int = 0
    tokens_reasoning: int = 0  # of tokens_out, as far as replies state it
    stored_tokens_reasoning: int = 0  # of stored_tokens_out
    complete: bool = True  # False if a worker died: its requests are not in the sums


def add_stored(usage: Usage, trials: Iterable[Trial]) -> Usage:
    """Return the usage with the sums of the stored replies of the trials."""
    stored = [reply for trial in trials for reply in trial_replies(trial) if reply["stored"]]
    costs = [float(reply["cost"]) for reply in stored if reply["cost"] is not None]
    return replace(
        usage,
        stored=len(stored),
        stored_tokens_in=sum(reply["tokens_in"] or 0 for reply in stored),
        stored_tokens_out=sum(reply["tokens_out"] or 0 for reply in stored),
        stored_tokens_reasoning=sum(reply["tokens_reasoning"] or 0 for reply in stored),
        stored_cost=fsum(costs),
        stored_unpriced=len(stored) - len(costs),
    )


def add_usages(usages: Iterable[Usage]) -> Usage:
    """Return the sums over the processes of a run, however the requests were divided among them."""
    all_usages = list(usages)
    sums: dict[str, Any] = {
        name: sum(getattr(usage, name) for usage in all_usages)
        for name in Usage.__dataclass_fields__
        if name != "complete"
    }
    sums |= {name: round(sums[name], _DIGITS) for name in ("cost", "stored_cost")}
    return Usage(**sums, complete=all(usage.complete for usage in all_usages))


REAL_NAMES = "model_names"  # setting: short name of each model -> its full name
SEEDS = "seeds"  # setting: the seeds of a run with several


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
    usage: Usage | None = None  # what the run sent and spent; None if no live model was asked
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
