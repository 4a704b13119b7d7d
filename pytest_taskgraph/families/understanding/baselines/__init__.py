"""Baselines that see only the prompt, as a model does.

`reader` reads the workflow back and answers exactly; open questions, whose answers cannot be computed, it answers by
words, as `lexical` does, and the reply's source states which. `random`, `constant` and `first-mentioned` know the form
of the answer and the names, and guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import Final

from ....asking import Model
from ....benchmarks.templates import literals, printed_names
from ....catalog import catalog_cache
from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....scoring.forms import FORMS
from ....scoring.forms.open_forms import OPEN_FORMS
from ....trial import Json, Reply, Request
from ..patterns import catalogue
from ..patterns.pattern import Case, Pattern, worded_without_parameters
from ..patterns.scope import Scope, cases, sentence
from .lexical import answer_by_words
from .prompt_view import (
    descriptions_of,
    form_of,
    guards_of,
    instructed_names,
    names_of,
    normalize_spaces,
    question_parts,
    scopes_of,
    tasks_of_level,
    without_fenced,
)

_REASON = "They do not go together."
NUMBERS: Final = range(13)  # that `guess_at_random` draws from
_MARKER = re.compile(r"final answer[\s*_\"']*:", re.IGNORECASE)


class Baseline:
    """A model that answers from the prompt by a rule, which returns a form's name and an answer."""

    immediate = True  # `answer` never waits

    def __init__(self, name: str, rule: Callable[[str], tuple[str, Json]]) -> None:
        self.name = f"baseline:{name}"
        self._rule = rule

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            NotAskedError: if the request is not a chat, has tools, or the rule finds no question.
        """
        if request.kind != "chat":
            raise unsupported_kind(request.kind, f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the workflow in the prompt")
        prompt = request.prompt
        form, answer = self._rule(prompt)
        text = FORMS[form].write(answer, instructed_names(prompt, form))
        marker = _MARKER.search(without_fenced(prompt))
        return Reply(f"Final answer: {text}" if marker else text, source=self.name)


class Reader(Baseline):
    """The reader; an open question that it does not know is answered by words, under that name."""

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            NotAskedError: as for any baseline.
        """
        try:
            return await super().answer(request)
        except NotAskedError:
            if request.kind != "chat" or request.tools or not _is_open(request.prompt):
                raise
        return await Baseline("lexical", answer_by_words).answer(request)


def _is_open(prompt: str) -> bool:
    try:
        return form_of(prompt) in OPEN_FORMS
    except NotAskedError:
        return False


def read_back(prompt: str) -> tuple[str, Json]:
    """Return the answer of the case, of any pattern and level, whose text is in the prompt; the longest text wins."""
    for part in map(normalize_spaces, question_parts(prompt)):
        if candidates := [candidate for candidate in _questions_in(part, scopes_of(prompt)) if candidate[0] in part]:
            _, form, answer = max(candidates, key=lambda candidate: len(candidate[0]))
            return form, answer
    raise PromptNotUnderstoodError("the reader finds no question that it knows in the prompt")


def _questions_in(part: str, scopes: Sequence[Scope]) -> Iterator[tuple[str, str, Json]]:
    """Yield text, form and answer of each case that can be in this part, by the values that its text must contain."""
    for pattern, phrasing, scope in _possible_questions(part, scopes):
        printed = printed_names(pattern.templates[phrasing])
        for case in _cached_cases(pattern, Scope(scope.workflow, "", scope.whole)):
            values = (f"{a}{case.fields[name]!s}{b}" for a, name, b in printed if name in case.fields)
            if all(normalize_spaces(value) in part for value in values):
                yield normalize_spaces(sentence(pattern, phrasing, scope, case)), pattern.form, case.answer


@catalog_cache
@lru_cache(maxsize=64)
def _cached_cases(pattern: Pattern, scope: Scope) -> tuple[Case, ...]:
    """Return the cases of a pattern about a level; cached, because a level may have several names."""
    return tuple(cases(pattern, scope))


def _possible_questions(part: str, scopes: Sequence[Scope]) -> Iterator[tuple[Pattern, int, Scope]]:
    """Yield patterns, phrasings and levels of possible questions, by the template's plain texts and the place."""
    named_scopes = [scope for scope in scopes if normalize_spaces(scope.designation) in part]
    patterns = catalogue().values()
    for pattern in (*patterns, *(worded_without_parameters(each) for each in patterns if each.without_parameters)):
        for phrasing, template in enumerate(pattern.templates):
            if literals(template).within(part):
                yield from ((pattern, phrasing, scope) for scope in (named_scopes if "place" in template else scopes))


def guess_at_random(prompt: str) -> tuple[str, Json]:
    """Return a random answer, which depends on the digest of the prompt.

    A coin for yes or no, any name of the text or two, every name with probability 1/2, any order of the level's tasks,
    two groups, a number from 0 to 12, any condition of the level, the description of any of its tasks for a text, a
    start from 0 to 12 for each task of the level.
    """
    rng, names = Random(sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()), names_of(prompt)
    half, tasks = [name for name in names if rng.random() < 0.5], tasks_of_level(prompt)
    form = form_of(prompt)
    guesses: dict[str, Json] = {
        "yes-no": rng.choice(["yes", "no"]),
        "task": rng.choice(names),
        "task-set": _list(half),
        "groups": [_list(half), _list([n for n in names if n not in half])],
        "task-order": _list(rng.sample(tasks, len(tasks))),
        "number": rng.choice(NUMBERS),
        "condition": rng.choice(guards_of(prompt)),
        **_open_guesses(rng.choice(["yes", "no"]), half, rng.sample(names, min(2, len(names)))),
    }
    if form == "text" and (descriptions := descriptions_of(prompt)):
        guesses[form] = rng.choice(descriptions)
    if form == "schedule":
        guesses[form] = {"tasks": _list(tasks), "starts": [rng.choice(NUMBERS) for _ in tasks]}
    return form, guesses[form]


def repeat_constantly(prompt: str) -> tuple[str, Json]:
    """Return a constant answer.

    Yes, the first declared name or condition, all names of the text, all in one group, the tasks of the level in the
    order of declaration, all of them at 0, or 1.
    """
    names, form = names_of(prompt), form_of(prompt)
    constants: dict[str, Json] = {
        "yes-no": "yes", "task": names[0], "task-set": _list(names), "groups": [_list(names)],
        "task-order": _list(tasks_of_level(prompt)), "schedule": _at_once(tasks_of_level(prompt)), "number": 1,
        "condition": guards_of(prompt)[0], **_open_guesses("yes", names, names[:2]),
    }  # fmt: skip
    return form, constants[form]


def answer_first_mentioned(prompt: str) -> tuple[str, Json]:
    """Return an answer from the names that the text after the workflow mentions.

    Yes, the mentioned tasks or else the first one declared, 1, or the first condition.
    """
    names, form = names_of(prompt), form_of(prompt)
    question = prompt.rpartition("```")[2]
    tasks = [n for n in names if f"'{n}'" in question] or names[:1]
    answers: dict[str, Json] = {
        "yes-no": "yes", "task": tasks[0], "task-set": _list(tasks), "groups": [_list(tasks)],
        "task-order": _list(tasks), "schedule": _at_once(tasks), "number": 1, "condition": guards_of(prompt)[0],
        **_open_guesses("yes", tasks, [*tasks, *(n for n in names if n not in tasks)][:2]),
    }  # fmt: skip
    return form, answers[form]


def _open_guesses(verdict: str, tasks: Sequence[str], pair: Sequence[str]) -> dict[str, Json]:
    """Return guesses in the open forms; the reason is always the same."""
    return {
        "text": f"It is about {' and '.join(pair)}.",
        "task-reasons": {"tasks": _list(sorted(tasks)), "reasons": dict.fromkeys(tasks, _REASON)},
        "pair-reason": {"tasks": _list(sorted(pair)), "reasons": {"": _REASON}},
        "yes-no-reason": {"answer": verdict, "reason": _REASON},
    }


def _at_once(tasks: Sequence[str]) -> Json:
    return {"tasks": [*tasks], "starts": [0] * len(tasks)}


def _list(names: Sequence[str]) -> Json:
    return list(names)


BASELINES: dict[str, Callable[[], Model]] = {
    "reader": lambda: Reader("reader", read_back),
    "lexical": lambda: Baseline("lexical", answer_by_words),
    "random": lambda: Baseline("random", guess_at_random),
    "constant": lambda: Baseline("constant", repeat_constantly),
    "first-mentioned": lambda: Baseline("first-mentioned", answer_first_mentioned),
}
