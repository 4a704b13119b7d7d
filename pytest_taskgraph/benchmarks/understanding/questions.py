"""From settings to references, and from a reference to the question that is put."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from random import Random
from typing import Any

from ...errors import NoCaseError, UnknownNameError, UsageError
from ...generation.recipe import TASKS
from ...notations import notation
from ...notations.plain_json import digest
from ...scoring.forms import form
from ...trial import Question
from ...workflow.model import Workflow
from ..family import QuestionReference
from ..frames import Composed, Example, Frame, frame
from ..settings import Settings
from . import projects
from .catalogue import catalogue, select
from .chance import chance_at
from .known_names import known_names
from .labels import difficulty
from .left_out import least_tasks_of, recipe_features, silent, too_small, unsaid
from .pattern import Case, Pattern
from .phrasings import check_templates, worded
from .presentation import present
from .sample import Drawn, draw
from .scope import Scope, sentence
from .shots import Series, drawn, examples, shots_of, size_of, unsolved
from .text_metrics import check as check_text_metrics
from .text_metrics import marking
from .vary import Posed, hindrance, varied
from .vary import check as check_relations

DEFAULT_FRAME = Settings().frame


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything a question is made of."""

    pattern: Pattern
    worded: Pattern  # the same in the words of this run
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
    check_templates(settings)
    for name in settings.notations:
        notation(name)
    check_text_metrics(settings.text_metrics)
    check_relations(settings.vary)
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
    return list(_with_varied(made, settings))


def notices(settings: Settings, options: Mapping[str, Any]) -> list[str]:
    """What is left out, and why, a line each."""
    settings = _merged(settings, options)
    patterns = select(options.get("patterns", "*"))
    if settings.workflows:
        left_out = [*silent(patterns, settings), *_without_examples(patterns, settings)]
    else:
        left_out = [*too_small(patterns, settings), *unsaid(patterns, settings)]
    return [*left_out, *_not_varied(settings, options)]


def question(reference: QuestionReference, settings: Settings) -> Question:
    """The question that a reference stands for."""
    asked, chosen = _asked(reference, settings), frame(settings.frame, settings.templates)
    answer_form = form(asked.pattern.form)
    names = known_names(asked.workflow, asked.scope.workflow)
    text = sentence(asked.worded, asked.phrasing, asked.scope, asked.case)
    shown = notation(asked.notation)
    files = _files(reference, asked, settings)
    presented = present(asked.text, settings.presentation, shown, asked.scope, asked.pattern.needs, files)
    told = chosen.compose(
        workflow=presented.text,
        notation=shown.title,
        guide=shown.guide,
        question=text,
        instruction=answer_form.instruct(names),
        examples=_examples(reference, asked, settings),
        fenced=not presented.specifications,
    )
    pass_mark = answer_form.pass_mark if settings.pass_mark is None else settings.pass_mark
    marked = marking(answer_form, asked.pattern.metric, settings.text_metrics)
    return Question(
        reference.id, "understanding", asked.pattern.name, asked.pattern.category, text, told.prompt,
        answer_form.name, asked.case.answer, marked.metric, marked.further,
        pass_mark, judged=marked.judged, names=names, place=chosen.place, reading=settings.reading,
        labels=_labels(reference, asked, chosen),
        episode=presented.episode, specifications=presented.specifications, needed=presented.needed,
        cluster=digest(asked.workflow), digests=_digests(asked, chosen, told), system=told.system,
        chance=chance_at(answer_form.name, marked.metric, asked.case.answer, asked.scope.workflow),
        relation=reference.relation, twin=reference.twin,
    )  # fmt: skip


def _files(reference: QuestionReference, asked: Asked, settings: Settings) -> Mapping[str, str]:
    """The user's own files, path to text, where they are shown verbatim; none otherwise."""
    if reference.source < 0 or settings.convert:
        return {}
    project = projects.load(settings.workflows[reference.source])
    return project.files if project.text == asked.text else {}


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
            _put(draw(pattern, size, settings.seed, ordinal), worded(pattern, settings.templates))
        said = [n for n in settings.notations if not recipe_features(pattern, size) & notation(n).loses]
        for name in said:
            for ordinal in range(settings.instances):
                yield _reference(pattern, settings, name, f"n{size:03d}-s{settings.seed}-{ordinal:03d}", ordinal, size)


def _put(one: Drawn, words: Pattern) -> None:
    """Nothing, if the pattern's phrasings ask that case. Raises UsageError, before anything is asked."""
    for phrasing in range(len(words.templates)):
        sentence(words, phrasing, one.scope, one.case)


def _own(pattern: Pattern, settings: Settings) -> Iterator[QuestionReference]:
    for source in _sources(settings):
        path = settings.workflows[source]
        for converted in settings.notations if settings.convert else ("",):
            chosen = projects.choose(pattern, path, converted, settings.seed, settings.instances)
            project = projects.load(path)
            if shots_of(settings) and unsolved(pattern, converted or project.notation.name):
                continue
            for ordinal, (_, scope, _) in enumerate(chosen):
                name = _safe(scope.workflow.name if scope.whole else project.workflow.name)
                where = f"{name}-{project.digest[:6]}-{ordinal:03d}"
                yield _reference(pattern, settings, converted or project.notation.name, where, ordinal, 0, source)


def _without_examples(patterns: Sequence[Pattern], settings: Settings) -> Iterator[str]:
    """A line for each pattern and notation of own files whose examples the notation has no words for."""
    if shots_of(settings):
        own = [projects.load(path).notation.name for path in settings.workflows]
        for shown in dict.fromkeys(settings.notations if settings.convert else own):
            for one in patterns:
                if lost := unsolved(one, shown):
                    yield f"{one.name} is left out: no example in {shown}, which cannot say {', '.join(sorted(lost))}"


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
    return QuestionReference(
        f"{pattern.name}-{shown}-{where}{_ways(settings)}", pattern.name, shown, ordinal, tasks, source
    )


def _ways(settings: Settings) -> str:
    """The part of an id that tells how it is asked; defaults are left out."""
    phrasing = {"first": "-p1", "second": "-p2"}.get(settings.phrasing, "")
    framed = "" if settings.frame == DEFAULT_FRAME else f"-{_safe(frame(settings.frame, settings.templates).name)}"
    shots = "" if settings.shots is None else f"-k{settings.shots}"
    return f"{phrasing}{framed}{shots}{'-agent' if settings.presentation == 'agent' else ''}"


def _safe(name: str) -> str:
    """The name as a shell takes it without quotes."""
    return re.sub(r"[^\w.-]", "_", name)


def _with_varied(made: Iterable[QuestionReference], settings: Settings) -> Iterator[QuestionReference]:
    """Each question, and after it the same varied in each relation that can be had."""
    for one in made:
        yield one
        yield from (again for again in _twins(one, settings) if not _refusal(again, settings))


def _twins(reference: QuestionReference, settings: Settings) -> Iterator[QuestionReference]:
    for relation in dict.fromkeys(settings.vary):
        yield replace(reference, id=f"{reference.id}-vary-{relation}", relation=relation, twin=reference.id)


def _refusal(reference: QuestionReference, settings: Settings) -> str:
    """Why a question cannot be varied so; empty if it can."""
    pattern = catalogue()[reference.pattern]
    if reference.source < 0 and pattern.category != "custom" and not shots_of(settings):
        held, ways = recipe_features(pattern, reference.tasks), len(worded(pattern, settings.templates).templates)
        return hindrance(reference.relation, pattern, ways, held, reference.notation)
    # What a cached verdict hangs on besides: patterns and files may change within a process.
    own = projects.load(settings.workflows[reference.source]).digest if reference.source >= 0 else ""
    return _tried(reference, settings, pattern, own)


@lru_cache(maxsize=1 << 16)
def _tried(reference: QuestionReference, settings: Settings, pattern: Pattern, own: str) -> str:
    try:
        _asked(reference, settings)
    except NoCaseError as error:
        return str(error)
    return ""


def _not_varied(settings: Settings, options: Mapping[str, Any]) -> Iterator[str]:
    """A line for each relation in which some questions cannot be varied."""
    made = references(replace(settings, vary=()), options) if settings.vary else ()
    for relation in dict.fromkeys(settings.vary):
        twins = [again for one in made for again in _twins(one, replace(settings, vary=(relation,)))]
        if reasons := [reason for one in twins if (reason := _refusal(one, settings))]:
            yield f"{len(reasons)} of {len(twins)} questions are not asked varied in {relation}: {reasons[0]}"


def _asked(reference: QuestionReference, settings: Settings) -> Asked:
    asked = _as_is(reference, settings)
    return _varied(asked, reference, settings) if reference.relation else asked


def _varied(asked: Asked, reference: QuestionReference, settings: Settings) -> Asked:
    """The question in the relation of its reference. Raises NoCaseError where that cannot be had."""
    verbatim = reference.source >= 0 and not settings.convert
    if verbatim and reference.relation != "phrasing":
        raise NoCaseError("own files are shown as they are; --taskgraph-notation has them written anew")
    rng = Random(f"{reference.relation}|{asked.pattern.name}|{reference.tasks}|{settings.seed}|{reference.ordinal}")
    posed = varied(
        reference.relation,
        Posed(
            asked.pattern, asked.workflow, asked.scope, asked.case, asked.phrasing, len(asked.worded.templates),
            asked.notation,
        ),
        rng,
    )  # fmt: skip
    if shots_of(settings) and unsolved(asked.pattern, posed.notation):
        raise NoCaseError(f"no example in {posed.notation}")
    text = asked.text if verbatim else written(posed.workflow, posed.notation)
    return replace(
        asked, workflow=posed.workflow, scope=posed.scope, case=posed.case, phrasing=posed.phrasing,
        notation=posed.notation, text=text,
    )  # fmt: skip


def _as_is(reference: QuestionReference, settings: Settings) -> Asked:
    known = catalogue()
    if reference.pattern not in known:
        raise UnknownNameError("pattern", reference.pattern, known)
    pattern = known[reference.pattern]
    words = worded(pattern, settings.templates)
    if reference.source < 0:
        one = draw(pattern, reference.tasks, settings.seed, reference.ordinal)
        workflow, scope, case = one.project, one.scope, one.case
        text = written(workflow, reference.notation)
    else:
        path, converted = settings.workflows[reference.source], reference.notation if settings.convert else ""
        chosen = projects.choose(
            pattern, path, converted, settings.seed, max(settings.instances, reference.ordinal + 1)
        )
        workflow, scope, case = chosen[reference.ordinal]
        text = written(workflow, converted) if converted else projects.load(path).text
    phrasing = {"first": 0, "second": 1}.get(settings.phrasing, reference.ordinal >> 1) % len(words.templates)
    return Asked(pattern, words, workflow, scope, case, phrasing, reference.notation, text)


def _examples(reference: QuestionReference, asked: Asked, settings: Settings) -> tuple[Example, ...]:
    """The solved examples that stand before the question."""
    size = size_of(asked.pattern, reference.tasks)
    series = Series(shots_of(settings), size, settings.seed, reference.ordinal)
    found = drawn(asked.pattern, series, digest(asked.workflow))
    place = frame(settings.frame, settings.templates).place
    return examples(found, asked.worded, asked.phrasing, place, partial(written, name=asked.notation))


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


def _digests(asked: Asked, chosen: Frame, told: Composed) -> dict[str, str]:
    template = asked.worded.templates[asked.phrasing]
    return {
        "workflow": digest(asked.workflow),
        "prompt": _sha(told.prompt),
        **({"system": _sha(told.system)} if told.system else {}),
        "frame": _sha(chosen.source),
        "template": _sha(template),
        "reference": _sha(json.dumps(asked.case.answer, sort_keys=True)),
    }


def _sha(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
