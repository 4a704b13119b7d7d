"""The prompts of STEPS; `paper.jinja` is the query of Wang et al. (2023), section 3.4."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ....benchmarks.prompt_folder import PromptFolder

PROMPTS: Final = PromptFolder("steps", Path(__file__).parent)
