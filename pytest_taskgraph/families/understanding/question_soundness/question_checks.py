"""Properties of questions about workflows, each checked on one question.

    template          the prompt holds the question and the whole text of the workflow
    names-shown       every name in the question stands in the shown text
    one-answer        no other case is asked in the same words and has another answer
    phrasings-agree   the phrasings name the same parts, and distinguish the same cases
    read-back         the workflow read back from the text gives the same answer
    irrelevant-parts  a change of the workflow that the prompt does not show changes no answer
    deterministic     asked again about an equal workflow, the question is the same

The answers of patterns that find planted flaws cannot be computed from the shown text: read-back and irrelevant-parts
do not apply to them.
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

from ....benchmarks.drawn_instances import differences
from ....benchmarks.instances import Check
from ....errors import ReadError, UnsupportedFeatureError
from ....generation.builder import shuffle_declarations
from ....generation.edits import edits
from ....notations import known_notation, notation
from ....scoring.forms import show_answer
from ....trial import Question
from ....workflow.model import Task, Workflow
from ....workflow.project import with_tasks
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
"""Properties of questions about workflows, each with its statement."""
MOST_CASES: Final = 300  # of a workflow, with which a case is compared
EDITS: Final = 12  # maximum number of one-step edits
_CHARACTERS_SHOWN: Final = 120  # characters of an answer or a text in a message


def question_checks(
    posed: PatternQuestion, question: Question, compose: Callable[[PatternQuestion], Question]
) -> tuple[Check, ...]:
    """Return the checks of one question about a workflow.

    Args:
        posed: The case that the question asks.
        question: The question.
        compose: Function that composes the question of a case.
    """
    checks_of_question = QuestionChecks(posed, question, compose)
    checks = {
        "deterministic": checks_of_question.deterministic,
        "template": checks_of_question.template,
        "names-shown": checks_of_question.names_shown,
        "one-answer": checks_of_question.one_answer,
        "phrasings-agree": checks_of_question.phrasings_agree,
    }
    if not posed.pattern.planted:
        checks |= {"read-back": checks_of_question.read_back, "irrelevant-parts": checks_of_question.irrelevant_parts}
    return tuple(Check(name, run) for name, run in checks.items())


def own_file_checks(posed: PatternQuestion, question: Question) -> tuple[Check, ...]:
    """Return the checks of a question about the user's own files, which neither compose nor read back."""

    def compose(other: PatternQuestion) -> Question:
        raise AssertionError("no check of own files composes questions")

    checks_of_question = QuestionChecks(posed, question, compose)
    checks = {
        "names-shown": checks_of_question.names_shown,
        "one-answer": checks_of_question.one_answer,
        "phrasings-agree": checks_of_question.phrasings_agree,
    }
    return tuple(Check(name, run) for name, run in checks.items())


@dataclass(frozen=True, slots=True, repr=False)  # Hypothesis writes out what a test was called with
class QuestionChecks:
    """Checks of a question; each returns what is wrong in one line, or the empty text."""

    posed: PatternQuestion
    question: Question
    compose: Callable[[PatternQuestion], Question]

    def deterministic(self) -> str:
        """Ask again about an equal workflow."""
        posed = self.posed
        project = replace(posed.workflow)
        scope = next((level for level in scopes(project) if level.place == posed.scope.place), None)
        same = [] if scope is None else self._same_cases(scope)
        if not same:
            return "listed again, the cases do not include the asked case; expected the same cases"
        if all(case.answer != posed.case.answer for case in same):
            expected = self._answer_text(posed.case)
            return f"found the answer {self._answer_text(same[0])} in the second listing; expected {expected}"
        return differences(self.question, self.compose(posed))

    def template(self) -> str:
        """Search the question and the workflow in the prompt."""
        question, prompt = self.question, self.question.system + self.question.prompt
        for part, text in (("question", question.text), ("text of the workflow", self.posed.text)):
            if text not in prompt and not (question.specifications and part != "question"):
                return f"the prompt {question.labels.get('prompt', '')} does not hold the {part}; expected all of it"
        return ""

    def names_shown(self) -> str:
        """Search the names of the question in the text of the workflow."""
        kinds = names_of(self.posed.workflow)
        names = {*_names_in(self.posed.case.fields.values(), kinds), *self.posed.scope.path}
        quoted = [name for name in kinds if name in names and name in self.question.text]
        missing = [name for name in quoted if not self._is_shown(name, kinds[name]) and self._is_named(name)]
        return f"the text does not show the {kinds[missing[0]]} {missing[0]!r} of the question" if missing else ""

    def _is_shown(self, name: str, kind: str) -> bool:
        """Return True if a name stands in the text, unchanged or as the notation spells it."""
        if any(spelling in self.posed.text for spelling in (name, json.dumps(name)[1:-1], html.escape(name))):
            return True
        try:
            back = known_notation(self.posed.notation).read(self.posed.text)
        except ReadError:
            return False
        return kind != "gateway" and name in names_of(back)

    def _is_named(self, name: str) -> bool:
        """Return True if the questions follow a new name; a field such as "data" may only equal a name."""
        if name in self.posed.scope.path:
            return True
        new = "Renamed" + "_" * max(map(len, names_of(self.posed.workflow)))
        project = with_texts(self.posed.workflow, renaming_to({name: new}))
        renamed_cases = (case for scope in scopes(project) for case in cases(self.posed.pattern, scope))
        return any(new in _names_in(case.fields.values(), {new}) for case in islice(renamed_cases, MOST_CASES))

    def one_answer(self) -> str:
        """Compare with the other cases that are asked in the same words."""
        posed = self.posed
        for scope, other in _all_cases(posed):
            text = _sentence(posed, posed.phrasing, scope, other)
            if text == self.question.text and not self._has_same_answer(other, posed.case):
                return (
                    f"the question {_excerpt(self.question.text)} has the answers {self._answer_text(posed.case)} and "
                    f"{self._answer_text(other)}; expected one"
                )
        return ""

    def phrasings_agree(self) -> str:
        """Compare the names in the phrasings, and the cases that they distinguish."""
        posed = self.posed
        texts = [_sentence(posed, i, posed.scope, posed.case) for i in range(posed.phrasings)]
        for name in sorted({*_names_in(posed.case.fields.values(), names_of(posed.workflow))}):
            if (numbers := _differing_phrasings([name in text for text in texts])) and self._is_named(name):
                without = _excerpt(texts[numbers[1] - 1])
                return f"phrasing {numbers[0]} names {name!r} and phrasing {numbers[1]} does not: {without}"
        for scope, other in _all_cases(posed) if posed.phrasings > 1 else ():
            if numbers := _differing_phrasings(
                [_sentence(posed, i, scope, other) != text for i, text in enumerate(texts)]
            ):
                return (
                    f"phrasing {numbers[0]} distinguishes two cases and phrasing {numbers[1]} does not: "
                    f"{_excerpt(texts[numbers[1] - 1])}"
                )
        return ""

    def read_back(self) -> str:
        """Ask the same about the workflow that is read back from the text."""
        posed = self.posed
        try:
            back = notation(posed.notation).read(posed.text)
        except ReadError as error:
            return f"the text cannot be read back: {error}"
        levels = chain(all_scopes(back), all_scopes(back, entered=True))
        same = [case for scope in levels if scope.place == posed.scope.place for case in self._same_cases(scope)]
        if not same:
            return f"the workflow read back from the text has no such case; expected {_excerpt(self.question.text)}"
        if any(self._has_same_answer(case, posed.case) for case in same):
            return ""
        shown_answer, back_answer = self._answer_text(posed.case), self._answer_text(same[0])
        return f"the workflow read back gives {back_answer}; the shown workflow {shown_answer}"

    def _same_cases(self, scope: Scope) -> list[Case]:
        """Return the cases about the same of another workflow, by words where fields differ in order."""
        posed = self.posed
        scope_cases = list(cases(posed.pattern, scope))
        if same := [case for case in scope_cases if case.fields == posed.case.fields]:
            return same
        named_scope = replace(scope, own_name=posed.scope.own_name)
        return [
            case for case in scope_cases if _sentence(posed, posed.phrasing, named_scope, case) == self.question.text
        ]

    def irrelevant_parts(self) -> str:
        """Change the workflow in ways that the prompt may not show."""
        for part, project in _hidden_changes(self.posed.workflow):
            if message := self._effect_of_hidden_change(part, project):
                return message
        return ""

    def _effect_of_hidden_change(self, part: str, project: Workflow) -> str:
        """Return how a change that the prompt does not show changes the answer; empty if it does not."""
        posed = self.posed
        scope = next((level for level in scopes(project) if level.place == posed.scope.place), None)
        if scope is None:
            return ""
        same = [case for case in cases(posed.pattern, scope) if case.fields == posed.case.fields]
        if not same or any(self._has_same_answer(case, posed.case) for case in same):
            return ""
        try:
            text = write_workflow(project, posed.notation)
        except UnsupportedFeatureError:
            return ""
        named_scope = replace(scope, own_name=posed.scope.own_name)
        changed = self.compose(replace(posed, workflow=project, scope=named_scope, case=same[0], text=text))
        if _visible_parts(changed) != _visible_parts(self.question):
            return ""
        answers = f"from {self._answer_text(posed.case)} to {self._answer_text(same[0])}"
        return f"the prompt does not show {part}, which changes the answer {answers}; expected no change"

    def _has_same_answer(self, first: Case, second: Case) -> bool:
        return same_answer(self.posed.pattern, first.answer, second.answer, self.posed.workflow, self.posed.scope)

    def _answer_text(self, case: Case) -> str:
        return _excerpt(show_answer(self.posed.pattern.form, case.answer))


def _visible_parts(question: Question) -> tuple[object, ...]:
    """Return everything that a model can see for a question; specifications are shown on request."""
    return question.system, question.prompt, question.specifications


def _all_cases(posed: PatternQuestion) -> Iterator[tuple[Scope, Case]]:
    """Yield the first cases of the pattern about the workflow, with the level asked about named as in the question."""
    pairs = ((scope, case) for scope in scopes(posed.workflow) for case in cases(posed.pattern, scope))
    for scope, case in islice(pairs, MOST_CASES):
        yield (posed.scope if scope.place == posed.scope.place else scope), case


def _differing_phrasings(flags: Sequence[bool]) -> tuple[int, int] | None:
    """Return the number of a phrasing with the flag and of one without it, or None if all are equal."""
    return (flags.index(True) + 1, flags.index(False) + 1) if len({*flags}) > 1 else None


def _sentence(posed: PatternQuestion, phrasing: int, scope: Scope, case: Case) -> str:
    return sentence(posed.phrased, phrasing, scope, case)


def _names_in(values: Collection[Any], names: Collection[str]) -> Iterator[str]:
    """Yield the given names among values and in lists."""
    for value in values:
        if isinstance(value, str):
            yield from [value] if value in names else []
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _names_in(sorted(value, key=str), names)


def _hidden_changes(project: Workflow) -> Iterator[tuple[str, Workflow]]:
    """Yield the project with parts changed or dropped that a text can omit, then one step away from it."""
    rng = Random("irrelevant parts")
    gates = [name for name, kind in names_of(project).items() if kind == "gateway"]
    yield "the names of gateways", with_texts(project, renaming_to({name: f"Gate{i}" for i, name in enumerate(gates)}))
    yield "what was planted", _change_everywhere(project, lambda level: replace(level, flaw=None))
    yield "the order of declaration", shuffle_declarations(project, rng)
    for part, drop in _DROPPED.items():
        yield part, _change_everywhere(project, partial(_with_tasks, drop))
    for edit in edits(project, rng, EDITS):
        yield f"a change ({edit.kind})", edit.workflow


def _change_everywhere(project: Workflow, change: Callable[[Workflow], Workflow]) -> Workflow:
    """Return the project with each of its workflows and inline sub-workflows changed."""

    def change_inside(task: Task, package: str) -> Task:
        return task if task.subworkflow is None else replace(task, subworkflow=change(task.subworkflow))

    def change_whole(workflow: Workflow) -> Workflow:
        return change(with_tasks(workflow, workflow.package, change_inside))

    return replace(change_whole(project), others=tuple(map(change_whole, project.others)))


def _with_tasks(change: Callable[[Task], Task], level: Workflow) -> Workflow:
    return replace(level, tasks=tuple(map(change, level.tasks)))


_DROPPED: Final[Mapping[str, Callable[[Task], Task]]] = {
    "the descriptions of tasks": lambda task: replace(task, description=""),
    "the kinds of tasks": lambda task: replace(task, kind=""),
    "the implementations of tasks": lambda task: replace(task, implementation=""),
}


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= _CHARACTERS_SHOWN else f"{text[:_CHARACTERS_SHOWN]}…")
