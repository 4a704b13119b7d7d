"""Pinned examples: questions of a pattern that a person answered from their words alone, to hold the pattern to.

They stand in TOML files, each example an entry `[[PATTERN]]`:

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
- any other form: the answer as the form reads it.

`tempting` is a wrong answer that a careless reader would give: one more name in a set, a whole answer in other forms.
`flaw` describes what is planted: its kind and its details. `why` is for the reader of the file.
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
"""The folder beside the file of a pattern, or in a folder of templates, that holds the examples."""
PHRASINGS: Final = ("first", "second", "third", "fourth", "fifth", "sixth")
LARGEST_FILE: Final = 1_000_000  # bytes
_KEYS: Final = {"workflow", "answer", "tempting", "flaw", "why", *PHRASINGS}
_CHARACTERS_SHOWN: Final = 160  # characters of a question in a message


@dataclass(frozen=True, slots=True)
class PinnedExample:
    """A question about a workflow in one or more phrasings, with its answer and a wrong one.

    Args:
        place: Where it stands, for messages.
        project: The workflow, with what is planted.
        questions: The question by phrasing, from 0.
        answer: The right answer, as the files have it.
        tempting: A wrong answer; None for none.
    """

    place: str
    project: Workflow
    questions: Mapping[int, str]
    answer: Any
    tempting: Any = None


def pinned_in(folder: Path) -> dict[str, list[PinnedExample]]:
    """Return the examples in the TOML files of a folder, by pattern; none if there is no such folder.

    Raises:
        UsageError: if a file cannot be read, or an entry is no example.
    """
    examples: dict[str, list[PinnedExample]] = {}
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        for pattern, entries in _read_file(path).items():
            for number, entry in enumerate(_entries(path, pattern, entries), 1):
                examples.setdefault(pattern, []).append(_example(path, f"{path}: {pattern} {number}", entry))
    return examples


def _read_file(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(f"{path}: more than {LARGEST_FILE:,} bytes; divide it into several files")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None


def _entries(path: Path, pattern: str, entries: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        return entries
    raise UsageError(f"{path}: {pattern}: expected entries that begin with [[{pattern}]]")


def _example(path: Path, place: str, entry: Mapping[str, Any]) -> PinnedExample:
    if unknown := sorted(entry.keys() - _KEYS):
        raise UsageError(f"{place}: unknown keys {', '.join(unknown)}; known: {', '.join(sorted(_KEYS))}")
    questions = {number: str(entry[name]) for number, name in enumerate(PHRASINGS) if name in entry}
    if not questions or "answer" not in entry or not isinstance(entry.get("workflow"), str):
        raise UsageError(f"{place}: expected a workflow, a question such as {PHRASINGS[0]!r}, and an answer")
    project = projects.load(str(path.parent / entry["workflow"])).workflow
    if "flaw" in entry:
        project = replace(project, flaw=_flaw(place, entry["flaw"]))
    return PinnedExample(place, project, questions, entry["answer"], entry.get("tempting"))


def _flaw(place: str, stated: object) -> Flaw:
    if isinstance(stated, dict) and stated.keys() == {"kind", "details"} and isinstance(stated["details"], list):
        return Flaw(str(stated["kind"]), tuple(stated["details"]))
    raise UsageError(f"{place}: flaw is {stated!r:.100}; expected its kind and a list of details")


def every_question(pattern: Pattern, phrasing: int, project: Workflow) -> Iterator[tuple[str, Scope, Case]]:
    """Yield every question of the pattern about the project, its levels called by their places and by their names.

    A derived workflow is asked about as it stands, too, not only with what it is derived from filled in: a pattern has
    words for that, though no question of a suite uses them.
    """
    levels = all_scopes(project)
    derived = [Scope(project, f"workflow '{project.name}'", True)] if project.base is not None else []
    for scope in (*levels, *scopes_by_own_name(levels), *derived):
        for case in cases(pattern, scope):
            yield sentence(pattern, phrasing, scope, case), scope, case


def fault(pattern: Pattern, example: PinnedExample, phrasing: int) -> str:
    """Return what is wrong with the pattern's answer to the pinned question; the empty text if nothing is.

    Args:
        pattern: The pattern, in the words of the run.
        example: The example; it has the phrasing.
        phrasing: The phrasing, from 0.
    """
    pinned = example.questions[phrasing]
    questions: dict[str, list[Case]] = {}
    for text, _, case in every_question(pattern, phrasing, example.project):
        questions.setdefault(text, []).append(case)
    if pinned not in questions:
        nearest = get_close_matches(
            pinned[:_CHARACTERS_SHOWN], {text[:_CHARACTERS_SHOWN]: text for text in questions}, 1, 0.0
        )
        asks = f"it asks, for example, {nearest[0]!r}" if nearest else "it asks nothing about this workflow"
        return f"{example.place}: the pattern does not ask {pinned[:_CHARACTERS_SHOWN]!r}; {asks}"
    if (pattern.metric or form(pattern.form).metric) in MODEL_METRICS:  # by a model, which is not asked
        return ""
    for case in questions[pinned]:
        if any(_score(pattern, right, case.answer) != 1.0 for right in _right(pattern, example.answer)):
            answers = f"pinned answer {example.answer!r}, pattern's answer {case.answer!r}"
            return f"{example.place}: {pinned[:_CHARACTERS_SHOWN]!r}: {answers}"
        if example.tempting is not None and _score(pattern, _tempting(pattern, example), case.answer) == 1.0:
            tempting = f"the tempting answer {example.tempting!r} counts as right"
            return f"{example.place}: {pinned[:_CHARACTERS_SHOWN]!r}: {tempting}"
    return ""


def _score(pattern: Pattern, given: Json, reference: Json) -> float | None:
    """Return the main score of an answer of the pattern's form."""
    name = pattern.metric or form(pattern.form).metric
    return measure_answer(name, metric(name), given, reference).value


def _right(pattern: Pattern, answer: Any) -> list[Json]:  # noqa: ANN401 - each form has its own
    """Return the answers that the example calls right, as the form reads them."""
    answers = answer if pattern.form == "task-order" else [answer]
    return [_as_read(pattern.form, right) for right in answers]


def _tempting(pattern: Pattern, example: PinnedExample) -> Json:
    if pattern.form in ("task-set", "task-reasons"):
        return _as_read(pattern.form, [*example.answer, example.tempting])
    return _as_read(pattern.form, example.tempting)


def _as_read(name: str, answer: Any) -> Json:  # noqa: ANN401 - each form has its own
    match name:
        case "task-reasons" | "pair-reason":
            return {"tasks": sorted(answer), "reasons": {}}
        case "yes-no-reason":
            return {"answer": answer, "reason": ""}
        case "task-set":
            return sorted(answer)
        case _:
            read: Json = answer
            return read
