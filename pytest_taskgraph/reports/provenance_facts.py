"""The circumstances of a run in words: date, duration, command line, commit, versions, platform, question sets."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from ..installation import DISTRIBUTION
from ..results.record import About
from .wording import duration


def provenance_facts(about: About) -> list[tuple[str, str]]:
    """Return when, where and with what a run was made, as names and values; what is unknown is left out."""
    facts = [("question sets", ", ".join(f"{family} {version}" for family, version in about.question_sets.items()))]
    provenance = about.provenance
    if provenance is None:
        return [(name, value) for name, value in [*facts, (DISTRIBUTION, about.version)] if value]
    versions = {DISTRIBUTION: about.version} | provenance.versions
    changed = {True: ", with uncommitted changes", False: "", None: ""}[provenance.dirty]
    facts = [
        ("date", date_text(provenance.started)),
        ("duration", "" if provenance.seconds is None else duration(provenance.seconds)),
        ("command", shlex.join(provenance.command)),
        ("git commit", provenance.commit and provenance.commit + changed),
        *facts,
        *(("Python" if name == "python" else name, version) for name, version in versions.items()),
        ("platform", provenance.platform),
    ]
    return [(name, value) for name, value in facts if value]


def date_text(started: str) -> str:
    """Return a date and time of ISO 8601 as `2026-11-23 14:05:09 +01:00`; a damaged one as it is."""
    moment = _parse_date(started)
    if moment is None:
        return started
    zone = moment.strftime("%z")
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" {zone[:3]}:{zone[3:5]}" if zone else "")


def moment_of(started: str) -> datetime | None:
    """Return the moment that a date and time of ISO 8601 states, in UTC if without a zone; None for a damaged one."""
    moment = _parse_date(started)
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _parse_date(started: str) -> datetime | None:
    try:
        return datetime.fromisoformat(started)
    except ValueError:
        return None
