"""The prompts of TaskLAMA."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ....benchmarks.prompt_folder import PromptFolder

PROMPTS: Final = PromptFolder("tasklama", Path(__file__).parent)
