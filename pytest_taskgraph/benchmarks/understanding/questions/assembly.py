"""From settings to references, and from a reference to the question that is put."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ....errors import NoCaseError, NothingToAskError, UsageError
from ....generation.recipe import TASKS
from ....notations import notation
from ....scoring.forms import form
from ....scoring.metrics import check_text_metrics
from ....trial import Question, digest_of
from ..family_options import UnderstandingSettings
from ..own_files import projects
from ..own_files.choices import choose
from ..own_files.stated_case import stated_case
from ..patterns import select
from ..patterns.pattern import PATTERNS, Pattern
from ..patterns.scope import sentence
from ..prompts import prompt_template
from ..variations import asked as asked_for
from ..variations import check as check_relations
from ..variations import not_varied, with_varied
from .composition import compose, question_metrics
from .examples import shots_of, unsolved
from .ingredients import Asked, PatternReference, about
from .left_out import left_alone, misfit, misfits, one_sided, recipe_features, silent, unsaid
from .phrasings import check_templates, worded
from .sample import Drawn, draw


def metrics(pattern: str, settings: UnderstandingSettings) -> list[str]:
    """The metrics that answers to a pattern may have in such a run, the one that decides first."""
    one = PATTERNS[pattern]
    chosen = question_metrics(form(one.form), one.metric, settings.text_metrics)
    agent = ["specifications_read"] if settings.presentation == "agent" else []
    return [chosen.metric, *chosen.further, *agent]


DEFAULT_PROMPT = UnderstandingSettings().prompt


def check(settings: UnderstandingSettings) -> None:
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


def references(settings: UnderstandingSettings, options: Mapping[str, Any]) -> list[PatternReference]:
    """The questions of a suite. Raises UsageError for unknown names, and NoCaseError where nothing can be asked.

    Generated: the first two ordinals of each pattern and size are built here, as a probe.
    """
    settings = with_options(settings, options)
    check(settings)
    patterns = select(options.get("patterns", "*"))
    if not settings.workflows and not settings.question:
        _probe(patterns, settings)
    made = _made(patterns, settings)
    if settings.question:
        _demand_stated(made, patterns, settings)
    if not made:
        reasons = "; ".join(notices(settings, options)) or "none of the patterns finds a case"
        nothing = NothingToAskError if settings.workflows else NoCaseError
        raise nothing(f"there is nothing to ask: {reasons}")
    return list(with_varied(made, settings))


def notices(settings: UnderstandingSettings, options: Mapping[str, Any]) -> list[str]:
    """What is left out, and why, a line each."""
    settings = with_options(settings, options)
    patterns = select(options.get("patterns", "*"))
    if settings.question:
        return []
    if settings.workflows:
        left_out = [
            *left_alone(settings.workflows),
            *silent(patterns, settings),
            *one_sided(patterns, settings),
            *_without_examples(patterns, settings),
        ]
    else:
        left_out = [*misfits(patterns, settings), *unsaid(patterns, settings)]
    return [*left_out, *(not_varied(_made(patterns, settings), settings) if settings.vary else ())]


def question(reference: PatternReference, settings: UnderstandingSettings) -> Question:
    """The question that a reference stands for."""
    asked = asked_for(reference, settings)
    files = _files(reference, asked, settings)
    return compose(asked, reference, settings, about(asked, reference, settings), files)


def _files(reference: PatternReference, asked: Asked, settings: UnderstandingSettings) -> Mapping[str, str]:
    """The user's own files, path to text, where they are shown verbatim; none otherwise."""
    if reference.source < 0 or settings.convert:
        return {}
    project = projects.load(settings.workflows[reference.source])
    return project.files if project.text == asked.text else {}


def with_options(settings: UnderstandingSettings, options: Mapping[str, Any]) -> UnderstandingSettings:
    """Return the settings with what the suite states where the user of the run stated nothing."""
    said: dict[str, Any] = {"question": options.get("question", "")}
    for name, option in (("tasks", "tasks"), ("instances", "instances"), ("notations", "notation")):
        if name in options and option not in settings.given:
            value = options[name]
            said[name] = value if name == "instances" else tuple([value] if isinstance(value, (int, str)) else value)
    return replace(settings, **said)


def _made(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> list[PatternReference]:
    """The questions of the patterns, as they are."""
    listed = _stated if settings.question else _own if settings.workflows else _generated
    return [one for p in patterns for one in listed(p, settings)]


def _stated(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    """The question whose text a suite states, about each of the user's projects that allows it."""
    words, text = worded(pattern, settings.templates), settings.question
    for source in _sources(settings):
        project = projects.load(settings.workflows[source])
        for converted in settings.notations if settings.convert else ("",):
            if stated_case(words, settings.workflows[source], converted, text) is not None:
                where = f"{_safe(project.workflow.name)}-{project.digest[:6]}-q{digest_of(text)[:6]}"
                one = _reference(pattern, settings, converted or project.notation.name, where, 0, 0, source)
                yield replace(one, question=text)


def _demand_stated(
    made: Sequence[PatternReference], patterns: Sequence[Pattern], settings: UnderstandingSettings
) -> None:
    """Check that the question which a suite states is asked.

    Raises:
        NothingToAskError: if the user of the run has it asked about other workflows, which do not allow it.
        UsageError: if its own do not.
    """
    if not settings.workflows:
        raise UsageError("question=... states the text of a question about your own workflow; add workflow=...")
    if not made:
        asked = ", ".join(pattern.name for pattern in patterns)
        told = f"{', '.join(settings.workflows)}: {asked} does not ask {settings.question!r}"
        if "workflow" in settings.given:
            raise NothingToAskError(told)
        raise UsageError(f"{told}; compare it with the templates of the pattern and the names in the workflow")


def _probe(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> None:
    """Nothing, if the first questions of each pattern and size can be had. Raises NoCaseError, UsageError."""
    for pattern, size in product(patterns, settings.tasks):
        for ordinal in range(0 if misfit(pattern, size) else min(2, settings.instances)):
            _put(draw(pattern, size, settings.seed, ordinal, settings.names), worded(pattern, settings.templates))


def _generated(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    for size in settings.tasks:
        if misfit(pattern, size):
            continue
        said = [n for n in settings.notations if not recipe_features(pattern, size) & notation(n).unsupported]
        for name in said:
            for ordinal in range(settings.instances):
                yield _reference(pattern, settings, name, f"n{size:03d}-s{settings.seed}-{ordinal:03d}", ordinal, size)


def _put(one: Drawn, words: Pattern) -> None:
    """Nothing, if the pattern's phrasings ask that case. Raises UsageError, before anything is asked."""
    for phrasing in range(len(words.templates)):
        sentence(words, phrasing, one.scope, one.case)


def _own(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    for source in _sources(settings):
        path = settings.workflows[source]
        for converted in settings.notations if settings.convert else ("",):
            chosen = choose(pattern, path, converted, settings.seed, settings.instances)
            project = projects.load(path)
            if shots_of(settings) and unsolved(pattern, converted or project.notation.name):
                continue
            for ordinal, scope in enumerate(one.scope for one in chosen):
                name = _safe(scope.workflow.name if scope.whole else project.workflow.name)
                where = f"{name}-{project.digest[:6]}-{ordinal:03d}"
                yield _reference(pattern, settings, converted or project.notation.name, where, ordinal, 0, source)


def _without_examples(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """A line for each pattern and notation of own files whose examples the notation has no words for."""
    if shots_of(settings):
        own = [projects.load(path).notation.name for path in settings.workflows]
        for shown in dict.fromkeys(settings.notations if settings.convert else own):
            for one in patterns:
                if lost := unsolved(one, shown):
                    yield f"{one.name} is left out: no example in {shown}, which cannot say {', '.join(sorted(lost))}"


def _sources(settings: UnderstandingSettings) -> list[int]:
    """The places of the user's projects; of those that would be asked about under the same ids, the first."""
    first: dict[tuple[str, str], int] = {}
    for source, path in enumerate(settings.workflows):
        project = projects.load(path)
        first.setdefault((project.digest, "" if settings.convert else project.notation.name), source)
    return list(first.values())


def _reference(
    pattern: Pattern,
    settings: UnderstandingSettings,
    shown: str,
    where: str,
    ordinal: int,
    tasks: int,
    source: int = -1,
) -> PatternReference:
    return PatternReference(
        f"{pattern.name}-{shown}-{where}{_ways(settings)}", pattern.name, shown, ordinal, tasks, source
    )


def _ways(settings: UnderstandingSettings) -> str:
    """The part of an id that tells how it is asked; defaults are left out."""
    phrasing = {"first": "-p1", "second": "-p2"}.get(settings.phrasing, "")
    names = "" if settings.names == "mixed" else f"-{settings.names}"
    default = settings.prompt == DEFAULT_PROMPT
    prompt = "" if default else f"-{_safe(prompt_template(settings.prompt, settings.templates).name)}"
    shots = "" if settings.shots is None else f"-k{settings.shots}"
    return f"{names}{phrasing}{prompt}{shots}{'-agent' if settings.presentation == 'agent' else ''}"


def _safe(name: str) -> str:
    """The name as a shell takes it without quotes."""
    return re.sub(r"[^\w.-]", "_", name)
