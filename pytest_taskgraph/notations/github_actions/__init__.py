"""GitHub Actions workflows (files `.yml`, `.yaml`), which are only read: jobs, their `needs` and conditions, steps.

A job is a task named by its key; its steps are the tasks inside it. `docs/reference/notations.md` states the rules.
Several files are one text with lines `# file: path` before them; a job that calls one of these files refers to it.
"""

from __future__ import annotations

from ...workflow.model import Workflow
from ..notation import Interpretation, Notation, only_read
from .workflow_file import GUIDE, HEADING, recognises


def _interpret(text: str, where: str = "") -> Interpretation:
    from .read_actions import interpret  # imported here because most runs read no such file

    return interpret(text, where)


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    return _interpret(text, where).workflows


def _references(text: str) -> tuple[str, ...]:
    from .workflow_file import references

    return references(text)


ACTIONS = Notation(
    name="actions",
    title="GitHub Actions workflow",
    phrase="as a GitHub Actions workflow",
    suffixes=(".yml", ".yaml"),
    says=frozenset({"parallel", "exclusive", "inclusive", "guards", "mixed", "hierarchy", "references"}),
    guide=GUIDE,
    render=only_read("actions"),
    parse=_parse,
    heading=lambda path: f"{HEADING}{path}",
    interpreter=_interpret,
    recognises=recognises,
    recognised_by="the keys `on` and `jobs`",
    references=_references,
)
