"""Command `lint SUITES`: problems of suites that can be found without a model."""

from __future__ import annotations

import argparse
from typing import Final

from ..errors import UsageError

SUMMARY = "check suites without a model: templates, answers, prompts, duplicates, balance"
INTERRUPTED: Final = 2  # as pytest's own
_FORMATS: Final = ("text", "github")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "arguments", metavar="PATH", nargs="*",
        help="suites, as pytest takes them; behind -- further arguments of pytest, such as --taskgraph-prompt=direct",
    )  # fmt: skip
    parser.add_argument(
        "--select", metavar="RULE[,RULE]", action="append", default=[],
        help="check these rules only, by name or by the first words of names. Repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--ignore", metavar="RULE[,RULE]", action="append", default=[], help="leave these rules out. Repeatable"
    )
    parser.add_argument("--format", choices=_FORMATS, default=_FORMATS[0], help="output (default: %(default)s)")
    parser.add_argument(
        "--examples", metavar="N", type=int,
        help="questions drawn for each group in addition to those of the suites; 0: none (default: 10)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the drawn questions (default: %(default)s)"
    )
    parser.add_argument(
        "--most-tokens", metavar="N", type=int,
        help="limit of tokens of a prompt, four characters taken for one (default: 32000)",
    )  # fmt: skip
    parser.add_argument("--rules", action="store_true", help="list the rules and what to do, and check nothing")


def run(options: argparse.Namespace) -> int:
    """Print the findings.

    Returns:
        0 if there are none, 1 if there are some, 2 after Ctrl-C.

    Raises:
        UsageError: if pytest refuses an argument, or a rule is unknown.
    """
    from ..soundness.linting.lint_findings import FORMATS, rule_lines
    from ..soundness.linting.lint_run import LintChoice, lint, select_known_rules
    from ..soundness.linting.property_rules import SearchLimits

    _check_numbers(options)
    stated = {
        name: getattr(options, name) for name in ("examples", "most_tokens") if getattr(options, name) is not None
    }
    limits = SearchLimits(**stated, seed=options.seed)
    choice = LintChoice(limits, _names(options.select), _names(options.ignore))
    if options.rules:
        print("\n".join(rule_lines(select_known_rules(choice))))
        return 0
    report = lint(options.arguments, choice)
    print(FORMATS[options.format](report))
    return INTERRUPTED if report.interrupted else 1 if report.findings else 0


def _check_numbers(options: argparse.Namespace) -> None:
    for name, least in (("examples", 0), ("seed", 0), ("most_tokens", 1)):
        if (stated := getattr(options, name)) is not None and stated < least:
            raise UsageError(f"--{name.replace('_', '-')}: {stated}; expected at least {least}")


def _names(stated: list[str]) -> list[str]:
    """Return the names of rules in values that may hold several each."""
    return [name for text in stated for name in text.replace(",", " ").split()]
