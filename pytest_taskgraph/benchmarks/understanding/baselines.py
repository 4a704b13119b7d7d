"""Baselines that see the prompt alone, as a model does.

`reader` reads the workflow back and answers exactly; `random`, `constant` and `first-mentioned` know the form of the
answer and the names, and guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from random import Random

from ...asking import Model
from ...errors import NotAskedError
from ...scoring.forms import FORMS
from ...trial import Json, Reply, Request
from ...workflow.model import OTHERWISE, Workflow
from ..templates import longest_literal
from .catalogue import catalogue
from .excerpt import find_workflow, without_fenced
from .pattern import Pattern
from .scope import Scope, all_scopes, cases, sentence

_MARKED = re.compile(r"final answer[\s*_\"']*:", re.IGNORECASE)


class Baseline:
    """A model that answers from the prompt by a rule; `rule` gives a form's name, an answer and the known names."""

    def __init__(self, name: str, rule: Callable[[str], tuple[str, Json]]) -> None:
        self.name = f"baseline:{name}"
        self._rule = rule

    async def answer(self, request: Request) -> Reply:
        """The reply. Raises NotAskedError for anything but chat, or where the rule finds nothing to go by."""
        if request.kind != "chat":
            raise NotAskedError(f"{self.name} cannot answer a request of kind {request.kind!r}")
        prompt = request.prompt
        form, answer = self._rule(prompt)
        text = FORMS[form].write(answer, _instructed_names(prompt, form))
        marked = _MARKED.search(without_fenced(prompt))
        return Reply(f"Final answer: {text}" if marked else text, source=self.name)


def read_back(prompt: str) -> tuple[str, Json]:
    """The answer of the case, of any pattern and level, whose text stands in the prompt; the longest text wins."""
    plain = _plain(prompt)
    best: tuple[str, str, Json] = ("", "", None)
    for pattern, phrasing, scope in _candidates(prompt):
        for case in cases(pattern, scope):
            text = _plain(sentence(pattern, phrasing, scope, case))
            if len(text) > len(best[0]) and text in plain:
                best = (text, pattern.form, case.answer)
    if not best[0]:
        raise NotAskedError("the reader finds no question that it knows in the prompt")
    return best[1], best[2]


def _candidates(prompt: str) -> Iterator[tuple[Pattern, int, Scope]]:
    """Patterns, phrasings and levels that may be asked about, by the constant part of the template and by the place."""
    plain, known = _plain(prompt), _scopes(prompt)
    named = [scope for scope in known if _plain(scope.place) in plain]
    for pattern in catalogue().values():
        for phrasing, template in enumerate(pattern.templates):
            if _plain(longest_literal(template)) in plain:
                yield from ((pattern, phrasing, scope) for scope in (named if "place" in template else known))


@lru_cache(maxsize=64)
def _scopes(prompt: str) -> tuple[Scope, ...]:
    """The levels of the workflow in the prompt, each place once.

    A composite task that the question is about may be written inline or elsewhere, as the notation has it; its
    reference is only followed where the task is not written inline, so that a recursion stays one.
    """
    workflow = _workflow(prompt)
    return tuple({one.place: one for one in (*all_scopes(workflow, entered=True), *all_scopes(workflow))}.values())


def _workflow(prompt: str) -> Workflow:
    workflow = find_workflow(prompt)
    if workflow is None:
        raise NotAskedError("no notation reads a workflow in the prompt")
    return workflow


def _plain(text: str) -> str:
    return " ".join(text.split())


def _instructed_names(prompt: str, form: str) -> Sequence[str]:
    """The names that need care in a list: all of them, where the instruction is not that for plain names."""
    return [] if FORMS[form].instruct([]) in prompt else _all_names(prompt)


def _all_names(prompt: str) -> list[str]:
    """The names of all tasks and data, at any level."""
    levels = [scope.workflow for scope in _scopes(prompt)]
    return [name for level in levels for name in (*level.task_names, *(one.name for one in level.data))]


def _form(prompt: str) -> str:
    """The form whose instruction stands in the prompt."""
    for name, form in FORMS.items():
        if form.instruct([]) in prompt or form.instruct(_all_names(prompt)) in prompt:
            return name
    raise NotAskedError("the prompt holds no instruction of a known answer form")


def _names(prompt: str) -> list[str]:
    """The tasks of the level that the prompt asks about."""
    return list(_asked_about(prompt).task_names) or [""]


def _guards(prompt: str) -> list[str]:
    """The conditions of that level, but "otherwise"."""
    found = [link.guard for link in _asked_about(prompt).links if link.guard]
    return [guard for guard in found if guard.strip().lower() != OTHERWISE] or [""]


def _asked_about(prompt: str) -> Workflow:
    """The level that the prompt asks about; the first workflow, where it names none."""
    plain, known = _plain(prompt), _scopes(prompt)
    named = [scope for scope in known if _plain(scope.place) in plain]
    return max(named, key=lambda scope: len(scope.place), default=known[0]).workflow


def guess_at_random(prompt: str) -> tuple[str, Json]:
    """A coin for yes or no, any task, every task with probability 1/2, any order of all, two groups, a number
    from 1 to 5, any condition of the workflow; the prompt's digest decides.
    """
    rng, names = Random(sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()), _names(prompt)
    some = [name for name in names if rng.random() < 0.5]
    form = _form(prompt)
    guesses: dict[str, Json] = {
        "yes-no": rng.choice(["yes", "no"]),
        "task": rng.choice(names),
        "task-set": _list(some),
        "groups": [_list(some), _list([n for n in names if n not in some])],
        "task-order": _list(rng.sample(names, len(names))),
        "number": 1 + rng.randrange(5),
        "condition": rng.choice(_guards(prompt)),
    }
    return form, guesses[form]


def repeat_constantly(prompt: str) -> tuple[str, Json]:
    """Always yes, the first task or condition declared, all tasks as they are declared, all tasks in one group, 1."""
    names, form = _names(prompt), _form(prompt)
    constants: dict[str, Json] = {
        "yes-no": "yes", "task": names[0], "task-set": _list(names), "groups": [_list(names)],
        "task-order": _list(names), "number": 1, "condition": _guards(prompt)[0],
    }  # fmt: skip
    return form, constants[form]


def first_mentioned(prompt: str) -> tuple[str, Json]:
    """Yes; the tasks that the text after the workflow mentions, else the first one declared; 1, the first condition."""
    names, form = _names(prompt), _form(prompt)
    question = prompt.rpartition("```")[2]
    said = [n for n in names if f"'{n}'" in question] or names[:1]
    mentioned: dict[str, Json] = {
        "yes-no": "yes", "task": said[0], "task-set": _list(said), "groups": [_list(said)],
        "task-order": _list(said), "number": 1, "condition": _guards(prompt)[0],
    }  # fmt: skip
    return form, mentioned[form]


def _list(names: Sequence[str]) -> Json:
    return list(names)


BASELINES: dict[str, Callable[[], Model]] = {
    "reader": lambda: Baseline("reader", read_back),
    "random": lambda: Baseline("random", guess_at_random),
    "constant": lambda: Baseline("constant", repeat_constantly),
    "first-mentioned": lambda: Baseline("first-mentioned", first_mentioned),
}
