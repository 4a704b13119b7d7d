"""The outputs of the linter: text for people, annotations for GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...benchmarks.lint_rule import LintRule
from ...reports.escape import disarm_lines, one_line, printable
from ...reports.wording import count
from .lint_findings import LintFinding

DETAILS: Final = 60  # lines that the text shows of what a finding is about
_WIDTH: Final = 200


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
