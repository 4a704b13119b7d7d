from __future__ import annotations

from pathlib import Path

import pytest
from tiny_language_model import prepare_environment, save_tiny

prepare_environment()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that takes 128 tokens."""
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")
