"""The names that the reader of an answer must know beforehand."""

from __future__ import annotations

import re
from collections import Counter

from ...scoring.written_lists import is_function_word
from ...workflow.model import Workflow
from ...workflow.project import every_level
from ...workflow.references import nested

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def known_names(workflow: Workflow, level: Workflow) -> list[str]:
    """The names that a reader of lists would cut in pieces or strip if it did not know them; paths where they clash."""
    names = {n for each in every_level(workflow) for n in (*each.task_names, *(d.name for d in each.data))}
    paths = nested(level)
    twice = {leaf for leaf, n in Counter([*level.task_names, *(path[-1] for path in paths)]).items() if n > 1}
    odd = {name for name in names if not _PLAIN_NAME.fullmatch(name) or _reads_as_prose(name)}
    return sorted(odd | {".".join(path) for path in paths if path[-1] in twice})


def _reads_as_prose(name: str) -> bool:
    return name.lower() in {"none", "empty"} or is_function_word(name)
