"""What a run was: the facts that every report begins with."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..family_description import FamilyDescription
from ..trial import Json
from .usage import Usage

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
    gates: tuple[dict[str, Json], ...] = ()  # the cases of the whole run, as in docs/record.schema.json
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
        """Return True if a model among them knows the answers (models/simulated.py), so that its scores say nothing."""
        return any(model.split(":")[0].split(" ")[0] == "simulated" for model in self.models)
