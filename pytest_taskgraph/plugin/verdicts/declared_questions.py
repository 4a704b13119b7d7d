"""The questions that the suites of a run declare, and the reasons why some have no trial.

Suites declare their questions during collection, whatever is selected afterwards. Workers of xdist collect, the
controller decides: a worker sends its declarations with its output at its end; a worker that crashes sends none.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from itertools import chain
from os.path import abspath
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import UsageError
from ...families import FAMILIES
from .. import options
from .outcomes import MISTAKE

if TYPE_CHECKING:
    from ...family_description import Aggregate, FamilyDescription
    from ...results.gates import Gate
    from ...results.population import AbsenceReasons, DeclaredQuestion, GateMistake, GateVocabulary
    from ...trial import Trial
    from ..models_under_test import ModelsUnderTest
    from ..suite_settings import SuiteSettings
    from ..suites import CollectedQuestion
    from .asked_families import AskedFamilies

OUTPUT_KEY = "taskgraph_declared"  # in the output of a worker
NARROWED = "taskgraph_narrowed"  # in the input of a worker: True if the user named files
NODE_IDS = "node ids"
CAUSE = 110  # maximum number of characters of the reason that ended a run
SELECTING = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect", "lf": "--lf", "stepwise": "--sw"}


class Questions:
    """The questions that suites declare, and the items that ended without a trial."""

    def __init__(self, config: pytest.Config, families: AskedFamilies, models: ModelsUnderTest) -> None:
        self._config, self.families, self._models = config, families, models
        self.functions: set[str] = set()  # those with suites, by node id
        self.declared: dict[str, DeclaredQuestion] = {}
        self._first_suites: dict[str, tuple[str, CollectedQuestion]] = {}  # by id, the first suite that asks it
        self._ended_early = False
        self._trials: set[tuple[str, str]] = set()  # question and model of each trial
        self._without_trial: dict[str, str] = {}  # items that ended in their setup -> how they ended

    def declare(self, function: str, collected: Sequence[CollectedQuestion], suite: SuiteSettings) -> None:
        """Note the questions of a suite, except variations, which no rate and no population includes.

        Args:
            function: The node id of the suite's function.
            collected: The questions.
            suite: The settings of the suite.

        Raises:
            UsageError: if another suite asks one of them with other settings, which its id does not contain.
        """
        from ...results.population import DeclaredQuestion

        self._check_asked_alike(function, collected)
        self.functions.add(function)
        family, references = collected[0].family, [question.reference for question in collected]
        settings = suite.grid[0]
        described = self.families.described(list(FAMILIES.values()), options.settings(self._config))[family.name]
        _check_description(described, self.families.gate_metrics())
        names = {reference.group for reference in references}
        self.families.declare(family, described, options.settings(self._config), sorted(names))
        self.families.declare_suite(family, function, suite)
        sections = {name: family.section(name) for name in names}
        metrics = {name: _with_measured_names(family.metrics(name, settings)) for name in names}
        graded = {name: family.graded(name, settings) for name in names}
        for reference in references:
            if not reference.relation:
                group = reference.group
                self.declared[reference.id] = DeclaredQuestion(
                    reference.id, family.name, group, sections[group], reference.labels, metrics[group], graded[group]
                )

    def _check_asked_alike(self, function: str, collected: Sequence[CollectedQuestion]) -> None:
        for question in collected:
            first_function, first = self._first_suites.setdefault(question.reference.id, (function, question))
            if first_function != function and (differing := _differing_settings(first, question)):
                raise UsageError(
                    f"{first_function.rpartition('::')[2]} asks the question {question.reference.id!r} as well, with "
                    f"another {' and '.join(differing)}; results are kept by question and model: let the suites ask "
                    "different questions"
                )

    def note_without_trial(self, report: pytest.TestReport) -> None:
        """Note an item that ended in its setup without a trial, with the reason."""
        if report.when == "setup" and not report.passed:
            skipped = str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
            reason = f"were skipped: {skipped}" if report.skipped else "failed in their set-up"
            self._without_trial[report.nodeid] = reason

    def pack(self) -> str:
        """Return the declarations as text for the controller."""
        rows = [
            [
                question.id,
                question.family,
                question.group,
                question.section,
                dict(question.labels),
                question.metrics,
                question.graded,
            ]
            for question in self.declared.values()
        ]
        return json.dumps([sorted(self.functions), rows, self.families.pack()])

    def unpack(self, text: str) -> None:
        """Add the declarations of another process."""
        from ...results.population import DeclaredQuestion

        functions, rows, families = json.loads(text)
        self.families.unpack(families)
        self.functions.update(functions)
        self.declared.update((row[0], DeclaredQuestion(*row)) for row in rows)

    def lost(self, crashed: Sequence[str]) -> Iterator[str]:
        """Yield each question without a trial whose item crashed its worker: the id if it is known, else the item."""
        for item in dict.fromkeys(crashed):
            if item.partition("[")[0] in self.functions:
                question = self._id_of(item)
                if not self._has_trial(item, question):
                    yield question or item

    def _has_trial(self, item: str, question: str) -> bool:
        """Return True if a trial of the item arrived before the item crashed its worker."""
        if not question:
            return False
        rest, labels = _letters(item.replace(question, "", 1)), self._models.labels
        label = max((label for label in labels if _letters(label) in rest), key=len, default=labels[0])
        return (question, self._models.of(label).name) in self._trials

    def add(self, trial: Trial, item: str) -> None:
        """Note the trial of an item."""
        self._trials.add((trial.question.id, trial.model))
        self.functions.add(item.partition("[")[0])

    def absence_reasons(
        self, session: pytest.Session, ended: BaseException | None, crashed: Sequence[str]
    ) -> AbsenceReasons:
        """Return the reasons why questions have no trial.

        Args:
            session: The session.
            ended: The exception that ended the loop of items early; None after a complete loop.
            crashed: The items that crashed their workers.
        """
        from ...results.population import AbsenceReasons

        self._ended_early = ended is not None or bool(crashed)
        reasons = {self._id_of(item): why for item, why in self._without_trial.items()}
        reasons = {question: shorten(why, 200, placeholder=" …") for question, why in reasons.items() if question}
        lost, chosen = frozenset(self.lost(crashed)), tuple(selections(session))
        if ended is not None:
            first = str(ended).removeprefix("taskgraph: ").partition("; ")[0]
            cause = shorten(first, CAUSE, placeholder=" …", break_on_hyphens=False)
            return AbsenceReasons(reasons, lost, chosen, "did not run", cause)
        return AbsenceReasons(reasons, lost, chosen)

    def left_out(self, question: str, where: AbsenceReasons, answered: Container[str]) -> bool:
        """Return True if the user's selection excluded the question.

        If the user names single items, other suites are not even collected.

        Args:
            question: The id of the question.
            where: The reasons why questions have no trial.
            answered: The ids of the questions with a trial.
        """
        if question not in self.declared:
            return NODE_IDS in where.selected_by
        return bool(where.selected_by) and not any(question in held for held in (answered, where.lost, where.reasons))

    def mistake(self, gate: Gate) -> GateMistake | None:
        """Return the reason why the gate matches none of the questions; None if it matches some."""
        from ...results.gates import SCORE
        from ...results.population import find_gate_mistake

        metric = "" if gate.metric == SCORE else gate.metric  # every question has a score
        mistake = find_gate_mistake(gate.parts, list(self.declared.values()), self._vocabulary, metric)
        return mistake or (self._aggregate_mistake(gate) if gate.aggregate else None)

    def _aggregate_mistake(self, gate: Gate) -> GateMistake | None:
        from ...results.gates import aggregate_refusal
        from ...results.population import GateMistake

        try:
            aggregates = self.aggregates(gate)
        except UsageError as error:
            return GateMistake(str(error), "wrong")
        refusal = aggregate_refusal(gate, aggregates)
        return GateMistake(refusal, "wrong" if gate.aggregate in aggregates else "absent") if refusal else None

    def aggregates(self, gate: Gate) -> dict[str, Aggregate]:
        """Return the aggregates of the families whose questions the gate matches, by name; none unless it names one.

        Raises:
            UsageError: if two of the families define an aggregate of the same name differently.
        """
        from ...results.aggregates import merge_aggregates
        from ...results.population import matches_parts

        if not gate.aggregate:
            return {}
        about = {question.family for question in self.declared.values() if matches_parts(gate.parts, question)}
        settings = options.settings(self._config)
        described = self.families.described(list(FAMILIES.values()), settings)
        return merge_aggregates(described[name] for name in sorted(about))

    @cached_property
    def _vocabulary(self) -> GateVocabulary:
        """Return the names, labels and metrics of all families, including those that users registered."""
        from ...results.population import GateVocabulary

        settings = options.settings(self._config)
        groups = {family: family.description(settings).groups for family in FAMILIES.values()}
        sections = {(family, group): family.section(group) for family, names in groups.items() for group in names}
        ours = {
            name
            for (family, group), section in sections.items()
            if section != family.open_section
            for name in (group, section)
        }
        names = [*FAMILIES, *filter(None, sections.values()), *(group for _, group in sections)]
        labels = [pair for family in FAMILIES.values() for pair in family.labels().items()]
        values = {name: tuple(chain(*(label.values for same, label in labels if same == name))) for name, _ in labels}
        closed = frozenset(values).difference(name for name, label in labels if not label.closed)
        metrics = self.families.gate_metrics()
        aggregates = self.families.gate_aggregates(options.settings(self._config))
        names = list(dict.fromkeys(names))
        return GateVocabulary(names, frozenset(ours), sorted(metrics), values, closed, sorted(aggregates))

    def is_excused(self, mistake: GateMistake) -> bool:
        """Return True if a gate may match no question, for the user named files or runs the last failed items.

        A gate of the command line is meant for this run, and has to match a name that exists.
        """
        last_failed = bool(self._config.getoption("lf", False))
        if self.of_command_line:
            return last_failed and mistake.kind == "absent"
        return mistake.kind != "wrong" and (last_failed or named_files(self._config))

    @property
    def absent(self) -> bool:
        """Return True if there is no decision to make: neither suites nor gates of the command line."""
        return not (self.declared or self.functions or self.of_command_line or self._ended_early)

    def mistakes_of(self, gates: Sequence[Gate]) -> list[str]:
        """Return the errors of gates that match none of the questions, a line each."""
        mistakes = [(gate, self.mistake(gate)) for gate in gates]
        return [
            f"{options.spelling(self._config, 'gate')}: {gate.text!r}: {mistake.text}"
            for gate, mistake in mistakes
            if mistake is not None and not self.is_excused(mistake)
        ]

    def question_sets(self) -> dict[str, int]:
        """Return the versions of the question sets that the questions belong to, by family."""
        return self.families.question_sets((question.family, question.group) for question in self.declared.values())

    @property
    def of_command_line(self) -> bool:
        """Return True if gates are on the command line, rather than configured."""
        return options.flagged(self._config, "gate")

    def _id_of(self, item: str) -> str:
        """Return the id of the declared question that an item asks; empty for none.

        The id of the item may contain other parameters around it.
        """
        words = item.partition("[")[2].removesuffix("]").split("-")
        escaped = {_as_pytest_writes(id_): id_ for id_ in self.declared} if not item.isascii() or "\\" in item else {}
        for length in range(len(words), 0, -1):
            for at in range(len(words) - length + 1):
                name = "-".join(words[at : at + length])
                if (question := escaped.get(name, name)) in self.declared:
                    return question
        return ""


def _differing_settings(one: CollectedQuestion, other: CollectedQuestion) -> list[str]:
    """Return the keywords of the settings that differ for a question of one id in two suites."""
    pairs = {
        "prompt": tuple(abspath(each.settings.prompt) for each in (one, other)),
        "parsing": (one.settings.parsing, other.settings.parsing),
        "pass_threshold": (one.settings.pass_threshold, other.settings.pass_threshold),
        "model_options": (one.model_options, other.model_options),
    }
    if options.prompt_name(one.settings.prompt) != options.prompt_name(other.settings.prompt):
        del pairs["prompt"]  # the id contains it, or the question does not depend on it
    return [name for name, (before, after) in pairs.items() if before != after]


def _with_measured_names(metrics: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of metrics and of their further values; None if they are unknown."""
    from ...scoring.metrics import measured_names

    return None if metrics is None else measured_names(metrics)


def _check_description(described: FamilyDescription, metrics: frozenset[str]) -> None:
    """Check the aggregates and tables that a family declares. Raises UsageError."""
    from ...results import aggregates, table_mistakes

    if not (described.aggregates or described.tables):
        return
    mistake = aggregates.find_aggregate_mistake(described.aggregates, metrics)
    if mistake := mistake or table_mistakes.find_table_mistake(described, metrics):
        raise UsageError(f"the benchmark family {described.name!r}: {mistake}")


def _letters(text: str) -> str:
    """Return the letters and digits of a text, for ids replace the other characters in the name of a model."""
    return "".join(filter(str.isalnum, text))


def _as_pytest_writes(name: str) -> str:
    return name.encode("unicode_escape").decode("ascii")


def named_files(config: pytest.Config) -> bool:
    """Return True if the user named files or folders; a worker reads it from its input."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        return bool(worker.get(NARROWED, False))
    return getattr(getattr(config, "args_source", None), "name", "") == "ARGS"


def selections(session: pytest.Session) -> Iterator[str]:
    """Yield the options with which the user selected items, in the words of the command line."""
    config = session.config
    yield from (flag for name, flag in SELECTING.items() if config.getoption(name, None))
    if options.whole(config, "limit") is not None:
        yield "--taskgraph-limit"
    if any("::" in str(argument) for argument in config.args):
        yield NODE_IDS
    most = config.getoption("maxfail", 0)
    if most and session.testsfailed >= most:
        yield "-x" if most == 1 else f"--maxfail={most}"


def refuse(config: pytest.Config, mistakes: Sequence[str]) -> None:
    """End the run because of usage errors. A worker reports them to the controller before any item is distributed.

    Raises:
        pytest.UsageError: on a controller.
    """
    message = "; ".join(mistakes)
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(message)
    report = pytest.CollectReport("taskgraph gates", "failed", message, [])
    setattr(report, MISTAKE, message)
    config.hook.pytest_collectreport(report=report)
