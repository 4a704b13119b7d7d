"""The rules for every question: the properties that fuzzing checks, on few questions.

First the questions of the suite itself are checked, then others of the same groups are drawn.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from ...benchmarks.family import Family
from ...benchmarks.instances import RENDERS, Instance
from ...benchmarks.lint_rule import LintProblem, LintRule
from ...benchmarks.linted_suite import LintedQuestion, LintedSuite
from ...benchmarks.settings import Settings
from ...errors import NoCaseError
from ..fuzzing import Finding, FuzzingInterrupted, fuzz
from ..properties import MOST_TOKENS, PROPERTIES, Alteration, PropertyViolationError, check_instance
from .suite_collection import NO_CASE

REPLIES: Final = (Alteration(0, 1000, ""), Alteration(500, 1000, ""), Alteration(0, 0, "yes, no\x00{["))
"""The alterations of replies to the questions of a suite: an empty reply, one cut off, one with text before it."""
EXAMPLES: Final = 10
WARNINGS: Final = {"prompt-size"}
REMEDIES: Final = {
    RENDERS: "Let the templates use only names that they are given, and let the family build each question.",
    "reference-scores-one": "Let the form write and read the same answer, and the metric score it 1.0.",
    "replies-are-safe": "Let the form raise UnparseableError for what it cannot read; keep metrics within 0 to 1.",
    "prompt-size": "Ask about something smaller, show fewer examples, or raise --most-tokens.",
    "deterministic": "Draw only from random numbers that are seeded with the reference, and iterate over no set.",
}
_REMEDY: Final = "Fix the template or the function for which the property fails; the message shows the smallest case."


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The limits of the search for violations.

    Args:
        examples: The number of questions that are drawn for each group; 0: only those of the suite are checked.
        seed: The seed of the sampling.
        most_tokens: The limit of tokens of a prompt.
    """

    examples: int = EXAMPLES
    seed: int = 0
    most_tokens: int = MOST_TOKENS


@dataclass(slots=True)
class PropertySearch:
    """The violations of suites, each suite and each group searched once.

    `interrupted` is set by Ctrl-C while questions are drawn; earlier findings are kept.
    """

    limits: SearchLimits
    interrupted: bool = False
    _by_suite: dict[str, list[tuple[str, LintProblem]]] = field(default_factory=dict)
    _searched: list[tuple[Family, str, Settings, Mapping[str, Any]]] = field(default_factory=list)

    def rules(self, own: Mapping[str, str]) -> list[LintRule]:
        """Return a rule for each property, of every family and of single families."""
        return [
            LintRule(
                name,
                title,
                REMEDIES.get(name, _REMEDY),
                partial(self._problems, name),
                "warning" if name in WARNINGS else "error",
            )
            for name, title in {**PROPERTIES, **own}.items()
        ]

    def without_case(self, suite: LintedSuite) -> Iterator[LintProblem]:
        """Yield the groups of the suite for which nothing can be asked."""
        yield from self._problems(NO_CASE, suite)

    def _problems(self, name: str, suite: LintedSuite) -> Iterator[LintProblem]:
        if suite.name not in self._by_suite:
            problems = self._by_suite[suite.name] = []
            problems.extend(self._search(suite))  # one by one, so that earlier findings survive Ctrl-C
        yield from (problem for violated, problem in self._by_suite[suite.name] if violated == name)

    def _search(self, suite: LintedSuite) -> Iterator[tuple[str, LintProblem]]:
        seen: set[tuple[str, str]] = set()
        for linted in suite.questions:
            for name, message in self._violations(suite.family, linted):
                if (name, linted.reference.group) not in seen:
                    seen.add((name, linted.reference.group))
                    line = f"{linted.reference.id}: {message}"
                    yield name, LintProblem(line, suite.family.group_source(linted.reference.group, linted.settings))
        if self.limits.examples:
            for name, group, problem in self._violations_of_groups(suite):
                if (name, group) not in seen:
                    seen.add((name, group))
                    yield name, problem

    def _violations(self, family: Family, linted: LintedQuestion) -> Iterator[tuple[str, str]]:
        """Yield the properties that a question of the suite violates."""
        if linted.question is None:
            yield RENDERS, linted.error
            return
        own = tuple(family.question_checks(linted.reference, linted.question, linted.settings))
        violated: list[str] = []
        while True:
            try:
                check_instance(Instance(linted.question, checks=own), REPLIES, self.limits.most_tokens, violated)
            except PropertyViolationError as violation:
                violated.append(violation.property)
                yield violation.property, violation.message
            else:
                return

    def _violations_of_groups(self, suite: LintedSuite) -> Iterator[tuple[str, str, LintProblem]]:
        """Yield the violations among drawn questions of the suite's groups, by property and group."""
        for settings in suite.settings:
            for group in suite.family.fuzz_groups(settings, suite.options):
                searched = (suite.family, group, settings, suite.options)
                if self.interrupted or searched in self._searched:
                    continue
                self._searched.append(searched)
                try:
                    findings = fuzz(
                        suite.family, group, settings, self.limits.examples, suite.options,
                        seed=self.limits.seed, most_tokens=self.limits.most_tokens,
                    )  # fmt: skip
                except FuzzingInterrupted as stop:
                    self.interrupted, findings = True, stop.findings
                except NoCaseError as error:
                    # Where the suite has questions of the group, drawing them anew needs more than the settings say.
                    if group not in suite.groups:
                        yield NO_CASE, group, _problem(suite, group, settings, str(error))
                    continue
                for finding in findings:
                    yield finding.property, group, _problem_of(suite, settings, finding)


def _problem(
    suite: LintedSuite, group: str, settings: Settings, message: str, details: tuple[str, ...] = ()
) -> LintProblem:
    return LintProblem(f"{group}: {message}", suite.family.group_source(group, settings), details)


def _problem_of(suite: LintedSuite, settings: Settings, finding: Finding) -> LintProblem:
    """Return the finding as a problem, with the smallest case, its question and the command that repeats the search."""
    instance = finding.instance
    question = [f"question: {instance.question.text}"] if instance.question.text else []
    details = (*instance.drawing, *question, f"find it again: pytest {shlex.quote(suite.name)} {finding.reproduce}")
    return _problem(suite, instance.question.group, settings, finding.message, details)
