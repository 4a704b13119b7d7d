"""What determines a question about a generated workflow beside its reference, the settings and this package."""

from __future__ import annotations

from ....benchmarks.settings import Settings
from ....trial import Json
from ..patterns.pattern import PATTERNS
from ..prompts import PROMPTS, prompt_template
from .ingredients import PatternReference
from .phrasings import apply_phrasings


def templates_of(reference: PatternReference, settings: Settings) -> Json:
    """Return the user's templates that take part in a question, as they were read; empty for built-in ones.

    None for a pattern of the user, whose code may change, and for a question about the user's own files.
    """
    pattern = PATTERNS.get(reference.pattern)
    if pattern is None or pattern.category == "custom" or reference.source >= 0 or reference.question:
        return None
    if not settings.templates and settings.prompt in PROMPTS:
        return []
    prompt = prompt_template(settings.prompt, settings.templates)
    return [prompt.name, prompt.source, *apply_phrasings(pattern, settings.templates).templates]
