"""The benchmark STEPS (Wang et al. 2023): which step comes next in a recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...benchmarks.family import Command, Family, Label, QuestionReference
from ...benchmarks.settings import Settings
from ...errors import UnknownNameError
from .steps_options import HELP, OPTIONS, RECIPES_DATA, SAMPLES_DATA, StepsSettings

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...family_description import FamilyDescription
    from ...trial import Question

# Raised whenever the same reference gives another prompt or another right answer.
QUESTION_SET: Final = 3


class Steps(Family):
    """The family of next steps. The modules of this package are imported when they are first needed."""

    name = "steps"
    topic = "next steps"
    asked = "which step comes next"
    options = OPTIONS
    option_help = HELP
    suite_options = frozenset({"instances"})
    data_names = (SAMPLES_DATA, RECIPES_DATA)
    commands = ("steps",)
    prompt_templates = False
    baselines = ("n-gram", "majority", "random")

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        """Return the questions about recipes, for each method. Raises UsageError."""
        from .step_questions import references

        return references(StepsSettings.of(settings), options.get("instances"))

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        """Return the question that a reference stands for."""
        from .step_questions import question

        return question(reference, StepsSettings.of(settings))

    def check(self, settings: Settings) -> None:
        """Check methods, rule and prompts. Raises UsageError."""
        from .step_questions import check

        check(StepsSettings.of(settings))

    def notices(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the counts and problems of the data, and what is left out, a line each."""
        from .step_questions import notices

        return list(notices(StepsSettings.of(settings), options.get("instances")))

    def episode(self, name: str) -> Episode:
        """Return an episode of this family, or a shared one. Raises UnknownNameError."""
        from ...benchmarks.episodes import episode
        from .step_episodes import EPISODES

        return episode(name, EPISODES)

    def labels(self) -> Mapping[str, Label]:
        """Return the labels of questions."""
        expected = Label(("yes", "no", "A", "B"), closed=True)
        return {"previous": Label(), "expected": expected, "seed": Label()}

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        """Return the metric of a method."""
        from .next_step_methods import METHODS

        return (METHODS[group].metric,)

    def baseline(self, name: str, settings: Settings) -> Model:
        """Return an embedded baseline. Raises UnknownNameError, UsageError."""
        from .step_baselines import BASELINES

        if name not in BASELINES:
            raise UnknownNameError("baseline", name, BASELINES)
        return BASELINES[name](StepsSettings.of(settings))

    def command(self, name: str) -> Command:
        """Return the command that builds questions and fine-tunes. Raises UnknownNameError for any other name."""
        if name not in self.commands:
            return super().command(name)
        from . import steps_command

        return steps_command

    def section(self, group: str) -> str:
        """Return what a method asks for."""
        from .next_step_methods import METHODS

        return METHODS[group].section

    def question_set(self, group: str) -> int:
        """Return QUESTION_SET."""
        return QUESTION_SET

    def description(self, settings: Settings) -> FamilyDescription:
        """Return the methods in the order of reports, their tables, and what is asked about."""
        from ...family_description import FamilyDescription
        from .next_step_methods import METHODS, SECTIONS
        from .steps_tables import AGGREGATES, TABLES

        own = StepsSettings.of(settings)
        return FamilyDescription(
            self.name,
            group="method",
            section="kind",
            cluster="procedure",
            groups=tuple(METHODS),
            sections=SECTIONS,
            facts={"questions": f"{own.source} ({own.split} split)", "query": own.prompt_name},
            question_set=QUESTION_SET,
            aggregates=AGGREGATES,
            tables=TABLES,
            difficulty={"previous": "previous steps"},
        )


steps = Steps()
