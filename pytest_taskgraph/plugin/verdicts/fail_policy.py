"""The policy that decides what fails a run, and the cases of the whole run: gates, budgets and missing replies."""

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

BUDGETS = {"calls": "max-calls", "cost": "max-cost"}  # budget -> its option
NEED_A_MODEL = ("gate", "save", "compare")  # options that have no meaning for the default baseline

NOT_UNDERSTOOD = "questions::asked"  # the case that fails if a baseline understands no prompt
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The results of a run, from which its cases are decided."""

    tally: Tally
    models: Sequence[str]  # the names of the models of the run
    questions: Questions
    absence_reasons: AbsenceReasons


class FailPolicy:
    """The results that fail a run, by `--taskgraph-fail-on` and the options of gates, budgets and comparison.

    Args:
        config: The configuration of the session.
        families: The families of the run.

    Raises:
        UsageError: if `--taskgraph-fail-on` is empty, has an unknown name, or `nothing` beside others.
    """

    def __init__(self, config: pytest.Config, families: AskedFamilies) -> None:
        self._config, self._families = config, families
        self._set_budgets = {name: limit for name, limit in BUDGETS.items() if options.given(config, limit) is not None}
        self._given = {name for name in NEED_A_MODEL if options.given(config, name) is not None}
        self._names_model = options.given(config, "model") is not None
        self._stated = self._stated_results()
        self._parsed: tuple[object, list[Gate]] | None = None  # and the names that they were parsed with
        self.max_errors = options.number(config, "max-errors") or 0.0
        self.kinds = self._effective_results()
        """The results that fail the run, a part of FAILURES in their order; empty for a run that is report only."""

    def _stated_results(self) -> tuple[str, ...] | None:
        """Return the results that the user states, in the order of FAILURES; None without the option."""
        if options.given(self._config, "fail-on") is None:
            return None
        stated = cast("tuple[str, ...]", options.read(self._config, "fail-on"))
        option = options.spelling(self._config, "fail-on")
        for name in stated:
            if name not in (*FAILURES, NOTHING):
                raise UsageError(f"{option}: unknown value {name!r}; known: {', '.join((*FAILURES, NOTHING))}")
        if NOTHING in stated and len(stated) > 1:
            others = ", ".join(name for name in stated if name != NOTHING)
            raise UsageError(f"{option}: {NOTHING} excludes other values; remove it, or remove {others}")
        return tuple(name for name in FAILURES if name in stated)

    def _effective_results(self) -> tuple[str, ...]:
        """Return the stated results, without those of a comparison if there is none; the default if none is left."""
        compares = "compare" in self._given
        if self._stated is not None:
            left = tuple(name for name in self._stated if compares or name not in COMPARISON_FAILURES)
            if left or not self._stated:
                return left
        if not ("gate" in self._given or self._names_model):
            return ()
        first = "gates" if "gate" in self._given else "answers"
        return (first, "regression") if compares else (first,)

    @property
    def comparison_kinds(self) -> frozenset[str]:
        """Return the comparison results that fail the run; empty if the comparison is report only."""
        return frozenset(self.kinds).intersection(COMPARISON_FAILURES)

    @property
    def expects_wrong(self) -> bool:
        """Return True if a wrong answer alone does not fail the run."""
        return "answers" not in self.kinds

    @property
    def deciding_gates(self) -> list[Gate]:
        """Return the gates that can fail the run: all, or none. Raises UsageError."""
        gates = self.gates
        return gates if "gates" in self.kinds else []

    @property
    def gates(self) -> list[Gate]:
        """Return all gates, also those that are report only. Raises UsageError."""
        if "gate" not in self._given:
            return []
        from ...families import FAMILIES

        # A conftest.py that is loaded later may register metrics and families, and with them names of gates.
        names = (self._families.gate_metrics(), frozenset(FAMILIES) | self._families.names)
        if self._parsed is None or self._parsed[0] != names:
            self._parsed = (names, self._parse(names[0]))
        return self._parsed[1]

    def _parse(self, metrics: frozenset[str]) -> list[Gate]:
        """Parse the gates; aggregates of families are looked up only if a gate may name one."""
        from ...results.gates import parse_gate

        texts = dict.fromkeys(options.values(self._config, "gate"))
        gates = [parse_gate(text, metrics) for text in texts]
        if all(len(gate.parts) == 1 for gate in gates):
            return gates
        aggregates = self._families.gate_aggregates(options.settings(self._config))
        return [parse_gate(text, metrics, aggregates) for text in texts]

    def check(self) -> None:
        """Check that the gates can be parsed and the stated results can occur, and that a model is named for them.

        Configured options wait for `check_configured`, unlike flags: runs without questions need neither.

        Raises:
            UsageError: if one of them cannot occur, or no model is named.
        """
        self.gates  # noqa: B018 - reports gates that cannot be parsed, whether or not they can fail the run
        self._check_model(name for name in NEED_A_MODEL if options.flagged(self._config, name))
        if options.flagged(self._config, "fail-on"):
            self._check_comparison()
            self._check_gates()

    def check_configured(self) -> None:
        """Check the configured options, now that questions were collected. Raises UsageError."""
        self._check_model(NEED_A_MODEL)
        self._check_gates()

    def _check_comparison(self) -> None:
        """Check that there is a comparison if the command line names results of it. Raises UsageError."""
        about = [name for name in self._stated or () if name in COMPARISON_FAILURES]
        if about and "compare" not in self._given:
            raise UsageError(
                f"--taskgraph-fail-on: {', '.join(about)} is about a comparison; name a run with --taskgraph-compare"
            )

    def _check_gates(self) -> None:
        if self._stated == ("gates",) and not (self._set_budgets or self.gates or self.max_errors):
            raise UsageError(
                f"{options.spelling(self._config, 'fail-on')}: gates: there is no gate; set --taskgraph-gate, "
                "--taskgraph-max-errors, --taskgraph-max-calls or --taskgraph-max-cost, or state nothing instead"
            )

    def _check_model(self, names: Iterable[str]) -> None:
        """Check that a model is named for these options; gates that are report only need none.

        Raises:
            UsageError: for the first option without a model.
        """
        for name in () if self._names_model else names:
            if name in self._given and (name != "gate" or self.deciding_gates):
                raise UsageError(
                    f"{options.spelling(self._config, name)}: no model is named; add --model=SPEC (the default "
                    "baseline does not count)"
                )

    @property
    def notices(self) -> list[str]:
        """Return notices on results that do not fail the run, a line each."""
        stated, notices = ",".join(self._stated or (NOTHING,)), []
        if "gate" in self._given and "gates" not in self.kinds:
            notices.append(f"gates are report only: --taskgraph-fail-on={stated} does not name them")
        if "compare" in self._given and not self.comparison_kinds:
            notices.append(f"the comparison is report only: --taskgraph-fail-on={stated} names no result of it")
        return notices

    def cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield the cases of the whole run in the order of reports."""
        yield from self._not_understood_cases(outcome)
        yield from self._budget_cases(outcome)
        yield from self._error_cases(outcome)
        yield from self._gate_cases(outcome)

    def _not_understood_cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield a failure for each baseline that understood no prompt; a run without answers must not pass."""
        for model in outcome.models:
            own = [trial for trial in outcome.tally if trial.model == model]
            reasons = _messages(own, PromptNotUnderstoodError.kind)
            if own and len(reasons) == len(own):
                why = f"none of {len(own)} questions was asked: {reasons[0]}"
                yield RunCase(_name_of_case(NOT_UNDERSTOOD, model, outcome), "failed", why, model)

    def _budget_cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield a case for each budget of a run with trials."""
        for name, limit in self._set_budgets.items() if outcome.tally else ():
            not_asked = _messages(outcome.tally, f"budget::{name}")
            reason = f"within --taskgraph-{limit}"
            if not_asked:
                reason = f"{len(not_asked)} questions were not asked: {not_asked[0]}"
            yield RunCase(f"budget::{name}", "failed" if not_asked else "passed", reason)

    def _error_cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield a case for each model on the share of missing replies, if a share is allowed."""
        for model in outcome.models if self.max_errors else ():
            population, name = _population((), model, outcome), _gate_name("errors", model, outcome)
            sent = len(population.answered) + len(population.errors)
            if sent:
                missing = len(population.errors)
                share = missing / sent
                reason = f"{missing} of {sent} replies missing ({share:.3f}), allowed {self.max_errors:g}"
                failed = share > self.max_errors + 1e-9 or not population.answered
                reason += "" if population.answered else "; a run without any reply fails"
                yield RunCase(name, "failed" if failed else "passed", reason, model, share, threshold=self.max_errors)
            elif population.size:
                reason = f"not decided: none of {population.size} questions was asked"
                yield RunCase(name, "skipped" if outcome.absence_reasons.selected_by else "failed", reason, model)

    def _gate_cases(self, outcome: RunOutcome) -> Iterator[RunCase]:
        """Yield a case for each gate and model; none for configured gates in a session without any question."""
        from ...results.gates import evaluate_gate, gate_titles

        if outcome.questions.absent and not outcome.tally:
            return
        for gate, title in zip(self.gates, gate_titles(self.gates), strict=True):
            mistake = outcome.questions.mistake(gate)
            for model in outcome.models:
                name = _gate_name(title, model, outcome)
                aggregates = outcome.questions.aggregates(gate) if not mistake else {}
                population = _population(gate.parts, model, outcome, gate, aggregates)
                if mistake:
                    case = self._without_questions(name, model, mistake, outcome)
                elif not population.size:
                    why = f"not decided: no question matches {gate.name}; {_suggest(gate, outcome)}"
                    case = RunCase(name, "skipped" if outcome.absence_reasons.selected_by else "failed", why, model)
                else:
                    case = evaluate_gate(gate, name, model, population, self.max_errors, aggregates)
                yield case if "gates" in self.kinds else case.report_only()

    def _without_questions(self, name: str, model: str, mistake: GateMistake, outcome: RunOutcome) -> RunCase:
        """Return the case of a gate without questions: skipped if the user's selection excludes them, else failed."""
        reason = mistake.text
        if outcome.questions.is_excused(mistake):
            return RunCase(name, "skipped", f"not decided: {reason}", model)
        if not outcome.questions.declared:
            absence_reasons = outcome.absence_reasons
            reason = f"the number of questions is unknown: {absence_reasons.stop_reason or absence_reasons.default}"
            if absence_reasons.selected_by:
                return RunCase(name, "skipped", f"not decided: {', '.join(absence_reasons.selected_by)}", model)
        return RunCase(name, "failed", f"not decided: {reason}", model)


def _suggest(gate: Gate, outcome: RunOutcome) -> str:
    """Return the known names for the first part of a gate that matches no question."""
    from ...results.population import matches_parts, suggest_parts

    questions = [trial.question for trial in outcome.tally]
    unmatched = (part for part in gate.parts if not any(matches_parts([part], question) for question in questions))
    return suggest_parts(next(unmatched, gate.parts[0]), questions)


def _messages(trials: Iterable[Trial], kind: str) -> list[str]:
    """Return the messages of the failures of the kind."""
    return [trial.failure.message for trial in trials if trial.failure is not None and trial.failure.kind == kind]


def _gate_name(title: str, model: str, outcome: RunOutcome) -> str:
    return _name_of_case(f"gates::{title}", model, outcome)


def _name_of_case(name: str, model: str, outcome: RunOutcome) -> str:
    return f"{name}[{model}]" if len(outcome.models) > 1 else name


def _population(
    parts: Sequence[str],
    model: str,
    outcome: RunOutcome,
    gate: Gate | None = None,
    aggregates: Mapping[str, Aggregate] = MappingProxyType({}),
) -> Population:
    """Return the questions of one model that match all parts, with their results.

    Args:
        parts: The parts of a gate's name.
        model: The name of the model.
        outcome: The results of the run.
        gate: The gate, if the population is limited to the questions that it can pool.
        aggregates: The aggregates that the gate may name.
    """
    from ...results.gates import comparable_questions
    from ...results.population import build_population, matches_parts

    of_model = (trial for trial in outcome.tally if trial.model == model and not trial.question.relation)
    own = {trial.question.id: trial for trial in of_model}
    trials = [trial for trial in own.values() if matches_parts(parts, trial.question)]
    without_trial = (question for question in outcome.questions.declared.values() if question.id not in own)
    declared = [question for question in without_trial if matches_parts(parts, question)]
    graded_left_out = 0
    if gate is not None:
        trials, declared, graded_left_out = comparable_questions(gate, trials, declared, aggregates)
    noun = outcome.tally.descriptions.word("cluster", {trial.question.family for trial in trials})
    return replace(
        build_population(trials, declared, outcome.absence_reasons, own.__contains__),
        graded_left_out=graded_left_out,
        noun=noun,
    )
