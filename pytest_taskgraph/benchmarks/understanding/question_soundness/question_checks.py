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

from ....errors import ReadError, UnsupportedFeatureError
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
from ..questions.ingredients import PatternQuestion, write_workflow
from ..renaming import names_of, renaming_to, with_texts
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
_CHARACTERS_SHOWN: Final = 120  # characters of an answer or a text in a message


def question_checks(
    asked: PatternQuestion, question: Question, compose: Callable[[PatternQuestion], Question]
) -> tuple[Check, ...]:
    """Return the checks of one question about a workflow.

    Args:
        asked: What the question asks.
        question: The question.
        compose: Composes the question of another case, or of the same once more.
    """
    about = QuestionChecks(asked, question, compose)
    checks = {
        "deterministic": about.deterministic,
        "template": about.template,
        "names-shown": about.names_shown,
        "one-answer": about.one_answer,
        "phrasings-agree": about.phrasings_agree,
    }
    if not asked.pattern.planted:
        checks |= {"read-back": about.read_back, "irrelevant-parts": about.irrelevant_parts}
    return tuple(Check(name, run) for name, run in checks.items())


def own_file_checks(asked: PatternQuestion, question: Question) -> tuple[Check, ...]:
    """Return the checks of a question about the user's own files: those that compose and read back nothing."""

    def compose(other: PatternQuestion) -> Question:
        raise AssertionError("no check of own files composes questions")

    about = QuestionChecks(asked, question, compose)
    checks = {
        "names-shown": about.names_shown,
        "one-answer": about.one_answer,
        "phrasings-agree": about.phrasings_agree,
    }
    return tuple(Check(name, run) for name, run in checks.items())


@dataclass(frozen=True, slots=True, repr=False)  # Hypothesis writes out what a test was called with
class QuestionChecks:
    """The checks of a question. Each returns what is wrong in one line; the empty text if the property holds."""

    asked: PatternQuestion
    question: Question
    compose: Callable[[PatternQuestion], Question]

    def deterministic(self) -> str:
        """Ask once more about an equal workflow."""
        asked = self.asked
        project = replace(asked.workflow)
        scope = next((level for level in scopes(project) if level.place == asked.scope.place), None)
        same = [] if scope is None else self._same_cases(scope)
        if not same:
            return "listed once more, the cases did not hold this one; expected the same cases"
        if all(case.answer != asked.case.answer for case in same):
            return f"found the answer {self._answer(same[0])} the second time; expected {self._answer(asked.case)}"
        return differences(self.question, self.compose(asked))

    def template(self) -> str:
        """Look for the question and the workflow in the prompt."""
        question, prompt = self.question, self.question.system + self.question.prompt
        for what, text in (("question", question.text), ("text of the workflow", self.asked.text)):
            if text not in prompt and not (question.specifications and what != "question"):
                return f"the prompt {question.labels.get('prompt', '')} does not hold the {what}; expected all of it"
        return ""

    def names_shown(self) -> str:
        """Look for the names of the question in the text of the workflow."""
        kinds = names_of(self.asked.workflow)
        names = {*_names_in(self.asked.case.fields.values(), kinds), *self.asked.scope.path}
        quoted = [name for name in kinds if name in names and name in self.question.text]
        missing = [name for name in quoted if not self._is_shown(name, kinds[name]) and self._is_named(name)]
        return f"the text does not show the {kinds[missing[0]]} {missing[0]!r} of the question" if missing else ""

    def _is_shown(self, name: str, kind: str) -> bool:
        """Return True if a name stands in the text, as it is or as the notation spells it."""
        if any(spelling in self.asked.text for spelling in (name, json.dumps(name)[1:-1], html.escape(name))):
            return True
        try:
            back = notation(self.asked.notation).read(self.asked.text)
        except ReadError:
            return False
        return kind != "gateway" and name in names_of(back)

    def _is_named(self, name: str) -> bool:
        """Return True if the questions follow a new name: a field such as "data" may only be spelt like a name."""
        if name in self.asked.scope.path:
            return True
        new = "Renamed" + "_" * max(map(len, names_of(self.asked.workflow)))
        project = with_texts(self.asked.workflow, renaming_to({name: new}))
        listed = (case for scope in scopes(project) for case in cases(self.asked.pattern, scope))
        return any(new in _names_in(case.fields.values(), {new}) for case in islice(listed, MOST_CASES))

    def one_answer(self) -> str:
        """Compare with the other cases that are asked in the same words."""
        asked = self.asked
        for scope, other in _all_cases(asked):
            text = _sentence(asked, asked.phrasing, scope, other)
            if text == self.question.text and not self._same(other, asked.case):
                return (
                    f"the question {_short(self.question.text)} has the answers {self._answer(asked.case)} and "
                    f"{self._answer(other)}; expected one"
                )
        return ""

    def phrasings_agree(self) -> str:
        """Compare the names that phrasings tell, and the cases that they tell apart."""
        asked = self.asked
        texts = [_sentence(asked, i, asked.scope, asked.case) for i in range(asked.phrasings)]
        for name in sorted({*_names_in(asked.case.fields.values(), names_of(asked.workflow))}):
            if (numbers := _unlike([name in text for text in texts])) and self._is_named(name):
                without = _short(texts[numbers[1] - 1])
                return f"phrasing {numbers[0]} names {name!r} and phrasing {numbers[1]} does not: {without}"
        for scope, other in _all_cases(asked) if asked.phrasings > 1 else ():
            if numbers := _unlike([_sentence(asked, i, scope, other) != text for i, text in enumerate(texts)]):
                return (
                    f"phrasing {numbers[0]} tells two cases apart and phrasing {numbers[1]} does not: "
                    f"{_short(texts[numbers[1] - 1])}"
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
        same = [case for scope in levels if scope.place == asked.scope.place for case in self._same_cases(scope)]
        if not same:
            return f"the workflow read back from the text has no such case; expected {_short(self.question.text)}"
        if any(self._same(case, asked.case) for case in same):
            return ""
        return f"the workflow read back gives {self._answer(same[0])}; the one shown {self._answer(asked.case)}"

    def _same_cases(self, scope: Scope) -> list[Case]:
        """Return the cases about the same of another workflow; by their words where the fields differ in order."""
        asked = self.asked
        listed = list(cases(asked.pattern, scope))
        if same := [case for case in listed if case.fields == asked.case.fields]:
            return same
        called = replace(scope, own_name=asked.scope.own_name)
        return [case for case in listed if _sentence(asked, asked.phrasing, called, case) == self.question.text]

    def irrelevant_parts(self) -> str:
        """Change the workflow in ways that the prompt may not show."""
        for what, project in _changed(self.asked.workflow):
            if message := self._hidden(what, project):
                return message
        return ""

    def _hidden(self, what: str, project: Workflow) -> str:
        """Return how a change that the prompt does not show changes the answer; empty if it does not, or is shown."""
        asked = self.asked
        scope = next((level for level in scopes(project) if level.place == asked.scope.place), None)
        if scope is None:
            return ""
        same = [case for case in cases(asked.pattern, scope) if case.fields == asked.case.fields]
        if not same or any(self._same(case, asked.case) for case in same):
            return ""
        try:
            text = write_workflow(project, asked.notation)
        except UnsupportedFeatureError:
            return ""
        called = replace(scope, own_name=asked.scope.own_name)
        changed = self.compose(replace(asked, workflow=project, scope=called, case=same[0], text=text))
        if _visible_parts(changed) != _visible_parts(self.question):
            return ""
        answers = f"from {self._answer(asked.case)} to {self._answer(same[0])}"
        return f"the prompt does not show {what}, which changes the answer {answers}; expected no change"

    def _same(self, one: Case, other: Case) -> bool:
        return same_answer(self.asked.pattern, one.answer, other.answer, self.asked.workflow, self.asked.scope)

    def _answer(self, case: Case) -> str:
        return _short(show_answer(self.asked.pattern.form, case.answer))


def _visible_parts(question: Question) -> tuple[object, ...]:
    """Return all that a model can see of what a question is about; specifications are shown on request."""
    return question.system, question.prompt, question.specifications


def _all_cases(asked: PatternQuestion) -> Iterator[tuple[Scope, Case]]:
    """Yield the first cases of the pattern about the workflow, those of the level asked about called as it is."""
    pairs = ((scope, case) for scope in scopes(asked.workflow) for case in cases(asked.pattern, scope))
    for scope, case in islice(pairs, MOST_CASES):
        yield (asked.scope if scope.place == asked.scope.place else scope), case


def _unlike(holds: Sequence[bool]) -> tuple[int, int] | None:
    """Return the numbers of a phrasing for which something holds and of one for which it does not, if they differ."""
    return (holds.index(True) + 1, holds.index(False) + 1) if len({*holds}) > 1 else None


def _sentence(asked: PatternQuestion, phrasing: int, scope: Scope, case: Case) -> str:
    return sentence(asked.phrased, phrasing, scope, case)


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
    yield "the names of gateways", with_texts(project, renaming_to({name: f"Gate{i}" for i, name in enumerate(gates)}))
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
    return repr(text if len(text) <= _CHARACTERS_SHOWN else f"{text[:_CHARACTERS_SHOWN]}…")
