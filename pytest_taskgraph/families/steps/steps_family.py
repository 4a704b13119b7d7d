"""The benchmark STEPS (Wang et al. 2023): which step comes next in a recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...benchmarks.family import Command, Label
from ...benchmarks.method_family import MethodFamily, QuestionModule
from ...benchmarks.settings import Settings
from .steps_options import HELP, OPTIONS, RECIPES_DATA, SAMPLES_DATA
from .steps_settings import StepsSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...benchmarks.tuning_task import TuningTask
    from ...family_description import FamilyDescription


class Steps(MethodFamily[StepsSettings]):
    """The family of next steps. The modules of this package are imported when they are first needed."""

    name = "steps"
    topic = "next steps"
    asked = "which step comes next"
    version = 3
    cluster = "procedure"
    options = OPTIONS
    option_help = HELP
    data_names = (SAMPLES_DATA, RECIPES_DATA)
    commands = ("steps",)
    baselines = ("n-gram", "majority", "random")

    def own(self, settings: Settings) -> StepsSettings:
        """Return the settings with the family's own."""
        return StepsSettings.of(settings)

    def questions(self) -> QuestionModule[StepsSettings]:
        """Return the module of questions about recipes."""
        from . import step_questions

        return step_questions

    def baseline_makers(self) -> Mapping[str, Callable[[StepsSettings], Model]]:
        """Return what makes the embedded baselines."""
        from .step_baselines import BASELINES

        return BASELINES

    def command_module(self) -> Command:
        """Return the command that builds questions."""
        from . import steps_command

        return steps_command

    def tuning_tasks(self) -> Sequence[TuningTask]:
        """Return the classification, for which the paper fine-tunes models."""
        from .step_tuning import TASKS

        return TASKS

    def episode(self, name: str) -> Episode:
        """Return an episode of this family, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .step_episodes import EPISODES

        return episode(name, EPISODES)

    def labels(self) -> Mapping[str, Label]:
        """Return the labels of questions."""
        expected = Label(("yes", "no", "A", "B"), closed=True)
        return {"previous": Label(), "expected": expected, "seed": Label()}

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and what is asked about."""
        from .steps_tables import AGGREGATES, TABLES

        own = self.own(settings)
        return self.described(
            {"questions": f"{own.source} ({own.split} split)", "query": own.prompt_name},
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"previous": "previous steps"},
        )


steps = Steps()
