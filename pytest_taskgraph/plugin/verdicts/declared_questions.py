"""Which questions the suites of a run hold, and what became of those that nobody answered.

Suites declare their questions while pytest collects, whatever is selected of them afterwards. Workers of xdist collect,
the controller decides: what was declared travels with the last that a worker says. One that died says nothing.
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
NARROWED = "taskgraph_narrowed"  # in the input of a worker: that the user named files
NODE_IDS = "node ids"
CAUSE = 110  # characters of what ended a run
SELECTING = {"keyword": "-k", "markexpr": "-m", "deselect": "--deselect", "lf": "--lf", "stepwise": "--sw"}


class Questions:
    """What was declared, and the items that ended without a trial."""

    def __init__(self, config: pytest.Config, families: AskedFamilies, models: ModelsUnderTest) -> None:
        self._config, self.families, self._models = config, families, models
        self.functions: set[str] = set()  # those with suites, by node id
        self.declared: dict[str, DeclaredQuestion] = {}
        self._askers: dict[str, tuple[str, CollectedQuestion]] = {}  # the suite that asks a question first, by id
        self._broken_off = False
        self._trials: set[tuple[str, str]] = set()  # question and model of those that came
        self._untold: dict[str, str] = {}  # items that ended in their set-up, and how

    def declare(self, function: str, collected: Sequence[CollectedQuestion], suite: SuiteSettings) -> None:
        """Note the questions of a suite. Varied ones are in no rate, and so in no population.

        Raises:
            UsageError: if another suite asks one of them with other settings, which its id does not tell.
        """
        from ...benchmarks import FAMILIES
        from ...results.population import DeclaredQuestion

        self._check_asked_alike(function, collected)
        self.functions.add(function)
        family, references, settings = collected[0].family, [one.reference for one in collected], suite.prompts[0]
        described = self.families.described(list(FAMILIES.values()), options.settings(self._config))[family.name]
        _check_description(described, self.families.gate_metrics())
        names = {one.group for one in references}
        self.families.declare(family, described, options.settings(self._config), sorted(names))
        self.families.declare_suite(family, function, suite)
        sections = {name: family.section(name) for name in names}
        metrics = {name: _measured(family.metrics(name, settings)) for name in names}
        graded = {name: family.graded(name, settings) for name in names}
        for one in references:
            if not one.relation:
                kinds = (family.name, one.group, sections[one.group])
                measured = (metrics[one.group], graded[one.group])
                self.declared[one.id] = DeclaredQuestion(one.id, *kinds, one.labels, *measured)

    def _check_asked_alike(self, function: str, collected: Sequence[CollectedQuestion]) -> None:
        for one in collected:
            asker, before = self._askers.setdefault(one.reference.id, (function, one))
            if asker != function and (differing := _differing(before, one)):
                raise UsageError(
                    f"{asker.rpartition('::')[2]} asks the question {one.reference.id!r} as well, with another "
                    f"{' and '.join(differing)}; results are kept by question and model: let the suites ask different "
                    "questions"
                )

    def untold(self, report: pytest.TestReport) -> None:
        """Nothing; an item that ended in its set-up without a trial is noted, with the reason."""
        if report.when == "setup" and not report.passed:
            skipped = str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
            self._untold[report.nodeid] = f"were skipped: {skipped}" if report.skipped else "failed in their set-up"

    def pack(self) -> str:
        """What was declared, as text for the controller."""
        rows = [
            [one.id, one.family, one.group, one.section, dict(one.labels), one.metrics, one.graded]
            for one in self.declared.values()
        ]
        return json.dumps([sorted(self.functions), rows, self.families.pack()])

    def unpack(self, text: str) -> None:
        """Nothing; what another process declared is known."""
        from ...results.population import DeclaredQuestion

        functions, rows, families = json.loads(text)
        self.families.unpack(families)
        self.functions.update(functions)
        self.declared.update((row[0], DeclaredQuestion(*row)) for row in rows)

    def lost(self, died: Sequence[str]) -> Iterator[str]:
        """The questions that took their worker with them before their trial came: the id where it is known, else the
        item; each once, though it took several.
        """
        for item in dict.fromkeys(died):
            if item.partition("[")[0] in self.functions:
                question = self._id_of(item)
                if not self._has_trial(item, question):
                    yield question or item

    def _has_trial(self, item: str, question: str) -> bool:
        """Return True if the item that took its worker with it had told its trial: only its test did not end."""
        if not question:
            return False
        rest, labels = _letters(item.replace(question, "", 1)), self._models.labels
        label = max((one for one in labels if _letters(one) in rest), key=len, default=labels[0])
        return (question, self._models.of(label).name) in self._trials

    def add(self, trial: Trial, item: str) -> None:
        """Note the trial of an item."""
        self._trials.add((trial.question.id, trial.model))
        self.functions.add(item.partition("[")[0])

    def whereabouts(self, session: pytest.Session, ended: BaseException | None, died: Sequence[str]) -> AbsenceReasons:
        """Why questions have no trial. `ended`: what ended the loop before its time."""
        from ...results.population import AbsenceReasons

        self._broken_off = ended is not None or bool(died)
        reasons = {self._id_of(item): why for item, why in self._untold.items()}
        reasons = {question: shorten(why, 200, placeholder=" …") for question, why in reasons.items() if question}
        lost, chosen = frozenset(self.lost(died)), tuple(selections(session))
        if ended is not None:
            first = str(ended).removeprefix("taskgraph: ").partition("; ")[0]
            cause = shorten(first, CAUSE, placeholder=" …", break_on_hyphens=False)
            return AbsenceReasons(reasons, lost, chosen, "did not run", cause)
        return AbsenceReasons(reasons, lost, chosen)

    def left_out(self, question: str, where: AbsenceReasons, came: Container[str]) -> bool:
        """Whether the question was not asked, and that for the user's selection. `came`: those that have a trial.

        Where items are named one by one, suites without any are not even collected.
        """
        if question not in self.declared:
            return NODE_IDS in where.selected_by
        return bool(where.selected_by) and not any(question in held for held in (came, where.lost, where.reasons))

    def mistake(self, gate: Gate) -> GateMistake | None:
        """Why the gate can be about none of the questions; None where it can."""
        from ...results.gates import SCORE
        from ...results.population import find_gate_mistake

        metric = "" if gate.metric == SCORE else gate.metric  # every question has a score
        found = find_gate_mistake(gate.parts, list(self.declared.values()), self._vocabulary, metric)
        return found or (self._aggregate_mistake(gate) if gate.aggregate else None)

    def _aggregate_mistake(self, gate: Gate) -> GateMistake | None:
        from ...results.gates import aggregate_refusal
        from ...results.population import GateMistake

        try:
            known = self.aggregates(gate)
        except UsageError as error:
            return GateMistake(str(error), "wrong")
        told = aggregate_refusal(gate, known)
        return GateMistake(told, "wrong" if gate.aggregate in known else "absent") if told else None

    def aggregates(self, gate: Gate) -> dict[str, Aggregate]:
        """Return the aggregates of the families whose questions the gate is about, by name; none unless it names one.

        Raises:
            UsageError: if two of the families mean different things by a name.
        """
        from ...benchmarks import FAMILIES
        from ...results.aggregates import merge_aggregates
        from ...results.population import matches_parts

        if not gate.aggregate:
            return {}
        about = {one.family for one in self.declared.values() if matches_parts(gate.parts, one)}
        settings = options.settings(self._config)
        described = self.families.described(list(FAMILIES.values()), settings)
        return merge_aggregates(described[name] for name in sorted(about))

    @cached_property
    def _vocabulary(self) -> GateVocabulary:
        """Return the names, labels and metrics that the families know, with what users added to them."""
        from ...benchmarks import FAMILIES
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
        labels = [pair for one in FAMILIES.values() for pair in one.labels().items()]
        values = {name: tuple(chain(*(label.values for same, label in labels if same == name))) for name, _ in labels}
        closed = frozenset(values).difference(name for name, label in labels if not label.closed)
        metrics = self.families.gate_metrics()
        aggregates = self.families.gate_aggregates(options.settings(self._config))
        names = list(dict.fromkeys(names))
        return GateVocabulary(names, frozenset(ours), sorted(metrics), values, closed, sorted(aggregates))

    def excused(self, found: GateMistake) -> bool:
        """Whether a gate may have no questions: the user named files or asks for the last failed, so that not all were
        collected. A gate of the command line is meant for this run, and must be of names that there are.
        """
        last_failed = bool(self._config.getoption("lf", False))
        if self.of_command_line:
            return last_failed and found.kind == "absent"
        return found.kind != "wrong" and (last_failed or named_files(self._config))

    @property
    def absent(self) -> bool:
        """Return True if nothing is to be decided: no suite asks anything, and no gate was given for this run."""
        return not (self.declared or self.functions or self.of_command_line or self._broken_off)

    def mistakes_of(self, gates: Sequence[Gate]) -> list[str]:
        """Return what is wrong about gates that can be about none of the questions, a line each."""
        found = [(gate, self.mistake(gate)) for gate in gates]
        return [
            f"{options.spelling(self._config, 'gate')}: {gate.text!r}: {one.text}"
            for gate, one in found
            if one is not None and not self.excused(one)
        ]

    def question_sets(self) -> dict[str, int]:
        """Return the versions of the question sets that the questions belong to, by family."""
        return self.families.question_sets((one.family, one.group) for one in self.declared.values())

    @property
    def of_command_line(self) -> bool:
        """Whether gates stand on the command line; else they are configured."""
        return options.flagged(self._config, "gate")

    def _id_of(self, item: str) -> str:
        """The id of the declared question that an item asks; "" for none. Other parameters may stand around it."""
        words = item.partition("[")[2].removesuffix("]").split("-")
        known = {_as_pytest_writes(one): one for one in self.declared} if not item.isascii() or "\\" in item else {}
        for length in range(len(words), 0, -1):
            for at in range(len(words) - length + 1):
                name = "-".join(words[at : at + length])
                if (question := known.get(name, name)) in self.declared:
                    return question
        return ""


def _differing(one: CollectedQuestion, other: CollectedQuestion) -> list[str]:
    """Return the settings of two suites that differ about a question of one id, by keyword."""
    pairs = {
        "prompt": tuple(abspath(each.settings.prompt) for each in (one, other)),
        "parsing": (one.settings.parsing, other.settings.parsing),
        "pass_threshold": (one.settings.pass_threshold, other.settings.pass_threshold),
        "model_options": (one.model_options, other.model_options),
    }
    if options.prompt_name(one.settings.prompt) != options.prompt_name(other.settings.prompt):
        del pairs["prompt"]  # the id tells, or the question does not depend on it
    return [name for name, (before, after) in pairs.items() if before != after]


def _measured(metrics: Sequence[str] | None) -> Sequence[str] | None:
    """The names of metrics and of their further values; None where they are not known."""
    from ...scoring.metrics import measured_names

    return None if metrics is None else measured_names(metrics)


def _check_description(described: FamilyDescription, metrics: frozenset[str]) -> None:
    """Check the aggregates and tables that a family declares. Raises UsageError."""
    from ...results import aggregates, tables

    if not (described.aggregates or described.tables):
        return
    if told := aggregates.find_aggregate_mistake(described.aggregates, metrics) or tables.find_table_mistake(
        described, metrics
    ):
        raise UsageError(f"the benchmark family {described.name!r}: {told}")


def _letters(text: str) -> str:
    """What is left of the name of a model in the id of an item, whatever stands for its other characters."""
    return "".join(filter(str.isalnum, text))


def _as_pytest_writes(name: str) -> str:
    return name.encode("unicode_escape").decode("ascii")


def named_files(config: pytest.Config) -> bool:
    """Whether the user named files or folders; told by the controller on a worker."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        return bool(worker.get(NARROWED, False))
    return getattr(getattr(config, "args_source", None), "name", "") == "ARGS"


def selections(session: pytest.Session) -> Iterator[str]:
    """How the user selected among the items, in the words of the command line."""
    config = session.config
    yield from (flag for name, flag in SELECTING.items() if config.getoption(name, None))
    if any("::" in str(one) for one in config.args):
        yield NODE_IDS
    most = config.getoption("maxfail", 0)
    if most and session.testsfailed >= most:
        yield "-x" if most == 1 else f"--maxfail={most}"


def refuse(config: pytest.Config, mistakes: Sequence[str]) -> None:
    """End the run for mistakes of usage. A worker tells the controller, before any item is handed out.

    Raises:
        pytest.UsageError: on a controller.
    """
    told = "; ".join(mistakes)
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(told)
    report = pytest.CollectReport("taskgraph gates", "failed", told, [])
    setattr(report, MISTAKE, told)
    config.hook.pytest_collectreport(report=report)
