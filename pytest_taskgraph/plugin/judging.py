"""What fails a run: each wrong answer, or the cases that judge the whole of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from ..errors import UsageError
from . import options
from .cases import Case

if TYPE_CHECKING:
    from ..results.gates import Gate
    from ..results.population import Population, Whereabouts
    from ..results.tally import Tally
    from .population import Questions

BUDGETS = {"calls": "max-calls", "cost": "max-cost"}  # what is limited -> by which option
NEED_A_MODEL = ("gate", "save", "compare", "fail-on")  # of the default baseline they would say nothing


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, before it is judged."""

    tally: Tally
    models: Sequence[str]  # the names of those who were to be asked
    questions: Questions
    where: Whereabouts


class Judging:
    """How `--taskgraph-judge` and the options that ask for cases of their own are to be taken."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stated = options.value(config, "judge")
        self._limited = {name: limit for name, limit in BUDGETS.items() if options.given(config, limit) is not None}
        self._given = {name for name in NEED_A_MODEL if options.given(config, name) is not None}
        self._asked = options.given(config, "model") is not None
        self.max_errors = options.number(config, "max-errors") or 0.0

    @property
    def how(self) -> str:
        """One of questions, gates and none; auto is gates where a gate, --taskgraph-fail-on or a budget asks for one,
        none for the default baseline.
        """
        if self._stated != "auto":
            return self._stated
        if self._limited or self._given & {"gate", "fail-on"}:
            return "gates"
        return "questions" if self._asked else "none"

    @property
    def survey(self) -> bool:
        """Whether a wrong answer fails nothing by itself."""
        return self.how != "questions"

    @cached_property
    def gates(self) -> list[Gate]:
        """The gates that judge; none in a survey. Raises UsageError."""
        if "gate" not in self._given:
            return []
        from ..results.gates import SCORE, parse
        from ..scoring.metrics import MEASURED, METRICS

        known = {SCORE, *METRICS, *MEASURED, "specifications_read"}
        gates = [parse(text, known) for text in dict.fromkeys(options.values(self._config, "gate"))]
        return [] if self.how == "none" else gates

    def check(self) -> None:
        """Nothing, if there is something that judges, and someone who is judged. Raises UsageError."""
        if self.max_errors > 1:
            raise UsageError(f"--taskgraph-max-errors: {self.max_errors:g}; expected a share from 0 to 1")
        if not self._asked and (named := self._model_lacks()):
            raise UsageError(
                f"--taskgraph-{named}: there is no --model; name the model that it is about (the default baseline is "
                "none)"
            )
        if self.how == "gates" and not (self._limited or self.gates or self.max_errors or "fail-on" in self._given):
            raise UsageError(
                "--taskgraph-judge=gates: there is no gate; set --taskgraph-gate, --taskgraph-fail-on, "
                "--taskgraph-max-errors, --taskgraph-max-calls or --taskgraph-max-cost, or choose "
                "--taskgraph-judge=none"
            )

    def _model_lacks(self) -> str:
        """An option that is about a model; "" if there is none. Gates that do not judge are about none."""
        return next((one for one in NEED_A_MODEL if one in self._given and (one != "gate" or self.gates)), "")

    def cases(self, outcome: Outcome) -> Iterator[Case]:
        """The verdicts over the whole run, in the order in which they are told. Each kind has its method."""
        yield from self._budgets(outcome)
        yield from self._errors(outcome)
        yield from self._gates(outcome)

    def _budgets(self, outcome: Outcome) -> Iterator[Case]:
        """One for each budget, where something was asked or was to be."""
        for name, limit in self._limited.items() if outcome.tally else ():
            reasons = [one.error for one in outcome.tally if one.error.startswith(f"budget::{name}: ")]
            told = f"{len(reasons)} questions were not asked: {reasons[0].partition(': ')[2]}" if reasons else ""
            yield Case(f"budget::{name}", "failed" if reasons else "passed", told or f"within --taskgraph-{limit}")

    def _errors(self, outcome: Outcome) -> Iterator[Case]:
        """One a model, where missing replies are allowed: whether too many are missing."""
        for model in outcome.models if self.max_errors else ():
            asked, name = _population((), model, outcome), _titled("errors", model, outcome)
            sent = len(asked.answered) + len(asked.errors)
            if sent:
                share = len(asked.errors) / sent
                told = f"{len(asked.errors)} of {sent} replies missing ({share:.3f}), allowed {self.max_errors:g}"
                failed = share > self.max_errors + 1e-9
                yield Case(name, "failed" if failed else "passed", told, model, share, threshold=self.max_errors)
            elif asked.size:
                told = f"not judged: none of {asked.size} questions was asked"
                yield Case(name, "skipped" if outcome.where.chosen else "failed", told, model)

    def _gates(self, outcome: Outcome) -> Iterator[Case]:
        """One for each gate and model."""
        from ..results.gates import judge, titles

        for gate, title in zip(self.gates, titles(self.gates), strict=True):
            mistake = outcome.questions.mistake(gate)
            for model in outcome.models:
                name = _titled(title, model, outcome)
                asked = _population(gate.parts, model, outcome)
                if mistake:
                    yield self._without_questions(name, model, mistake, outcome)
                elif not asked.size:
                    why = f"not judged: no question is of {gate.name}; {_known(gate, outcome)}"
                    yield Case(name, "skipped" if outcome.where.chosen else "failed", why, model)
                else:
                    found = judge(gate, name, model, asked, self.max_errors)
                    ends = (found.estimate, found.low, found.high, found.threshold)
                    yield Case(name, found.outcome, found.reason, model, *ends)

    def _without_questions(self, name: str, model: str, mistake: str, outcome: Outcome) -> Case:
        """Where the user's selection keeps all of its questions away, a gate is skipped; else it fails."""
        if outcome.questions.excused():
            return Case(name, "skipped", f"not judged: {mistake}", model)
        if not outcome.questions.declared:
            mistake = f"it is not known how many questions there are: {outcome.where.otherwise}"
            if outcome.where.chosen:
                return Case(name, "skipped", f"not judged: {', '.join(outcome.where.chosen)}", model)
        return Case(name, "failed", f"not judged: {mistake}", model)


def _known(gate: Gate, outcome: Outcome) -> str:
    """What the first name that no question turned out to have could have been."""
    from ..results.gates import fits, known

    ones = [one.question for one in outcome.tally]
    part = next((part for part in gate.parts if not any(fits([part], one) for one in ones)), gate.parts[0])
    return known(part, ones)


def _titled(title: str, model: str, outcome: Outcome) -> str:
    return f"gates::{title}[{model}]" if len(outcome.models) > 1 else f"gates::{title}"


def _population(parts: Sequence[str], model: str, outcome: Outcome) -> Population:
    """What became of the questions of one model of which all the parts hold."""
    from ..results.gates import fits
    from ..results.population import population

    own = {one.question.id: one for one in outcome.tally if one.model == model and not one.question.relation}
    trials = [one for one in own.values() if fits(parts, one.question)]
    declared = [one for one in outcome.questions.declared.values() if fits(parts, one)]
    return population(trials, declared, outcome.where, own.__contains__)
