"""From settings to references, and from a reference to the question that is put."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

from ...errors import NoCaseError, UnknownNameError, UsageError
from ...generation.recipe import TASKS
from ...notations import notation
from ...notations.plain_json import digest
from ...scoring.forms import form
from ...trial import Question
from ...workflow.model import Workflow
from ..family import QuestionReference
from ..frames import Frame, frame
from ..settings import Settings
from . import projects
from .catalogue import catalogue, select
from .known_names import known_names
from .labels import difficulty
from .left_out import least_tasks_of, recipe_features, silent, too_small, unsaid
from .pattern import Case, Pattern
from .sample import draw
from .scope import Scope, sentence

DEFAULT_FRAME = Settings().frame


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything a question is made of."""

    pattern: Pattern
    workflow: Workflow
    scope: Scope
    case: Case
    phrasing: int
    notation: str
    text: str  # the workflow as it is shown


def check(settings: Settings) -> None:
    """Nothing, if names are known and files can be read. Raises UsageError."""
    if bad := [size for size in settings.tasks if size not in TASKS]:
        raise UsageError(f"workflows of {bad[0]} tasks cannot be generated; expected {TASKS[0]} to {TASKS[-1]} tasks")
    # A name that the frame does not see is to be told before anything is asked.
    frame(settings.frame).compose(workflow="", notation="", guide="", question="", instruction="")
    for name in settings.notations:
        notation(name)
    for path in settings.workflows:
        projects.load(path)


def references(settings: Settings, options: Mapping[str, Any]) -> list[QuestionReference]:
    """The questions of a suite. Raises UsageError for unknown names, and NoCaseError where nothing can be asked.

    Generated: the first two ordinals of each pattern and size are built here, as a probe.
    """
    settings = _merged(settings, options)
    check(settings)
    patterns = select(options.get("patterns", "*"))
    made = [r for p in patterns for r in (_own if settings.workflows else _generated)(p, settings)]
    if not made:
        reasons = "; ".join(notices(settings, options)) or "none of the patterns finds a case"
        raise NoCaseError(f"there is nothing to ask: {reasons}")
    return made


def notices(settings: Settings, options: Mapping[str, Any]) -> list[str]:
    """What is left out, and why, a line each."""
    settings = _merged(settings, options)
    patterns = select(options.get("patterns", "*"))
    if settings.workflows:
        return list(silent(patterns, settings))
    return [*too_small(patterns, settings), *unsaid(patterns, settings)]


def question(reference: QuestionReference, settings: Settings) -> Question:
    """The question that a reference stands for."""
    asked, chosen = _asked(reference, settings), frame(settings.frame)
    answer_form = form(asked.pattern.form)
    names = known_names(asked.workflow, asked.scope.workflow)
    text = sentence(asked.pattern, asked.phrasing, asked.scope, asked.case)
    shown = notation(asked.notation)
    prompt = chosen.compose(
        workflow=asked.text,
        notation=shown.title,
        guide=shown.guide,
        question=text,
        instruction=answer_form.instruct(names),
    )
    pass_mark = answer_form.pass_mark if settings.pass_mark is None else settings.pass_mark
    return Question(
        reference.id, "understanding", asked.pattern.name, asked.pattern.category, text, prompt,
        answer_form.name, asked.case.answer, asked.pattern.metric or answer_form.metric, list(answer_form.further),
        pass_mark, names=names, place=chosen.place, reading=settings.reading, labels=_labels(reference, asked, chosen),
        cluster=digest(asked.workflow), digests=_digests(asked, chosen, prompt),
    )  # fmt: skip


def _merged(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings, with what the suite says where the user of the run said nothing."""
    said: dict[str, Any] = {}
    for name in ("tasks", "instances", "notations"):
        if name in options and name not in settings.given:
            value = options[name]
            said[name] = value if name == "instances" else tuple([value] if isinstance(value, (int, str)) else value)
    return replace(settings, **said)


def _generated(pattern: Pattern, settings: Settings) -> Iterator[QuestionReference]:
    for size in settings.tasks:
        if least_tasks_of(pattern, size):
            continue
        for ordinal in range(min(2, settings.instances)):
            draw(pattern, size, settings.seed, ordinal)
        said = [n for n in settings.notations if not recipe_features(pattern, size) & notation(n).loses]
        for name in said:
            for ordinal in range(settings.instances):
                yield _reference(pattern, settings, name, f"n{size:03d}-s{settings.seed}-{ordinal:03d}", ordinal, size)


def _own(pattern: Pattern, settings: Settings) -> Iterator[QuestionReference]:
    for source in _sources(settings):
        path = settings.workflows[source]
        for converted in settings.notations if settings.convert else ("",):
            chosen = projects.choose(pattern, path, converted, settings.seed, settings.instances)
            project = projects.load(path)
            for ordinal, (_, scope, _) in enumerate(chosen):
                name = _safe(scope.workflow.name if scope.whole else project.workflow.name)
                where = f"{name}-{project.digest[:6]}-{ordinal:03d}"
                yield _reference(pattern, settings, converted or project.notation.name, where, ordinal, 0, source)


def _sources(settings: Settings) -> list[int]:
    """The places of the user's projects; of those that would be asked about under the same ids, the first."""
    first: dict[tuple[str, str], int] = {}
    for source, path in enumerate(settings.workflows):
        project = projects.load(path)
        first.setdefault((project.digest, "" if settings.convert else project.notation.name), source)
    return list(first.values())


def _reference(
    pattern: Pattern, settings: Settings, shown: str, where: str, ordinal: int, tasks: int, source: int = -1
) -> QuestionReference:
    phrasing = {"first": "-p1", "second": "-p2"}.get(settings.phrasing, "")
    framed = "" if settings.frame == DEFAULT_FRAME else f"-{_safe(frame(settings.frame).name)}"
    return QuestionReference(
        f"{pattern.name}-{shown}-{where}{phrasing}{framed}", pattern.name, shown, ordinal, tasks, source
    )


def _safe(name: str) -> str:
    """The name as a shell takes it without quotes."""
    return re.sub(r"[^\w.-]", "_", name)


def _asked(reference: QuestionReference, settings: Settings) -> Asked:
    known = catalogue()
    if reference.pattern not in known:
        raise UnknownNameError("pattern", reference.pattern, known)
    pattern = known[reference.pattern]
    if reference.source < 0:
        drawn = draw(pattern, reference.tasks, settings.seed, reference.ordinal)
        workflow, scope, case, phrasing = drawn.project, drawn.scope, drawn.case, drawn.phrasing
        text = written(workflow, reference.notation)
    else:
        path, converted = settings.workflows[reference.source], reference.notation if settings.convert else ""
        chosen = projects.choose(
            pattern, path, converted, settings.seed, max(settings.instances, reference.ordinal + 1)
        )
        workflow, scope, case = chosen[reference.ordinal]
        phrasing = reference.ordinal >> 1
        text = written(workflow, converted) if converted else projects.load(path).text
    phrasing = {"first": 0, "second": 1}.get(settings.phrasing, phrasing) % len(pattern.templates)
    return Asked(pattern, workflow, scope, case, phrasing, reference.notation, text)


@lru_cache(maxsize=64)
def written(workflow: Workflow, name: str) -> str:
    """The workflow in that notation, without the line end that ends a file."""
    return notation(name).write(workflow).strip("\n")


def _labels(reference: QuestionReference, asked: Asked, chosen: Frame) -> dict[str, str | int]:
    return {
        **({"size": reference.tasks} if reference.tasks else {}),
        "notation": asked.notation,
        "phrasing": asked.phrasing + 1,
        "frame": chosen.name,
        **difficulty(asked.scope.workflow),
        **asked.case.labels,
    }


def _digests(asked: Asked, chosen: Frame, prompt: str) -> dict[str, str]:
    template = asked.pattern.templates[asked.phrasing]
    return {
        "workflow": digest(asked.workflow),
        "prompt": _sha(prompt),
        "frame": _sha(chosen.source),
        "template": _sha(template),
        "reference": _sha(json.dumps(asked.case.answer, sort_keys=True)),
    }


def _sha(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
