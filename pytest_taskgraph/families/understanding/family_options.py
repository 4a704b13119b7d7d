"""Options of the family. An idle session imports this module."""

from __future__ import annotations

import os
from typing import Final, Literal

from ...benchmarks.option import Option

TASKS: Final = Option("tasks", "N[,N]", "sizes of generated workflows, in tasks", "12", kind="whole-list", least=1)
NOTATION: Final = Option(
    "notation",
    "NAME[,NAME]",
    "notations of workflows: wadl, wadl-separate, wadl-expanded, mermaid, json, prose, bpmn; own files are "
    "converted only if it is given",
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
    "workflows of your own: a file, a folder or a quoted pattern, formats mixed, or FILE::PROCESS of a BPMN model; "
    "their text is sent to the model. Repeatable",
    repeatable=True,
    kind="path",
)
SHOWN_VERBATIM: Final = " (verbatim)"
"""The end of a path of own workflows whose files are shown verbatim."""

VERBATIM: Final = Option(
    "verbatim",
    "",
    "show workflows of your own as their files hold them: BPMN with its diagram and extensions",
    kind="switch",
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
    VERBATIM,
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
    files = os.listdir(os.path.join(os.path.dirname(__file__), "prompts"))
    return sorted(name.removesuffix(".jinja").replace("_", "-") for name in files if name.endswith(".jinja"))


HELP: Final = {
    "instances": "per pattern, size and notation, of own files per pattern and path",
    "shots": "workflows",
    "gate": "structure>=0.8, next_tasks.jaccard>=0.7, or structure>=0.8@95%",
    "prompt": ", ".join(prompt_names()),
}
"""Texts for the help of shared options."""


Names = Literal["mixed", "neutral", "domain", "misleading"]
Phrasing = Literal["both", "first", "second"]
Presentation = Literal["inline", "agent"]
