"""One run of a session: its parts, what came out, and the facts that its reports begin with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from ..errors import ProviderError, UsageError
from ..results.record import REAL_NAMES, About
from ..trial import Trial
from ..version import __version__
from . import options
from .asking.loop import EventLoopThread
from .asking.measuring import MeasuringModels
from .asking.pipeline import Pipeline
from .asking.prefetch import AskingParts, GarbageCollection, Prefetcher, may_stop
from .asking.shrinker import Shrinker
from .models_under_test import ModelsUnderTest, misspelling_notices, model_settings, unstored_notices
from .output.drawings import Drawings
from .output.progress import Counts
from .output.reporting import Narrowing, Reporting
from .output.usage import UsageTotal
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
    from .output.progress import Progress
    from .suite_settings import SuiteSettings
    from .suites import CollectedQuestion


def _real_names(run: RunSession) -> dict[str, Json]:
    """Return the own names of the models that have short ones, by these."""
    subjects = run.models.all
    named: dict[str, Json] = {one.name: one.real_name for one in subjects if one.name != one.real_name}
    return {REAL_NAMES: named} if named else {}


def about(run: RunSession) -> About:
    """What the run was, as far as it has come."""
    shown = run.settings
    described = [one for one in run.descriptions if one.name in run.asked_families]
    parsings = {one["parsing"] for one in run.families.suites.values()}
    suites: dict[str, Json] = {name: one["stated"] for name, one in run.families.suites.items() if one["stated"]}
    return About(
        __version__,
        models=tuple(one.name for one in run.models.all),
        seed=shown.seed,
        prompts=run.asked_prompts,
        parsing=parsings.pop() if len(parsings) == 1 else shown.parsing,
        fail_on=run.fail_policy.kinds,
        # A quiet controller is not told before; of a run that was broken off, nobody knows then.
        questions=run.questions or (None if run.interrupted else len(run.tally)) or None,
        settings={
            "instances": shown.instances,
            **run.families.options(one.name for one in described),
            **({"repeats": run.repeats} if run.repeats > 1 else {}),
            "model_option": model_settings(
                (one.spec for one in run.models.all), dict(options.pairs(run.config, "model-option"))
            ),
            **_real_names(run),
            **({"suites": suites} if suites else {}),
            **run.measuring.about(),
        },
        gates=tuple(asdict(case) for case in run.verdicts),
        lost=tuple(run.population.lost(run.died)),
        question_sets=run.families.question_sets((one.question.family, one.question.group) for one in run.tally),
        interrupted=run.interrupted,
        usage=run.usage.of_run(run.tally) if run.live else None,
        families=tuple(described),
    )


class RunSession:
    """The state of a session, kept in `config.stash`; never in a module, for pytest may run twice in a process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.families = AskedFamilies()
        self.models = ModelsUnderTest(config, lambda: self.families.default_baseline)
        self.repeats = options.whole(config, "repeats") or 1
        self.fail_policy = FailPolicy(config, self.families)
        self.pipeline = Pipeline(config)
        self.measuring = MeasuringModels(config, self.settings, self.pipeline)
        self.usage = UsageTotal(self.pipeline.counters)
        self.loop = EventLoopThread()
        self.garbage = GarbageCollection()
        self.progress: Progress | None = None
        self.notices: list[str] = []
        self.questions = 0
        self.population = Questions(config, self.families, self.models)
        self.reporting = Reporting(config, self.pipeline.folder, self.fail_policy.comparison_kinds)
        self.verdicts: list[RunCase] = []
        self.decided = self.whole = False  # cases were told; the loop came to its end
        self.concluded = False  # whether there is something to tell at the end
        self.drawings = Drawings()
        parts = AskingParts(
            config,
            self.models,
            self.pipeline,
            self.measuring,
            self.loop,
            self.garbage,
            self.drawings if self.reporting.draws else None,
        )
        self.prefetcher = Prefetcher(parts, self.tick, self.hide_progress)
        self.shrinker = Shrinker(parts, self.tick)
        self._gathered = Counts()
        self.died: list[str] = []  # items that took their xdist worker with them
        self._tally: Tally | None = None
        self._record: RecordBuilder | None = None

    @property
    def settings(self) -> Settings:
        """What decides the questions; of several prompt templates, the first."""
        return options.settings(self.config)

    @property
    def settings_of_prompts(self) -> tuple[Settings, ...]:
        """What decides the questions, once for each prompt template."""
        return options.settings_of_prompts(self.config)

    @property
    def asked_prompts(self) -> tuple[str, ...]:
        """The prompt templates of the suites, those of the run first; those of the run before any suite is known.

        None if no family that is asked puts its questions with prompt templates.
        """
        of_run = tuple(one.prompt for one in self.settings_of_prompts)
        suites = self.families.suites.values()
        asked = dict.fromkeys(prompt for one in suites for prompt in one["prompts"])
        return tuple(dict.fromkeys([*(one for one in of_run if one in asked), *asked])) if suites else of_run

    def declare(self, function: str, collected: Sequence[CollectedQuestion], suite: SuiteSettings) -> None:
        """Note the questions and settings of a suite, and check its model options. Raises UsageError."""
        self.population.declare(function, collected, suite)
        if suite.model_options:
            known = {id(client) for client in self.models.clients}
            subjects = [self.models.of(label, suite.model_options) for label in self.models.labels]
            opened = [one.client for one in subjects if one.client is not None and id(one.client) not in known]
            self.pipeline.check(opened)
            self.notices.extend(one for one in unstored_notices(opened) if one not in self.notices)

    @property
    def may_stop(self) -> bool:
        """Whether the first wrong answers may end the run, so that asking far ahead could be for nothing."""
        return may_stop(self.config)

    def preload(self) -> None:
        """Nothing; what takes long to import is imported while pytest collects, if a model needs it and is asked."""
        from ..models.clients import litellm_client

        if not self.pipeline.replay and any(
            isinstance(client, litellm_client.LiteLLMModel) for client in self.models.clients
        ):
            litellm_client.preload()

    @property
    def live(self) -> bool:
        """Whether the run asks a model that is live, as a subject or to measure replies."""
        measuring = any(getattr(one, "live", False) for one in self.measuring.clients)
        return measuring or self.models.live

    def begin(self, items: int) -> None:
        """Nothing; from now on it is told how far the run is, if it asks a model that is live."""
        from .output.progress import Progress

        interval = options.number(self.config, "progress")
        if self.progress is None and items and self.models.live:
            seconds = 0.0 if interval is None else interval
            self.progress = Progress(self.config, self.pipeline.counters, items, seconds, self._counts)
            self.config.pluginmanager.register(self.progress, "taskgraph-progress")

    def tick(self) -> None:
        """Called a few times a second while a reply is waited for."""
        if self.progress is not None:
            self.progress.tick()

    def hide_progress(self) -> None:
        """Erase the live line: whoever runs next may write to the terminal."""
        if self.progress is not None:
            self.progress.clear()

    def _counts(self) -> Counts:
        """Where the asking stands; a controller of xdist knows the trials that came."""
        from .output.progress import watched

        if self.prefetcher.planned:
            return replace(watched(self.pipeline.counters), answered=self.prefetcher.finished)
        return self._gathered

    def finished(self) -> None:
        """Called after each item."""
        if self.progress is not None:
            self.progress.done()
            self.progress.tick()

    @property
    def tally(self) -> Tally:
        """What came out so far."""
        descriptions = self.descriptions  # which grow as families are known
        if self._tally is None:
            from ..results.tally import Tally

            self._tally = Tally(descriptions)
        return self._tally

    @property
    def descriptions(self) -> Descriptions:
        """What all families state about themselves."""
        return self.families.described(self._registered_families, self.settings)

    @property
    def asked_families(self) -> set[str]:
        """The names of the families whose questions the suites hold, as far as this process knows them."""
        return self.families.names | {one.question.family for one in self.tally}

    @property
    def _registered_families(self) -> list[Family]:
        """All benchmark families."""
        from ..benchmarks import FAMILIES

        return list(FAMILIES.values())

    @property
    def stopped(self) -> ProviderError | None:
        """Why nothing more can come of the run: an error of the store, or with all models; None while some can.

        One model of several that cannot be asked stops alone. Without the judge or the embedder nothing can be scored.
        """
        if self.pipeline.counters.store_error is not None:
            return self.pipeline.counters.store_error
        measuring = [self.pipeline.broken(client.name) for client in self.measuring.clients]
        if found := next(filter(None, measuring), None):
            return found
        clients = [one.client for one in self.models.all]
        broken = [None if client is None else self.pipeline.broken(client.name) for client in clients]
        return broken[0] if all(broken) else None

    def finish(self) -> None:
        """Nothing; what is in flight has arrived and is kept: other processes may wait for it.

        Not where the first failure may end the run: it is then to end soon.
        """
        if self.loop.started and not self.may_stop:
            self.prefetcher.stop()
            self.loop.run(self.pipeline.drain())

    def shrink(self) -> None:
        """Make wrong answers small; nothing is asked for items any more."""
        self.prefetcher.stop()
        self.shrinker.shrink()

    def stop(self) -> None:
        """Ends all asking: what is queued is dropped, what is in flight cancelled, what has arrived is kept."""
        self.prefetcher.stop()
        self.hide_progress()
        self.loop.stop()
        self.pipeline.close()
        self.garbage.restore()

    def check(self) -> None:
        """Nothing, if all that was asked for can be had. Raises UsageError before anything is asked."""
        options.value(self.config, "junit-properties")
        from ..benchmarks.contract import report_family_errors
        from .models_under_test import check_distinct

        check_distinct(self.models.all)
        options.check_data(self.config)
        for family in self._registered_families:
            with report_family_errors(family, "check"):
                for settings in self.settings_of_prompts:
                    family.check(settings)
                for role in family.roles(self.settings):
                    self.measuring.need(role, f"the benchmark family {family.name!r}")
        _ = self.descriptions  # made here, so that a family that has none is refused
        self.measuring.check()
        subjects, clients = self.models.all, self.models.clients
        self.pipeline.check(clients)
        self.notices.extend(unstored_notices([*clients, *self.measuring.clients]))
        self.notices.extend(misspelling_notices([one.spec for one in subjects]))
        self.fail_policy.check()
        self.shrinker.check()
        self.reporting.check()
        self.notices.extend(self.reporting.notices)
        for one in subjects:
            one.check_baseline(self._registered_families)

    def check_collected(self) -> None:
        """Check that each gate is about some question, and that the questions are of the set to be compared with.

        Configured gates are demanded once there are questions: a project has other tests, too.

        Raises:
            pytest.UsageError: on a controller; a worker tells it.
        """
        if not self.population.declared and not self.population.of_command_line:
            return
        mistakes = self.reporting.refused(self.population.question_sets(), self.notices)
        mistakes += self.population.mistakes_of(self.fail_policy.deciding_gates)
        if mistakes:
            refuse(self.config, mistakes)
        else:
            self.notices.extend(self.fail_policy.notices)

    def check_family(self, family: Family) -> None:
        """Check that what is configured can be had, now that there are questions of a family. Raises UsageError."""
        _ = self.descriptions  # a conftest may have registered further families since
        for one in self.models.all:
            one.model(family)
        self.fail_policy.demand()
        self.reporting.demand()

    def add(self, report: pytest.TestReport) -> None:
        """Tallies the trial that rides on a report."""
        carried = getattr(report, TRIAL_ATTRIBUTE)
        made = carried if isinstance(carried, Trial) else Trial.from_json(json.loads(carried))
        self.tally.add(made)
        self._gathered = self._gathered.with_trial(made)
        delattr(report, TRIAL_ATTRIBUTE)  # pytest keeps every report to the end
        self.population.add(made, report.nodeid)

    def hear(self, report: pytest.TestReport) -> None:
        """Notes a report without a trial: of an item that ended before it asked, or that took its worker with it."""
        if report.when in ("setup", "call", "teardown"):
            self.population.untold(report)
        else:
            self.died.append(report.nodeid)

    def decide(self, session: pytest.Session, ended: BaseException | None) -> list[RunCase]:
        """Return the cases of the whole run. `ended`: what ended the loop of items before its time."""
        where = self.population.whereabouts(session, ended, self.died)
        models = [one.name for one in self.models.all]
        self.verdicts = list(self.fail_policy.cases(RunOutcome(self.tally, models, self.population, where)))
        self.decided, self.whole = True, ended is None
        came = {one.question.id for one in self.tally}
        narrowing = Narrowing(
            self._narrowed(where), ", ".join(where.selected_by), lambda one: self.population.left_out(one, where, came)
        )
        found = self.reporting.cases(self.record, narrowing)
        if not self.fail_policy.comparison_kinds:
            found = [one.report_only() for one in found]
        self.verdicts += found
        return self.verdicts

    def _narrowed(self, where: AbsenceReasons) -> str:
        """What the user chose so that no question was left; "" where some were asked, or are missing otherwise."""
        if self.tally:
            return ""
        if not self.population.functions and not options.flagged(self.config, "compare"):
            return "no suite was collected"
        return ", ".join(where.selected_by)

    def record(self) -> RecordBuilder:
        """The record of the run, to be made once all items have run."""
        from ..results.record import RecordBuilder

        if self._record is None:
            self._record = RecordBuilder(self.tally, self.about())
        self._record.set_about(self.about())
        return self._record

    def about(self) -> About:
        """What the run was, for the record and the headers."""
        return about(self)

    @property
    def interrupted(self) -> bool:
        """Whether it was broken off before it could be decided."""
        return self.concluded and not self.decided

    def _asked_nobody(self, session: pytest.Session) -> bool:
        """Whether there were suites and items ran, but none put a question."""
        ran = self.decided or session.exitstatus == pytest.ExitCode.INTERRUPTED
        return ran and bool(session.testscollected and self.population.functions)

    def conclude(self, session: pytest.Session) -> str:
        """What could not be written of the run, "" for nothing; reports are written, and the record is kept.

        Where nobody was asked there is something to tell if there were suites, and items ran.
        """
        from ..reports.gate_lines import gate_properties
        from ..reports.junit import suite_properties
        from .pytest_compat import add_suite_properties

        self.concluded = bool(self.tally) or self._asked_nobody(session)
        if not self.concluded:
            return ""
        about = self.about()
        add_suite_properties(self.config, [*suite_properties(self.tally, about), *gate_properties(about.gates)])
        try:
            if self.reporting.wanted:
                self.reporting.write(self.record(), self.whole)
        except UsageError as error:
            return str(error)
        return self.shrinker.write()


RUN = pytest.StashKey[RunSession]()


def run_of(config: pytest.Config) -> RunSession:
    """The run of this session, made if there is none yet. Raises UsageError for what cannot be registered."""
    if RUN not in config.stash:
        from .registration import open_registry

        open_registry(config).check()
        config.stash[RUN] = RunSession(config)
    return config.stash[RUN]
