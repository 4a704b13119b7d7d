"""What fails a run: each wrong answer, or the cases that judge the whole of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from ..errors import PromptNotUnderstoodError, UsageError
from ..results.case import Case
from . import options

if TYPE_CHECKING:
    from ..family_description import Aggregate
    from ..results.gates import Gate
    from ..results.population import Mistake, Population, Whereabouts
    from ..results.tally import Tally
    from ..trial import Trial
    from .asked_families import AskedFamilies
    from .population import Questions

BUDGETS = {"calls": "max-calls", "cost": "max-cost"}  # what is limited -> by which option
NEED_A_MODEL = ("gate", "save", "compare", "fail-on")  # of the default baseline they would say nothing

NOT_UNDERSTOOD = "questions::asked"  # the case that fails where a baseline understands no prompt
FAILING = ("wrong", "unparseable", "refused")  # outcomes that fail where questions judge
EXPECTED = "wrong answers fail nothing by themselves{} (--taskgraph-judge=questions makes them fail)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, before it is judged."""

    tally: Tally
    models: Sequence[str]  # the names of those who were to be asked
    questions: Questions
    where: Whereabouts


class Judging:
    """How `--taskgraph-judge` and the options that ask for cases of their own are to be taken."""

    def __init__(self, config: pytest.Config, families: AskedFamilies) -> None:
        self._config, self._families = config, families
        self._stated = options.value(config, "judge")
        self._limited = {name: limit for name, limit in BUDGETS.items() if options.given(config, limit) is not None}
        self._given = {name for name in NEED_A_MODEL if options.given(config, name) is not None}
        if "compare" not in self._given and not options.flagged(config, "fail-on"):
            self._given.discard("fail-on")  # configured for the runs that compare
        self._asked = options.given(config, "model") is not None
        self._parsed: tuple[object, list[Gate]] | None = None  # and the names that they were parsed with
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

    @property
    def gates(self) -> list[Gate]:
        """The gates that judge; none in a survey. Raises UsageError."""
        if "gate" not in self._given:
            return []
        from ..benchmarks import FAMILIES

        # A conftest.py that is loaded later may register metrics and families, and with them names of gates.
        names = (self._families.gate_metrics(), frozenset(FAMILIES) | self._families.names)
        if self._parsed is None or self._parsed[0] != names:
            self._parsed = (names, self._parse(names[0]))
        return [] if self.how == "none" else self._parsed[1]

    def _parse(self, metrics: frozenset[str]) -> list[Gate]:
        """The gates; families are asked for their aggregates where one may be named."""
        from ..results.gates import parse

        texts = dict.fromkeys(options.values(self._config, "gate"))
        gates = [parse(text, metrics) for text in texts]
        if all(len(gate.parts) == 1 for gate in gates):
            return gates
        aggregates = self._families.gate_aggregates(options.settings(self._config))
        return [parse(text, metrics, aggregates) for text in texts]

    def check(self) -> None:
        """Nothing, if there is something that judges, and someone who is judged. Raises UsageError.

        What is configured, rather than asked for by a flag, waits for `demand`: runs without questions need none.
        """
        self._demand_model(name for name in NEED_A_MODEL if options.flagged(self._config, name))
        if options.flagged(self._config, "judge"):
            self._demand_gates()
        else:
            self.gates  # noqa: B018 - what cannot be read is told at once

    def demand(self) -> None:
        """Nothing, if what is configured can be had: questions were collected. Raises UsageError."""
        self._demand_model(NEED_A_MODEL)
        self._demand_gates()

    def _demand_gates(self) -> None:
        if self.how == "gates" and not (self._limited or self.gates or self.max_errors or "fail-on" in self._given):
            raise UsageError(
                f"{options.spelling(self._config, 'judge')}=gates: there is no gate; set --taskgraph-gate, "
                "--taskgraph-fail-on, --taskgraph-max-errors, --taskgraph-max-calls or --taskgraph-max-cost, or choose "
                "--taskgraph-judge=none"
            )

    def _demand_model(self, names: Iterable[str]) -> None:
        """Raises UsageError for the first option that is about a model where none was named. Gates that do not judge
        are about none.
        """
        for name in () if self._asked else names:
            if name in self._given and (name != "gate" or self.gates):
                raise UsageError(
                    f"{options.spelling(self._config, name)}: there is no --model; name the model that it is about "
                    "(the default baseline is none)"
                )

    @property
    def notices(self) -> list[str]:
        """What a user might not expect of what judges, a line each."""
        if self.how == "none":
            facts = {"gate": "gates are given", "compare": "a comparison is asked for"}
            found = [told for name, told in facts.items() if name in self._given]
            return [f"{told}, but --taskgraph-judge=none judges nothing" for told in found]
        if not self._unasked_survey:
            return []
        why = [*self._limited.values(), "fail-on"][0]
        return [f"judged by gates: {EXPECTED.format(f', for --taskgraph-{why} is set')}"]

    @property
    def _unasked_survey(self) -> bool:
        """Whether wrong answers fail nothing, though the user spoke neither of gates nor of what judges."""
        return self._stated == "auto" and self.how == "gates" and "gate" not in self._given

    def cases(self, outcome: Outcome) -> Iterator[Case]:
        """The verdicts over the whole run, in the order in which they are told. Each kind has its method."""
        yield from self._unasked(outcome)
        yield from self._budgets(outcome)
        yield from self._errors(outcome)
        yield from self._gates(outcome)

    def _unasked(self, outcome: Outcome) -> Iterator[Case]:
        """Yield a failure for each baseline that understood no prompt at all: a run without an answer is not green."""
        for model in outcome.models:
            own = [one for one in outcome.tally if one.model == model]
            reasons = _messages(own, PromptNotUnderstoodError.kind)
            if own and len(reasons) == len(own):
                why = f"none of {len(own)} questions was asked: {reasons[0]}"
                yield Case(_named(NOT_UNDERSTOOD, model, outcome), "failed", why, model)

    def _budgets(self, outcome: Outcome) -> Iterator[Case]:
        """One for each budget, where something was asked or was to be."""
        for name, limit in self._limited.items() if outcome.tally else ():
            reasons = _messages(outcome.tally, f"budget::{name}")
            told = f"within --taskgraph-{limit}"
            if reasons:
                told = f"{len(reasons)} questions were not asked: {reasons[0]}"
            elif self._unasked_survey and any(one.outcome in FAILING for one in outcome.tally):
                told += f"; {EXPECTED.format('')}"
            yield Case(f"budget::{name}", "failed" if reasons else "passed", told)

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
        """One for each gate and model; none of configured ones where there were no questions at all."""
        from ..results.gates import judge, titles

        if outcome.questions.absent and not outcome.tally:
            return
        for gate, title in zip(self.gates, titles(self.gates), strict=True):
            mistake = outcome.questions.mistake(gate)
            for model in outcome.models:
                name = _titled(title, model, outcome)
                known = outcome.questions.aggregates(gate) if not mistake else {}
                asked = _population(gate.parts, model, outcome, gate, known)
                if mistake:
                    yield self._without_questions(name, model, mistake, outcome)
                elif not asked.size:
                    why = f"not judged: no question is of {gate.name}; {_known(gate, outcome)}"
                    yield Case(name, "skipped" if outcome.where.chosen else "failed", why, model)
                else:
                    yield judge(gate, name, model, asked, self.max_errors, known)

    def _without_questions(self, name: str, model: str, mistake: Mistake, outcome: Outcome) -> Case:
        """Where the user's selection keeps all of its questions away, a gate is skipped; else it fails."""
        told = mistake.text
        if outcome.questions.excused(mistake):
            return Case(name, "skipped", f"not judged: {told}", model)
        if not outcome.questions.declared:
            told = f"it is not known how many questions there are: {outcome.where.ended or outcome.where.otherwise}"
            if outcome.where.chosen:
                return Case(name, "skipped", f"not judged: {', '.join(outcome.where.chosen)}", model)
        return Case(name, "failed", f"not judged: {told}", model)


def _known(gate: Gate, outcome: Outcome) -> str:
    """What the first name that no question turned out to have could have been."""
    from ..results.population import fits, known_names

    ones = [one.question for one in outcome.tally]
    part = next((part for part in gate.parts if not any(fits([part], one) for one in ones)), gate.parts[0])
    return known_names(part, ones)


def _messages(trials: Iterable[Trial], kind: str) -> list[str]:
    """Return the messages of the failures of the kind."""
    return [one.failure.message for one in trials if one.failure is not None and one.failure.kind == kind]


def _titled(title: str, model: str, outcome: Outcome) -> str:
    return _named(f"gates::{title}", model, outcome)


def _named(name: str, model: str, outcome: Outcome) -> str:
    return f"{name}[{model}]" if len(outcome.models) > 1 else name


def _population(
    parts: Sequence[str],
    model: str,
    outcome: Outcome,
    gate: Gate | None = None,
    known: Mapping[str, Aggregate] = MappingProxyType({}),
) -> Population:
    """What became of the questions of one model of which all the parts hold; for a gate, of those it puts together."""
    from ..results.gates import alike
    from ..results.population import fits, population

    own = {one.question.id: one for one in outcome.tally if one.model == model and not one.question.relation}
    trials = [one for one in own.values() if fits(parts, one.question)]
    declared = [one for one in outcome.questions.declared.values() if one.id not in own and fits(parts, one)]
    apart = 0
    if gate is not None:
        trials, declared, apart = alike(gate, trials, declared, known)
    noun = outcome.tally.descriptions.word("cluster", {one.question.family for one in trials})
    return replace(population(trials, declared, outcome.where, own.__contains__), apart=apart, noun=noun)
