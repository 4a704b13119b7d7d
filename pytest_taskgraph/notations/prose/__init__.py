"""Controlled English: one sentence a line, names in single quotes; whoever keeps to the sentences is read.

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

import re

from ...source import Source
from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import Notation
from ..phrases import quote, quoted_in
from .sentences import NAME, SENTENCES, Misread, ProseLevel
from .write_prose import render

DEEPEST = 64  # composite tasks inside one another
_LEVEL = re.compile(rf"Workflow (?P<name>{NAME}):|Inside the composite task (?P<path>{NAME}(?: of the task {NAME})*):")
_PASSED_OVER = re.compile(rf"From the file {NAME}:")
_MARK = re.compile(r"[ \t\r\ufeff]*(?:(?:#+|[-*])[ \t]+)?")


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """The workflows that the prose tells, in its order. Raises ReadError for a sentence that is not of the table."""
    source = Source(text, where)
    wholes: list[ProseLevel] = []
    level: ProseLevel | None = None
    offset = 0
    for line in text.split("\n"):
        mark = _MARK.match(line)
        start = mark.end() if mark else 0
        sentence = line[start:].strip()
        if sentence and not _PASSED_OVER.fullmatch(sentence):
            level = _told(source, offset + start, sentence, level, wholes)
        offset += len(line) + 1
    if not wholes:
        source.fail(len(text), "no workflow", "a line such as: Workflow 'Name':")
    return tuple(one.workflow() for one in wholes)


def _told(source: Source, offset: int, sentence: str, level: ProseLevel | None, wholes: list[ProseLevel]) -> ProseLevel:
    """The level that the next sentence tells of; the sentence is taken in. Raises ReadError."""
    found: re.Match[str] | None = None
    try:
        if found := _LEVEL.fullmatch(sentence):
            return _entered(found, wholes)
        if level is None:
            raise Misread(repr(sentence[:40]), "first a line such as: Workflow 'Name':")
        for kind in SENTENCES:
            if found := kind.pattern.fullmatch(sentence):
                kind.tell(level, found)
                return level
        raise Misread(repr(sentence[:60]), "a sentence such as: " + " | ".join(_nearest(sentence)))
    except Misread as error:
        source.fail(offset + (found.start(error.group) if found and error.group else 0), error.found, error.expected)


def _nearest(sentence: str) -> list[str]:
    """The examples that begin most like the sentence."""

    def shared(example: str) -> int:
        pairs = zip(example.split("'")[0], sentence.split("'")[0], strict=False)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), 1000)

    best = max(shared(one.example) for one in SENTENCES)
    return [one.example for one in SENTENCES if shared(one.example) == best]


def _entered(found: re.Match[str], wholes: list[ProseLevel]) -> ProseLevel:
    """The level that a heading names."""
    if found["name"]:
        wholes.append(ProseLevel(quoted_in(found["name"])[0]))
        return wholes[-1]
    path = quoted_in(found["path"])
    level = wholes[-1] if wholes else ProseLevel("")
    if len(path) > DEEPEST:
        raise Misread(f"{len(path)} composite tasks inside one another", f"at most {DEEPEST}", "path")
    for name in reversed(path):
        if name not in level.inner:
            raise Misread(f"the task {name[:60]!r}", "a task that was said to be composite", "path")
        level = level.inner[name]
    return level


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    # most runs write only

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
    heading=lambda path: f"From the file {quote(path)}:",
)
