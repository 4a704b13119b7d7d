"""Profiles: bundles of other options, of which every one may still be set otherwise by flag, environment or ini."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Profile:
    """A bundle: what it is for, and the values of options by their names, as they would stand in an ini file.

    None sets a model: a run must never ask another one than its user named.
    """

    summary: str
    options: Mapping[str, str]


def _profile(summary: str, **options: str) -> Profile:
    return Profile(summary, MappingProxyType({name.replace("_", "-"): value for name, value in options.items()}))


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "dev": _profile(
            "a look while one writes a frame: one question a pattern, nothing fails",
            instances="1", phrasing="first", repeats="1", retries="2", progress="10", judge="none",
        ),
        "ci": _profile(
            "a verdict on every push, which a provider's bad minute does not decide",
            instances="4", repeats="1", retries="8", progress="60", max_errors="0.02",
        ),
        "full": _profile(
            "a measurement to publish: many questions, each asked three times, in three notations",
            instances="20", repeats="3", phrasing="both", notation="wadl,mermaid,json", retries="8", progress="60",
        ),
    }
)  # fmt: skip


def profiled(profile: str, option: str) -> list[str] | None:
    """The values that a profile gives an option; None where it gives none, or for the empty name of no profile."""
    stated = PROFILES[profile].options.get(option) if profile else None
    return None if stated is None else [stated]
