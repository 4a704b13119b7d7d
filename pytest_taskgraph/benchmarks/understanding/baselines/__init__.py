"""Baselines that see the prompt alone, as a model does.

`reader` reads the workflow back and answers exactly, and open questions, which hold no answer to be read, by words, as
`lexical` does; the reply's source tells which. `random`, `constant` and `first-mentioned` know the form of the
answer and the names, and guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from random import Random

from ....asking import Model
from ....catalog import catalog_cache
from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....scoring.forms import FORMS
from ....scoring.forms.open_forms import OPEN_FORMS
from ....trial import Json, Reply, Request
from ...templates import longest_literal, printed_names
from ..patterns import catalogue
from ..patterns.pattern import Case, Pattern
from ..patterns.scope import Scope, cases, sentence
from ..questions.chance import NUMBERS
from .lexical import answer_by_words
from .prompt_view import (
    descriptions_of,
    form_of,
    guards_of,
    instructed_names,
    names_of,
    plain,
    question_parts,
    scopes_of,
    without_fenced,
)

_WHY = "They do not go together."
_MARKED = re.compile(r"final answer[\s*_\"']*:", re.IGNORECASE)


class Baseline:
    """A model that answers from the prompt by a rule; `rule` gives a form's name, an answer and the known names."""

    def __init__(self, name: str, rule: Callable[[str], tuple[str, Json]]) -> None:
        self.name = f"baseline:{name}"
        self._rule = rule

    async def answer(self, request: Request) -> Reply:
        """The reply. Raises NotAskedError for anything but chat, or where the rule finds nothing to go by."""
        if request.kind != "chat":
            raise unsupported_kind(request.kind, f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the workflow in the prompt")
        prompt = request.prompt
        form, answer = self._rule(prompt)
        text = FORMS[form].write(answer, instructed_names(prompt, form))
        marked = _MARKED.search(without_fenced(prompt))
        return Reply(f"Final answer: {text}" if marked else text, source=self.name)


class Reader(Baseline):
    """The reader; where it finds no question that it knows, an open one is answered by words, under that name."""

    async def answer(self, request: Request) -> Reply:
        """The reply. Raises NotAskedError as any baseline."""
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
    """The answer of the case, of any pattern and level, whose text stands in the prompt; the longest text wins."""
    for part in map(plain, question_parts(prompt)):
        if standing := [one for one in _told(part, scopes_of(prompt)) if one[0] in part]:
            _, form, answer = max(standing, key=lambda one: len(one[0]))
            return form, answer
    raise PromptNotUnderstoodError("the reader finds no question that it knows in the prompt")


def _told(part: str, known: Sequence[Scope]) -> Iterator[tuple[str, str, Json]]:
    """The text, form and answer of each case that may stand in this part, by the values that its text must hold."""
    for pattern, phrasing, scope in _candidates(part, known):
        printed = printed_names(pattern.templates[phrasing])
        for case in _listed(pattern, scope):
            values = (f"{a}{case.fields[name]!s}{b}" for a, name, b in printed if name in case.fields)
            if all(plain(value) in part for value in values):
                yield plain(sentence(pattern, phrasing, scope, case)), pattern.form, case.answer


@catalog_cache
@lru_cache(maxsize=64)
def _listed(pattern: Pattern, scope: Scope) -> tuple[Case, ...]:
    """Return the cases of a pattern about a level; kept, as the questions of a pattern come one after another."""
    return tuple(cases(pattern, scope))


def _candidates(part: str, known: Sequence[Scope]) -> Iterator[tuple[Pattern, int, Scope]]:
    """Patterns, phrasings and levels that may be asked about, by the constant part of the template and by the place."""
    named = [scope for scope in known if plain(scope.designation) in part]
    for pattern in catalogue().values():
        for phrasing, template in enumerate(pattern.templates):
            if plain(longest_literal(template)) in part:
                yield from ((pattern, phrasing, scope) for scope in (named if "place" in template else known))


def guess_at_random(prompt: str) -> tuple[str, Json]:
    """A coin for yes or no, any task or two, every task with probability 1/2, any order of all, two groups, a number
    from 0 to 12, any condition of the workflow, the description of any task for a text; the prompt's digest decides.
    """
    rng, names = Random(sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()), names_of(prompt)
    some = [name for name in names if rng.random() < 0.5]
    form = form_of(prompt)
    guesses: dict[str, Json] = {
        "yes-no": rng.choice(["yes", "no"]),
        "task": rng.choice(names),
        "task-set": _list(some),
        "groups": [_list(some), _list([n for n in names if n not in some])],
        "task-order": _list(rng.sample(names, len(names))),
        "number": rng.choice(NUMBERS),
        "condition": rng.choice(guards_of(prompt)),
        **_open_guesses(rng.choice(["yes", "no"]), some, rng.sample(names, min(2, len(names)))),
    }
    if form == "text" and (shown := descriptions_of(prompt)):
        guesses[form] = rng.choice(shown)
    return form, guesses[form]


def repeat_constantly(prompt: str) -> tuple[str, Json]:
    """Always yes, the first task or condition declared, all tasks as they are declared, all tasks in one group, 1."""
    names, form = names_of(prompt), form_of(prompt)
    constants: dict[str, Json] = {
        "yes-no": "yes", "task": names[0], "task-set": _list(names), "groups": [_list(names)],
        "task-order": _list(names), "number": 1, "condition": guards_of(prompt)[0],
        **_open_guesses("yes", names, names[:2]),
    }  # fmt: skip
    return form, constants[form]


def first_mentioned(prompt: str) -> tuple[str, Json]:
    """Yes; the tasks that the text after the workflow mentions, else the first one declared; 1, the first condition."""
    names, form = names_of(prompt), form_of(prompt)
    question = prompt.rpartition("```")[2]
    said = [n for n in names if f"'{n}'" in question] or names[:1]
    mentioned: dict[str, Json] = {
        "yes-no": "yes", "task": said[0], "task-set": _list(said), "groups": [_list(said)],
        "task-order": _list(said), "number": 1, "condition": guards_of(prompt)[0],
        **_open_guesses("yes", said, [*said, *(n for n in names if n not in said)][:2]),
    }  # fmt: skip
    return form, mentioned[form]


def _open_guesses(verdict: str, tasks: Sequence[str], pair: Sequence[str]) -> dict[str, Json]:
    """Guesses in the open forms; the reason is always the same."""
    return {
        "text": f"It is about {' and '.join(pair)}.",
        "task-reasons": {"tasks": _list(sorted(tasks)), "reasons": dict.fromkeys(tasks, _WHY)},
        "pair-reason": {"tasks": _list(sorted(pair)), "reasons": {"": _WHY}},
        "yes-no-reason": {"answer": verdict, "reason": _WHY},
    }


def _list(names: Sequence[str]) -> Json:
    return list(names)


BASELINES: dict[str, Callable[[], Model]] = {
    "reader": lambda: Reader("reader", read_back),
    "lexical": lambda: Baseline("lexical", answer_by_words),
    "random": lambda: Baseline("random", guess_at_random),
    "constant": lambda: Baseline("constant", repeat_constantly),
    "first-mentioned": lambda: Baseline("first-mentioned", first_mentioned),
}
