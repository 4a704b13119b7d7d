"""One run of the linter: from the arguments of pytest to the findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...benchmarks.contract import report_family_errors
from ...benchmarks.lint_rule import LintProblem, LintRule, SourcePlace
from ...benchmarks.linted_suite import LintedSuite
from ...errors import UsageError
from ...families import FAMILIES
from ...scoring.forms import form
from ...trial import Question
from .lint_findings import LintFinding, LintReport, make_finding, select_rules
from .property_rules import PropertySearch, SearchLimits
from .suite_collection import NO_CASE, SUITE_ERROR, CollectionProblem, collect_suites

MOST_SHARE: Final = 2 / 3  # of the questions of a group that one constant answer may get right
LEAST_QUESTIONS: Final = 4  # of a group, for its balance to be judged
IDS_SHOWN: Final = 3  # questions that one message names


def questions_of(suite: LintedSuite) -> list[Question]:
    """Return the questions that could be built and are no variations of others."""
    return [
        linted.question for linted in suite.questions if linted.question is not None and not linted.reference.relation
    ]


def _same_prompts(suite: LintedSuite) -> Iterator[list[Question]]:
    """Yield groups of two or more questions with equal requests to the model."""
    groups: dict[str, list[Question]] = {}
    for question in questions_of(suite):
        parts = (question.system, question.prompt, question.episode, question.specifications, question.episode_settings)
        groups.setdefault(json.dumps(parts, sort_keys=True), []).append(question)
    yield from (questions for questions in groups.values() if len(questions) > 1)


def _duplicates(suite: LintedSuite) -> Iterator[LintProblem]:
    for questions in _same_prompts(suite):
        if len(_answers(questions)) == 1:
            yield LintProblem(f"{_ids_of(questions)} have one prompt and one answer; expected each question once")


def _contradictions(suite: LintedSuite) -> Iterator[LintProblem]:
    for questions in _same_prompts(suite):
        if len(_answers(questions)) > 1:
            yield LintProblem(
                f"{_ids_of(questions)} have one prompt and {len(_answers(questions))} answers; expected one"
            )


def _answers(questions: Iterable[Question]) -> set[str]:
    return {json.dumps(question.reference, sort_keys=True) for question in questions}


def _ids_of(questions: Sequence[Question]) -> str:
    names = [question.id for question in questions]
    more = f" and {len(names) - IDS_SHOWN} more" if len(names) > IDS_SHOWN else ""
    return f"{', '.join(names[:IDS_SHOWN])}{more}"


def _unbalanced(suite: LintedSuite) -> Iterator[LintProblem]:
    """Yield the groups with few and fixed answers in which one answer is right too often."""
    groups: dict[str, list[Question]] = {}
    for question in questions_of(suite):
        if form(question.form).classes:
            groups.setdefault(question.group, []).append(question)
    for name, questions in groups.items():
        classes = Counter(str(form(question.form).classify(question.reference)) for question in questions)
        answer, right = classes.most_common(1)[0]
        if len(questions) >= LEAST_QUESTIONS and right > MOST_SHARE * len(questions):
            yield LintProblem(
                f"{name}: {right} of {len(questions)} answers are {answer!r}, so that this answer alone scores "
                f"{right / len(questions):.0%}; expected at most {MOST_SHARE:.0%}"
            )


def _no_problems(suite: LintedSuite) -> Iterable[LintProblem]:
    """Return no problems, because the collection of suites finds the problems of the rule."""
    return ()


RULES: Final = (
    LintRule(
        SUITE_ERROR,
        "A suite cannot be collected.",
        "Fix the error in the message; until then nothing else of its file is checked.",
        _no_problems,
    ),
    LintRule(
        NO_CASE,
        "Nothing can be asked for a group of a suite.",
        "Let the group find cases in its subjects, demand the features that it needs, or do not ask for it.",
        _no_problems,
    ),
    LintRule(
        "duplicate-prompt",
        "Two questions of a suite have the same prompt and the same answer.",
        "Ask for fewer questions or for larger subjects: a repeated question counts twice and adds nothing.",
        _duplicates,
        "warning",
    ),
    LintRule(
        "contradictory-prompt",
        "Two questions of a suite have the same prompt and different answers.",
        "Let the question's text name all that its answer depends on.",
        _contradictions,
    ),
    LintRule(
        "unbalanced-answers",
        "One answer is right for most questions of a group.",
        "Ask more questions, or let the group yield cases with each of its answers.",
        _unbalanced,
        "warning",
    ),
)
"""The rules that hold for suites of every family."""


@dataclass(frozen=True, slots=True)
class LintChoice:
    """The selection of rules and the limits of the search.

    Args:
        limits: The limits of the search for violations.
        selected: The names of rules, or the first words of names; all rules if there are none.
        ignored: The names of rules, or the first words of names, that are left out.
    """

    limits: SearchLimits = field(default_factory=SearchLimits)
    selected: Sequence[str] = ()
    ignored: Sequence[str] = ()


def lint(arguments: Sequence[str], choice: LintChoice) -> LintReport:
    """Check the suites that pytest collects; no model is asked.

    Args:
        arguments: Arguments of pytest: paths and options, as for a run.
        choice: The selection of rules and the limits of the search.

    Raises:
        UsageError: if pytest rejects the arguments, or finds no suite.
        UnknownNameError: for a rule that is not known.
    """
    run = _LintRun(choice)
    collected = collect_suites(arguments, run.inspect)
    if run.is_empty and not (collected.problems or collected.notices or collected.interrupted):
        raise UsageError(f"{' '.join(arguments) or 'the working directory'}: no suite found; name a file with @suite")
    run.add_problems(collected.problems)
    return run.report(collected.notices, collected.interrupted)


def all_rules(search: PropertySearch) -> dict[str, LintRule]:
    """Return all rules by name: of suites, of properties, and those of the families that are registered.

    Raises:
        UsageError: if a family fails to return its rules.
    """
    rules = [*RULES]
    own: dict[str, str] = {}
    of_families: list[LintRule] = []
    for family in FAMILIES.values():
        with report_family_errors(family, "properties"):
            own |= family.properties()
        with report_family_errors(family, "lint_rules"):
            of_families += family.lint_rules()
    by_name = {rule.name: rule for rule in [*rules, *search.rules(own), *of_families]}
    by_name[NO_CASE] = replace(by_name[NO_CASE], check=search.without_case)
    return by_name


def select_known_rules(choice: LintChoice) -> list[LintRule]:
    """Return the rules that a run checks, as far as they are known before any conftest file is loaded.

    Raises:
        UnknownNameError: for a rule that is not known.
    """
    return select_rules(all_rules(PropertySearch(choice.limits)), choice.selected, choice.ignored)


class _LintRun:
    """The rules and findings of one run."""

    def __init__(self, choice: LintChoice) -> None:
        self._choice = choice
        self._search = PropertySearch(choice.limits)
        self._rules: list[LintRule] = []
        self._suites: Sequence[LintedSuite] = ()
        self._findings: list[LintFinding] = []
        self._ignored = 0

    def inspect(self, suites: Sequence[LintedSuite]) -> None:
        """Check the suites by the selected rules.

        Raises:
            UsageError: if a family fails to return its rules.
        """
        self._select_rules()
        self._suites = suites
        for suite in suites:
            for rule in self._rules:
                with report_family_errors(suite.family, f"the rule {rule.name!r}"):
                    for problem in rule.check(suite):
                        self._add(rule, problem, suite.place)

    @property
    def is_empty(self) -> bool:
        """Return True if there is no suite with questions."""
        return not self._suites

    def _select_rules(self) -> None:
        self._rules = select_rules(all_rules(self._search), self._choice.selected, self._choice.ignored)

    def add_problems(self, problems: Sequence[CollectionProblem]) -> None:
        """Add the problems of the collection."""
        rules = {rule.name: rule for rule in self._rules}
        for problem in problems:
            if problem.rule in rules:
                self._add(rules[problem.rule], LintProblem(problem.message), problem.place)

    def _add(self, rule: LintRule, problem: LintProblem, place: SourcePlace) -> None:
        finding = make_finding(rule, problem, place)
        if finding is None:
            self._ignored += 1
        elif finding not in self._findings:  # two suites may ask for one group, whose problem counts once
            self._findings.append(finding)

    def report(self, notices: Sequence[str], interrupted: bool) -> LintReport:
        """Return the findings, sorted by place."""
        stopped = ["interrupted: not everything was checked"] if interrupted or self._search.interrupted else []
        findings = sorted(
            self._findings, key=lambda finding: (finding.file, finding.line, finding.rule, finding.message)
        )
        questions = sum(len(suite.questions) for suite in self._suites)
        ignored = [f"ignored by comments: {self._ignored}"] if self._ignored else []
        lines = [*notices, *ignored, *stopped]
        return LintReport(findings, self._rules, len(self._suites), questions, lines, bool(stopped))
