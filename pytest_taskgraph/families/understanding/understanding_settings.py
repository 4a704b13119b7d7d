"""The settings of the family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ...benchmarks.settings import Settings
from .family_options import OPTIONS, SHOWN_VERBATIM, Names, Phrasing, Presentation

OWN: Final = {
    "tasks": "tasks",
    "notation": "notations",
    "names": "names",
    "phrasing": "phrasing",
    "workflow": "workflows",
    "verbatim": "verbatim",
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
    convert: bool = False  # show own files in `notations` instead of their own
    names: Names = "mixed"  # of tasks and data in generated workflows; mixed: each kind in turn
    phrasing: Phrasing = "both"
    presentation: Presentation = "inline"  # the workflow in the prompt, or specifications that the model asks for
    vary: tuple[str, ...] = ()  # kinds of variations in which each question is repeated
    workflows: tuple[str, ...] = ()  # the user's own files and folders
    verbatim: bool = False  # show their files as they are; the paths then end in SHOWN_VERBATIM
    question: str = ""  # text of the only question that a suite asks about them; empty: all questions

    @classmethod
    def of(cls, settings: Settings) -> UnderstandingSettings:
        """Return the settings of a run with the family's own; settings of the family are returned unchanged."""
        return settings if isinstance(settings, cls) else _extended_settings(settings)


@lru_cache(maxsize=16)  # each question of a run is built with the same settings, those of its suite
def _extended_settings(settings: Settings) -> UnderstandingSettings:
    options = {OWN[option.name]: option for option in OPTIONS}
    own = settings.extended(UnderstandingSettings, options, convert="notation" in settings.own)
    if not own.verbatim:
        return own
    return replace(own, workflows=tuple([path.removesuffix(SHOWN_VERBATIM) + SHOWN_VERBATIM for path in own.workflows]))
