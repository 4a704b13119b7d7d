"""Open questions answered by words alone: which names, descriptions and data share words, as the prompt shows them.

Planted flaws stand in no text, so nothing can be read back; this rule only says what a look at the words gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....errors import NotAskedError
from ....scoring.forms.open_forms import OPEN_FORMS
from ....trial import Json
from ....workflow.graph import ancestors, ends, inputs, outputs, producers, starts
from ....workflow.model import Task, Workflow
from .prompt_view import asked_about, form_of, question_parts

_WORD = re.compile(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|[^\W\d_A-Za-z]++|\d++")
_STEM = 5  # letters; "retrieve" and "retrieval" are the same stem
_COMMON = re.compile(
    r"the|and|for|about|after|before|data|each|every|from|into|that|their|them|then|this|what|when|with"
)
_OF_DATA = re.compile(r"\b(?:data|inputs?|outputs?)\b", re.IGNORECASE)
_OF_WHOLE = re.compile(r"contradict|workflow['’]s|descriptions? of (?:the |its )?workflow", re.IGNORECASE)


def answer_by_words(prompt: str) -> tuple[str, Json]:
    """The form and an answer to an open question. Raises NotAskedError for a question of another form."""
    form = form_of(prompt)
    if form not in OPEN_FORMS:
        raise NotAskedError(f"the rule by words answers open questions only, found the form {form!r}")
    level, question = asked_about(prompt), next(question_parts(prompt))
    if form == "task-reasons":
        return form, _odd_task(level, question)
    if form == "pair-reason":
        return form, _pair(level)
    return form, _verdict(level) if form == "yes-no-reason" else _sentence(level, _mentioned(level, prompt))


def words(text: str) -> list[str]:
    """The words of a text or of a name in camel case or with underscores, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def likeness(name: str, text: str) -> tuple[float, float]:
    """The share of the stems of `name` that are in the text, and that of its runs of three letters, 0.0 to 1.0 each."""
    return _share(_stems(name), _stems(text)), _share(_threes(name), _threes(text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in words(text) if len(word) > 2 and not _COMMON.fullmatch(word))


def _threes(text: str) -> frozenset[str]:
    return frozenset(word[at : at + 3] for word in words(text) for at in range(len(word) - 2))


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _odd_task(level: Workflow, question: str) -> Json:
    """The task that shares least with its description, with its data or, if so asked, with the rest of the workflow."""
    told = [(task, *_compared(level, task, question)) for task in level.tasks]
    compared = [(likeness(one, other), task, other) for task, one, other in told if one and other]
    if not compared:
        return {"tasks": [], "reasons": {}}
    _, task, other = min(compared, key=lambda each: each[0])
    said = f"The name says {_spaced(task.name)}, but the task is about: {other}"
    return {"tasks": [task.name], "reasons": {task.name: said}}


def _compared(level: Workflow, task: Task, question: str) -> tuple[str, str]:
    if _OF_WHOLE.search(question):
        return task.description, level.description
    if _OF_DATA.search(question):
        return task.name, ", ".join(map(_spaced, _data_of(level, task.name)))
    return task.name, task.description


def _data_of(level: Workflow, task: str) -> tuple[str, ...]:
    return (*inputs(level, task), *outputs(level, task))


def _pair(level: Workflow) -> Json:
    """Two tasks of which the first reads what only the second writes, later; else the first two."""
    first, second, data = next(_reading_too_early(level), ("", "", ""))
    if data:
        told = f"{first} reads {data}, which {second} writes only afterwards, so {second} must come before {first}."
        return {"tasks": [*sorted([first, second])], "reasons": {"": told}}
    two = level.task_names[:2]
    return {"tasks": [*sorted(two)], "reasons": {"": "They should run the other way round."} if two else {}}


def _reading_too_early(level: Workflow) -> Iterator[tuple[str, str, str]]:
    for second in level.task_names:
        before = frozenset(ancestors(level, second)) - {second}
        for data in outputs(level, second):
            if producers(level, data) == (second,):
                early = [task for task in level.task_names if task in before and data in inputs(level, task)]
                yield from ((task, second, data) for task in early)


def _verdict(level: Workflow) -> Json:
    """Yes, if the workflow's name shares a stem with its description, or both do with the tasks."""
    name, described = _stems(level.name), _stems(level.description)
    tasks = _stems(" ".join(f"{task.name} {task.description}" for task in level.tasks))
    if name & described or (name & tasks and (described & tasks or not described)):
        return {"answer": "yes", "reason": f"The name says {_spaced(level.name)}, and that is what it is about."}
    told = f"The name says {_spaced(level.name)}, but the description says: {level.description}"
    return {"answer": "no", "reason": " ".join(told.split())}


def _mentioned(level: Workflow, prompt: str) -> str:
    """The task that the question names in quotes; the empty text where it names none."""
    for part in question_parts(prompt):
        if said := [name for name in level.task_names if f"'{name}'" in part]:
            return max(said, key=len)
    return ""


def _sentence(level: Workflow, task: str) -> str:
    """What the name says and the data beside a task; of a workflow, where it begins and ends."""
    if not task:
        ways = f" from {_listed(starts(level))} to {_listed(ends(level))}" if level.links else ""
        return f"{_spaced(level.name)}{ways}.".capitalize()
    reads = f" from {_listed(inputs(level, task))}" if inputs(level, task) else ""
    writes = f" to {_listed(outputs(level, task))}" if outputs(level, task) else ""
    return f"{_spaced(task)}{reads}{writes}.".capitalize()


def _spaced(name: str) -> str:
    return " ".join(words(name)) or name


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(map(_spaced, names))
