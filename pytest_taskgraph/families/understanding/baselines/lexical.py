"""Answers to open questions from words alone: which names, descriptions and data share words in the prompt.

Planted flaws are recorded in no text, so they cannot be read back; this rule shows how far a comparison of words gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....errors import NotAskedError
from ....scoring.forms.open_forms import OPEN_FORMS
from ....trial import Json
from ....workflow.graph import ancestors, ends, inputs, outputs, producers, starts
from ....workflow.model import Task, Workflow
from .prompt_view import form_of, level_of_question, question_parts

_WORD = re.compile(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|[^\W\d_A-Za-z]++|\d++")
_STEM = 5  # letters; "retrieve" and "retrieval" are the same stem
_COMMON = re.compile(
    r"the|and|for|about|after|before|data|each|every|from|into|that|their|them|then|this|what|when|with"
)
_OF_DATA = re.compile(r"\b(?:data|inputs?|outputs?)\b", re.IGNORECASE)
_OF_WHOLE = re.compile(r"contradict|workflow['’]s|descriptions? of (?:the |its )?workflow", re.IGNORECASE)


def answer_by_words(prompt: str) -> tuple[str, Json]:
    """Return the form of an open question and an answer.

    Raises:
        NotAskedError: if the question has another form.
    """
    form = form_of(prompt)
    if form not in OPEN_FORMS:
        raise NotAskedError(f"the rule by words answers open questions only, found the form {form!r}")
    level, question = level_of_question(prompt), next(question_parts(prompt))
    if form == "task-reasons":
        return form, _least_similar_task(level, question)
    if form == "pair-reason":
        return form, _swapped_pair(level)
    return form, _verdict(level) if form == "yes-no-reason" else _sentence(level, _mentioned_task(level, prompt))


def words(text: str) -> list[str]:
    """Split a text or an identifier into lower-case words."""
    return [word.lower() for word in _WORD.findall(text)]


def similarity(name: str, text: str) -> tuple[float, float]:
    """Return the share of the stems of `name` that are in the text, and that of its trigrams, 0.0 to 1.0 each."""
    return _share_of(_stems(name), _stems(text)), _share_of(_trigrams(name), _trigrams(text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in words(text) if len(word) > 2 and not _COMMON.fullmatch(word))


def _trigrams(text: str) -> frozenset[str]:
    return frozenset(word[i : i + 3] for word in words(text) for i in range(len(word) - 2))


def _share_of(expected: frozenset[str], present: frozenset[str]) -> float:
    return len(expected & present) / len(expected) if expected else 0.0


def _least_similar_task(level: Workflow, question: str) -> Json:
    """Return the task that shares least with its description, its data or, if so asked, the rest of the workflow."""
    texts = [(task, *_texts_to_compare(level, task, question)) for task in level.tasks]
    compared = [
        (similarity(first_text, second_text), task, second_text)
        for task, first_text, second_text in texts
        if first_text and second_text
    ]
    if not compared:
        return {"tasks": [], "reasons": {}}
    _, task, second_text = min(compared, key=lambda row: row[0])
    reason = f"The name says {_name_in_words(task.name)}, but the task is about: {second_text}"
    return {"tasks": [task.name], "reasons": {task.name: reason}}


def _texts_to_compare(level: Workflow, task: Task, question: str) -> tuple[str, str]:
    if _OF_WHOLE.search(question):
        return task.description, level.description
    if _OF_DATA.search(question):
        return task.name, ", ".join(map(_name_in_words, _data_of(level, task.name)))
    return task.name, task.description


def _data_of(level: Workflow, task: str) -> tuple[str, ...]:
    return (*inputs(level, task), *outputs(level, task))


def _swapped_pair(level: Workflow) -> Json:
    """Return two tasks of which the first reads what only the second writes, later; else the first two."""
    first, second, data = next(_early_readers(level), ("", "", ""))
    if data:
        reason = f"{first} reads {data}, which {second} writes only afterwards, so {second} must come before {first}."
        return {"tasks": [*sorted([first, second])], "reasons": {"": reason}}
    two = level.task_names[:2]
    return {"tasks": [*sorted(two)], "reasons": {"": "They should run the other way round."} if two else {}}


def _early_readers(level: Workflow) -> Iterator[tuple[str, str, str]]:
    for second in level.task_names:
        before = frozenset(ancestors(level, second)) - {second}
        for data in outputs(level, second):
            if producers(level, data) == (second,):
                early = [task for task in level.task_names if task in before and data in inputs(level, task)]
                yield from ((task, second, data) for task in early)


def _verdict(level: Workflow) -> Json:
    """Return yes if the workflow's name shares a stem with its description, or both do with the tasks."""
    name, described = _stems(level.name), _stems(level.description)
    tasks = _stems(" ".join(f"{task.name} {task.description}" for task in level.tasks))
    if name & described or (name & tasks and (described & tasks or not described)):
        return {"answer": "yes", "reason": f"The name says {_name_in_words(level.name)}, and that is what it is about."}
    reason = f"The name says {_name_in_words(level.name)}, but the description says: {level.description}"
    return {"answer": "no", "reason": " ".join(reason.split())}


def _mentioned_task(level: Workflow, prompt: str) -> str:
    """Return the task that the question names in quotes; the empty text if there is none."""
    for part in question_parts(prompt):
        if mentioned_names := [name for name in level.task_names if f"'{name}'" in part]:
            return max(mentioned_names, key=len)
    return ""


def _sentence(level: Workflow, task: str) -> str:
    """Return a sentence from the name and the data of a task; of a workflow, from its start and end."""
    if not task:
        ways = f" from {_join_names(starts(level))} to {_join_names(ends(level))}" if level.links else ""
        return f"{_name_in_words(level.name)}{ways}.".capitalize()
    reads = f" from {_join_names(inputs(level, task))}" if inputs(level, task) else ""
    writes = f" to {_join_names(outputs(level, task))}" if outputs(level, task) else ""
    return f"{_name_in_words(task)}{reads}{writes}.".capitalize()


def _name_in_words(name: str) -> str:
    return " ".join(words(name)) or name


def _join_names(names: tuple[str, ...]) -> str:
    return " and ".join(map(_name_in_words, names))
