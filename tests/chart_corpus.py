"""The corpus of Mermaid charts with answers that were worked out by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "charts" / "corpus.md"
_ENTRY = re.compile(r"^## ([^\n]+)\n```mermaid\n(.*?)^```\n((?:- [^\n]+\n)+)", re.MULTILINE | re.DOTALL)
KINDS = ("not supported", "next", "before", "inside", "reads", "writes", "first", "last", "cycle", "tasks")


@dataclass(frozen=True)
class Sample:
    """A chart with its answers: (kind, task) to names."""

    title: str
    chart: str
    answers: dict[tuple[str, str], list[str]]


def samples() -> list[Sample]:
    """Return all charts of the corpus."""
    return [Sample(found[1], found[2], dict(map(answer, found[3].splitlines()))) for found in entries()]


def entries() -> list[re.Match[str]]:
    """Return title, chart and answers of each chart, as written."""
    return list(_ENTRY.finditer(CORPUS.read_text(encoding="utf-8")))


def answer(line: str) -> tuple[tuple[str, str], list[str]]:
    """Return what a line such as `- next Build: Test` asks, and the names that it gives."""
    asked, _, given = line.removeprefix("- ").rpartition(": ")
    kind = next(one for one in KINDS if asked == one or asked.startswith(f"{one} "))
    return (kind, asked.removeprefix(kind).strip()), sorted(name for name in given.split("; ") if name != "-")


SAMPLES = samples()
READ = [one for one in SAMPLES if ("not supported", "") not in one.answers]
