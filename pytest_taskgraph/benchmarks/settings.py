"""What a run asks for, once read from flags, environment and ini by the plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..trial import Reading

Phrasing = Literal["both", "first", "second"]
Names = Literal["mixed", "neutral", "domain", "misleading"]
Presentation = Literal["up-front", "agent"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide which questions there are, how they are put, and how replies are read."""

    seed: int = 0
    instances: int = 4  # questions a pattern, size and notation
    tasks: tuple[int, ...] = (12,)  # sizes of generated workflows
    notations: tuple[str, ...] = ("wadl",)
    convert: bool = False  # whether own files are shown in `notations` instead of verbatim
    names: Names = "mixed"  # of tasks and data in generated workflows; mixed: each kind in turn
    phrasing: Phrasing = "both"
    frame: str = "think-first"  # a name in frames.FRAMES, or a file
    presentation: Presentation = "up-front"  # the workflow in the prompt, or specifications that the model asks for
    shots: int | None = None  # solved examples before the question; None: as many as the frame wants
    templates: str = ""  # a folder whose templates stand in for ours of the same name
    vary: tuple[str, ...] = ()  # relations in which each question is asked once more
    text_metrics: tuple[str, ...] = ("rouge1",)  # of open answers: the first marks, the others stand beside it
    reading: Reading = "lenient"
    workflows: tuple[str, ...] = ()  # the user's own files and folders
    pass_mark: float | None = None  # instead of the form's
    given: frozenset[str] = frozenset()  # the settings that the user of the run set, against what suites suggest
