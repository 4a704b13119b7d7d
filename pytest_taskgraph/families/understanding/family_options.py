"""Options of the family and the settings read from them. This module imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from ...benchmarks.settings import Option, Settings

TASKS: Final = Option("tasks", "N[,N]", "sizes of generated workflows, in tasks", "12", kind="whole-list", least=1)
NOTATION: Final = Option(
    "notation",
    "NAME[,NAME]",
    "notations of workflows: wadl, wadl-separate, wadl-expanded, mermaid, json, prose; own files are converted "
    "only if it is given",
    "wadl",
    kind="list",
)
NAMES: Final = Option(
    "names",
    "KIND",
    "names in generated workflows: neutral (Task7), domain (names fit the order of tasks), misleading (names "
    "contradict it), or mixed (each in turn)",
    "mixed",
    choices=("mixed", "neutral", "domain", "misleading"),
)
WORKFLOW: Final = Option(
    "workflow",
    "PATH",
    "workflow of your own: a file, or a folder that is one project; its text is sent to the model. Repeatable",
    repeatable=True,
    kind="path",
)

OPTIONS: Final = (
    TASKS,
    NOTATION,
    NAMES,
    Option(
        "phrasing",
        "WHICH",
        "phrasing of questions: first, second, or both in turn",
        "both",
        choices=("both", "first", "second"),
    ),
    WORKFLOW,
    Option(
        "presentation",
        "KIND",
        "how the workflow reaches the model: inline (in the prompt), or agent (on request, through tools)",
        "inline",
        choices=("inline", "agent"),
    ),
    Option(
        "vary",
        "RELATION[,RELATION]",
        "variations of each question (names, order, notation, phrasing, distractor), in a table of their own",
        kind="list",
    ),
)


def prompt_names() -> list[str]:
    """Return the names of the built-in prompt templates, from their file names."""
    return sorted(file.stem.replace("_", "-") for file in Path(__file__).with_name("prompts").glob("*.jinja"))


HELP: Final = {
    "instances": "per pattern, size and notation",
    "shots": "workflows",
    "gate": "structure>=0.8, next_tasks.jaccard>=0.7, or structure>=0.8@95%",
    "prompt": ", ".join(prompt_names()),
}
"""Texts for the help of shared options."""


Names = Literal["mixed", "neutral", "domain", "misleading"]
Phrasing = Literal["both", "first", "second"]
Presentation = Literal["inline", "agent"]

OWN: Final = {
    "tasks": "tasks",
    "notation": "notations",
    "names": "names",
    "phrasing": "phrasing",
    "workflow": "workflows",
    "presentation": "presentation",
    "vary": "vary",
}
"""Options of the family, with the fields of UnderstandingSettings that hold them."""


@dataclass(frozen=True, slots=True)
class UnderstandingSettings(Settings):
    """Settings that determine the questions about workflows, their presentation, and the parsing of answers.

    Of generated workflows there are `instances` questions for each pattern, size and notation.
    """

    tasks: tuple[int, ...] = (12,)  # sizes of generated workflows
    notations: tuple[str, ...] = ("wadl",)
    convert: bool = False  # show own files in `notations` instead of verbatim
    names: Names = "mixed"  # of tasks and data in generated workflows; mixed: each kind in turn
    phrasing: Phrasing = "both"
    presentation: Presentation = "inline"  # the workflow in the prompt, or specifications that the model asks for
    vary: tuple[str, ...] = ()  # kinds of variations in which each question is repeated
    workflows: tuple[str, ...] = ()  # the user's own files and folders
    question: str = ""  # text of the only question that a suite asks about them; empty: all questions

    @classmethod
    def of(cls, settings: Settings) -> UnderstandingSettings:
        """Return the settings of a run with the family's own; settings of the family are returned unchanged."""
        return settings if isinstance(settings, cls) else _extended_settings(settings)


@lru_cache(maxsize=16)  # each question of a run is built with the same settings, those of its suite
def _extended_settings(settings: Settings) -> UnderstandingSettings:
    options = {OWN[option.name]: option for option in OPTIONS}
    return settings.extended(UnderstandingSettings, options, convert="notation" in settings.own)
