"""The options of the family, as the command line has them. This module imports nothing heavy."""

from __future__ import annotations

from typing import Final

from ..option import Option

OPTIONS: Final = (
    Option(
        "tasks",
        "N[,N]",
        "sizes of generated workflows, in tasks",
        "12",
        kind="whole-list",
        least=1,
    ),
    Option(
        "notation",
        "NAME[,NAME]",
        "how workflows are written: wadl, wadl-separate, wadl-expanded, mermaid, json, prose; own files are converted "
        "only where this is given",
        "wadl",
        kind="list",
    ),
    Option(
        "names",
        "KIND",
        "names in generated workflows: neutral (Task7), domain (tasks of a domain, in an order that makes sense), "
        "misleading (in one that contradicts sense), or mixed (each in turn)",
        "mixed",
        choices=("mixed", "neutral", "domain", "misleading"),
    ),
    Option("phrasing", "WHICH", "first, second, or both in turn", "both", choices=("both", "first", "second")),
    Option(
        "workflow",
        "PATH",
        "ask about your own workflow: a file, or a folder that is one project. Its text is sent to the model. "
        "Repeatable",
        repeatable=True,
    ),
    Option(
        "presentation",
        "KIND",
        "inline: the workflow stands in the prompt; agent: the model asks for specifications through tools",
        "inline",
        choices=("inline", "agent"),
    ),
    Option(
        "vary",
        "RELATION[,RELATION]",
        "ask each question also renamed, shuffled, in another notation, in the other phrasing, or beside another "
        "workflow: names, order, notation, phrasing, distractor; in a table of its own, in no rate",
        kind="list",
    ),
)

HELP: Final = {
    "instances": "a pattern, size and notation",
    "shots": "workflows",
    "gate": "structure>=0.8, next_tasks.jaccard>=0.7, or structure>=0.8@95%",
}
"""What shared options are about here."""

PROFILES: Final = {
    "dev": {"phrasing": "first"},
    "full": {"phrasing": "both", "notation": "wadl,mermaid,json"},
}
"""The values that profiles give options of the family."""
