"""Phrasings of a pattern's question: its own templates, or their replacements in the user's folder.

A file `patterns/NAME.jinja` of the folder holds the phrasings of the pattern NAME, separated by lines `{# or #}`; they
have the variables of the pattern's own templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from ....benchmarks.llm_judge import judge_template
from ....benchmarks.prompts import NO_PROMPTS, file_stem, prompt_sources
from ....benchmarks.templates import files_of, source_of, template
from ....errors import UnknownNameError, UsageError
from ..family_options import Phrasing
from ..own_files.projects import has_parameters
from ..patterns import catalogue
from ..patterns.pattern import Pattern, worded_without_parameters
from ..prompts import PROMPTS, prompt_template
from ..understanding_settings import UnderstandingSettings

FOLDER = "patterns"
_RESEMBLES = 0.75  # similarity above which a file name is taken for a misspelt name of a prompt template
_OR = re.compile(r"^[ \t]*\{#-?[ \t]*or[ \t]*-?#\}[ \t]*\r?$", re.MULTILINE)


@lru_cache(maxsize=512)
def apply_phrasings(pattern: Pattern, templates: str) -> Pattern:
    """Return the pattern with the phrasings that the folder has for it."""
    path = files_of(templates, FOLDER).get(pattern.name) if templates else None
    if path is None:
        return pattern
    parts = [part.strip() for part in _OR.split(source_of(path))]
    if not all(parts):
        raise UsageError(f"{path}: an empty phrasing; expected question templates with lines {{# or #}} between them")
    for number, part in enumerate(parts, 1):
        template(part, f"{path} (phrasing {number})")
    return replace(pattern, templates=tuple(parts))


def apply_own_phrasings(pattern: Pattern, templates: str, path: str) -> Pattern:
    """Return the pattern with its phrasings about a project of the user's own.

    These are the phrasings that the folder of templates has, else those for projects without parameters if it has none.
    """
    phrased = apply_phrasings(pattern, templates)
    return worded_without_parameters(pattern) if phrased is pattern and not has_parameters(path) else phrased


def phrasing_of(phrased: Pattern, ordinal: int, which: Phrasing) -> int:
    """Return the index, from 0, of the phrasing for the question of an ordinal."""
    return {"first": 0, "second": 1}.get(which, ordinal >> 1) % len(phrased.templates)


def check_templates(settings: UnderstandingSettings) -> None:
    """Validate the prompt template and the folder of templates, before a request is sent.

    Raises:
        UnknownNameError: if a file of the folder replaces no built-in template.
        UsageError: if a template cannot be rendered, or does not show a required variable.
    """
    if not settings.templates and not settings.shots and PROMPTS.is_built_in(settings.prompt):
        return  # so that a run whose questions are kept does not load Jinja
    available = catalogue()
    names = _own_prompts(settings, available) if settings.templates else []
    for name in sorted({settings.prompt, *names}):
        prompt_template(name, settings.templates).check()
    chosen = prompt_template(settings.prompt, settings.templates)
    if (settings.shots or chosen.shots) and not chosen.shows_examples:
        raise UsageError(f"prompt {chosen.name} shows no examples; let it show {{{{ examples }}}}, or ask for 0 shots")
    if not settings.templates:
        return
    judge_template(settings.templates)
    for name in files_of(settings.templates, FOLDER):
        if name not in available:
            raise UnknownNameError(f"pattern (file {FOLDER}/{name}.jinja)", name, available)
        apply_phrasings(available[name], settings.templates)


def _own_prompts(settings: UnderstandingSettings, patterns: Mapping[str, Pattern]) -> list[str]:
    """Return the names of the prompt templates in the folder.

    A file can have any name, so it is refused only where it resembles a name that would be used.

    Raises:
        UnknownNameError: if a file or a folder seems misnamed.
        UsageError: if a file stands where another folder is read.
    """
    top = Path(settings.templates)
    files = files_of(settings.templates)
    for name in sorted(path.name for path in top.iterdir() if path.is_dir()):
        if name != FOLDER and get_close_matches(name, [FOLDER], 1):
            raise UnknownNameError(f"folder in {settings.templates}", name, [FOLDER])
    used = {Path(settings.prompt).stem} - PROMPTS.keys()
    stems = {file_stem(PROMPTS, name) for name in PROMPTS} | NO_PROMPTS
    for name in files:
        if name in patterns:
            raise UsageError(
                f"{files[name]}: the phrasings of a pattern are read from {top / FOLDER / files[name].name}"
            )
        if name not in stems | used and get_close_matches(name, stems, 1, _RESEMBLES):
            raise UnknownNameError(f"prompt (file {files[name].name})", name, sorted(stems))
    return list(prompt_sources(PROMPTS, settings.templates))
