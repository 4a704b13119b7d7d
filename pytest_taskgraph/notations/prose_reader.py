"""Prose read back, sentence by sentence."""

from __future__ import annotations

import re

from ..source import Source
from ..workflow.model import Workflow
from . import phrases
from .prose_level import Level, Misread
from .prose_sentences import NAME, SENTENCES

DEEPEST = 64  # composite tasks inside one another
_LEVEL = re.compile(rf"Workflow (?P<name>{NAME}):|Inside the composite task (?P<path>{NAME}(?: of the task {NAME})*):")
_PASSED_OVER = re.compile(rf"From the file {NAME}:")
_MARK = re.compile(r"[ \t\r\ufeff]*(?:(?:#+|[-*])[ \t]+)?")


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """The workflows that the prose tells, in its order. Raises ReadError for a sentence that is not of the table."""
    source = Source(text, where)
    wholes: list[Level] = []
    level: Level | None = None
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


def _told(source: Source, offset: int, sentence: str, level: Level | None, wholes: list[Level]) -> Level:
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


def _entered(found: re.Match[str], wholes: list[Level]) -> Level:
    """The level that a heading names."""
    if found["name"]:
        wholes.append(Level(phrases.quoted_in(found["name"])[0]))
        return wholes[-1]
    path = phrases.quoted_in(found["path"])
    level = wholes[-1] if wholes else Level("")
    if len(path) > DEEPEST:
        raise Misread(f"{len(path)} composite tasks inside one another", f"at most {DEEPEST}", "path")
    for name in reversed(path):
        if name not in level.inner:
            raise Misread(f"the task {name[:60]!r}", "a task that was said to be composite", "path")
        level = level.inner[name]
    return level
