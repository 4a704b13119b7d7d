"""Argo Workflows (files `.yml`, `.yaml`), read only; the rules are in docs/reference/notations.md.

Each template with `dag` or `steps` is a workflow, named by the template; a task that uses such a template is composite
and refers to it.
"""

from __future__ import annotations

import re

from ...workflow.model import Workflow
from ..notation import Interpretation, Notation, only_read

_API = re.compile(r"""^["']?apiVersion["']?\s*:\s*["']?argoproj\.io/""", re.MULTILINE)
_KIND = re.compile(r"""^["']?kind["']?\s*:\s*["']?(?:(?:Cluster)?WorkflowTemplate|(?:Cron)?Workflow)\b""", re.MULTILINE)


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    return _interpret(text, where).workflows


def _interpret(text: str, where: str = "") -> Interpretation:
    from .read_argo import interpret  # imported here because most runs read no such file

    return interpret(text, where)


ARGO = Notation(
    name="argo",
    title="Argo workflow",
    phrase="as an Argo Workflows manifest",
    suffixes=(".yml", ".yaml"),
    says=frozenset({"parallel", "guards", "mixed", "exceptional", "hierarchy", "references"}),
    guide=(
        "The workflow is an Argo Workflows manifest. Each template with dag or steps is a workflow; the entries of its "
        "dag or steps are its tasks."
    ),
    render=only_read("argo"),
    parse=_parse,
    heading=lambda path: f"# file: {path}",
    interpreter=_interpret,
    recognised_by="`apiVersion: argoproj.io/…` and a kind of workflow",
    recognises=lambda text: bool(_API.search(text) and _KIND.search(text)),
)
