"""Controlled English: one sentence a line, names in single quotes; whoever keeps to the sentences may write it too.

    Workflow 'Soup':
    The workflow has the tasks 'Cook', 'Chop' and 'Serve'.
    The workflow has the data 'Broth'.
    The task 'Cook' is implemented by 'cook.py'.
    The fork 'F' starts all of its branches.
    The workflow starts with the fork 'F'.
    After the fork 'F' come 'Cook' and 'Chop', side by side.
    After 'Cook' comes 'Cook' if 'salt < 3'.
    After 'Cook' comes 'Serve' otherwise.
    After 'Serve', the workflow ends.
    The task 'Cook' writes 'Broth'.

All sentences stand in `prose_sentences.py`. Something is told of before it is spoken about. A composite task has a
section of its own, `Inside the composite task 'Inner' of the task 'Outer':`, in which "the sub-workflow" is meant.
Marks of headings and lists (#, -, *) before a sentence mean nothing. How a quote in a name is written: `phrases.py`.
"""

from __future__ import annotations

from ..workflow.features import FEATURES
from ..workflow.model import Workflow
from . import phrases
from .notation import Notation
from .prose_writer import render


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    from .prose_reader import parse  # most runs write only

    return parse(text, where)


PROSE = Notation(
    name="prose",
    title="plain English",
    phrase="in plain English",
    suffixes=(".txt", ".md"),
    says=FEATURES - {"derivation"},
    guide=(
        'The workflow is told in sentences, with names in single quotes. What "comes" after a node is control flow, '
        'taken only under the condition behind "if" where there is one; "otherwise" means that no other condition at '
        'that node holds, and what comes "side by side" is all started. A fork, a choice, a join and a merge are no '
        'tasks: they only lead on to what comes after them. "Reads" and "writes" are data flow. A composite task '
        'consists of what its section "Inside the composite task" tells, or of the workflow that it uses.'
    ),
    render=render,
    parse=_parse,
    heading=lambda path: f"From the file {phrases.quote(path)}:",
)
