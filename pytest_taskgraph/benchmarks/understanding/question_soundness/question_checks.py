"""The properties that questions about workflows have of their own, each checked on one question.

template          the prompt holds the question and the whole text of the workflow
names-shown       every name in the question stands in the shown text
one-answer        no other case is asked in the same words and has another answer
phrasings-agree   the phrasings name the same, and tell the same cases apart
read-back         the workflow read back from the text gives the same answer
irrelevant-parts  a change of the workflow that the prompt does not show changes no answer
deterministic     asked once more about an equal workflow, the question is the same

The answers of patterns that find planted flaws are no function of the shown text: read-back and irrelevant-parts are
not demanded of them.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from random import Random
from typing import Any, Final

from ....errors import CannotSayError, ReadError
from ....generation.builder import shuffle_declarations
from ....generation.edits import edits
from ....notations import notation
from ....scoring.forms import show_answer
from ....trial import Question
from ....workflow.model import Task, Workflow
from ....workflow.project import with_tasks
from ...drawn_instances import differences
from ...instances import Check
from ..patterns.pattern import Case
from ..patterns.scope import Scope, all_scopes, cases, scopes, sentence
from ..questions.ingredients import Asked, written
from ..renaming import names_of, replacing, with_texts
from ..variations import same_answer

PROPERTIES: Final = {
    "template": "The prompt holds the question and the whole text of the workflow.",
    "names-shown": "Every name in the question stands in the shown text.",
    "one-answer": "Two cases about one workflow that are asked in the same words have the same answer.",
    "phrasings-agree": "The phrasings name the same parts of the workflow, and tell the same cases apart.",
    "read-back": "The workflow that is read back from the shown text gives the same answer.",
    "irrelevant-parts": "A change of the workflow that the prompt does not show changes no answer.",
    "answer-not-given-away": "No rule on the surface of questions and texts predicts the answers.",
}
"""The properties of questions about workflows, each with what it says."""
MOST_CASES: Final = 300  # of a workflow, that a case is compared with
EDITS: Final = 12  # one-step edits that are tried
_SHOWN: Final = 120  # characters of an answer or a text in a message


def question_checks(asked: Asked, question: Question, compose: Callable[[Asked], Question]) -> tuple[Check, ...]:
    """Return the checks of one question about a workflow.

    Args:
        asked: What the question asks.
        question: The question.
        compose: Composes the question of another case, or of the same once more.
    """
    about = QuestionChecks(asked, question, compose)
    found = {
        "deterministic": about.deterministic,
        "template": about.template,
        "names-shown": about.names_shown,
        "one-answer": about.one_answer,
        "phrasings-agree": about.phrasings_agree,
    }
    if not asked.pattern.planted:
        found |= {"read-back": about.read_back, "irrelevant-parts": about.irrelevant_parts}
    return tuple(Check(name, run) for name, run in found.items())


def own_file_checks(asked: Asked, question: Question) -> tuple[Check, ...]:
    """Return the checks of a question about the user's own files: those that compose and read back nothing."""

    def compose(other: Asked) -> Question:
        raise NotImplementedError("no check of own files composes questions")

    about = QuestionChecks(asked, question, compose)
    found = {"names-shown": about.names_shown, "one-answer": about.one_answer, "phrasings-agree": about.phrasings_agree}
    return tuple(Check(name, run) for name, run in found.items())


@dataclass(frozen=True, slots=True, repr=False)  # Hypothesis writes out what a test was called with
class QuestionChecks:
    """The checks of a question. Each returns what is wrong in one line; the empty text if the property holds."""

    asked: Asked
    question: Question
    compose: Callable[[Asked], Question]

    def deterministic(self) -> str:
        """Ask once more about an equal workflow."""
        asked = self.asked
        project = replace(asked.workflow)
        scope = next((one for one in scopes(project) if one.place == asked.scope.place), None)
        found = [] if scope is None else self._same_cases(scope)
        if not found:
            return "listed once more, the cases did not hold this one; expected the same cases"
        if all(one.answer != asked.case.answer for one in found):
            return f"found the answer {self._shown(found[0])} the second time; expected {self._shown(asked.case)}"
        return differences(self.question, self.compose(asked))

    def template(self) -> str:
        """Look for the question and the workflow in the prompt."""
        question, told = self.question, self.question.system + self.question.prompt
        for what, text in (("question", question.text), ("text of the workflow", self.asked.text)):
            if text not in told and not (question.specifications and what != "question"):
                return f"the prompt {question.labels.get('prompt', '')} does not hold the {what}; expected all of it"
        return ""

    def names_shown(self) -> str:
        """Look for the names of the question in the text of the workflow."""
        known = names_of(self.asked.workflow)
        names = {*_names_in(self.asked.case.fields.values(), known), *self.asked.scope.path}
        quoted = [name for name in known if name in names and name in self.question.text]
        missing = [name for name in quoted if not self._is_shown(name, known[name])]
        return f"the text does not show the {known[missing[0]]} {missing[0]!r} of the question" if missing else ""

    def _is_shown(self, name: str, kind: str) -> bool:
        """Return True if a name stands in the text, as it is or as the notation spells it."""
        if any(one in self.asked.text for one in (name, json.dumps(name)[1:-1], html.escape(name))):
            return True
        try:
            back = notation(self.asked.notation).read(self.asked.text)
        except ReadError:
            return False
        return kind != "gateway" and name in names_of(back)

    def one_answer(self) -> str:
        """Compare with the other cases that are asked in the same words."""
        asked = self.asked
        for scope, other in _all_cases(asked):
            if _told(asked, asked.phrasing, scope, other) == self.question.text and not self._same(other, asked.case):
                return (
                    f"the question {_short(self.question.text)} has the answers {self._shown(asked.case)} and "
                    f"{self._shown(other)}; expected one"
                )
        return ""

    def phrasings_agree(self) -> str:
        """Compare the names that phrasings tell, and the cases that they tell apart."""
        asked = self.asked
        texts = [_told(asked, i, asked.scope, asked.case) for i in range(asked.phrasings)]
        for name in sorted({*_names_in(asked.case.fields.values(), names_of(asked.workflow))}):
            if told := _unlike([name in text for text in texts]):
                return (
                    f"phrasing {told[0]} names {name!r} and phrasing {told[1]} does not: {_short(texts[told[1] - 1])}"
                )
        for scope, other in _all_cases(asked) if asked.phrasings > 1 else ():
            if told := _unlike([_told(asked, i, scope, other) != text for i, text in enumerate(texts)]):
                return (
                    f"phrasing {told[0]} tells two cases apart and phrasing {told[1]} does not: "
                    f"{_short(texts[told[1] - 1])}"
                )
        return ""

    def read_back(self) -> str:
        """Ask the same about the workflow that is read back from the text."""
        asked = self.asked
        try:
            back = notation(asked.notation).read(asked.text)
        except ReadError as error:
            return f"the text cannot be read back: {error}"
        levels = chain(all_scopes(back), all_scopes(back, entered=True))
        found = [one for scope in levels if scope.place == asked.scope.place for one in self._same_cases(scope)]
        if not found:
            return f"the workflow read back from the text has no such case; expected {_short(self.question.text)}"
        if any(self._same(one, asked.case) for one in found):
            return ""
        return f"the workflow read back gives {self._shown(found[0])}; the one shown {self._shown(asked.case)}"

    def _same_cases(self, scope: Scope) -> list[Case]:
        """Return the cases about the same of another workflow; by their words where the fields differ in order."""
        asked = self.asked
        found = list(cases(asked.pattern, scope))
        if same := [one for one in found if one.fields == asked.case.fields]:
            return same
        called = replace(scope, own_name=asked.scope.own_name)
        return [one for one in found if _told(asked, asked.phrasing, called, one) == self.question.text]

    def irrelevant_parts(self) -> str:
        """Change the workflow in ways that the prompt may not show."""
        for what, project in _changed(self.asked.workflow):
            if told := self._hidden(what, project):
                return told
        return ""

    def _hidden(self, what: str, project: Workflow) -> str:
        """Return how a change that the prompt does not show changes the answer; empty if it does not, or is shown."""
        asked = self.asked
        scope = next((one for one in scopes(project) if one.place == asked.scope.place), None)
        if scope is None:
            return ""
        found = [one for one in cases(asked.pattern, scope) if one.fields == asked.case.fields]
        if not found or any(self._same(one, asked.case) for one in found):
            return ""
        try:
            text = written(project, asked.notation)
        except CannotSayError:
            return ""
        called = replace(scope, own_name=asked.scope.own_name)
        changed = self.compose(replace(asked, workflow=project, scope=called, case=found[0], text=text))
        if _shown_to_model(changed) != _shown_to_model(self.question):
            return ""
        answers = f"from {self._shown(asked.case)} to {self._shown(found[0])}"
        return f"the prompt does not show {what}, which changes the answer {answers}; expected no change"

    def _same(self, one: Case, other: Case) -> bool:
        return same_answer(self.asked.pattern, one.answer, other.answer, self.asked.workflow, self.asked.scope)

    def _shown(self, case: Case) -> str:
        return _short(show_answer(self.asked.pattern.form, case.answer))


def _shown_to_model(question: Question) -> tuple[object, ...]:
    """Return all that a model can see of what a question is about; specifications are shown on request."""
    return question.system, question.prompt, question.specifications


def _all_cases(asked: Asked) -> Iterator[tuple[Scope, Case]]:
    """Yield the first cases of the pattern about the workflow, those of the level asked about called as it is."""
    found = ((scope, case) for scope in scopes(asked.workflow) for case in cases(asked.pattern, scope))
    for scope, case in islice(found, MOST_CASES):
        yield (asked.scope if scope.place == asked.scope.place else scope), case


def _unlike(holds: Sequence[bool]) -> tuple[int, int] | None:
    """Return the numbers of a phrasing for which something holds and of one for which it does not, if they differ."""
    return (holds.index(True) + 1, holds.index(False) + 1) if len({*holds}) > 1 else None


def _told(asked: Asked, phrasing: int, scope: Scope, case: Case) -> str:
    return sentence(asked.worded, phrasing, scope, case)


def _names_in(values: Collection[Any], known: Collection[str]) -> Iterator[str]:
    """Yield the known names among values and the items of lists."""
    for value in values:
        if isinstance(value, str):
            yield from [value] if value in known else []
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _names_in(sorted(value, key=str), known)


def _changed(project: Workflow) -> Iterator[tuple[str, Workflow]]:
    """Yield the project with what a text may leave out changed or dropped, then one step away from it."""
    rng = Random("irrelevant parts")
    gates = [name for name, kind in names_of(project).items() if kind == "gateway"]
    yield "the names of gateways", with_texts(project, replacing({name: f"Gate{i}" for i, name in enumerate(gates)}))
    yield "what was planted", _everywhere(project, lambda level: replace(level, flaw=None))
    yield "the order of declaration", shuffle_declarations(project, rng)
    for part, drop in _DROPPED.items():
        yield part, _everywhere(project, partial(_with_tasks, drop))
    for edit in edits(project, rng, EDITS):
        yield f"a change ({edit.kind})", edit.workflow


def _everywhere(project: Workflow, change: Callable[[Workflow], Workflow]) -> Workflow:
    """Return the project with each of its workflows and inline sub-workflows changed."""

    def inside(task: Task, package: str) -> Task:
        return task if task.subworkflow is None else replace(task, subworkflow=change(task.subworkflow))

    def whole(one: Workflow) -> Workflow:
        return change(with_tasks(one, one.package, inside))

    return replace(whole(project), others=tuple(map(whole, project.others)))


def _with_tasks(change: Callable[[Task], Task], level: Workflow) -> Workflow:
    return replace(level, tasks=tuple(map(change, level.tasks)))


_DROPPED: Final[Mapping[str, Callable[[Task], Task]]] = {
    "the descriptions of tasks": lambda task: replace(task, description=""),
    "the kinds of tasks": lambda task: replace(task, kind=""),
    "the implementations of tasks": lambda task: replace(task, implementation=""),
}


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
