"""The prompts of PAGED: extraction with and without reasoning, the elements of a document, and feedback."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ....benchmarks.prompt_folder import PromptFolder

PROMPTS: Final = PromptFolder("paged", Path(__file__).parent)
