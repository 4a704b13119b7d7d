"""What fails a run: each wrong answer, gates, a comparison, or nothing; and the cases of the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import pytest

from ...errors import PromptNotUnderstoodError, UsageError
from ...results.case import COMPARISON_FAILURES, FAILURES, RunCase
from .. import options

if TYPE_CHECKING:
    from ...family_description import Aggregate
    from ...results.gates import Gate
    from ...results.population import AbsenceReasons, GateMistake, Population
    from ...results.tally import Tally
    from ...trial import Trial
    from .asked_families import AskedFamilies
    from .declared_questions import Questions

BUDGETS = {"calls": "max-calls", "cost": "max-cost"}  # what is limited -> by which option
NEED_A_MODEL = ("gate", "save", "compare")  # of the default baseline they would say nothing

NOT_UNDERSTOOD = "questions::asked"  # the case that fails where a baseline understands no prompt
FAILING = ("wrong", "unparseable", "refused")  # outcomes that fail where answers do
EXPECTED = "wrong answers fail nothing by themselves{} (--taskgraph-fail-on=answers makes them fail)"
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run came to, before its cases are told."""

    tally: Tally
    models: Sequence[str]  # the names of those who were to be asked
    questions: Questions
    where: AbsenceReasons


class FailPolicy:
    """What `--taskgraph-fail-on` and the options that ask for cases of their own make a run fail on.

    Raises:
        UsageError: if `--taskgraph-fail-on` names nothing, something unknown, or `nothing` beside others.
    """

    def __init__(self, config: pytest.Config, families: AskedFamilies) -> None:
        self._config, self._families = config, families
        self._limited = {name: limit for name, limit in BUDGETS.items() if options.given(config, limit) is not None}
        self._given = {name for name in NEED_A_MODEL if options.given(config, name) is not None}
        self._asked = options.given(config, "model") is not None
        self._stated = self._read()
        self._parsed: tuple[object, list[Gate]] | None = None  # and the names that they were parsed with
        self.max_errors = options.number(config, "max-errors") or 0.0
        self.kinds = self._effective()
        """What fails the run, some of FAILURES in their order; empty for a run that is report only."""

    def _read(self) -> tuple[str, ...] | None:
        """Return what the user wants the run to fail on, in the order of FAILURES; None where that is not stated."""
        if options.given(self._config, "fail-on") is None:
            return None
        found = cast("tuple[str, ...]", options.read(self._config, "fail-on"))
        where = options.spelling(self._config, "fail-on")
        for name in found:
            if name not in (*FAILURES, NOTHING):
                raise UsageError(f"{where}: {name!r}; known: {', '.join((*FAILURES, NOTHING))}")
        if NOTHING in found and len(found) > 1:
            others = ", ".join(name for name in found if name != NOTHING)
            raise UsageError(f"{where}: {NOTHING} stands alone; leave it out, or leave out {others}")
        return tuple(name for name in FAILURES if name in found)

    def _effective(self) -> tuple[str, ...]:
        """Return what was stated, without what only a comparison could be; the default where nothing is left."""
        compares = "compare" in self._given
        if self._stated is not None:
            left = tuple(name for name in self._stated if compares or name not in COMPARISON_FAILURES)
            if left or not self._stated:
                return left
        if not (self._limited or "gate" in self._given or self._asked):
            return ()
        first = "gates" if self._limited or "gate" in self._given else "answers"
        return (first, "regression") if compares else (first,)

    @property
    def comparison_kinds(self) -> frozenset[str]:
        """Return what a comparison fails on; empty where it is report only."""
        return frozenset(self.kinds).intersection(COMPARISON_FAILURES)

    @property
    def expects_wrong(self) -> bool:
        """Return True if a wrong answer fails nothing by itself."""
        return "answers" not in self.kinds

    @property
    def deciding_gates(self) -> list[Gate]:
        """Return the gates that can fail the run: all, or none. Raises UsageError."""
        gates = self.gates
        return gates if "gates" in self.kinds else []

    @property
    def gates(self) -> list[Gate]:
        """Return the gates that are told, also those that are report only. Raises UsageError."""
        if "gate" not in self._given:
            return []
        from ...benchmarks import FAMILIES

        # A conftest.py that is loaded later may register metrics and families, and with them names of gates.
        names = (self._families.gate_metrics(), frozenset(FAMILIES) | self._families.names)
        if self._parsed is None or self._parsed[0] != names:
            self._parsed = (names, self._parse(names[0]))
        return self._parsed[1]

    def _parse(self, metrics: frozenset[str]) -> list[Gate]:
        """Return the gates; families are asked for their aggregates where one may be named."""
        from ...results.gates import parse_gate

        texts = dict.fromkeys(options.values(self._config, "gate"))
        gates = [parse_gate(text, metrics) for text in texts]
        if all(len(gate.parts) == 1 for gate in gates):
            return gates
        aggregates = self._families.gate_aggregates(options.settings(self._config))
        return [parse_gate(text, metrics, aggregates) for text in texts]

    def check(self) -> None:
        """Check that there is something that can fail the run as stated, and a model that it is about.

        What is configured, rather than asked for by a flag, waits for `demand`: runs without questions need none.

        Raises:
            UsageError: if there is not.
        """
        self._demand_model(name for name in NEED_A_MODEL if options.flagged(self._config, name))
        if options.flagged(self._config, "fail-on"):
            self._demand_comparison()
            self._demand_gates()
        else:
            self.gates  # noqa: B018 - what cannot be read is told at once

    def demand(self) -> None:
        """Check that what is configured can be had, now that questions were collected. Raises UsageError."""
        self._demand_model(NEED_A_MODEL)
        self._demand_gates()

    def _demand_comparison(self) -> None:
        """Check that there is a comparison if the command line names what it is to fail on. Raises UsageError."""
        about = [name for name in self._stated or () if name in COMPARISON_FAILURES]
        if about and "compare" not in self._given:
            raise UsageError(
                f"--taskgraph-fail-on: {', '.join(about)} is about a comparison; name a run with --taskgraph-compare"
            )

    def _demand_gates(self) -> None:
        if self._stated == ("gates",) and not (self._limited or self.gates or self.max_errors):
            raise UsageError(
                f"{options.spelling(self._config, 'fail-on')}: gates: there is no gate; set --taskgraph-gate, "
                "--taskgraph-max-errors, --taskgraph-max-calls or --taskgraph-max-cost, or state nothing instead"
            )

    def _demand_model(self, names: Iterable[str]) -> None:
        """Check that a model is named for the options of these names; gates that fail nothing need none.

        Raises:
            UsageError: for the first option without one.
        """
        for name in () if self._asked else names:
            if name in self._given and (name != "gate" or self.deciding_gates):
                raise UsageError(
                    f"{options.spelling(self._config, name)}: there is no --model; name the model that it is about "
                    "(the default baseline is none)"
                )

    @property
    def notices(self) -> list[str]:
        """Return what a user might not expect of what fails the run, a line each."""
        stated, found = ",".join(self._stated or (NOTHING,)), []
        if "gate" in self._given and "gates" not in self.kinds:
            found.append(f"gates are report only: --taskgraph-fail-on={stated} does not name them")
        if "compare" in self._given and not self.comparison_kinds:
            found.append(f"the comparison is report only: --taskgraph-fail-on={stated} names nothing that it fails on")
        if self._unasked_gates:
            found.append(EXPECTED.format(f", for --taskgraph-{next(iter(self._limited.values()))} is set"))
        return found

    @property
    def _unasked_gates(self) -> bool:
        """Return True if wrong answers fail nothing though the user stated neither gates nor what fails the run."""
        return self._stated is None and self.expects_wrong and bool(self._limited) and "gate" not in self._given

    def cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """The verdicts over the whole run, in the order in which they are told. Each kind has its method."""
        yield from self._unasked(outcome)
        yield from self._budgets(outcome)
        yield from self._errors(outcome)
        yield from self._gates(outcome)

    def _unasked(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield a failure for each baseline that understood no prompt at all: a run without an answer is not green."""
        for model in outcome.models:
            own = [one for one in outcome.tally if one.model == model]
            reasons = _messages(own, PromptNotUnderstoodError.kind)
            if own and len(reasons) == len(own):
                why = f"none of {len(own)} questions was asked: {reasons[0]}"
                yield RunCase(_named(NOT_UNDERSTOOD, model, outcome), "failed", why, model)

    def _budgets(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """One for each budget, where something was asked or was to be."""
        for name, limit in self._limited.items() if outcome.tally else ():
            reasons = _messages(outcome.tally, f"budget::{name}")
            told = f"within --taskgraph-{limit}"
            if reasons:
                told = f"{len(reasons)} questions were not asked: {reasons[0]}"
            elif self._unasked_gates and any(one.outcome in FAILING for one in outcome.tally):
                told += f"; {EXPECTED.format('')}"
            yield RunCase(f"budget::{name}", "failed" if reasons else "passed", told)

    def _errors(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """One a model, where missing replies are allowed: whether too many are missing."""
        for model in outcome.models if self.max_errors else ():
            asked, name = _population((), model, outcome), _titled("errors", model, outcome)
            sent = len(asked.answered) + len(asked.errors)
            if sent:
                share = len(asked.errors) / sent
                told = f"{len(asked.errors)} of {sent} replies missing ({share:.3f}), allowed {self.max_errors:g}"
                failed = share > self.max_errors + 1e-9
                yield RunCase(name, "failed" if failed else "passed", told, model, share, threshold=self.max_errors)
            elif asked.size:
                told = f"not decided: none of {asked.size} questions was asked"
                yield RunCase(name, "skipped" if outcome.where.selected_by else "failed", told, model)

    def _gates(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """One for each gate and model; none of configured ones where there were no questions at all."""
        from ...results.gates import evaluate_gate, gate_titles

        if outcome.questions.absent and not outcome.tally:
            return
        for gate, title in zip(self.gates, gate_titles(self.gates), strict=True):
            mistake = outcome.questions.mistake(gate)
            for model in outcome.models:
                name = _titled(title, model, outcome)
                known = outcome.questions.aggregates(gate) if not mistake else {}
                asked = _population(gate.parts, model, outcome, gate, known)
                if mistake:
                    case = self._without_questions(name, model, mistake, outcome)
                elif not asked.size:
                    why = f"not decided: no question is of {gate.name}; {_known(gate, outcome)}"
                    case = RunCase(name, "skipped" if outcome.where.selected_by else "failed", why, model)
                else:
                    case = evaluate_gate(gate, name, model, asked, self.max_errors, known)
                yield case if "gates" in self.kinds else case.report_only()

    def _without_questions(self, name: str, model: str, mistake: GateMistake, outcome: RunOutcome) -> RunCase:
        """Where the user's selection keeps all of its questions away, a gate is skipped; else it fails."""
        told = mistake.text
        if outcome.questions.excused(mistake):
            return RunCase(name, "skipped", f"not decided: {told}", model)
        if not outcome.questions.declared:
            told = f"it is not known how many questions there are: {outcome.where.stop_reason or outcome.where.default}"
            if outcome.where.selected_by:
                return RunCase(name, "skipped", f"not decided: {', '.join(outcome.where.selected_by)}", model)
        return RunCase(name, "failed", f"not decided: {told}", model)


def _known(gate: Gate, outcome: RunOutcome) -> str:
    """What the first name that no question turned out to have could have been."""
    from ...results.population import matches_parts, suggest_parts

    ones = [one.question for one in outcome.tally]
    part = next((part for part in gate.parts if not any(matches_parts([part], one) for one in ones)), gate.parts[0])
    return suggest_parts(part, ones)


def _messages(trials: Iterable[Trial], kind: str) -> list[str]:
    """Return the messages of the failures of the kind."""
    return [one.failure.message for one in trials if one.failure is not None and one.failure.kind == kind]


def _titled(title: str, model: str, outcome: RunOutcome) -> str:
    return _named(f"gates::{title}", model, outcome)


def _named(name: str, model: str, outcome: RunOutcome) -> str:
    return f"{name}[{model}]" if len(outcome.models) > 1 else name


def _population(
    parts: Sequence[str],
    model: str,
    outcome: RunOutcome,
    gate: Gate | None = None,
    known: Mapping[str, Aggregate] = MappingProxyType({}),
) -> Population:
    """What became of the questions of one model of which all the parts hold; for a gate, of those it puts together."""
    from ...results.gates import comparable_questions
    from ...results.population import build_population, matches_parts

    own = {one.question.id: one for one in outcome.tally if one.model == model and not one.question.relation}
    trials = [one for one in own.values() if matches_parts(parts, one.question)]
    declared = [one for one in outcome.questions.declared.values() if one.id not in own and matches_parts(parts, one)]
    graded_left_out = 0
    if gate is not None:
        trials, declared, graded_left_out = comparable_questions(gate, trials, declared, known)
    noun = outcome.tally.descriptions.word("cluster", {one.question.family for one in trials})
    return replace(
        build_population(trials, declared, outcome.where, own.__contains__), graded_left_out=graded_left_out, noun=noun
    )
