"""The findings of the linter, and the selection of rules."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...benchmarks.lint_rule import LintProblem, LintRule, Severity, SourcePlace
from ...errors import UnknownNameError
from ...reports.escape import disarm_lines, one_line, printable
from ...reports.wording import count

_IGNORED: Final = re.compile(r"taskgraph-lint: ignore\[([a-z, -]{1,500})\]")
DETAILS: Final = 60  # lines that the text shows of what a finding is about
_WIDTH: Final = 200


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A problem with its place as outputs show it.

    Args:
        rule: The name of the rule.
        severity: How much it matters.
        file: The file, relative to the working directory, with slashes.
        line: The line, from 1.
        message: The actual and the expected result, in one line.
        details: Further lines that show it.
    """

    rule: str
    severity: Severity
    file: str
    line: int
    message: str
    details: tuple[str, ...] = ()


def make_finding(rule: LintRule, problem: LintProblem, place: SourcePlace) -> LintFinding | None:
    """Return the finding of a problem; None if a comment on its line disables the rule.

    Args:
        rule: The rule.
        problem: The problem.
        place: Where the suite is defined. It is the place of problems without one, and of those in files outside of
            the working directory, which no output can name in a way that holds elsewhere.
    """
    shown_at = problem.place or place
    file = relative_path(shown_at.path)
    if file is None:
        shown_at, file = place, relative_path(place.path) or place.path.as_posix()
    if rule.name in _ignored_at(shown_at):
        return None
    return LintFinding(rule.name, rule.severity, file, shown_at.line, problem.message, problem.details)


def _ignored_at(place: SourcePlace) -> list[str]:
    """Return the names of the rules that a comment on the line disables."""
    comment = _IGNORED.search(linecache.getline(str(place.path), place.line))
    return comment[1].replace(",", " ").split() if comment else []


def relative_path(path: Path) -> str | None:
    """Return a path relative to the working directory, with slashes; None if it lies outside."""
    full, start = os.path.abspath(path), os.path.abspath(Path.cwd())
    return Path(full).relative_to(start).as_posix() if Path(full).is_relative_to(start) else None


def select_rules(
    rules: Mapping[str, LintRule], selected: Sequence[str] = (), ignored: Sequence[str] = ()
) -> list[LintRule]:
    """Return the selected rules, in their order.

    Args:
        rules: All rules by name.
        selected: Names, or the first words of names; all rules if there are none.
        ignored: Names, or the first words of names, that are left out.

    Raises:
        UnknownNameError: for a name that fits no rule.
    """
    chosen = _matching_names(rules, selected, "--select") if selected else set(rules)
    left_out = _matching_names(rules, ignored, "--ignore")
    return [rule for name, rule in rules.items() if name in chosen - left_out]


def _matching_names(rules: Iterable[str], words: Sequence[str], where: str) -> set[str]:
    names: set[str] = set()
    for word in words:
        fitting = {name for name in rules if name == word or name.startswith(f"{word}-")}
        if not fitting:
            raise UnknownNameError(f"rule ({where})", word, rules)
        names |= fitting
    return names


@dataclass(frozen=True, slots=True)
class LintReport:
    """The result of the linter.

    Args:
        findings: The findings, in order.
        rules: The rules that were checked.
        suites: The number of suites.
        questions: The number of their questions.
        notices: Further information, a line each, such as a suite without questions.
        interrupted: True if Ctrl-C ended it before everything was checked.
    """

    findings: Sequence[LintFinding]
    rules: Sequence[LintRule]
    suites: int
    questions: int
    notices: Sequence[str] = ()
    interrupted: bool = False


def as_text(report: LintReport) -> str:
    """Return a line for each finding with its details below, and at the end the remedies and the summary."""
    lines = [line for finding in report.findings for line in _finding_lines(finding)]
    broken = {finding.rule for finding in report.findings}
    remedies = [f"{rule.name}: {rule.remedy}" for rule in report.rules if rule.name in broken]
    lines += ["", *remedies, ""] if remedies else []
    return "\n".join([*lines, *map(one_line, report.notices), _summary(report)])


def _finding_lines(finding: LintFinding) -> Iterator[str]:
    yield f"{one_line(finding.file)}:{finding.line}: {finding.rule} {one_line(finding.message)}"
    for line in finding.details[:DETAILS]:
        yield f"    {disarm_lines(' '.join(line.splitlines()))[:_WIDTH]}".rstrip()
    if len(finding.details) > DETAILS:
        yield f"    and {len(finding.details) - DETAILS} more lines"


def _summary(report: LintReport) -> str:
    checked = f"{count(report.suites, 'suite')} with {count(report.questions, 'question')}"
    problems = count(len(report.findings), "problem") if report.findings else "no problem"
    return f"{checked}, {count(len(report.rules), 'rule')}: {problems} found"


def rule_lines(rules: Sequence[LintRule]) -> list[str]:
    """Return a line for each rule, with its remedy below."""
    return [line for rule in rules for line in (f"{rule.name} ({rule.severity}): {rule.title}", f"    {rule.remedy}")]


def as_github(report: LintReport) -> str:
    """Return an annotation of GitHub for each finding, and the summary."""
    commands = [
        f"::{finding.severity} file={_github_property(finding.file)},line={finding.line},"
        f"title={_github_property(finding.rule)}::{_github_data(_whole_message(finding))}"
        for finding in report.findings
    ]
    return "\n".join([*commands, *map(one_line, report.notices), _summary(report)])


def _whole_message(finding: LintFinding) -> str:
    details = [printable(line) for line in finding.details[:DETAILS]]
    return "\n".join([one_line(finding.message), *details])


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(printable(text)).replace(":", "%3A").replace(",", "%2C")


FORMATS: Final[Mapping[str, Callable[[LintReport], str]]] = {
    "text": as_text,
    "github": as_github,
}
"""The output formats by name."""
