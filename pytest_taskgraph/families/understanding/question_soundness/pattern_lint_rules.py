"""Lint rules for suites about workflows: names in templates, notations, left-out patterns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ....benchmarks.lint_rule import LintProblem, LintRule, SourcePlace
from ....benchmarks.linted_suite import LintedSuite
from ....benchmarks.settings import Settings
from ....benchmarks.templates import files_of, undeclared_names
from ....errors import UsageError
from ..patterns import catalogue, select
from ..patterns.pattern import Pattern
from ..patterns.scope import SENTENCE_FIELDS
from ..prompts import FIELDS, prompt_template
from ..questions.assembly import with_options
from ..questions.ingredients import PatternReference
from ..questions.left_out import balance_notices, notation_notices, project_notices, size_notices
from ..questions.phrasings import FOLDER as TEMPLATES
from ..questions.phrasings import apply_phrasings
from ..understanding_settings import UnderstandingSettings
from ..variations import resolve_reference

CASES: Final = 24  # questions of a pattern whose fields are examined


def pattern_source(name: str, settings: UnderstandingSettings) -> SourcePlace | None:
    """Return the source of a pattern's templates: a file in a folder of templates, else the pattern's function."""
    if settings.templates and (path := files_of(settings.templates, TEMPLATES).get(name)):
        return SourcePlace(path)
    code = getattr(catalogue()[name].cases, "__code__", None) if name in catalogue() else None
    return None if code is None else SourcePlace(Path(code.co_filename), code.co_firstlineno)


def _patterns(suite: LintedSuite) -> Iterator[tuple[Pattern, UnderstandingSettings]]:
    """Yield the patterns of the suite's questions with the phrasings of the run, each once."""
    settings = UnderstandingSettings.of(suite.settings[0])
    patterns = catalogue()
    for name in suite.groups:
        if name in patterns:
            yield apply_phrasings(patterns[name], settings.templates), settings


def _fields(suite: LintedSuite, name: str) -> dict[str, list[Any]]:
    """Return the fields of a pattern's cases, which fill its templates, each with its values."""
    fields: dict[str, list[Any]] = {}
    references = [
        linted for linted in suite.questions if linted.reference.group == name and not linted.reference.relation
    ]
    for linted in references[:CASES]:
        try:
            case = resolve_reference(
                PatternReference.of(linted.reference), UnderstandingSettings.of(linted.settings)
            ).case
        except UsageError:  # the property `renders` reports it
            continue
        for field, value in case.fields.items():
            fields.setdefault(field, []).append(value)
    return fields


def _undefined_variables(suite: LintedSuite) -> Iterator[LintProblem]:
    for pattern, settings in _patterns(suite):
        names = {*_fields(suite, pattern.name), *SENTENCE_FIELDS}
        for number, template in enumerate(pattern.templates, 1):
            if unknown := sorted(undeclared_names(template) - names):
                message = f"{pattern.name}: phrasing {number} uses {_quote_names(unknown)}, which no case has"
                yield LintProblem(f"{message}; known: {_quote_names(names)}", pattern_source(pattern.name, settings))
    for settings_of_run in suite.settings:
        prompt = prompt_template(settings_of_run.prompt, settings_of_run.templates)
        if unknown := sorted(undeclared_names(prompt.source) - set(FIELDS)):
            message = f"the prompt {prompt.name} uses {_quote_names(unknown)}; known: {_quote_names(FIELDS)}"
            yield LintProblem(message, _prompt_source(settings_of_run))


def _unused_variables(suite: LintedSuite) -> Iterator[LintProblem]:
    for pattern, settings in _patterns(suite):
        used = {name for template in pattern.templates for name in undeclared_names(template)}
        for field, values in _fields(suite, pattern.name).items():
            if field not in used and any(value != values[0] for value in values):
                message = f"{pattern.name}: no phrasing uses the field {field!r}, which differs from case to case"
                yield LintProblem(message, pattern_source(pattern.name, settings))
    for settings_of_run in suite.settings:
        prompt = prompt_template(settings_of_run.prompt, settings_of_run.templates)
        if "instruction" not in undeclared_names(prompt.source):
            message = f"the prompt {prompt.name} does not use 'instruction', which describes the answer"
            yield LintProblem(message, _prompt_source(settings_of_run))


def _quote_names(names: Any) -> str:  # noqa: ANN401 - any collection of texts
    return ", ".join(repr(name) for name in sorted(names))


def _prompt_source(settings: Settings) -> SourcePlace | None:
    """Return the file of a prompt template of the user; None for other templates."""
    path = Path(settings.prompt)
    if path.is_file():
        return SourcePlace(path)
    own = files_of(settings.templates) if settings.templates else {}
    template = own.get(settings.prompt) or own.get(settings.prompt.replace("-", "_"))
    return SourcePlace(template) if template else None


def _unsupported_notations(suite: LintedSuite) -> Iterator[LintProblem]:
    settings = with_options(UnderstandingSettings.of(suite.settings[0]), suite.options)
    if not settings.workflows and not settings.question:
        yield from map(LintProblem, notation_notices(select(suite.options.get("patterns", "*")), settings))


def _left_out_patterns(suite: LintedSuite) -> Iterator[LintProblem]:
    settings = with_options(UnderstandingSettings.of(suite.settings[0]), suite.options)
    patterns = select(suite.options.get("patterns", "*"))
    if settings.question:  # only this question is asked
        return
    if settings.workflows:
        yield from map(LintProblem, (*project_notices(patterns, settings), *balance_notices(patterns, settings)))
    else:
        yield from map(LintProblem, size_notices(patterns, settings))


LINT_RULES: Final = (
    LintRule(
        "undefined-variable",
        "A template uses an undefined name, even if only in a branch that no question takes.",
        "Correct the name, or add a field of that name to the cases of the pattern.",
        _undefined_variables,
    ),
    LintRule(
        "unused-variable",
        "A template omits a field that distinguishes questions, or the instruction for the answer.",
        "Use the field in each phrasing, or remove it from the cases.",
        _unused_variables,
        "warning",
    ),
    LintRule(
        "unsupported-notation",
        "A suite asks in a notation that does not support what a pattern needs.",
        "Choose another notation for these patterns, or remove them.",
        _unsupported_notations,
        "warning",
    ),
    LintRule(
        "left-out-pattern",
        "A suite selects a pattern that finds no case, or only cases with one answer.",
        "Choose sizes or workflows for which the pattern finds cases, or remove the pattern.",
        _left_out_patterns,
        "warning",
    ),
)
"""Lint rules for suites about workflows."""
