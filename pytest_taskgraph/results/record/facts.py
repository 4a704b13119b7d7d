"""The facts of a run that every report begins with, and what the run itself sent and spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from ...family_description import FamilyDescription
from ...trial import Json, Trial
from .exchanges import trial_replies

_DIGITS = 9  # of US dollars; replies arrive in any order, which the last digits of their sum would show


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over a run. Tokens and cost leave out the replies that do not tell them.

    The requests of judges and embedders are among those sent. What failed, or was still in flight at the end, was sent
    and not answered.
    """

    sent: int = 0  # requests sent by this run, every retry included
    answered: int = 0  # of them, those that a reply came to
    retries: int = 0  # of them, those that repeated a request after a failure
    tokens_in: int = 0
    tokens_out: int = 0
    untold: int = 0  # replies without the number of their tokens
    cost: float = 0.0  # US dollars
    unpriced: int = 0  # replies whose cost is not known
    stored: int = 0  # requests of the run's trials that were answered by replies of earlier runs
    stored_tokens_in: int = 0  # as recorded when they were asked, like the next three
    stored_tokens_out: int = 0
    stored_cost: float = 0.0
    stored_unpriced: int = 0
    complete: bool = True  # False where a worker died: what it sent is not in the sums


def add_stored(usage: Usage, trials: Iterable[Trial]) -> Usage:
    """Return the usage with the sums of the stored replies that the trials hold."""
    stored = [reply for trial in trials for reply in trial_replies(trial) if reply["stored"]]
    costs = [float(reply["cost"]) for reply in stored if reply["cost"] is not None]
    return replace(
        usage,
        stored=len(stored),
        stored_tokens_in=sum(reply["tokens_in"] or 0 for reply in stored),
        stored_tokens_out=sum(reply["tokens_out"] or 0 for reply in stored),
        stored_cost=fsum(costs),
        stored_unpriced=len(stored) - len(costs),
    )


def add_usages(usages: Iterable[Usage]) -> Usage:
    """Return the sums over several processes of a run; they do not show how the requests fell to the processes."""
    listed = list(usages)
    sums: dict[str, Any] = {
        name: sum(getattr(one, name) for one in listed) for name in Usage.__dataclass_fields__ if name != "complete"
    }
    sums |= {name: round(sums[name], _DIGITS) for name in ("cost", "stored_cost")}
    return Usage(**sums, complete=all(one.complete for one in listed))


REAL_NAMES = "model_names"  # among the settings: short names of models, to their own ones


@dataclass(frozen=True, slots=True)
class About:
    """What a run was: who was asked, and how. Names of models must not carry keys."""

    version: str  # of the plugin
    models: tuple[str, ...] = ()
    seed: int = 0
    prompts: tuple[str, ...] = ()  # the names of the prompt templates, or their files
    parsing: str = "lenient"
    fail_on: tuple[str, ...] = ("answers",)  # some of FAILURES; none where the run is report only
    questions: int | None = None  # how many were collected; None before it is known
    settings: dict[str, Json] = field(default_factory=dict)
    gates: tuple[dict[str, Json], ...] = ()  # the cases of the whole run, as in docs/reference/record.schema.json
    lost: tuple[str, ...] = ()  # questions whose worker died while their test ran
    question_sets: dict[str, int] = field(default_factory=dict)  # family -> version of its questions, where it has one
    interrupted: bool = False  # whether it was broken off before there were verdicts of gates and comparisons
    usage: Usage | None = None  # what the run sent and spent; None where nobody says, as in older records
    families: tuple[FamilyDescription, ...] = ()  # those that were asked, in the order of reports

    @property
    def facts(self) -> dict[str, str]:
        """What the families state of the run, by name; those of several families with commas between."""
        found: dict[str, dict[str, None]] = {}
        for family in self.families:
            for name, value in family.facts.items():
                found.setdefault(name, {})[value] = None
        return {name: ", ".join(values) for name, values in found.items()}

    @property
    def report_only(self) -> bool:
        """Return True if no answer, gate or comparison fails the run."""
        return not self.fail_on

    @property
    def simulated(self) -> bool:
        """Return True if a model among them knows the answers, so that its scores say nothing."""
        return any(model.split(":")[0].split(" ")[0] == "simulated" for model in self.models)
