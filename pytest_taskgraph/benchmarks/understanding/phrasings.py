"""The words of a pattern's question: its own templates, or those of the user's folder that stand in for them.

A file `patterns/NAME.jinja` of the folder holds the phrasings of the pattern NAME, separated by lines `{# or #}`; they
see what the pattern's own templates see.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from ...errors import UnknownNameError, UsageError
from ..frames import Example, frame, frame_files
from ..settings import Phrasing, Settings
from ..templates import files_of, source_of, template
from .catalogue import catalogue
from .pattern import Pattern

FOLDER = "patterns"
_OR = re.compile(r"^[ \t]*\{#-?[ \t]*or[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


@lru_cache(maxsize=512)
def worded(pattern: Pattern, templates: str) -> Pattern:
    """The pattern, in the words that the folder has for it."""
    path = files_of(templates, FOLDER).get(pattern.name) if templates else None
    if path is None:
        return pattern
    parts = [part.strip() for part in _OR.split(source_of(path))]
    if not all(parts):
        raise UsageError(f"{path}: an empty phrasing; expected question templates with lines {{# or #}} between them")
    for number, part in enumerate(parts, 1):
        template(part, f"{path} (phrasing {number})")
    return replace(pattern, templates=tuple(parts))


def phrasing_of(words: Pattern, ordinal: int, which: Phrasing) -> int:
    """The place, from 0, of the phrasing that asks the question of that ordinal."""
    return {"first": 0, "second": 1}.get(which, ordinal >> 1) % len(words.templates)


def check_templates(settings: Settings) -> None:
    """Nothing, if frame and folder can be used. Raises UsageError, UnknownNameError.

    A name that a frame does not see is to be told before anything is asked.
    """
    names = frame_files(settings.templates) if settings.templates else ()
    for name in sorted({settings.frame, *names}):
        for examples in ((), (Example("", "", ""),)):
            frame(name, settings.templates).compose(
                workflow="", notation="", in_notation="", guide="", question="", instruction="", examples=examples
            )
    chosen = frame(settings.frame, settings.templates)
    if (settings.shots or chosen.shots) and not chosen.shows_examples:
        raise UsageError(f"frame {chosen.name} shows no examples; let it show {{{{ examples }}}}, or ask for 0 shots")
    known = catalogue() if settings.templates else {}
    for name in files_of(settings.templates, FOLDER) if settings.templates else ():
        if name not in known:
            raise UnknownNameError(f"pattern (file {FOLDER}/{name}.jinja)", name, known)
        worded(known[name], settings.templates)
