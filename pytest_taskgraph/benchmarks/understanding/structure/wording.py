"""Sentences that several patterns share."""

from __future__ import annotations

from typing import Final

OWN_LEVEL: Final = "{% if nested %} Leave out what lies inside its composite tasks.{% endif %}"
