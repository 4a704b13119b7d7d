"""Profiles: bundles of other options, of which every one may still be set otherwise by flag, environment or ini.

Families add values for options of their own (`Family.profiles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..benchmarks.family import Family


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
            "a look while one writes a prompt template: few questions, nothing fails",
            instances="1", repeats="1", retries="2", progress="10", fail_on="nothing",
        ),
        "ci": _profile(
            "a verdict on every push, which a provider's bad minute does not decide",
            instances="4", repeats="1", retries="8", progress="60", max_errors="0.02",
        ),
        "full": _profile(
            "a measurement to publish: many questions, each asked three times",
            instances="20", repeats="3", retries="8", progress="60",
        ),
    }
)  # fmt: skip


def profile_options(profile: str, families: Iterable[Family]) -> dict[str, str]:
    """Return the values that a profile gives options, those of families included; none for the empty name."""
    if not profile:
        return {}
    own = (family.profiles.get(profile, {}) for family in families)
    return {name: value for options in (PROFILES[profile].options, *own) for name, value in options.items()}
