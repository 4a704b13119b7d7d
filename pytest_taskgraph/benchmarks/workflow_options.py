"""The options of every family that asks about workflows: which workflows, and in which notation."""

from __future__ import annotations

from typing import Final, Literal

from .settings import Option

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

Names = Literal["mixed", "neutral", "domain", "misleading"]
