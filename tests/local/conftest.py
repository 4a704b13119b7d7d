from __future__ import annotations

from pathlib import Path

import pytest
from tiny_language_model import keep_offline, save_tiny

keep_offline()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that takes 128 tokens."""
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")
