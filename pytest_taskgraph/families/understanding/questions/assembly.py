"""References of questions from settings, and questions from references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count, product
from random import Random
from typing import Any, NamedTuple

from ....catalog import catalog_cache
from ....errors import NoCaseError, NothingToAskError, UsageError
from ....generation.recipe import TASKS
from ....generation.vocabularies import VOCABULARIES
from ....notations import notation
from ....scoring.forms import form
from ....scoring.metrics import check_text_metrics
from ....trial import Question, digest_of
from ..own_files import projects
from ..own_files.choices import ANSWERS, Choice, choose
from ..own_files.stated_case import stated_case
from ..patterns import select
from ..patterns.pattern import PATTERNS, Pattern
from ..patterns.scope import sentence
from ..prompts import prompt_template
from ..understanding_settings import UnderstandingSettings
from ..variations import add_variations, resolve_reference, variation_notices
from ..variations import check as check_relations
from .composition import compose, question_metrics
from .examples import shots_of, unsupported_by_examples
from .ingredients import PatternQuestion, PatternReference, own_path, workflow_of_question
from .left_out import (
    balance_notices,
    left_out_notices,
    notation_notices,
    project_notices,
    recipe_features,
    size_notices,
    size_problem,
)
from .phrasings import apply_own_phrasings, apply_phrasings, check_templates
from .sample import DrawnCase, draw


def metrics(pattern: str, settings: UnderstandingSettings) -> list[str]:
    """Return the metrics of a pattern's answers with these settings, the main one first."""
    chosen_pattern = PATTERNS[pattern]
    form_metrics = question_metrics(form(chosen_pattern.form), chosen_pattern.metric, settings.text_metrics)
    agent = ["specifications_read"] if settings.presentation == "agent" else []
    return [form_metrics.metric, *form_metrics.further, *agent]


DEFAULT_PROMPT = UnderstandingSettings().prompt


def check(settings: UnderstandingSettings) -> None:
    """Validate the settings: sizes, names, templates and files.

    Raises:
        UsageError: if a size cannot be generated, a name is unknown or a file cannot be read.
    """
    if bad := [size for size in settings.tasks if size not in TASKS]:
        raise UsageError(f"workflows of {bad[0]} tasks cannot be generated; expected {TASKS[0]} to {TASKS[-1]} tasks")
    check_templates(settings)
    for name in settings.notations:
        notation(name)
    check_text_metrics(settings.text_metrics)
    check_relations(settings.vary)
    if settings.verbatim and settings.convert:
        raise UsageError("--taskgraph-verbatim shows files as they are, --taskgraph-notation converts them; state one")
    for path in settings.workflows:
        projects.load_all(path)


def references(settings: UnderstandingSettings, options: Mapping[str, Any]) -> list[PatternReference]:
    """Return the references of a suite's questions.

    The first two ordinals of each of the user's patterns and each size are generated here, as a probe.

    Raises:
        UsageError: if a name is unknown or a template fails.
        NoCaseError: if no question is possible about generated workflows.
        NothingToAskError: if no question is possible about the user's own workflows.
    """
    settings = with_options(settings, options)
    check(settings)
    patterns = select(options.get("patterns", "*"))
    if not settings.workflows and not settings.question:
        _probe(patterns, settings)
    pattern_references = _references_of_patterns(patterns, settings)
    if settings.question:
        _check_stated(pattern_references, patterns, settings)
    if not pattern_references:
        reasons = "; ".join(notices(settings, options)) or "none of the patterns finds a case"
        error = NothingToAskError if settings.workflows else NoCaseError
        raise error(f"there is nothing to ask: {reasons}")
    return list(add_variations(pattern_references, settings))


def notices(settings: UnderstandingSettings, options: Mapping[str, Any]) -> list[str]:
    """Return a line for each pattern, size, notation or file that is left out, with the reason."""
    settings = with_options(settings, options)
    patterns = select(options.get("patterns", "*"))
    if settings.question:
        return []
    if settings.workflows:
        left_out = [
            *left_out_notices(settings.workflows),
            *project_notices(patterns, settings),
            *balance_notices(patterns, settings),
            *_example_notices(patterns, settings),
        ]
    else:
        left_out = [*size_notices(patterns, settings), *notation_notices(patterns, settings)]
    return [
        *left_out,
        *(variation_notices(_references_of_patterns(patterns, settings), settings) if settings.vary else ()),
    ]


def question(reference: PatternReference, settings: UnderstandingSettings) -> Question:
    """Return the question that a reference identifies."""
    pattern_question = resolve_reference(reference, settings)
    files = _files(reference, pattern_question, settings)
    return compose(
        pattern_question, reference, settings, workflow_of_question(pattern_question, reference, settings), files
    )


def _files(
    reference: PatternReference, pattern_question: PatternQuestion, settings: UnderstandingSettings
) -> Mapping[str, str]:
    """Return the user's own files, path to text, where they are shown verbatim; otherwise none."""
    if reference.source < 0 or settings.convert:
        return {}
    project = projects.load(own_path(reference, settings))
    return project.files if project.text == pattern_question.text else {}


def with_options(settings: UnderstandingSettings, options: Mapping[str, Any]) -> UnderstandingSettings:
    """Return the settings, with the options of the suite where the user of the run has set none."""
    stated: dict[str, Any] = {"question": options.get("question", "")}
    for name, option in (("tasks", "tasks"), ("instances", "instances"), ("notations", "notation")):
        if name in options and option not in settings.given:
            value = options[name]
            stated[name] = value if name == "instances" else tuple([value] if isinstance(value, (int, str)) else value)
    return replace(settings, **stated)


def _references_of_patterns(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> list[PatternReference]:
    """Return the references of the patterns' questions, without variations."""
    references_of_pattern = (
        _stated_references
        if settings.question
        else _own_file_references
        if settings.workflows
        else _generated_references
    )
    return [reference for p in patterns for reference in references_of_pattern(p, settings)]


def _stated_references(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    """Yield the question whose text a suite states, about each of the user's projects that allows it."""
    text = settings.question
    for source, path in chain.from_iterable(some.items() for some in _sources(settings.workflows, settings.convert)):
        words = apply_own_phrasings(pattern, settings.templates, path)
        project = projects.load(path)
        for converted in settings.notations if settings.convert else ("",):
            if stated_case(words, path, converted, text) is not None:
                suffix = f"{_safe(project.workflow.name)}-{project.digest[:6]}-q{digest_of(text)[:6]}"
                reference = _reference(pattern, settings, converted or project.notation.name, suffix, 0, 0, source)
                yield replace(reference, question=text)


def _check_stated(
    pattern_references: Sequence[PatternReference], patterns: Sequence[Pattern], settings: UnderstandingSettings
) -> None:
    """Check that at least one workflow allows the question that a suite states.

    Raises:
        NothingToAskError: if the user of the run has chosen other workflows, which do not allow it.
        UsageError: if the suite's own workflows do not allow it.
    """
    if not settings.workflows:
        raise UsageError("question=... states the text of a question about your own workflow; add workflow=...")
    if not pattern_references:
        pattern_names = ", ".join(pattern.name for pattern in patterns)
        problem = f"{', '.join(settings.workflows)}: {pattern_names} does not ask {settings.question!r}"
        if "workflow" in settings.given:
            raise NothingToAskError(problem)
        raise UsageError(f"{problem}; compare it with the templates of the pattern and the names in the workflow")


def _probe(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> None:
    """Build the first questions of each pattern and size in which something of the user takes part.

    Built-in patterns find cases at each size that `size_problem` accepts. Their probe would cost a tenth of a second
    run, whose questions need not be built, and as much in each worker of xdist.

    Raises:
        NoCaseError: if a pattern finds no case.
        UsageError: if a template fails.
    """
    altered = settings.templates or VOCABULARIES.registered
    probed = [pattern for pattern in patterns if altered or pattern.category == "custom"]
    for pattern, size in product(probed, settings.tasks):
        for ordinal in range(0 if size_problem(pattern, size) else min(2, settings.instances)):
            _check_phrasings(
                draw(pattern, size, settings.seed, ordinal, settings.names),
                apply_phrasings(pattern, settings.templates),
            )


def _generated_references(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    for size in settings.tasks:
        if size_problem(pattern, size):
            continue
        supporting = [n for n in settings.notations if not recipe_features(pattern, size) & notation(n).unsupported]
        for name in supporting:
            for ordinal in range(settings.instances):
                yield _reference(pattern, settings, name, f"n{size:03d}-s{settings.seed}-{ordinal:03d}", ordinal, size)


def _check_phrasings(drawn: DrawnCase, words: Pattern) -> None:
    """Check that all phrasings of the pattern can be rendered for the case, before a request is sent.

    Raises:
        UsageError: if a template fails.
    """
    for phrasing in range(len(words.templates)):
        sentence(words, phrasing, drawn.scope, drawn.case)


def _own_file_references(pattern: Pattern, settings: UnderstandingSettings) -> Iterator[PatternReference]:
    for sources in _sources(settings.workflows, settings.convert):
        for converted in settings.notations if settings.convert else ("",):
            for source, ordinal, choice in _spread_choices(pattern, sources, converted, settings):
                project, scope = projects.load(sources[source]), choice.scope
                name = _safe(scope.workflow.name if scope.whole else project.workflow.name)
                suffix = f"{name}-{project.digest[:6]}-{ordinal:03d}"
                reference = _reference(
                    pattern, settings, converted or project.notation.name, suffix, ordinal, 0, source
                )
                shift = _phrasing_shift(pattern, project.digest) if len(sources) > 1 else 0
                yield replace(reference, shift=shift)


class _SpreadChoice(NamedTuple):
    """A case that is asked: the index of its project, its number among the cases of that project, and the case."""

    source: int
    ordinal: int
    choice: Choice


def _spread_choices(
    pattern: Pattern, sources: Mapping[int, str], converted: str, settings: UnderstandingSettings
) -> Iterator[_SpreadChoice]:
    """Yield `instances` cases of a pattern about the projects at one path, as many of each project as possible.

    Projects take turns, in an order that pattern and seed decide; a pair of yes and no is one turn. More instances
    extend fewer.

    Args:
        pattern: The pattern.
        sources: The paths of the projects by their index.
        converted: The notation to show them in; empty for the files themselves.
        settings: The settings of the run.
    """
    order = [*sources]
    if len(order) > 1:
        Random(f"spread|{pattern.name}|{settings.seed}").shuffle(order)
    step = len(ANSWERS) if pattern.yes_no else 1
    left, start = settings.instances, 0
    while left > 0 and order:
        for source in order.copy():
            chosen = _supported_choices(pattern, sources[source], converted, settings)
            for ordinal, choice in [*enumerate(chosen)][start : start + min(step, left)]:
                yield _SpreadChoice(source, ordinal, choice)
                left -= 1
            if len(chosen) <= start + step:
                order.remove(source)
            if left <= 0:
                return
        start += step


def _phrasing_shift(pattern: Pattern, digest: str) -> int:
    """Return the even number by which the questions about a project are shifted, so that phrasings take turns."""
    return 2 * Random(f"shift|{pattern.name}|{digest}").randrange(2)


def _supported_choices(
    pattern: Pattern, path: str, converted: str, settings: UnderstandingSettings
) -> tuple[Choice, ...]:
    notation = converted or projects.load(path).notation.name
    if shots_of(settings) and unsupported_by_examples(pattern, notation):
        return ()
    return choose(pattern, path, converted, settings.seed, settings.instances)


def _example_notices(patterns: Sequence[Pattern], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each pattern and notation of own files that does not support the pattern's examples."""
    if shots_of(settings):
        paths = projects.project_paths(settings.workflows)
        own = [projects.load(path).notation.name for path in paths]
        for notation_name in dict.fromkeys(settings.notations if settings.convert else own):
            for pattern in patterns:
                if unsupported := ", ".join(sorted(unsupported_by_examples(pattern, notation_name))):
                    where = f"no example in {notation_name}, which does not support {unsupported}"
                    yield f"{pattern.name} is left out: {where}"


@catalog_cache
@lru_cache(maxsize=16)
def _sources(paths: tuple[str, ...], convert: bool) -> tuple[Mapping[int, str], ...]:
    """Return the paths of the user's projects by their index in the run, for each path that the user stated.

    Of projects with the same question ids, only the first is listed.
    """
    index = count()
    numbered = [[(next(index), project) for project in projects.load_all(path).projects] for path in paths]
    first: dict[tuple[str, str], int] = {}
    for source, project in chain.from_iterable(numbered):
        first.setdefault((project.digest, "" if convert else project.notation.name), source)
    listed = {*first.values()}
    return tuple({source: project.path for source, project in some if source in listed} for some in numbered)


def _reference(
    pattern: Pattern,
    settings: UnderstandingSettings,
    notation_name: str,
    suffix: str,
    ordinal: int,
    tasks: int,
    source: int = -1,
) -> PatternReference:
    return PatternReference(
        f"{pattern.name}-{notation_name}-{suffix}{_id_suffix(settings)}",
        pattern.name,
        notation_name,
        ordinal,
        tasks,
        source,
    )


def _id_suffix(settings: UnderstandingSettings) -> str:
    """Return the part of an id that states names, phrasing, prompt, shots and presentation; defaults are left out."""
    phrasing = {"first": "-p1", "second": "-p2"}.get(settings.phrasing, "")
    names = "" if settings.names == "mixed" else f"-{settings.names}"
    default = settings.prompt == DEFAULT_PROMPT
    prompt = "" if default else f"-{_safe(prompt_template(settings.prompt, settings.templates).name)}"
    shots = "" if settings.shots is None else f"-k{settings.shots}"
    return f"{names}{phrasing}{prompt}{shots}{'-agent' if settings.presentation == 'agent' else ''}"


def _safe(name: str) -> str:
    """Return the name in characters that a shell takes without quotes."""
    return re.sub(r"[^\w.-]", "_", name)
