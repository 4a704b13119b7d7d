"""The circumstances of a run: when, where and with what it was made."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Provenance:
    """The circumstances of a run; what could not be found out is empty."""

    started: str = ""  # date and time with the offset of the zone, ISO 8601, to the second
    seconds: float | None = None  # duration from the start of the session to its last report
    command: tuple[str, ...] = ()  # the words of the command line, without keys and passwords
    commit: str = ""  # the commit that git checked out in the folder of the project
    dirty: bool | None = None  # True if git reported changes to it; None if unknown
    versions: dict[str, str] = field(default_factory=dict)  # package, or "python", -> version
    platform: str = ""  # operating system and machine
