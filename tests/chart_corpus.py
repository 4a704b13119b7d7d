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
    return [Sample(entry[1], entry[2], dict(map(answer, entry[3].splitlines()))) for entry in entries()]


def entries() -> list[re.Match[str]]:
    """Return title, chart and answers of each chart, as written."""
    return list(_ENTRY.finditer(CORPUS.read_text(encoding="utf-8")))


def answer(line: str) -> tuple[tuple[str, str], list[str]]:
    """Return what a line such as `- next Build: Test` asks, and the names that it gives."""
    question, _, given = line.removeprefix("- ").rpartition(": ")
    kind = next(candidate for candidate in KINDS if question == candidate or question.startswith(f"{candidate} "))
    return (kind, question.removeprefix(kind).strip()), sorted(name for name in given.split("; ") if name != "-")


SAMPLES = samples()
READ = [sample for sample in SAMPLES if ("not supported", "") not in sample.answers]
