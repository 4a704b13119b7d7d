"""What all models have in common whose asking means to ask a provider: settings, part of which decides the reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..asking import Model
from ..trial import Json


class Live(Model, Protocol):
    """A model at a provider, or a layer around one; `settings` may hold keys."""

    settings: Mapping[str, Json]
