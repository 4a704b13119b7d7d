"""One run of the linter: from the arguments of pytest to the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...benchmarks.contract import report_family_errors
from ...benchmarks.lint_rule import LintProblem, LintRule, SourcePlace
from ...benchmarks.linted_suite import LintedSuite
from ...errors import UsageError
from ...families import FAMILIES
from .lint_findings import LintFinding, make_finding, select_rules
from .output_formats import LintReport
from .property_rules import PropertySearch, SearchLimits
from .suite_collection import NO_CASE, CollectionProblem, collect_suites
from .suite_rules import RULES


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
