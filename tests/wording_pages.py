"""All words that a model under test reads, written out as pages of tests/wording/words.

`python tests/wording_pages.py` writes the pages again after a change of words, so that the change shows in review.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_taskgraph.benchmarks.llm_judge import judge_template
from pytest_taskgraph.families.understanding.agent import TOOLS
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.structure.operators import EXTENT, MEANING
from pytest_taskgraph.families.understanding.patterns.structure.tasks import PROPERTIES
from pytest_taskgraph.families.understanding.prompts import PROMPTS, prompt_template
from pytest_taskgraph.families.understanding.questions.composition import NOT_SHOWN
from pytest_taskgraph.generation.vocabularies import Goal, Vocabulary, vocabulary, vocabulary_names
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.notation import DURATIONS, EXCEPTIONAL_LINKS
from pytest_taskgraph.scoring.forms import FORMS

FOLDER = Path(__file__).parent / "wording" / "words"
COMMAND = "python tests/wording_pages.py"
NAMES = (("Boil", "Brew"), ("none", "Brew"), ("Boil, stir", "Brew"), ("Boil, stir", "Brew; pour"))


def pages() -> dict[str, str]:
    """Return the text of every page, by the name of its file."""
    lines_by_name = {
        "patterns.txt": _patterns(),
        "answers.txt": _answers(),
        "notations.txt": _notations(),
        "prompts.txt": _prompts(),
        **{f"vocabulary_{name}.txt": page_of_vocabulary(vocabulary(name)) for name in vocabulary_names()},
    }
    return {name: "\n".join(lines) + "\n" for name, lines in lines_by_name.items()}


def write_pages() -> None:
    """Write all pages, and remove those of which there are no words any more."""
    current = pages()
    for path in FOLDER.glob("*.txt"):
        if path.name not in current:
            path.unlink()
    for name, text in current.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def _patterns() -> Iterator[str]:
    for pattern in catalogue().values():
        yield f"{pattern.name} ({pattern.form})"
        yield from (f"  {number}. {template}" for number, template in enumerate(pattern.templates, 1))
        yield ""
    yield "What the words of an operator are"
    yield from (f"  {operator}: {meaning}" for operator, meaning in MEANING.items())
    yield from (f"  {operator}: ... Name all tasks {extent}." for operator, extent in EXTENT.items())
    yield ""
    yield "What a task may have"
    for each in PROPERTIES:
        yield from (f"  {each.name} 1. tasks that {each.plural}", f"  {each.name} 2. a task that {each.singular}")


def _answers() -> Iterator[str]:
    for form in FORMS.values():
        yield form.name
        instructions = dict.fromkeys(form.instruct(names) for names in NAMES)
        yield from (f"  {instruction}" for instruction in instructions)
        yield ""


def _notations() -> Iterator[str]:
    for notation in NOTATIONS.values():
        yield f"{notation.name}: {notation.title}"
        yield f"  Here is a workflow, written {notation.phrase}."
        yield from (f"  {sentence}" for sentence in _sentences(notation.guide))
        for kind, text in (
            ("exceptional links", f"{notation.exceptional_guide} {EXCEPTIONAL_LINKS}"),
            ("durations", f"{notation.duration_guide} {DURATIONS}"),
        ):
            yield from (f"  With {kind}: {sentence}" for sentence in _sentences(text))
        yield f"  Above a file: {notation.heading('folder/W.txt')}"
        yield ""


def _sentences(text: str) -> list[str]:
    return text.replace(". ", ".\n").split("\n")


def _prompts() -> Iterator[str]:
    for name in PROMPTS:
        yield f"==== prompt {name}"
        yield prompt_template(name).source
    yield "==== the judge of open answers"
    yield judge_template()
    yield "==== instead of the workflow, for an agent"
    yield NOT_SHOWN
    yield "==== the tools of an agent"
    yield json.dumps(TOOLS, indent=1)


def page_of_vocabulary(words: Vocabulary) -> list[str]:
    """Return the lines of the page of a vocabulary: whatever it calls or describes."""
    return list(_vocabulary(words))


def _vocabulary(words: Vocabulary) -> Iterator[str]:
    yield from _section("Workflows", (f"{name}: {text}" for name, text in words.workflows))
    yield from _section(
        "Tasks",
        (
            f"{task.name} ({task.kind}; reads {_join(task.reads)}; writes {_join(task.writes)}): {task.description}"
            for task in words.tasks
        ),
    )
    yield from _section("Composite tasks", (f"{task.name}: {task.description}" for task in words.composites))
    yield from _section("Data", (f"{name}: {text}" for name, text in words.data))
    yield from _section("Schemas", (f"{name}: {text}" for name, text in words.schemas))
    conditions = (f"{c.parameter} ({c.low} to {c.high}) >= {c.limit}: {c.holds}" for c in words.conditions)
    yield from _section("Conditions that hold", conditions)
    yield from _section("Conditions that fail", (f"{o.parameter} < {o.limit}: {o.fails}" for o in words.conditions))
    yield from _section("Modes", (f"{name}: {_join(values)}" for name, values in words.modes))
    yield from _section("Parameters", words.settings)
    yield from _section("Kinds", words.kinds)
    for goal in words.goals:
        yield from _section(f"Goal {goal.name}: {goal.description}", _goal(goal))


def _goal(goal: Goal) -> Iterator[str]:
    for way in goal.alternatives:
        about = f"{way.task}, parameter {way.parameter}" if way.parameter else way.task
        yield from (f"{about} fits: {way.fits}", f"{about} contradicts: {way.contradicts}", f"{about}: {way.reason}")


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    indented = [f"  {line}" for line in lines]
    return [heading, *indented, ""] if indented else []


def _join(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


if __name__ == "__main__":
    write_pages()
