"""Pinned examples: questions of a pattern that a person answered from their words alone.

They stand in TOML files, each example in a table `[[PATTERN]]`:

    [[next_task]]
    workflow = "orders.xxp"  # a file beside the TOML file, in any notation
    first = "In workflow 'Orders', which task comes directly after 'Pay'?"
    second = "In workflow 'Orders', to which task does the flow lead from 'Pay'?"
    answer = "Ship"
    tempting = "Pack"

`first`, `second` and so on are the whole questions, in the words of that phrasing. The answer:

- yes-no, yes-no-reason: "yes" or "no"; task, condition, text: the text; number: the number;
- task-set, task-reasons, pair-reason: the list of names; groups: a list of lists;
- task-order: a list of orders, all of which are right;
- any other form: the answer as the form parses it.

`tempting` is a wrong answer that a careless reader would give: an additional name in a set, a whole answer in other
forms. `flaw` describes the planted flaw by kind and details. `why` is for the reader of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from ....errors import UsageError
from ....scoring.forms import form
from ....scoring.measurement import measure_answer
from ....scoring.metrics import MODEL_METRICS, metric
from ....trial import Json
from ....workflow.model import Flaw, Workflow
from ..own_files import projects
from ..patterns.pattern import Case, Pattern
from ..patterns.scope import Scope, all_scopes, cases, scopes_by_own_name, sentence

FOLDER: Final = "pinned_examples"
"""Folder with the examples, beside the file of a pattern or in a folder of templates."""
PHRASINGS: Final = ("first", "second", "third", "fourth", "fifth", "sixth")
LARGEST_FILE: Final = 1_000_000  # bytes
_KEYS: Final = {"workflow", "answer", "tempting", "flaw", "why", *PHRASINGS}
_CHARACTERS_SHOWN: Final = 160  # characters of a question in a message


@dataclass(frozen=True, slots=True)
class PinnedExample:
    """A question about a workflow in one or more phrasings, with its answer and a wrong one.

    Args:
        place: The place of the example in its file, for messages.
        project: The workflow, with the planted flaw.
        questions: The question by phrasing, from 0.
        answer: The right answer, as in the file.
        tempting: A wrong answer, or None.
    """

    place: str
    project: Workflow
    questions: Mapping[int, str]
    answer: Any
    tempting: Any = None


def read_pinned_examples(folder: Path) -> dict[str, list[PinnedExample]]:
    """Return the examples in the TOML files of a folder, by pattern; none if there is no such folder.

    Raises:
        UsageError: if a file cannot be read, or a table is no example.
    """
    examples: dict[str, list[PinnedExample]] = {}
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        for pattern, tables in _read_file(path).items():
            for number, table in enumerate(_tables_of(path, pattern, tables), 1):
                examples.setdefault(pattern, []).append(_example(path, f"{path}: {pattern} {number}", table))
    return examples


def _read_file(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(f"{path}: more than {LARGEST_FILE:,} bytes; divide it into several files")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None


def _tables_of(path: Path, pattern: str, tables: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(tables, list) and all(isinstance(table, dict) for table in tables):
        return tables
    raise UsageError(f"{path}: {pattern}: expected entries that begin with [[{pattern}]]")


def _example(path: Path, place: str, table: Mapping[str, Any]) -> PinnedExample:
    if unknown := sorted(table.keys() - _KEYS):
        raise UsageError(f"{place}: unknown keys {', '.join(unknown)}; known: {', '.join(sorted(_KEYS))}")
    questions = {number: str(table[name]) for number, name in enumerate(PHRASINGS) if name in table}
    if not questions or "answer" not in table or not isinstance(table.get("workflow"), str):
        raise UsageError(f"{place}: expected a workflow, a question such as {PHRASINGS[0]!r}, and an answer")
    project = projects.load(str(path.parent / table["workflow"])).workflow
    if "flaw" in table:
        project = replace(project, flaw=_flaw(place, table["flaw"]))
    return PinnedExample(place, project, questions, table["answer"], table.get("tempting"))


def _flaw(place: str, stated: object) -> Flaw:
    if isinstance(stated, dict) and stated.keys() == {"kind", "details"} and isinstance(stated["details"], list):
        return Flaw(str(stated["kind"]), tuple(stated["details"]))
    raise UsageError(f"{place}: flaw is {stated!r:.100}; expected its kind and a list of details")


def all_questions(pattern: Pattern, phrasing: int, project: Workflow) -> Iterator[tuple[str, Scope, Case]]:
    """Yield every question of the pattern about the project, with levels named by place and by sub-workflow.

    A derived workflow is also asked about without the content of its base: a pattern has words for that, though no
    question of a suite uses them.
    """
    levels = all_scopes(project)
    derived = [Scope(project, f"workflow '{project.name}'", True)] if project.base is not None else []
    for scope in (*levels, *scopes_by_own_name(levels), *derived):
        for case in cases(pattern, scope):
            yield sentence(pattern, phrasing, scope, case), scope, case


def find_fault(pattern: Pattern, example: PinnedExample, phrasing: int) -> str:
    """Return what is wrong with the pattern's answer to the pinned question; the empty text if nothing is.

    Args:
        pattern: The pattern, with the phrasings of the run.
        example: The example; it has the phrasing.
        phrasing: The phrasing, from 0.
    """
    pinned = example.questions[phrasing]
    questions: dict[str, list[Case]] = {}
    for text, _, case in all_questions(pattern, phrasing, example.project):
        questions.setdefault(text, []).append(case)
    if pinned not in questions:
        nearest = get_close_matches(
            pinned[:_CHARACTERS_SHOWN], {text[:_CHARACTERS_SHOWN]: text for text in questions}, 1, 0.0
        )
        asks = f"it asks, for example, {nearest[0]!r}" if nearest else "it asks nothing about this workflow"
        return f"{example.place}: the pattern does not ask {pinned[:_CHARACTERS_SHOWN]!r}; {asks}"
    if (
        pattern.metric or form(pattern.form).metric
    ) in MODEL_METRICS:  # measured by a model, to which no request is sent here
        return ""
    for case in questions[pinned]:
        if any(_score(pattern, right, case.answer) != 1.0 for right in _right_answers(pattern, example.answer)):
            answers = f"pinned answer {example.answer!r}, pattern's answer {case.answer!r}"
            return f"{example.place}: {pinned[:_CHARACTERS_SHOWN]!r}: {answers}"
        if example.tempting is not None and _score(pattern, _tempting_answer(pattern, example), case.answer) == 1.0:
            tempting = f"the tempting answer {example.tempting!r} counts as right"
            return f"{example.place}: {pinned[:_CHARACTERS_SHOWN]!r}: {tempting}"
    return ""


def _score(pattern: Pattern, given: Json, reference: Json) -> float | None:
    """Return the main score of an answer of the pattern's form."""
    name = pattern.metric or form(pattern.form).metric
    return measure_answer(name, metric(name), given, reference).value


def _right_answers(pattern: Pattern, answer: Any) -> list[Json]:  # noqa: ANN401 - each form has its own
    """Return the right answers of the example, as the form parses them."""
    answers = answer if pattern.form == "task-order" else [answer]
    return [_answer_of_form(pattern.form, right) for right in answers]


def _tempting_answer(pattern: Pattern, example: PinnedExample) -> Json:
    if pattern.form in ("task-set", "task-reasons"):
        return _answer_of_form(pattern.form, [*example.answer, example.tempting])
    return _answer_of_form(pattern.form, example.tempting)


def _answer_of_form(name: str, answer: Any) -> Json:  # noqa: ANN401 - each form has its own
    match name:
        case "task-reasons" | "pair-reason":
            return {"tasks": sorted(answer), "reasons": {}}
        case "yes-no-reason":
            return {"answer": answer, "reason": ""}
        case "task-set":
            return sorted(answer)
        case _:
            unchanged: Json = answer
            return unchanged
