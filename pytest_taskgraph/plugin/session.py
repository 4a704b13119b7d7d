"""The run of a session: its parts, its results, and the facts for the headers of its reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from ..errors import ProviderError, RunOptionError, UsageError
from ..families import FAMILIES
from ..results.record import REAL_NAMES, SEEDS, About
from ..trial import Trial
from ..version import __version__
from . import options
from .asking.kept_questions import KeptQuestions
from .asking.loop import EventLoopThread
from .asking.measuring import MeasuringModels
from .asking.pipeline import Pipeline
from .asking.prefetch import AskingParts, Prefetcher, may_stop
from .asking.shrinker import Shrinker
from .models_under_test import (
    ModelsUnderTest,
    length_notices,
    misspelling_notices,
    model_settings,
    unstored_notices,
)
from .output.circumstances import Circumstances
from .output.drawings import Drawings
from .output.progress import RunProgress
from .output.reporting import Narrowing, Reporting
from .output.usage_total import UsageTotal
from .verdicts.asked_families import AskedFamilies
from .verdicts.declared_questions import Questions, refuse
from .verdicts.fail_policy import FailPolicy, RunOutcome
from .verdicts.outcomes import TRIAL_ATTRIBUTE

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings
    from ..results.case import RunCase
    from ..results.descriptions import Descriptions
    from ..results.population import AbsenceReasons
    from ..results.record import About, RecordBuilder
    from ..results.tally import Tally
    from ..trial import Json
    from .suite_settings import SuiteSettings
    from .suites import CollectedQuestion


def about(run: RunSession) -> About:
    """Return the facts of the run so far."""
    settings = run.settings
    asked = run.asked_families
    described = [run.descriptions[name] for name in run.descriptions.names if name in asked]
    parsings = {suite["parsing"] for suite in run.families.suites.values()}
    models = run.models.all
    real_names: dict[str, Json] = {model.name: model.real_name for model in models if model.name != model.real_name}
    suites: dict[str, Json] = {name: suite["stated"] for name, suite in run.families.suites.items() if suite["stated"]}
    return About(
        __version__,
        models=tuple(model.name for model in models),
        seed=settings.seed,
        prompts=run.prompts,
        parsing=parsings.pop() if len(parsings) == 1 else settings.parsing,
        fail_on=run.fail_policy.kinds,
        # A quiet controller receives no outline; after an interruption the number is unknown then.
        questions=run.questions or (None if run.interrupted else len(run.tally)) or None,
        settings={
            "instances": settings.instances,
            **run.families.options(family.name for family in described),
            **({"repeats": run.repeats} if run.repeats > 1 else {}),
            **({SEEDS: [*seeds]} if len(seeds := options.seeds(run.config)) > 1 else {}),
            "model_option": model_settings((model.spec for model in models), options.model_options(run.config)),
            **({REAL_NAMES: real_names} if real_names else {}),
            **({"suites": suites} if suites else {}),
            **run.measuring.about(),
        },
        gates=tuple(asdict(case) for case in run.verdicts),
        lost=tuple(run.population.lost(run.crashed)),
        question_sets=run.families.question_sets((trial.question.family, trial.question.group) for trial in run.tally),
        interrupted=run.interrupted,
        usage=run.usage.of_run(run.tally) if run.live else None,
        families=tuple(described),
        provenance=run.circumstances.provenance,
    )


class RunSession:
    """The state of a run, stored in `config.stash` rather than in a module, for pytest may run twice in a process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.circumstances = Circumstances(config)
        self.families = AskedFamilies()
        self.models = ModelsUnderTest(config, lambda: self.families.default_baseline)
        self.repeats = options.whole(config, "repeats") or 1
        self.fail_policy = FailPolicy(config, self.families)
        self.pipeline = Pipeline(config)
        self.measuring = MeasuringModels(config, self.settings, self.pipeline)
        self.usage = UsageTotal(self.pipeline.counters)
        self.loop = EventLoopThread()
        self.notices: list[str] = []
        self.remarks: list[str] = []  # of the suites: their settings, and what they leave out
        self.kept_questions = KeptQuestions(
            self.pipeline.folder, lambda: self._keeps_questions, self.notices.append, self.pipeline.workers
        )
        self.progress = RunProgress(config, self.pipeline.counters)
        self.announced = False  # True once the terminal shows the settings of the run
        self.questions = 0
        self.population = Questions(config, self.families, self.models)
        self.reporting = Reporting(config, self.pipeline.folder, self.fail_policy.comparison_kinds)
        self.verdicts: list[RunCase] = []
        self.decided = self.whole = False  # the cases were decided; the loop of items was complete
        self.concluded = False  # True if the terminal prints results at the end
        self.drawings = Drawings()
        drawings = self.drawings if self.reporting.draws else None
        parts = AskingParts(
            config, self.models, self.pipeline, self.measuring, self.loop, drawings, self.kept_questions
        )
        self.prefetcher = Prefetcher(parts, self.progress.tick, self.progress.clear)
        self.shrinker = Shrinker(parts, self.progress.tick)
        self.crashed: list[str] = []  # items that crashed their xdist workers
        self._tally: Tally | None = None
        self._record: RecordBuilder | None = None

    @property
    def settings(self) -> Settings:
        """Return the settings that determine the questions, with the first seed and prompt template."""
        return options.settings(self.config)

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the prompt templates of the suites, those of the run first; before collection, those of the run.

        There are none if no family of the run uses prompt templates.
        """
        of_run = tuple(dict.fromkeys(settings.prompt for settings in options.settings_of_grid(self.config)))
        suites = self.families.suites.values()
        of_suites = dict.fromkeys(prompt for suite in suites for prompt in suite["prompts"])
        first = (prompt for prompt in of_run if prompt in of_suites)
        return tuple(dict.fromkeys([*first, *of_suites])) if suites else of_run

    def declare(self, function: str, collected: Sequence[CollectedQuestion], suite: SuiteSettings) -> None:
        """Note the questions and settings of a suite, and check its model options. Raises UsageError."""
        self.population.declare(function, collected, suite)
        if suite.model_options:
            checked = {id(client) for client in self.models.clients}
            models = [self.models.of(label, suite.model_options) for label in self.models.labels]
            clients = [model.client for model in models if model.client is not None]
            opened = [client for client in clients if id(client) not in checked]
            self.pipeline.check(opened)
            self.notices.extend(notice for notice in unstored_notices(opened) if notice not in self.notices)

    def preload(self) -> None:
        """Begin to import litellm, if the run is going to ask through it."""
        if not self.prefetcher.planned or self.pipeline.replay:
            return
        from ..models.clients.litellm_client import LiteLLMModel

        for client in self.models.clients:
            if isinstance(client, LiteLLMModel):
                client.preload()

    @property
    def live(self) -> bool:
        """Return True if the run asks a live model, as a model under test or to measure replies."""
        measuring = any(getattr(client, "live", False) for client in self.measuring.clients)
        return measuring or self.models.live

    @property
    def _keeps_questions(self) -> bool:
        """Return True if the run writes replies to the store, or plans such a run."""
        asks_or_plans = options.switched(self.config, "dry-run") or not options.idle(self.config)
        return asks_or_plans and self.models.live and self.models.storable and not self.pipeline.replay

    def begin(self, items: int) -> None:
        """Start the progress output if the run asks a live model under test.

        Args:
            items: The number of items that will ask.
        """
        if items and self.models.live:
            self.progress.begin(items, lambda: self.prefetcher.finished if self.prefetcher.planned else None)

    @property
    def tally(self) -> Tally:
        """Return the tally of all trials so far."""
        descriptions = self.descriptions  # which grow as families become known
        if self._tally is None:
            from ..results.tally import Tally

            self._tally = Tally(descriptions)
        return self._tally

    @property
    def descriptions(self) -> Descriptions:
        """Return the descriptions of all families."""
        return self.families.described(list(FAMILIES.values()), self.settings)

    @property
    def asked_families(self) -> set[str]:
        """Return the names of the families whose questions the run asks, as far as this process knows them."""
        return self.families.names | {trial.question.family for trial in self.tally}

    @property
    def stopped(self) -> ProviderError | None:
        """Return the error after which the run cannot continue, of the store or of all models; else None.

        A single model of several that fails does not end the run; a judge or embedder that fails does.
        """
        return self.pipeline.fatal_error([model.client for model in self.models.all], self.measuring.clients)

    def finish(self) -> None:
        """Wait for the requests in flight, for other processes may wait for their replies.

        It does not wait if the first failure may end the run, which then ends as soon as possible.
        """
        if self.loop.started and not may_stop(self.config):
            self.prefetcher.stop()
            self.loop.run(self.pipeline.drain())

    def shrink(self) -> None:
        """Shrink wrong answers, after prefetching has ended."""
        self.prefetcher.stop()
        self.shrinker.shrink()

    def stop(self) -> None:
        """End all requests: drop the queued ones and cancel those in flight; replies that arrived are kept."""
        self.prefetcher.stop()
        self.progress.end()
        self.loop.stop()
        self.pipeline.close()
        self.kept_questions.close()

    def check(self) -> None:
        """Validate the options against the families and models of the run, before the first request.

        Raises:
            UsageError: if an option is invalid.
        """
        options.value(self.config, "junit-properties")
        from ..benchmarks.contract import check_settings, report_family_errors
        from .models_under_test import check_distinct

        check_distinct(self.models.all)
        options.check_data(self.config)
        for family in FAMILIES.values():
            for settings in options.settings_of_grid(self.config):
                check_settings(family, settings)
            with report_family_errors(family, "roles"):
                for role in family.roles(self.settings):
                    self.measuring.need(role, f"the benchmark family {family.name!r}")
        _ = self.descriptions  # evaluated here, so that a family with an invalid description is refused
        self.measuring.check()
        models, clients = self.models.all, self.models.clients
        self.pipeline.check(clients)
        self.notices.extend(unstored_notices([*clients, *self.measuring.clients]))
        self.notices.extend(length_notices(clients))
        self.notices.extend(misspelling_notices([model.spec for model in models]))
        self.fail_policy.check()
        self.shrinker.check()
        self.reporting.check()
        self.notices.extend(self.reporting.notices)
        self._observe_circumstances()
        for model in models:
            model.check_baseline(list(FAMILIES.values()))

    def _observe_circumstances(self) -> None:
        """Observe the circumstances of the run once, if a file will state them."""
        if self.reporting.writes_files or self.config.getoption("xmlpath", None):
            self.circumstances.observe()

    def check_collected(self, complete: bool) -> None:
        """Check that each gate matches some question, and that the questions can be compared with the baseline run.

        Configured gates are checked only in a session with questions, for a project has other tests, too.

        Args:
            complete: False if a suite could not be collected; gates may be about its questions then.

        Raises:
            pytest.UsageError: on a controller; a worker reports the errors to it.
        """
        if not self.population.declared and not self.population.of_command_line:
            return
        mistakes = self.reporting.refusals(self.population.question_sets(), self.notices)
        mistakes += self.population.mistakes_of(self.fail_policy.deciding_gates) if complete else []
        if mistakes:
            refuse(self.config, mistakes)
        else:
            self.notices.extend(self.fail_policy.notices)

    def check_family(self, family: Family) -> None:
        """Check the configured options, now that there are questions of a family. Raises RunOptionError."""
        _ = self.descriptions  # a conftest file may have registered further families since
        try:
            for model in self.models.all:
                model.model(family)
            self.fail_policy.check_configured()
            self.reporting.check_configured()
        except UsageError as error:
            raise RunOptionError(str(error)) from error

    def add(self, report: pytest.TestReport) -> None:
        """Tally the trial that is attached to a report."""
        attached = getattr(report, TRIAL_ATTRIBUTE)
        trial = attached if isinstance(attached, Trial) else Trial.from_json(json.loads(attached))
        (self._tally or self.tally).add(trial)  # the family of a trial is known before, for its suite was collected
        self.progress.add(trial)
        delattr(report, TRIAL_ATTRIBUTE)  # pytest keeps every report until the session ends
        self.population.add(trial, report.nodeid)

    def note_without_trial(self, report: pytest.TestReport) -> None:
        """Note a report without a trial: of an item that ended before it asked, or that crashed its worker."""
        if report.when in ("setup", "call", "teardown"):
            self.population.note_without_trial(report)
        else:
            self.crashed.append(report.nodeid)

    def decide(self, session: pytest.Session, ended: BaseException | None) -> list[RunCase]:
        """Return the cases of the whole run.

        Args:
            session: The session.
            ended: The exception that ended the loop of items early; None after a complete loop.
        """
        where = self.population.absence_reasons(session, ended, self.crashed)
        models = [model.name for model in self.models.all]
        self.verdicts = list(self.fail_policy.cases(RunOutcome(self.tally, models, self.population, where)))
        self.decided, self.whole = True, ended is None
        answered = {trial.question.id for trial in self.tally}
        narrowing = Narrowing(
            self._empty_selection(where),
            ", ".join(where.selected_by),
            lambda question: self.population.left_out(question, where, answered),
        )
        cases = self.reporting.cases(self.record, narrowing)
        if not self.fail_policy.comparison_kinds:
            cases = [case.report_only() for case in cases]
        self.verdicts += cases
        return self.verdicts

    def _empty_selection(self, where: AbsenceReasons) -> str:
        """Return the user's selection if it leaves no question; the empty text if there are trials."""
        if self.tally:
            return ""
        if not self.population.functions and not options.flagged(self.config, "compare"):
            return "no suite was collected"
        return ", ".join(where.selected_by)

    def record(self) -> RecordBuilder:
        """Return the record of the run; to be called once all items have run."""
        from ..results.record import RecordBuilder

        if self._record is None:
            self._record = RecordBuilder(self.tally, self.about())
        self._record.set_about(self.about())
        return self._record

    def about(self) -> About:
        """Return the facts of the run for the record and the headers."""
        return about(self)

    @property
    def interrupted(self) -> bool:
        """Return True if the run was interrupted before its cases were decided."""
        return self.concluded and not self.decided

    def conclude(self, session: pytest.Session) -> str:
        """Write the reports, and save the record.

        Returns:
            The errors of writing; empty if there are none.
        """
        from ..reports.gate_lines import gate_properties
        from ..reports.junit import suite_properties
        from .pytest_compat import add_suite_properties

        ran = self.decided or session.exitstatus == pytest.ExitCode.INTERRUPTED
        without_question = ran and bool(session.testscollected and self.population.functions)  # though suites ran
        self.concluded = bool(self.tally) or without_question
        if not self.concluded:
            return ""
        self._observe_circumstances()  # a run without options of its own was not checked
        about = self.about()
        if self.config.getoption("xmlpath", None):
            add_suite_properties(self.config, [*suite_properties(self.tally, about), *gate_properties(about.gates)])
        try:
            if self.reporting.writes_files:
                self.reporting.write(self.record(), self.whole, self.decided)
        except UsageError as error:
            return str(error)
        return self.shrinker.write()


RUN = pytest.StashKey[RunSession]()


def run_of(config: pytest.Config) -> RunSession:
    """Return the run of this session, created on first use. Raises UsageError for an invalid registration."""
    if RUN not in config.stash:
        from .registration import open_registry

        open_registry(config).check()
        config.stash[RUN] = RunSession(config)
    return config.stash[RUN]
