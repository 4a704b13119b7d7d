"""What only one benchmark family has is named in its folder, and not in the rooms that serve every family."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.scoring.forms import FORMS

PACKAGE = Path(__file__).resolve().parents[1] / "pytest_taskgraph"
ROOMS = (
    *("plugin", "results", "reports", "commands", "models", "soundness"),
    *("benchmarks/episodes", "benchmarks/llm_judge"),
)
MODULES = (
    "trial.py", "asking.py", "diagram.py", "catalog.py", "benchmarks/family.py", "benchmarks/settings.py",
    "benchmarks/instances.py", "benchmarks/drawn_instances.py", "benchmarks/lint_rule.py",
    "benchmarks/linted_suite.py", "benchmarks/method_family.py", "benchmarks/prompts.py", "benchmarks/templates.py",
)  # fmt: skip
OTHER_MEANINGS = (
    r"unicodedata\.category",  # of a character
    r"csv\.reader",
    r"string_pattern_mismatch|pattern=\"\^",  # a regular expression, in pydantic's words
    r"colours that the reader prefers",  # who reads a page
)
WORDS = ("workflow", "notation", "pattern", "category", "reader", "structure", "behaviour", "functionality")
# Families whose names are everyday words, and a word that only they may use.
PLAIN_WORDS = {"steps": "recipe"}
PLURALS = {"category": "categories", "structure": "structures"}


def family_names() -> list[str]:
    """Return the words that only a family may use: what it is about, its name, and the names of answer forms."""
    nouns = [*WORDS, *(PLURALS.get(word, f"{word}s") for word in WORDS)]
    families = [name for name in FAMILIES if name not in PLAIN_WORDS]
    forms = [name for name in FORMS if "-" in name]
    return [*nouns, *families, *PLAIN_WORDS.values(), *forms]


def generic_files() -> Iterator[Path]:
    """Yield the files of the rooms that serve every family, templates included."""
    for room in ROOMS:
        yield from (path for path in sorted((PACKAGE / room).rglob("*")) if path.suffix in (".py", ".jinja", ".js"))
    yield from (PACKAGE / module for module in MODULES)


def found_in(text: str, words: list[str]) -> list[str]:
    """Return the lines that name one of the words, in code, comments or texts."""
    expression = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, words))})(?![A-Za-z])", re.IGNORECASE)
    bare = re.sub("|".join(OTHER_MEANINGS), "", text)
    return [line.strip() for line in bare.splitlines() if expression.search(line)]


def test_generic_rooms_name_nothing_of_family() -> None:
    files, names = list(generic_files()), family_names()
    found = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in files
        if (lines := found_in(path.read_text(encoding="utf-8"), names))
    }
    assert found == {}
    assert len(files) > 150


@pytest.mark.parametrize(
    "line",
    ["for pattern in patterns:", '"""The workflow."""', "titles = ['category']", "form == 'yes-no'", "notation_of"],
)
def test_found_in_line_that_names_something_of_family_returns_it(line: str) -> None:
    assert found_in(f"first\n{line}\nlast", family_names()) == [line]
