"""Controlled English: one sentence per line, names in single quotes. Any text in these sentences can be read.

Workflow 'Soup':
    The workflow has the tasks 'Cook', 'Chop' and 'Serve'.
    The workflow has the data 'Broth'.
    The task 'Cook' is implemented by 'cook.py'.
    The task 'Cook' takes 30 minutes.
    The fork 'F' starts all of its branches.
    The workflow starts with the fork 'F'.
    After the fork 'F' come 'Cook' and 'Chop', side by side.
    After 'Cook' comes 'Cook' if 'salt < 3'.
    After 'Cook' comes 'Serve' otherwise.
    After 'Serve', the workflow ends.
    If the task 'Cook' fails, 'Serve' comes next.
    The task 'Cook' writes 'Broth'.

All sentences stand in `sentences.py`. Nodes and data are declared before other sentences name them. A composite task
has a section of its own, `Inside the composite task 'Inner' of the task 'Outer':`, whose sentences are about "the
sub-workflow". Marks of headings and lists (#, -, *) before a sentence are ignored. `phrases.py` describes how quotes
in names are escaped.
"""

from __future__ import annotations

import re

from ...source import Source
from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import WAYS_OUT, Notation
from ..phrases import quote, quoted_names
from .sentences import NAME, SENTENCES, MisreadSentenceError, ProseLevel
from .write_prose import render

DEEPEST = 64  # composite tasks inside one another
_LEVEL = re.compile(rf"Workflow (?P<name>{NAME}):|Inside the composite task (?P<path>{NAME}(?: of the task {NAME})*):")
_PASSED_OVER = re.compile(rf"From the file {NAME}:")
_HEADING = re.compile(r"^[ \t\ufeff]*(?:(?:#+|[-*])[ \t]+)?Workflow\b.*:[ \t\r]*$", re.MULTILINE)
_MARK = re.compile(r"[ \t\r\ufeff]*(?:(?:#+|[-*])[ \t]+)?")


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows that the prose states, in its order.

    Raises:
        ReadError: for a sentence that is not in the table, or that contradicts others.
    """
    source = Source(text, where)
    workflows: list[ProseLevel] = []
    level: ProseLevel | None = None
    offset = 0
    for line in text.split("\n"):
        mark = _MARK.match(line)
        start = mark.end() if mark else 0
        sentence = line[start:].strip()
        if sentence and not _PASSED_OVER.fullmatch(sentence):
            level = _read_sentence(source, offset + start, sentence, level, workflows)
        offset += len(line) + 1
    if not workflows:
        source.fail(len(text), "no workflow", "a line such as: Workflow 'Name':")
    return tuple(level.workflow() for level in workflows)


def _read_sentence(
    source: Source, offset: int, sentence: str, level: ProseLevel | None, workflows: list[ProseLevel]
) -> ProseLevel:
    """Add the content of the next sentence, and return the level that the following sentences belong to.

    Raises:
        ReadError: for a sentence that is not in the table, or that contradicts others.
    """
    match: re.Match[str] | None = None
    try:
        if match := _LEVEL.fullmatch(sentence):
            return _enter_level(match, workflows)
        if level is None:
            raise MisreadSentenceError(repr(sentence[:40]), "first a line such as: Workflow 'Name':")
        for sentence_kind in SENTENCES:
            if match := sentence_kind.pattern.fullmatch(sentence):
                sentence_kind.handle(level, match)
                return level
        raise MisreadSentenceError(
            repr(sentence[:60]), "a sentence such as: " + " | ".join(_similar_examples(sentence))
        )
    except MisreadSentenceError as error:
        source.fail(offset + (match.start(error.group) if match and error.group else 0), error.found, error.expected)


def _similar_examples(sentence: str) -> list[str]:
    """Return the examples whose beginnings are most similar to the sentence."""

    def shared(example: str) -> int:
        pairs = zip(example.split("'")[0], sentence.split("'")[0], strict=False)
        return next((at for at, (character, other) in enumerate(pairs) if character != other), 1000)

    longest = max(shared(kind.example) for kind in SENTENCES)
    return [kind.example for kind in SENTENCES if shared(kind.example) == longest]


def _enter_level(match: re.Match[str], workflows: list[ProseLevel]) -> ProseLevel:
    """Return the level that a heading names."""
    if match["name"]:
        workflows.append(ProseLevel(quoted_names(match["name"])[0]))
        return workflows[-1]
    path = quoted_names(match["path"])
    level = workflows[-1] if workflows else ProseLevel("")
    if len(path) > DEEPEST:
        raise MisreadSentenceError(f"{len(path)} composite tasks inside one another", f"at most {DEEPEST}", "path")
    for name in reversed(path):
        if name not in level.inner:
            raise MisreadSentenceError(f"the task {name[:60]!r}", "a task declared as composite before", "path")
        level = level.inner[name]
    return level


PROSE = Notation(
    name="prose",
    title="plain English",
    phrase="in plain English",
    suffixes=(".txt", ".md", ".markdown", ".mdx"),
    says=FEATURES - {"derivation"},
    guide=(
        'The workflow is told in sentences, with names in single quotes. What "comes" after a node is control flow, '
        'taken only under the condition behind "if" where there is one; "otherwise" means that no other condition at '
        'that node holds, and what comes "side by side" is all started. '
        f"{WAYS_OUT} A fork, a choice, a join and a merge are no "
        'tasks: they only lead on to what comes after them. "Reads" and "writes" are data flow. A composite task '
        'consists of what its section "Inside the composite task" tells, or of the workflow that it uses.'
    ),
    exceptional_guide=(
        "\"If the task 'A' fails, 'B' comes next.\" states an exceptional link of the control flow from A to B."
    ),
    duration_guide="\"The task 'A' takes 30 minutes.\" states the duration of A.",
    render=render,
    parse=parse,
    heading=lambda path: f"From the file {quote(path)}:",
    recognises=lambda text: _HEADING.search(text) is not None,
    recognised_by="a line such as `Workflow 'Name':`",
)
